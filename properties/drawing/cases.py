"""Cases: one generator per component, driven only by a random source.

The same seed gives the same case everywhere. Hypothesis drives the same generators (`cases`), so that interesting
cases are defined once.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from tidegate.properties.drawing.boundaries import draws_at_boundaries
from tidegate.properties.drawing.dice import Dice
from tidegate.properties.drawing.generator import Aim, Generator
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.components import COMPONENTS
from tidegate.traces.cases import Case, Way

#: How often an unwanted config is redrawn before giving up.
PATIENCE = 200
#: The same for aimed cases: after that, a usual case is drawn.
PATIENCE_WITH_AIMS = 5
#: One in this many cases is aimed.
AIMED_EVERY = 5
#: Options: whether a case omits fields with their default.
BRIEF = (False, True)


class NothingAcceptedError(ValueError):
    """No drawn config was accepted."""


def draw_case(
    component: str, seed: int | str, index: int, accept: Callable[[Any], bool] = lambda _config: True
) -> Case:
    """The case of that index and seed; configs that are not accepted are redrawn.

    One case in `AIMED_EVERY` is aimed, if it is accepted: first the cases drawn once, then each aim in turn.
    """
    place, name = f"{seed}/{component}/{index}", f"{component}-{seed}-{index}"
    if index % AIMED_EVERY == AIMED_EVERY - 1 and (aim := find_aim(component, index // AIMED_EVERY)) is not None:
        for attempt in range(PATIENCE_WITH_AIMS):
            dice = Dice(f"{place}/{attempt}" if attempt else place)  # an aim's settings are its own
            config, events = aim(dice)
            if accept(config):
                return make(component, dice, name, config, events)
        place = f"{place}/usual"
    return draw(component, Dice(place), name, accept)


def draw(component: str, dice: Dice, name: str, accept: Callable[[Any], bool] = lambda _config: True) -> Case:
    """A case of the usual mix."""
    draw_one = generator_of(component).draw
    for _ in range(PATIENCE):
        config, events = draw_one(dice)
        if accept(config):
            return make(component, dice, name, config, events)
    raise NothingAcceptedError(f"no case of {component} was accepted in {PATIENCE} draws")


def make(component: str, dice: Dice, name: str, config: Any, events: tuple[Any, ...]) -> Case:
    way, brief = way_of(component, config, events, dice.walk), dice.pick("brief", BRIEF)
    dice.forget()
    return Case(name, component, config, events, brief=brief, way=way)


def find_aim(component: str, number: int) -> Aim | None:
    once, aims = drawn_once(component), generator_of(component).aims
    if number < len(once):
        return once[number]
    return aims[number % len(aims)] if aims else None


@cache
def drawn_once(component: str) -> tuple[Aim, ...]:
    return draws_at_boundaries(generator_of(component), COMPONENTS[component])


@cache
def generator_of(component: str) -> Generator:
    """The interface of the module that draws the cases of a component."""
    found: Generator = import_module(f"tidegate.properties.cases.{COMPONENTS[component].name}").GENERATOR
    return found


def way_of(component: str, config: Any, events: tuple[Any, ...], walk: Walk[Any, Any] | None) -> Way | None:
    """The way of the walk, if it started at the component's start and took its steps."""
    model = COMPONENTS[component]
    if walk is None or walk.step is not model.step or len(walk.started) != 1 or walk.started != model.start(config):
        return None
    way = Way(config, walk.way())
    # Computed here once, so that later code need not compare them again.
    return Way(config, way.steps, events) if way.is_of(config, events) else way
