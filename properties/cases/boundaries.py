"""Boundaries: where masks of bits, small tables, and counters of one and two bytes end.

An engine that is right for three channels may be wrong for 33, or for the 256th record. So each number of a config, and
each of its lists by its length, takes every one of these values once per run, whatever else the case is about; of so
many things the case is mostly about the first and the last. And a few traces are so long that what is counted along
them gets there, too.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import cycle, islice
from typing import Any, get_origin

import attrs

from tidegate.properties.cases.values import FAR_APART
from tidegate.properties.cases.walk import Dice
from tidegate.reference.model import AnyComponent, InvalidInputError, Rejected

Aim = Callable[[Dice], tuple[Any, tuple[Any, ...]]]

BOUNDARIES = (8, 9, 16, 17, 32, 33, 64, 65, 127, 128, 255, 256, 257)
#: So often, because each event that names one of so many is to name the last.
MANY = (BOUNDARIES[-1],) * 3
#: Where signed numbers of two bytes end, and where unsigned ones begin anew; for amounts, which cost nothing. As many
#: channels would.
FAR = 2**15
FARTHEST = 2**16 + 1
AMOUNTS = (
    "buffer_size",
    "capacity",
    "exclusive",
    "floating",
    "initial_credit",
    "size_hint",
    "timeout",
    "maximum",
    "recovered",
    "per_channel",
)
#: How many events the long traces have; those that are steady do not end early.
LENGTHS = (150, 900)
STEADY = (300, 1500)

#: So many cases have numbers that there are not.
STRANGERS = 6

#: How often a config is drawn that can take the value, before the usual is drawn.
PATIENCE = 100


def draws_at_boundaries(generator: Any, component: AnyComponent) -> tuple[Aim, ...]:
    """What is to be drawn once of a component: every value for every field, the long traces, and what must be refused.

    The elements of the lists that a generator calls `NAMED` have names or places of their own, and cannot be repeated.
    """
    named = getattr(generator, "NAMED", ())
    fields = [field for field in attrs.fields(attrs.resolve_types(component.config)) if field.name not in named]
    numbers = [field.name for field in fields if field.type in (int, int | None)]
    lists = [field.name for field in fields if get_origin(field.type) is tuple]
    values = [(name, value) for value in BOUNDARIES for name in (*numbers, *lists)]
    values += [(name, value) for value in MANY for name in (*numbers, *lists) if name not in AMOUNTS]
    values += [(name, value) for name in numbers if name in AMOUNTS for value in (FAR, FARTHEST)]
    return (
        *(partial(draw_long, generator, length) for length in LENGTHS),
        *(partial(draw_long, generator, length, steady=True) for length in STEADY),
        *(partial(draw_at, generator, name, value) for name, value in values),
        *[partial(draw_strangers, generator, component)] * STRANGERS,
    )


def draw_at(generator: Any, field: str, value: int, dice: Dice) -> tuple[Any, tuple[Any, ...]]:
    """A case in which the field of the config has this value, or a list this length.

    A generator says with `can_widen` which configs may become large.
    """
    can_widen = getattr(generator, "can_widen", always)
    for _ in range(PATIENCE):
        config = generator.draw_config(dice)
        usual = getattr(config, field)
        if usual == () or not can_widen(config):
            continue
        new = tuple(islice(cycle(usual), value)) if isinstance(usual, tuple) else value
        try:
            config = attrs.evolve(config, **{field: new})
        except InvalidInputError:
            continue
        dice.look_at_ends(value)
        return generator.draw(dice, config)  # type: ignore[no-any-return]
    return generator.draw(dice)  # type: ignore[no-any-return]


def draw_strangers(generator: Any, component: AnyComponent, dice: Dice) -> tuple[Any, tuple[Any, ...]]:
    """A usual case, and behind events the same for a number that there is not, but is the same in a byte or two."""
    config, events = generator.draw(dice)
    dice.walk = None  # it does not know them
    state, *others = component.start(config)
    told: list[Any] = []
    for event in events:
        told.append(event)
        if others:
            continue  # what is refused may depend on what the engine did
        outcome, *others = component.step(state, event)
        state = outcome.state
        stranger = draw_stranger(event, dice)
        if stranger is not None and is_refused(component.step(state, stranger)):
            told.append(stranger)
    return config, tuple(told)


def draw_stranger(event: Any, dice: Dice) -> Any:
    numbers = [field.name for field in attrs.fields(type(event)) if type(getattr(event, field.name)) is int]
    if not numbers:
        return None
    name = dice.choice(numbers)
    number = getattr(event, name) + dice.choice((*FAR_APART, *FAR_APART, -1, -2))
    with suppress(InvalidInputError):
        # Integers of the protocol have 32 bits.
        return attrs.evolve(event, **{name: number}) if -(2**31) <= number < 2**31 else None
    return None


def is_refused(outcomes: Sequence[Any]) -> bool:
    return [outcome.observations for outcome in outcomes] == [(Rejected(),)]


def always(_config: Any) -> bool:
    return True


def draw_long(generator: Any, length: int, dice: Dice, *, steady: bool = False) -> tuple[Any, tuple[Any, ...]]:
    dice.length, dice.steady = length, steady
    return generator.draw(dice)  # type: ignore[no-any-return]
