"""Where Spark's event time and that of the specification part: the shortest traces that show it.

Both sides count records in windows. On the side of the specification every source follows each record with a
watermark just below the highest time so far, a valve combines the sources, and a record is late once the watermark
has come to the end of its window. On Spark's side there is a model, since traces are searched by the thousand; what is
found is then run on Spark itself.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import attrs

from conformance.spark.native.traces import Counted, Event, Trace, predict, window_end
from reference import valve
from reference.elements import MAX, MIN, Long, Status

#: Windows are ten long: a time in the first, one in the second; and one before the epoch.
TIMES = (1, 11)
BEFORE_THE_EPOCH = (-5,)


def count_as_specified(trace: Trace, semantics: str = valve.SEMANTICS[0]) -> Counted:
    """A record of an idle source makes it active first; an idle source ends without a last watermark."""
    (state,) = valve.start(valve.Config(trace.sources, semantics))
    reached: dict[int, int] = {}
    idle: set[int] = set()
    counted: dict[int, int] = {}
    number = 0
    for event in (event for batch in trace.batches for event in batch):
        steps: list[valve.Event] = []
        if event.kind == "r":
            if event.source in idle:
                state = follow(state, [valve.ChannelStatus(event.source, Status.ACTIVE)])
            if window_end(event.time) - 1 > state.last:
                counted[number] = event.time
            number += 1
            reached[event.source] = max(event.time - 1, reached.get(event.source, MIN))
            steps = [valve.ChannelWatermark(event.source, Long(reached[event.source]))]
            idle.discard(event.source)
        elif event.kind == "e":
            steps = [] if event.source in idle else [valve.ChannelWatermark(event.source, MAX)]
        else:
            steps = [valve.ChannelStatus(event.source, Status.IDLE if event.kind == "i" else Status.ACTIVE)]
            (idle.add if event.kind == "i" else idle.discard)(event.source)
        state = follow(state, steps)
    fired = frozenset(one for one, time in counted.items() if window_end(time) - 1 <= state.last)
    return Counted(frozenset(counted), fired)


def follow(state: valve.State, events: list[valve.Event]) -> valve.State:
    for event in events:
        (outcome,) = valve.step(state, event)
        state = outcome.state
    return state


# --- differences ----------------------------------------------------------------------------------------------

#: What can differ of a record, as two sets of records of which the first has one more.
KINDS = {
    "counts what Flink drops as late": lambda spark, flink: spark.counted - flink.counted,
    "drops as late what Flink counts": lambda spark, flink: flink.counted - spark.counted,
    "keeps open a window that Flink puts out": lambda spark, flink: (flink.fired - spark.fired) & spark.counted,
    "puts out a window that Flink keeps open": lambda spark, flink: (spark.fired - flink.fired) & flink.counted,
}
#: What sources may say besides records, from the least to the most.
WORDS = {"records alone": "", "with idleness": "i", "with ends": "e"}


@attrs.frozen
class Difference:
    kind: str
    policy: str
    words: str
    trace: Trace


def find_differences(most: int = 4) -> list[Difference]:
    """For each policy and kind the shortest trace: of records alone if there is one, else of what else it takes."""
    found = []
    for policy, kind in product(("min", "max"), KINDS):
        for words in WORDS:
            trace = find_shortest(policy, kind, words, most)
            if trace is None:
                continue
            found.append(Difference(kind, policy, words, trace))
            if words == "records alone":
                break
    for policy, kind in product(("min", "max"), KINDS):
        early = find_shortest(policy, kind, "records alone", 1, BEFORE_THE_EPOCH)
        found += [] if early is None else [Difference(kind, policy, "before the epoch", early)]
    return found


def find_shortest(policy: str, kind: str, words: str, most: int, times: tuple[int, ...] = TIMES) -> Trace | None:
    return next((trace for trace in make_traces(words, most, times) if differs(trace, policy, kind)), None)


def differs(trace: Trace, policy: str, kind: str) -> bool:
    return bool(KINDS[kind](predict(trace, policy), count_once(trace)))


@cache
def count_once(trace: Trace) -> Counted:
    return count_as_specified(trace)


def make_traces(words: str, most: int, times: tuple[int, ...]) -> Iterator[Trace]:
    """All traces of two sources, those with fewer events first, and of those the ones with fewer micro-batches."""
    tokens = [Event(source, "r", time) for time in times for source in (0, 1)]
    tokens += [Event(source, word) for word in WORDS[words] for source in (0, 1)]
    for length in range(1, most + 1):
        for events in product(tokens, repeat=length):
            # By symmetry source 0 comes first; and nobody speaks behind his end.
            if events[0].source != 0 or is_behind_an_end(events):
                continue
            for cuts in sorted(product((False, True), repeat=length - 1), key=sum):
                yield Trace(cut(events, cuts))


def is_behind_an_end(events: tuple[Event, ...]) -> bool:
    ended = [place for place, event in enumerate(events) if event.kind == "e"]
    return any(later.source == events[place].source for place in ended for later in events[place + 1 :])


def cut(events: tuple[Event, ...], cuts: tuple[bool, ...]) -> tuple[tuple[Event, ...], ...]:
    batches = [[events[0]]]
    for event, begins in zip(events[1:], cuts, strict=True):
        if begins:
            batches.append([])
        batches[-1].append(event)
    return tuple(tuple(batch) for batch in batches)
