"""Boundaries: where masks of bits, small tables, and counters of one and two bytes end.

An engine that is right for three channels may be wrong for 33, or for the 256th record. So each number of a config, and
each of its lists by its length, takes every one of these values once per run, whatever else the case is about; and a
few traces are so long that what is counted along them gets there, too.
"""

from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from typing import Any, get_origin

import attrs

from tidegate.properties.cases.walk import Dice
from tidegate.reference.model import InvalidInputError

Aim = Callable[[Dice], tuple[Any, tuple[Any, ...]]]

BOUNDARIES = (8, 9, 16, 17, 32, 33, 64, 65, 127, 128, 255, 256, 257)
#: Where signed numbers of two bytes end, and where unsigned ones begin anew; for amounts, which cost nothing. As many
#: channels would.
FAR = 2**15
FARTHEST = 2**16 + 1
AMOUNTS = ("buffer_size", "capacity", "exclusive", "floating", "initial_credit", "size_hint", "timeout", "maximum")
#: How many events the long traces have.
LENGTHS = (150, 300, 900, 1500, 1500)

#: How often a config is drawn that can take the value, before the usual is drawn.
PATIENCE = 100


def draws_at_boundaries(generator: Any, config: type[Any]) -> tuple[Aim, ...]:
    """What is to be drawn once of a component: every value for every field, and the long traces.

    The elements of the lists that a generator calls `NAMED` have names or places of their own, and cannot be repeated.
    """
    named = getattr(generator, "NAMED", ())
    fields = [field for field in attrs.fields(attrs.resolve_types(config)) if field.name not in named]
    numbers = [field.name for field in fields if field.type in (int, int | None)]
    lists = [field.name for field in fields if get_origin(field.type) is tuple]
    values = [(name, value) for value in BOUNDARIES for name in (*numbers, *lists)]
    values += [(name, value) for name in numbers if name in AMOUNTS for value in (FAR, FARTHEST)]
    return (
        *(partial(draw_long, generator, length) for length in LENGTHS),
        *(partial(draw_at, generator, name, value) for name, value in values),
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
        return generator.draw(dice, config)  # type: ignore[no-any-return]
    return generator.draw(dice)  # type: ignore[no-any-return]


def always(_config: Any) -> bool:
    return True


def draw_long(generator: Any, length: int, dice: Dice) -> tuple[Any, tuple[Any, ...]]:
    dice.length = length
    return generator.draw(dice)  # type: ignore[no-any-return]
