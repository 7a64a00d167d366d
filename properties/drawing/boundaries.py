"""Boundaries: where bit masks, small tables, and counters of one and two bytes end.

An engine that is right for three channels may be wrong for 33, or for the 256th record. So each number of a config,
and the length of each of its lists, takes every one of these values once per run; the case then mostly uses the first
and the last of the things. And a few traces are so long that counters along them get there, too.
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
#: Larger tables, and numbers of nine and ten bits, end before these numbers of channels. The largest comes once more
#: with all kinds of events alike.
VERY_MANY = (300, 513, 1025)
#: Repeats, so that each event that names one of many names the last; and repeats with all kinds of events alike.
MANY = (BOUNDARIES[-1],) * 3
EVEN = 2
#: Values for the first number in a list, if it counts things: the channels of a member.
ELEMENTS = (9, 17, 33, 65, *BOUNDARIES[-1:] * 2)
#: Where signed two-byte numbers end and unsigned ones wrap; only for amounts, which cost nothing, unlike channels.
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
#: Resources that a trace consumes one by one. Few traces are long enough for large values to matter.
SPENT = ("data", "barriers", "output")
#: Members of a chain. Engines may recurse along it, so chains are not very long.
CHAINED = ("operators",)
#: Events of the long traces; steady ones do not end early.
LENGTHS = (150, 900)
STEADY = (300, 1500)
#: Equal events in a row, and events in the trace: many refusals, starts and waits in a row must work like the first;
#: and queues outgrow a byte.
RUNS = ((12, 150),) * 4 + ((BOUNDARIES[-1] + 13, 900),) * 3
#: The same with all kinds of events alike; some of them end the trace early.
EVEN_RUNS = ((12, 150),) * 4
#: Events of the cases without rare kinds: so rare events follow rare events, and many follow the end.
EVEN_MIXES = (40,) * 5 + (90,) * 3
#: Events of a case with very many things; and with so many that each event is slow.
WIDE_LENGTH = 70
WIDEST_LENGTH = 30

#: Cases with numbers that do not exist.
STRANGERS = 6

#: Attempts to draw a config that can take the value, before a usual case is drawn.
PATIENCE = 100


def draws_at_boundaries(generator: Generator, component: AnyComponent) -> tuple[Aim, ...]:
    """The cases drawn once per component: long traces, refusals, every value of its fields, and `once`.

    Aims at fields with a default come last, field by field, so that such a field may be added.
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
    """An aim per value of each of these numbers and lists."""
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
    """Sizes beyond the boundaries, for all counts except amounts and chains."""
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
    """A case in which the config field has this value, or the list this length or this first number."""
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
    """A usual case; after some events, the same event with a nonexistent number that is equal in one or two bytes."""
    config, events = generator.draw(dice)
    dice.walk = None  # the component does not know such numbers
    state, *others = component.start(config)
    told: list[Any] = []
    for event in events:
        told.append(event)
        if others:
            continue  # refusals may depend on the engine's choices
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
