"""Where Spark's event time and Flink's differ: the shortest traces that show it.

Thousands of traces are searched on a model; those that are found then run on Spark itself.
"""

from collections.abc import Iterator
from itertools import islice, product

import attrs

from tidegate.conformance.engines.spark.native.engine import POLICIES
from tidegate.conformance.engines.spark.native.traces import Event, Trace
from tidegate.conformance.judging.event_time.model import WAYS, Way, count_as_specified, explain, predict

#: Windows are ten long: a time in the first, one in the second; and one before the epoch.
TIMES = (1, 11)
BEFORE_THE_EPOCH = (-5,)

#: How the fate of a record can differ, as two sets of records of which the first has one more.
KINDS = {
    "counts what Flink drops as late": lambda spark, flink: spark.counted - flink.counted,
    "drops as late what Flink counts": lambda spark, flink: flink.counted - spark.counted,
    "keeps open a window that Flink emits": lambda spark, flink: (flink.fired - spark.fired) & spark.counted,
    "emits a window that Flink keeps open": lambda spark, flink: (spark.fired - flink.fired) & flink.counted,
}
#: What sources may send besides records, fewest kinds first.
WORDS = {"records alone": "", "with idleness": "i", "with ends": "e"}


@attrs.frozen
class Difference:
    """A trace on which Spark differs from Flink in this kind, and the fewest ways that explain it."""

    kind: str
    policy: str
    trace: Trace
    ways: tuple[Way, ...]


def find_differences(most: int = 4) -> list[Difference]:
    """The shortest trace for each policy and kind: of records alone if there is one, else with idleness or ends.

    For each way that explains none of these alone, the shortest trace that it explains alone is added.
    """
    found = []
    for policy, kind in product(POLICIES, KINDS):
        for words in WORDS:
            trace = find_shortest(policy, kind, words, most)
            if trace is None:
                continue
            found.append(Difference(kind, policy, trace, explain(trace, policy)))
            if words == "records alone":
                break
    for policy, kind in product(POLICIES, KINDS):
        early = find_shortest(policy, kind, "records alone", 1, BEFORE_THE_EPOCH)
        found += [] if early is None else [Difference(kind, policy, early, explain(early, policy))]
    shown = {(one.policy, one.ways) for one in found}
    alone = [(policy, way) for policy in POLICIES for way in WAYS[policy] if (policy, (way,)) not in shown]
    for policy, way in alone:
        found += [make_difference(trace, policy) for trace in find_alone(policy, way, most)]
    return found


def make_difference(trace: Trace, policy: str) -> Difference:
    kind = next(kind for kind in KINDS if differs(trace, policy, kind))
    return Difference(kind, policy, trace, explain(trace, policy))


def find_alone(policy: str, way: Way, most: int) -> Iterator[Trace]:
    """The shortest trace that this way explains alone, if there is one."""
    traces = (trace for words in WORDS for trace in make_traces(words, most, TIMES))
    yield from islice((trace for trace in traces if explain(trace, policy) == (way,)), 1)


def find_shortest(policy: str, kind: str, words: str, most: int, times: tuple[int, ...] = TIMES) -> Trace | None:
    return next((trace for trace in make_traces(words, most, times) if differs(trace, policy, kind)), None)


def differs(trace: Trace, policy: str, kind: str) -> bool:
    return bool(KINDS[kind](predict(trace, policy), count_as_specified(trace)))


def make_traces(words: str, most: int, times: tuple[int, ...]) -> Iterator[Trace]:
    """All traces of two sources: fewer events first, then fewer micro-batches."""
    tokens = [Event(source, "r", time) for time in times for source in (0, 1)]
    tokens += [Event(source, word) for word in WORDS[words] for source in (0, 1)]
    for length in range(1, most + 1):
        for events in product(tokens, repeat=length):
            # By symmetry source 0 comes first; and no source sends anything after its end.
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
