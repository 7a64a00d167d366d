"""A windowed count as Flink does it, and the ways in which Spark's own event time differs.

On Flink's side every source follows each record with a watermark just below the highest time so far, a valve combines
the sources, and a record is late once the watermark has reached the end of its window. Each *way* changes one thing of
that. Without any, this is Flink; with all of them, it is Spark. A difference on a trace is due to the fewest ways that
reproduce it.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations

import attrs

from tidegate.conformance.engines.spark.native.traces import Counted, Event, Trace, window_end
from tidegate.reference.elements import MAX, MIN, Long, Status
from tidegate.reference.watermarks import valve


@attrs.frozen
class Way:
    """What Spark does, and the rules of the specification that say otherwise."""

    name: str
    says: str
    rules: tuple[str, ...]


MICRO_BATCHES = Way(
    "micro-batches", "event time moves between micro-batches, not with each record", ("VALVE-4", "VALVE-5")
)
BATCH_BEFORE = Way(
    "batch-before", "the watermark of the micro-batch before decides what is late", ("VALVE-4", "VALVE-5")
)
NO_IDLENESS = Way("no-idleness", "no source can say that it is idle", ("VALVE-8", "VALVE-9", "VALVE-10"))
NO_ENDS = Way("no-ends", "the end of a source is not the end of its event time", ("VALVE-15", "TASK-7"))
FASTEST = Way(
    "fastest-source",
    "the fastest source decides, not the slowest, idle or not",
    ("VALVE-5", "VALVE-8"),
)
EPOCH = Way("epoch", "event time begins at 0, not at the smallest timestamp", ("VALVE-1",))

#: What the engine declares, by policy.
WAYS = {
    "min": (MICRO_BATCHES, BATCH_BEFORE, NO_IDLENESS, NO_ENDS, EPOCH),
    "max": (MICRO_BATCHES, BATCH_BEFORE, NO_ENDS, FASTEST, EPOCH),
}


def count_as_specified(trace: Trace) -> Counted:
    return count(trace, ())


def predict(trace: Trace, policy: str) -> Counted:
    """What Spark should do on the trace, if it behaves as declared."""
    return count(trace, WAYS[policy])


def explain(trace: Trace, policy: str) -> tuple[Way, ...]:
    """The fewest ways that reproduce what Spark should do on the trace; none where it does as Flink does."""
    seen = predict(trace, policy)
    return next(ways for ways in subsets(WAYS[policy]) if count(trace, ways) == seen)


def subsets(ways: tuple[Way, ...]) -> Iterator[tuple[Way, ...]]:
    for size in range(len(ways) + 1):
        yield from combinations(ways, size)


@cache
def count(trace: Trace, ways: tuple[Way, ...]) -> Counted:
    """The count of a trace, changed in these ways."""
    unheard = ("ia" if NO_IDLENESS in ways else "") + ("e" if NO_ENDS in ways else "")
    clock: Slowest | Fastest = Fastest() if FASTEST in ways else Slowest(trace.sources)
    if EPOCH in ways:
        for source in range(trace.sources):
            clock.hear(Event(source, "r", 0))
    began = clock.now
    counted: dict[int, int] = {}
    number = 0
    for batch in trace.batches:
        before, began = began, clock.now
        for event in batch:
            if event.kind == "r":
                # A valve emits nothing when a channel becomes active: a late clock changes nothing.
                limit = before if BATCH_BEFORE in ways else began if MICRO_BATCHES in ways else clock.now
                if window_end(event.time) - 1 > limit:
                    counted[number] = event.time
                number += 1
            if event.kind not in unheard:
                clock.hear(event)
    fired = frozenset(one for one, time in counted.items() if window_end(time) - 1 <= clock.now)
    return Counted(frozenset(counted), fired)


# --- clocks ---------------------------------------------------------------------------------------------------


class Slowest:
    """A valve. A record of an idle source makes it active first; an idle source ends without a last watermark."""

    def __init__(self, sources: int) -> None:
        (self._state,) = valve.start(valve.Config(sources, valve.SEMANTICS[0]))
        self._reached: dict[int, int] = {}
        self._idle: set[int] = set()

    @property
    def now(self) -> int:
        return self._state.last

    def hear(self, event: Event) -> None:
        source = event.source
        if event.kind == "r":
            if source in self._idle:
                self.hear(Event(source, "a"))
            self._reached[source] = max(event.time - 1, self._reached.get(source, MIN))
            self._follow(valve.ChannelWatermark(source, Long(self._reached[source])))
        elif event.kind == "e":
            if source not in self._idle:
                self._follow(valve.ChannelWatermark(source, MAX))
        else:
            (self._idle.add if event.kind == "i" else self._idle.discard)(source)
            self._follow(valve.ChannelStatus(source, Status.IDLE if event.kind == "i" else Status.ACTIVE))

    def _follow(self, event: valve.Event) -> None:
        (outcome,) = valve.step(self._state, event)
        self._state = outcome.state


class Fastest:
    """The highest of all watermarks; idleness does not matter."""

    def __init__(self) -> None:
        self.now: int = MIN

    def hear(self, event: Event) -> None:
        if event.kind == "r":
            self.now = max(self.now, event.time - 1)
        elif event.kind == "e":
            self.now = MAX
