"""What the generators share: numbers at the edges, and a mix of event kinds for each case."""

from bisect import bisect
from collections.abc import Callable
from itertools import accumulate
from random import Random

from tidegate.properties.drawing.walk import Dice, Source
from tidegate.reference.elements import MAX, MIN, Long

EDGES = (MIN, MIN + 1, -(2**53), -(2**31) - 1, -1, 0, 1, 2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, MAX - 1, MAX)

#: Ids that a number of one or of two bytes takes for the same as 0.
FAR_APART = (2**8, 2**16)

#: So many channels, inputs or the like, where the last of them is to decide: one more than masks and tables hold.
COUNTS = (9, 17, 33, 65, 257, 1025)


def clamp(value: int) -> Long:
    return Long(value) if MIN <= value <= MAX else MIN if value < MIN else MAX


def draw_longs(random: Random) -> list[Long]:
    """The values of one case: mostly a handful of small ones, so that they meet; at times the edges of 64 bits."""
    style = random.random()
    if style < 0.6:
        return [Long(value) for value in range(random.randint(1, 3), random.randint(4, 12))]
    if style < 0.8:
        base = random.choice(EDGES)
        return [clamp(base + offset) for offset in range(-3, 4)]
    if style < 0.9:
        return [Long(value) for value in EDGES]
    return [Long(random.randint(MIN, MAX)) for _ in range(6)]


#: A kind that comes less often than this share of the most frequent one is rare.
RARE = 0.2


def swarm(random: Random, **usual: float) -> dict[str, float]:
    """A mix of this case's own: each kind rare, usual, frequent or left out, the first one never left out.

    Of a trace that is to go on for long, what is rare is left out: it mostly ends something, and little happens then.
    """
    first, most = next(iter(usual)), max(usual.values())
    if isinstance(random, Dice) and random.even:
        return dict.fromkeys(usual, 1.0)
    if isinstance(random, Dice) and random.steady:
        return {kind: weight for kind, weight in usual.items() if kind == first or weight >= RARE * most}
    factors = {kind: random.choice((0, 0.2, 1, 1, 1, 4)) for kind in usual}
    factors[first] = factors[first] or 1
    return {kind: usual[kind] * factor for kind, factor in factors.items() if factor}


def among(random: Random, weights: dict[str, float]) -> Callable[[], str]:
    """A function that draws one of the kinds of events."""
    kinds, bounds = list(weights), list(accumulate(weights.values()))
    if isinstance(random, Source):
        return lambda: random.choices(kinds, cum_weights=bounds)[0]
    # The same as `choices` does, which looks at much more for one kind than it costs to find it.
    last, total, draw = len(kinds) - 1, bounds[-1] + 0.0, random.random
    if isinstance(random, Dice) and random.run > 1:
        return in_runs(random, lambda: kinds[bisect(bounds, draw() * total, 0, last)])
    return lambda: kinds[bisect(bounds, draw() * total, 0, last)]


def in_runs(dice: Dice, draw: Callable[[], str]) -> Callable[[], str]:
    """The same: a few times, or as often as the dice say, so that what is counted or queued becomes much."""
    left, kind = 0, ""

    def again() -> str:
        nonlocal left, kind
        if not left:
            left, kind = dice.choice((1, 2, dice.run)), draw()
        left -= 1
        return kind

    return again
