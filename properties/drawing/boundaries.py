"""Boundaries: where masks of bits, small tables, and counters of one and two bytes end.

An engine that is right for three channels may be wrong for 33, or for the 256th record. So each number of a config, and
each of its lists by its length, takes every one of these values once per run, whatever else the case is about; of so
many things the case is mostly about the first and the last. And a few traces are so long that what is counted along
them gets there, too.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import cycle, islice
from typing import Any, TypeAlias, get_args, get_origin

import attrs

from tidegate.properties.drawing.dice import Dice
from tidegate.properties.drawing.generator import Aim, Generator
from tidegate.properties.drawing.values import FAR_APART
from tidegate.reference.elements import plain_fields
from tidegate.reference.model import AnyComponent, InvalidInputError, Rejected

Field: TypeAlias = "attrs.Attribute[Any]"
#: The types of the numbers of a config.
NUMBERS = (int, int | None)

BOUNDARIES = (8, 9, 16, 17, 32, 33, 64, 65, 127, 128, 255, 256, 257)
#: Tables that are a little larger, and numbers of nine and ten bits, end before these: so many channels, and the most
#: of them once more with all kinds of events alike.
VERY_MANY = (300, 513, 1025)
#: So often, because each event that names one of so many is to name the last; so often with all kinds of events alike.
MANY = (BOUNDARIES[-1],) * 3
EVEN = 2
#: The first of the numbers in a list, which says how many things there are of one kind: its channels, of a member.
ELEMENTS = (9, 17, 33, 65, *BOUNDARIES[-1:] * 2)
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
#: What is used up along a trace, one by one. Few traces are so long that it makes a difference how much there is.
SPENT = ("data", "barriers", "output")
#: What stands in a chain. Engines may follow it by calling themselves, so there are no very long ones.
CHAINED = ("operators",)
#: How many events the long traces have; those that are steady do not end early.
LENGTHS = (150, 900)
STEADY = (300, 1500)
#: How often the same comes one after the other, in traces of how many events: what is refused, begun or waited for more
#: than a few times is refused, begun and waited for as ever; and what piles up outgrows a byte.
RUNS = ((12, 150),) * 4 + ((BOUNDARIES[-1] + 13, 900),) * 3
#: The same with all kinds of events alike, of which some end the trace early.
EVEN_RUNS = ((12, 150),) * 4
#: How many events the cases have in which no kind of event is rare: so what is rare is seen behind what is rare, and
#: much behind the end.
EVEN_MIXES = (40,) * 5 + (90,) * 3
#: The events of a case with very many things; and with so many that each event takes long.
WIDE_LENGTH = 70
WIDEST_LENGTH = 30

#: So many cases have numbers that do not exist.
STRANGERS = 6

#: How often a config is drawn that can take the value, before the usual is drawn.
PATIENCE = 100


def draws_at_boundaries(generator: Generator, component: AnyComponent) -> tuple[Aim, ...]:
    """What is drawn once of a component: the long traces, what is refused, every value of its fields, and `once`.

    What is aimed at a field with a default comes last, field by field: such a field may be added.
    """
    fields = [
        field
        for field in plain_fields(component.config)
        if field.name not in generator.unrepeatable and (field.type in NUMBERS or get_origin(field.type) is tuple)
    ]
    first = [field for field in fields if field.default is attrs.NOTHING]
    added = [[field] for field in fields if field not in first]
    return (
        *draws_of_long_traces(generator),
        *draws_of_fields(generator, first),
        *[partial(draw_strangers, generator, component)] * STRANGERS,
        *generator.once,
        *draws_of_very_many(generator, first),
        *(aim for one in added for aim in (*draws_of_fields(generator, one), *draws_of_very_many(generator, one))),
    )


def draws_of_long_traces(generator: Generator) -> Iterator[Aim]:
    yield from (partial(draw_long, generator, length) for length in LENGTHS)
    yield from (partial(draw_long, generator, length, steady=True) for length in STEADY)
    if generator.in_runs:
        yield from (partial(draw_long, generator, length, run=run) for run, length in RUNS)
        yield from (partial(draw_long, generator, length, run=run, even=True) for run, length in EVEN_RUNS)
        yield from (partial(draw_long, generator, length, even=True, behind=length) for length in EVEN_MIXES)


def draws_of_fields(generator: Generator, fields: Sequence[Field]) -> Iterator[Aim]:
    """Every value for each of these numbers and lists."""
    names = by_kind(fields)
    many = [name for name in names if name not in (*AMOUNTS, *SPENT)]
    amounts, spent = ([name for name in names if name in some] for some in (AMOUNTS, SPENT))
    counts = [field.name for field in fields if get_origin(field.type) is tuple and get_args(field.type)[:1] == (int,)]
    run, length = RUNS[-1]
    yield from (partial(draw_at, generator, name, run, run=run, length=length) for name in amounts)
    yield from (partial(draw_at, generator, name, value) for value in BOUNDARIES for name in names)
    yield from (partial(draw_at, generator, name, value) for value in MANY for name in many)
    yield from (partial(draw_at, generator, name, value) for name in (*amounts, *spent) for value in (FAR, FARTHEST))
    yield from (partial(draw_at, generator, name, MANY[0], even=True) for name in many * EVEN)
    yield from (partial(draw_at, generator, name, value, first=True) for name in counts for value in ELEMENTS)


def draws_of_very_many(generator: Generator, fields: Sequence[Field]) -> Iterator[Aim]:
    """Sizes beyond the boundaries, of all that is counted and neither an amount nor a chain."""
    values = [*((value, False) for value in VERY_MANY), (VERY_MANY[-1], True)]
    for name in by_kind(fields):
        if name not in (*AMOUNTS, *SPENT, *CHAINED):
            yield from (partial(draw_at, generator, name, value, even=even) for value, even in values)


def by_kind(fields: Sequence[Field]) -> list[str]:
    """The names of the numbers, then those of the lists."""
    return [field.name for field in sorted(fields, key=lambda field: field.type not in NUMBERS)]


def draw_at(
    generator: Generator,
    field: str,
    value: int,
    dice: Dice,
    *,
    run: int = 1,
    length: int | None = None,
    even: bool = False,
    first: bool = False,
) -> tuple[Any, tuple[Any, ...]]:
    """A case in which the field of the config has this value, or a list this length or this number first."""
    dice.run, dice.even = run, even
    if length is None and value >= MANY[0]:
        length = WIDE_LENGTH if value < VERY_MANY[1] or field in AMOUNTS else WIDEST_LENGTH
    dice.length = length
    for _ in range(PATIENCE):
        config = generator.draw_config(dice)
        usual = getattr(config, field)
        if usual == () or not generator.can_widen(config):
            continue
        new: Any = value
        if isinstance(usual, tuple):
            new = (value, *usual[1:]) if first else tuple(islice(cycle(usual), value))
        try:
            config = attrs.evolve(config, **{field: new})
        except InvalidInputError:
            continue
        dice.look_at_ends(value)
        return generator.draw(dice, config)
    return generator.draw(dice)


def draw_strangers(generator: Generator, component: AnyComponent, dice: Dice) -> tuple[Any, tuple[Any, ...]]:
    """A usual case, and behind events the same for a number that does not exist, but is the same in a byte or two."""
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


def draw_long(
    generator: Generator,
    length: int,
    dice: Dice,
    *,
    steady: bool = False,
    run: int = 1,
    even: bool = False,
    behind: int = 1,
) -> tuple[Any, tuple[Any, ...]]:
    dice.length, dice.steady, dice.run, dice.even, dice.behind = length, steady, run, even, behind
    return generator.draw(dice)
