"""Shared by the generators: numbers at the edges, and a mix of event kinds per case."""

from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heapreplace
from itertools import accumulate
from random import Random
from typing import Generic, TypeVar

from tidegate.properties.drawing.dice import Dice, pick
from tidegate.reference.elements import MAX, MIN, Long

Option = TypeVar("Option")

EDGES = (MIN, MIN + 1, -(2**53), -(2**31) - 1, -1, 0, 1, 2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, MAX - 1, MAX)

#: Ids that equal 0 in one or two bytes.
FAR_APART = (2**8, 2**16)

#: Numbers of channels, inputs or the like for cases that the last one decides: one more than masks and tables hold.
COUNTS = (9, 17, 33, 65, 257, 1025)


def clamp(value: int) -> Long:
    return Long(value) if MIN <= value <= MAX else MIN if value < MIN else MAX


def draw_longs(random: Random) -> list[Long]:
    """The values of a case: mostly a few small ones, so that they repeat; at times the edges of 64 bits."""
    style = random.random()
    if style < 0.6:
        return [Long(value) for value in range(random.randint(1, 3), random.randint(4, 12))]
    if style < 0.8:
        base = random.choice(EDGES)
        return [clamp(base + offset) for offset in range(-3, 4)]
    if style < 0.9:
        return [Long(value) for value in EDGES]
    return [Long(random.randint(MIN, MAX)) for _ in range(6)]


#: A kind is rare below this share of the most frequent one.
RARE = 0.2


#: Factors for the frequency of a kind in a case: left out, rare, usual or frequent.
FACTORS = (0, 0.2, 1, 1, 1, 4)


def swarm(random: Random, **usual: float) -> dict[str, float]:
    """The mix of kinds for this case: each kind rare, usual, frequent or left out, the first one never left out.

    A long trace has no rare kinds: they mostly end something, and little happens then.
    """
    first, most = next(iter(usual)), max(usual.values())
    if isinstance(random, Dice) and random.even:
        return dict.fromkeys(usual, 1.0)
    if isinstance(random, Dice) and random.steady:
        return {kind: weight for kind, weight in usual.items() if kind == first or weight >= RARE * most}
    factors = {kind: pick(random, f"share of {kind}", FACTORS) for kind in usual}
    factors[first] = factors[first] or 1
    return {kind: usual[kind] * factor for kind, factor in factors.items() if factor}


def among(random: Random, weights: dict[str, float]) -> Callable[[], tuple[Random, str]]:
    """A function that draws a kind of event, with the stream for its fields.

    Each kind arrives at its own random times, at a rate of its weight, and the next arrival is drawn. So its chance is
    its share, whatever came before; and an added kind comes in between, without changing the others.
    """
    if not isinstance(random, Dice):
        kinds, bounds = list(weights), list(accumulate(weights.values()))
        return lambda: (random, random.choices(kinds, cum_weights=bounds)[0])
    clocks = ((kind, weight, random.waits(f"times of {kind}")) for kind, weight in weights.items() if weight)
    queue = [(next(waits) / weight, kind, weight, waits) for kind, weight, waits in clocks]
    heapify(queue)
    of = random.of

    def draw_next() -> tuple[Random, str]:
        time, kind, weight, waits = queue[0]
        heapreplace(queue, (time + next(waits) / weight, kind, weight, waits))
        return of(kind_name(kind)), kind

    return in_runs(random, draw_next) if random.run > 1 else draw_next


def kind_name(kind: str) -> str:
    """The name of the stream for the fields of a kind of events."""
    return f"event {kind}"


def in_runs(random: Dice, draw: Callable[[], tuple[Random, str]]) -> Callable[[], tuple[Random, str]]:
    """The same kind several times in a row, or as often as the dice allow, so that counters and queues grow."""
    left = 0
    drawn: tuple[Random, str] = (random, "")

    def again() -> tuple[Random, str]:
        nonlocal left, drawn
        if not left:
            drawn = draw()
            left = random.of(f"runs of {drawn[1]}").choice((1, 2, random.run))
        left -= 1
        return drawn

    return again


class Race(Generic[Option]):
    """Draws one of the currently possible options by weight, as `among` does with kinds.

    Options and weights may differ each time. An impossible kind waits.
    """

    def __init__(self, random: Random, kind_of: Callable[[Option], str]) -> None:
        self._random = random
        self._kind_of = kind_of
        self._waits: dict[str, Iterator[float]] = {}
        self._left: dict[str, float] = {}

    def draw(self, options: Sequence[Option], weights: Sequence[float]) -> Option:
        dice = self._random
        if not isinstance(dice, Dice):
            return dice.choices(options, weights)[0]
        by_kind: dict[str, tuple[list[Option], list[float]]] = {}
        for option, weight in zip(options, weights, strict=True):
            of_kind = by_kind.setdefault(self._kind_of(option), ([], []))
            of_kind[0].append(option)
            of_kind[1].append(weight)
        rates = {kind: sum(weights) for kind, (_, weights) in by_kind.items()}
        left = self._left
        for kind in rates.keys() - left.keys():
            self._waits[kind] = dice.waits(f"times of {kind}")
            left[kind] = next(self._waits[kind])
        first = min(rates, key=lambda kind: left[kind] / rates[kind])
        passed = left[first] / rates[first]
        for kind, rate in rates.items():
            left[kind] -= rate * passed
        left[first] = next(self._waits[first])
        return dice.of(kind_name(first)).choices(*by_kind[first])[0]
