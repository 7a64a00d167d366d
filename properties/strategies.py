"""Cases as Hypothesis strategies: `tidegate.strategies.cases("valve")`.

They use the same generators as bulk generation (`properties/cases/<component>.py`), so interesting cases are defined
once. A generator uses a `random.Random`; here each of its numbers comes from a draw.

Hypothesis shrinks a failing case by drawing less and lower, so low draws mean simple things. The first of several
things is the simplest, a number shrinks towards zero, and likely answers are simpler than unlikely ones. Each round of
a trace, with one event or a few, draws its own bytes: leaving out a round does not change the others. And one byte
keeps or drops each event, while later events are drawn as if it were still there: irrelevant events go one by one,
without changing the rest.
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

#: How often an unwanted config is redrawn before giving up.
PATIENCE = 100
#: How many of the 256 values of a byte end the trace, and how many drop an event.
ENDING, LEFT_OUT = range(8), range(4)
#: One in this many cases has timestamps 1, 2, 3 … in the order of the drawn ones.
RANKED = 16
#: Chances ordered by their likely outcome: about one half means the more likely one.
CHANCES = sorted(((value + 0.5) / 256 for value in range(256)), key=lambda chance: abs(chance - 0.5))


class Bytes:
    """Bytes, drawn several at a time, since each draw of Hypothesis is costly."""

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
        """Start a new draw for the next bytes."""
        self._left = iter(b"")


class Draws(Source):
    """A random source for generators, from draws of Hypothesis."""

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
        """A number from 0 up to the bound. Low bytes mean the same for any bound."""
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
        """0, 1, -1, 2, -2 … if both signs are possible; otherwise away from the bound nearer to zero."""
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
    """Numbers by magnitude, positive first; anything else unchanged."""
    if all(type(item) is int for item in items):
        return sorted(items, key=lambda item: (abs(item), item < 0))
    return items


def configs(component: str, *, semantics: str | None = None) -> SearchStrategy[Any]:
    """Configs of a component, as in its cases; with `semantics` only those with it."""
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
    """Cases of a component, each a config with matching events.

    With `semantics`, all configs have it; with `configs`, they come from that strategy. Shrinks towards few events,
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
