"""A run on Spark's own event time as a run log, with the capabilities that Spark has."""

from collections import Counter
from itertools import product

from tidegate.conformance.engines.spark.native.query import Observed
from tidegate.conformance.engines.spark.native.traces import Event, Trace, window_end
from tidegate.traces.runlog import Capabilities, ClockScope, Direction, Edge, Job, Kind, Row, RunLog, renumber

#: Event time is global in the query and moves between micro-batches; tasks exchange nothing else.
CAPABILITIES = Capabilities(
    explicit_watermarks=True,
    idleness=False,
    clock_scope=ClockScope.JOB,
    known_routing=False,
    credit=False,
    checkpoints=False,
    endings=False,
)


def make_log(run: str, trace: Trace, observed: Observed, policy: str) -> RunLog:
    """What happens to a record before it is counted is not visible.

    It is received as often as it was counted, and once if the watermark says that it was dropped as late.
    """
    edges = tuple(Edge(n, f"source{n}", "count", "hash", "all_to_all", 1, 1, 1) for n in range(trace.sources))
    times = Counter(number for ids in observed.order for number in ids)
    rows: list[Row] = []
    watermark = 0
    for batch in range(len(trace.batches)):
        rose, earlier, watermark = observed.watermarks[batch] != watermark, watermark, observed.watermarks[batch]
        sent = [(number, event) for number, at, event in trace.records() if at == batch]
        met = reorder(sent, observed)
        for source in range(trace.sources):
            if rose:
                rows += [make_row(run, direction, source, watermark) for direction in Direction]
            rows += [make_row(run, Direction.OUT, source, *one) for one in sent if one[1].source == source]
        for number, event in met:
            often = times[number] or int(window_end(event.time) <= earlier)
            rows += [make_row(run, Direction.IN, event.source, number, event)] * often
    return renumber(RunLog(run, Job("spark-native", f"spark-{policy}", edges, CAPABILITIES), tuple(rows)))


def reorder(sent: list[tuple[int, Event]], observed: Observed) -> list[tuple[int, Event]]:
    """The records of a micro-batch in processing order: for one source and window, in the order of the count.

    Between sources, and between windows, no order is visible.
    """
    events = dict(sent)
    order = list(events)
    for ids, source in product(observed.order, {event.source for event in events.values()}):
        mine = [number for number in dict.fromkeys(ids) if number in events and events[number].source == source]
        places = sorted(order.index(number) for number in mine)
        for place, number in zip(places, mine, strict=True):
            order[place] = number
    return [(number, events[number]) for number in order]


def make_row(run: str, direction: Direction, source: int, number: int, event: Event | None = None) -> Row:
    """A watermark, or the record with this number."""
    task = "count" if direction is Direction.IN else f"source{source}"
    kind = Kind.WATERMARK if event is None else Kind.RECORD
    time = number if event is None else event.time
    key, identity = (None, None) if event is None else ("A", number)
    return Row(run, task, 0, 0, direction, source, 0, 0, 0, kind, time, key, identity)
