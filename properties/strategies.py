"""Cases as Hypothesis strategies: `tidegate.strategies.cases("valve")`.

They are drawn by the very generators that make cases in bulk (`properties/cases/<component>.py`), so there is one
description of what an interesting case is. A generator asks a `random.Random`; here each answer comes from a draw.

Hypothesis makes a failing case small by drawing less and lower, so what a low draw means is chosen with care. The
first of several things is the simplest, a number shrinks towards zero, and what usually happens is simpler than what
seldom does. Each round of a trace, an event or a few, draws some bytes of its own: a round that is left out moves
nothing in the others. And each event is kept or left out by one byte, while those behind it are drawn as if it were
still there: whatever does not matter goes, one by one, without any change of the rest.
"""

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import attrs

from tidegate.properties.drawing.cases import generator_of
from tidegate.properties.drawing.dice import Source
from tidegate.properties.drawing.timestamps import rank_timestamps
from tidegate.reference.components import COMPONENTS
from tidegate.traces.cases import Case

try:
    from hypothesis import reject
    from hypothesis import strategies as st
    from hypothesis.errors import InvalidArgument
    from hypothesis.strategies import DrawFn, SearchStrategy
except ImportError as error:
    raise ImportError("tidegate.strategies needs Hypothesis: pip install 'tidegate[hypothesis]'") from error

#: How often a config that is not wanted is drawn again before giving up.
PATIENCE = 100
#: Of the 256 values of a byte, those for which there is no further round, and those for which an event is left out.
ENDING, LEFT_OUT = range(8), range(4)
#: One of so many cases has timestamps 1, 2, 3 … in the order of those that were drawn.
RANKED = 16
#: Chances in the order of what usually comes of them: about one half decides for what is more likely.
CHANCES = sorted(((value + 0.5) / 256 for value in range(256)), key=lambda chance: abs(chance - 0.5))


class Bytes:
    """Bytes, drawn several at a time: Hypothesis pays for each draw."""

    def __init__(self, draw: DrawFn, size: int) -> None:
        self._draw = draw
        self._several = st.binary(min_size=size, max_size=size)
        self._left: Iterator[int] = iter(b"")

    def take(self) -> int:
        byte = next(self._left, None)
        if byte is None:
            self._left = iter(self._draw(self._several))
            byte = next(self._left)
        return byte

    def forget(self) -> None:
        """What is taken next comes from a draw of its own."""
        self._left = iter(b"")


class Draws(Source):
    """The answers to a generator, from draws of Hypothesis."""

    def __init__(self, draw: DrawFn, max_events: int | None = None) -> None:
        super().__init__(0)
        self._bytes = Bytes(draw, 16)
        self._keeping = Bytes(draw, 8)
        if max_events is not None:
            self.max_events = max_events

    def part(self) -> None:
        self._bytes.forget()
        self._keeping.forget()

    def goes_on(self) -> bool:
        self.part()
        return self._bytes.take() not in ENDING

    def keeps(self) -> bool:
        return self._keeping.take() not in LEFT_OUT

    def below(self, bound: int) -> int:
        """A number from 0 up to the bound. Low bytes mean the same whatever the bound is."""
        value, values = 0, 1
        while values < bound:
            value, values = value << 8 | self._bytes.take(), values << 8
        return value % bound

    def random(self) -> float:
        return CHANCES[self._bytes.take()]

    def getrandbits(self, k: int, /) -> int:
        return self.below(1 << k)

    def randbytes(self, n: int) -> bytes:
        return bytes(self._bytes.take() for _ in range(n))

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        values = range(start) if stop is None else range(start, stop, step)
        return values[self.below(len(values))]

    def randint(self, a: int, b: int) -> int:
        """0, 1, -1, 2, -2 … if both are possible; otherwise away from the bound that is nearer to zero."""
        drawn = self.below(b - a + 1)
        if a >= 0:
            return a + drawn
        if b <= 0:
            return b - drawn
        both = min(-a, b)
        if drawn <= 2 * both:
            return (drawn + 1) // 2 if drawn % 2 else -(drawn // 2)
        return drawn - both if b > both else both - drawn

    def choice(self, seq: Any) -> Any:
        return by_simplicity(seq)[self.below(len(seq))]

    def choices(self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> list[Any]:
        if weights is not None:
            cum_weights = list(accumulate(weights))
        if cum_weights is None:
            return [population[self.below(len(population))] for _ in range(k)]
        total, last = cum_weights[-1], len(population) - 1
        return [population[bisect(cum_weights, self.below(1 << 16) / (1 << 16) * total, 0, last)] for _ in range(k)]

    def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:  # noqa: ARG002
        left = list(population)
        return [left.pop(self.below(len(left))) for _ in range(k)]

    def shuffle(self, x: Any) -> None:
        x[:] = self.sample(x, len(x))


def by_simplicity(items: Sequence[Any]) -> Sequence[Any]:
    """Numbers by their magnitude, the positive one first; anything else as it stands."""
    if all(type(item) is int for item in items):
        return sorted(items, key=lambda item: (abs(item), item < 0))
    return items


def configs(component: str, *, semantics: str | None = None) -> SearchStrategy[Any]:
    """Configs of a component, such as its cases have; with `semantics` only those that name it."""
    check(component, semantics)
    return configs_accepted(component, lambda config: semantics is None or config.semantics == semantics)


def configs_accepted(component: str, accept: Callable[[Any], bool]) -> SearchStrategy[Any]:
    generator = generator_of(component)

    @st.composite
    def draw_accepted(draw: DrawFn) -> Any:
        source = Draws(draw)
        for _ in range(PATIENCE):
            source.part()
            config = generator.draw_config(source)
            if accept(config):
                return config
        return reject()

    return draw_accepted()


def cases(
    component: str,
    *,
    semantics: str | None = None,
    max_events: int | None = None,
    configs: SearchStrategy[Any] | None = None,
) -> SearchStrategy[Case]:
    """Cases of a component, each a config and events that go with it.

    With `semantics`, all configs name it; with `configs`, they come from that strategy. Shrinks towards few events,
    early choices, and small numbers.
    """
    check(component, semantics)
    if semantics is not None and configs is not None:
        raise InvalidArgument("cases() takes semantics or configs, not both: let the configs name the semantics")
    if max_events is not None and max_events < 0:
        raise InvalidArgument(f"max_events must not be negative, but is {max_events}")
    chosen = configs
    if chosen is None:
        chosen = configs_accepted(component, lambda config: semantics is None or config.semantics == semantics)
    return draw_cases(component, chosen, max_events)


@st.composite
def draw_cases(draw: DrawFn, component: str, configs: SearchStrategy[Any], max_events: int | None) -> Case:
    ranked = has_timestamps(component) and draw(st.integers(0, RANKED - 1)) == 0
    config = draw(configs)
    _, events = generator_of(component).draw(Draws(draw, max_events), config)
    return Case(component, component, config, rank_timestamps(events) if ranked else events)


def has_timestamps(component: str) -> bool:
    return any("timestamp" in attrs.fields_dict(event) for event in COMPONENTS[component].events)


def check(component: str, semantics: str | None) -> None:
    if component not in COMPONENTS:
        raise InvalidArgument(f"there is no component {component!r}; there are {', '.join(COMPONENTS)}")
    known = COMPONENTS[component].semantics
    if semantics is not None and semantics not in known:
        raise InvalidArgument(f"{component} has no semantics {semantics!r}; it has {', '.join(known) or 'only one'}")
