"""Where cases come from: one generator a component, driven by a random source alone.

The same seed gives the same case everywhere, and Hypothesis drives the very same generators (`cases`), so that there
is one home for what an interesting case is.
"""

from collections.abc import Callable
from importlib import import_module
from random import Random
from typing import Any

from tidegate.reference.components import COMPONENTS
from tidegate.traces.cases import Case

#: How often a config that is not wanted is drawn again before giving up.
PATIENCE = 200


class NothingAcceptedError(ValueError):
    """No drawn config was wanted."""


def draw_case(
    component: str, seed: int | str, index: int, accept: Callable[[Any], bool] = lambda _config: True
) -> Case:
    """The case of that index under that seed; configs that are not accepted are drawn again."""
    random = Random(f"{seed}/{component}/{index}")
    return draw(component, random, f"{component}-{seed}-{index}", accept)


def draw(component: str, random: Random, name: str, accept: Callable[[Any], bool] = lambda _config: True) -> Case:
    generator = import_module(f"tidegate.properties.cases.{COMPONENTS[component].name}.draw")
    for _ in range(PATIENCE):
        config, events = generator.draw(random)
        if accept(config):
            return Case(name, component, config, events)
    raise NothingAcceptedError(f"no case of {component} was accepted in {PATIENCE} draws")
