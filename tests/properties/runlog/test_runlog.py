"""Invariants over run logs: they hold of every job, and a corrupted log is caught by the one that names the fault."""

from collections import Counter
from functools import lru_cache
from random import Random

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.properties.cases import job as strategy
from tidegate.properties.runlog import INVARIANTS, Status, check
from tidegate.properties.runlog.recording import make_log, record
from tidegate.reference.elements import MAX
from tidegate.reference.job.examples import make_word_count
from tidegate.reference.job.programs import Wire
from tidegate.reference.job.step import is_done
from tidegate.reference.watermarks import valve
from tidegate.traces import runlog

#: 2,000 random jobs, in parts that can run side by side.
PARTS, JOBS_EACH = 8, 100


@lru_cache(300)
def run_of(seed):
    random = Random(f"runlog/{seed}")
    config = strategy.draw_program(random)
    run = strategy.draw_run(random, config)
    return make_log(config, run.seen, f"job-{seed}", complete=is_done(run.state)), run


def failed(log):
    return {verdict.invariant for verdict in check(log) if verdict.status is Status.FAILED}


@pytest.mark.parametrize("part", range(PARTS))
def test_random_jobs_keep_all_invariants(part):
    for seed in range(part * JOBS_EACH, (part + 1) * JOBS_EACH):
        log, run = run_of(seed)
        assert is_done(run.state), seed
        assert failed(log) == set(), seed


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False))
def test_jobs_that_are_cut_off_keep_them_too(random):
    config, choices = strategy.draw(random)
    assert failed(record(config, choices)) == set()


def test_random_jobs_are_of_every_kind():
    kinds, partitioners, verdicts = Counter(), set(), Counter()
    for seed in range(60):
        log, _run = run_of(seed)
        kinds.update(row.kind for row in log.rows)
        partitioners |= {edge.partitioner for edge in log.job.edges}
        verdicts.update((verdict.invariant, verdict.status) for verdict in check(log))
    assert set(kinds) == set(runlog.Kind) - {runlog.Kind.LATENCY_MARKER} - runlog.OWN_KINDS
    assert partitioners == {"forward", "rebalance", "rescale", "global", "broadcast", "hash"}
    assert verdicts["LOG-CREDIT", Status.PASSED] > 5
    assert verdicts["LOG-CREDIT", Status.SKIPPED] > 5


# --- corrupted logs -------------------------------------------------------------------------------------------


def rebuilt(log, rows):
    return runlog.renumber(attrs.evolve(log, rows=tuple(rows)))


def places(log, test):
    return [place for place, row in enumerate(log.rows) if test(row)]


def is_received_record(row):
    return row.kind is runlog.Kind.RECORD and row.dir is runlog.Direction.IN


def next_on_channel(log, place):
    """The next element on the same side of the same channel."""
    row = log.rows[place]
    side = (row.dir, row.channel, row.flow)
    later = places(log, lambda one: (one.dir, one.channel, one.flow) == side)
    return next((one for one in later if one > place), None)


def dropped(log, random):
    place = random.choice(places(log, is_received_record) or [None])
    return None if place is None else rebuilt(log, [row for at, row in enumerate(log.rows) if at != place])


def doubled(log, random):
    place = random.choice(places(log, is_received_record) or [None])
    return None if place is None else rebuilt(log, [*log.rows[: place + 1], *log.rows[place:]])


def invented(log, random):
    place = random.choice(places(log, is_received_record) or [None])
    if place is None:
        return None
    made_up = attrs.evolve(log.rows[place], id=10**9)
    return rebuilt(log, [*log.rows[: place + 1], made_up, *log.rows[place + 1 :]])


def swap(log, first, second):
    rows = list(log.rows)
    rows[first], rows[second] = rows[second], rows[first]
    return rebuilt(log, rows)


def swapped(log, random):
    """Two records that follow one another on a channel are received the other way round."""
    pairs = [(place, next_on_channel(log, place)) for place in places(log, is_received_record)]
    pairs = [(one, two) for one, two in pairs if two is not None and log.rows[two].kind is runlog.Kind.RECORD]
    return swap(log, *random.choice(pairs)) if pairs else None


def find_sent(log, received):
    wanted = (runlog.Direction.OUT, received.channel, received.kind, received.id, received.timestamp, received.value)
    return places(log, lambda row: (row.dir, row.channel, row.kind, row.id, row.timestamp, row.value) == wanted)[0]


def re_routed(log, random):
    """A record is sent to another consumer, and received there, in its place among what that one is sent."""
    edges = {edge.number: edge for edge in log.job.edges if edge.partitioner in ("hash", "global")}
    found = places(log, lambda row: is_received_record(row) and row.edge in edges and edges[row.edge].consumers > 1)
    if not found:
        return None
    received = random.choice(found)
    row = log.rows[received]
    sent = find_sent(log, row)
    other = (row.consumer + 1) % edges[row.edge].consumers
    rows = list(log.rows)
    rows[sent] = attrs.evolve(rows[sent], consumer=other)
    follower = next(
        one
        for one in rows[sent + 1 :]
        if (one.dir, one.channel, one.flow) == (runlog.Direction.OUT, rows[sent].channel, None)
    )
    before = find_received(rows, follower)
    moved = attrs.evolve(row, consumer=other, subtask=other)
    rows.insert(before, moved)
    del rows[received + (before <= received)]
    return rebuilt(log, rows)


def find_received(rows, sent):
    """Statuses are the only elements that look alike; they come in the order sent."""
    alike = [
        place
        for place, row in enumerate(rows)
        if (row.channel, row.kind, row.id, row.timestamp, row.value)
        == (sent.channel, sent.kind, sent.id, sent.timestamp, sent.value)
    ]
    of_side = {side: [place for place in alike if rows[place].dir is side] for side in runlog.Direction}
    return of_side[runlog.Direction.IN][[rows[place] is sent for place in of_side[runlog.Direction.OUT]].index(True)]


def regressed(log, random):
    """A channel carries a watermark that is lower than the one before it, on both sides."""
    found = []
    for place in places(log, lambda row: row.kind is runlog.Kind.WATERMARK and row.dir is runlog.Direction.OUT):
        following = next_on_channel(log, place)
        while following is not None and log.rows[following].kind is not runlog.Kind.WATERMARK:
            following = next_on_channel(log, following)
        if following is not None and log.rows[following].timestamp != MAX:
            found.append((place, following))
    if not found:
        return None
    place, following = random.choice(found)
    later, lower = log.rows[following], log.rows[place].timestamp - 1
    alike = (later.channel, later.kind, later.timestamp)
    return rebuilt(
        log,
        [attrs.evolve(r, timestamp=lower) if (r.channel, r.kind, r.timestamp) == alike else r for r in log.rows],
    )


def overtaken(log, random):
    """A record is received behind the watermark that was sent after it, and says that it is in time."""
    pairs = [(place, next_on_channel(log, place)) for place in places(log, is_received_record)]
    pairs = [
        (one, two)
        for one, two in pairs
        if two is not None
        and log.rows[two].kind is runlog.Kind.WATERMARK
        and log.rows[two].timestamp >= log.rows[one].timestamp
    ]
    return swap(log, *random.choice(pairs)) if pairs else None


def leaked(log, random):
    """What lies behind a barrier is read before the barrier has come on the other channels."""
    found = []
    barriers = places(log, lambda row: row.kind is runlog.Kind.BARRIER and row.dir is runlog.Direction.IN)
    for place in barriers:
        following = next_on_channel(log, place)
        mates = [one for one in barriers if place < one < following and is_alike(log.rows[one], log.rows[place])]
        found += [(one, following) for one in mates[-1:] if log.rows[following].kind is runlog.Kind.RECORD]
    if not found:
        return None
    barrier, following = random.choice(found)
    rows = list(log.rows)
    rows.insert(barrier, rows.pop(following))
    return rebuilt(log, rows)


def is_alike(one, other):
    return (one.task, one.subtask, one.value) == (other.task, other.subtask, other.value)


def repeated_status(log, random):
    """Idleness is announced twice, on both sides."""
    found = places(log, lambda row: row.kind is runlog.Kind.STATUS and row.dir is runlog.Direction.OUT)
    if not found:
        return None
    sent = random.choice(found)
    received = find_received(list(log.rows), log.rows[sent])
    rows = list(log.rows)
    for place in sorted((sent, received), reverse=True):
        rows.insert(place, rows[place])
    return rebuilt(log, rows)


def continued(log, random):
    """A record is sent and received behind the end of data."""
    found = []
    for sent in places(log, lambda row: row.kind is runlog.Kind.END_OF_DATA and row.dir is runlog.Direction.OUT):
        edge = next(edge for edge in log.job.edges if edge.number == log.rows[sent].edge)
        if edge.partitioner in ("global", "forward") and edge.consumers == 1:
            found.append(sent)
    if not found:
        return None
    sent = random.choice(found)
    received = find_received(list(log.rows), log.rows[sent])
    rows = list(log.rows)
    for place in sorted((sent, received), reverse=True):
        rows.insert(place + 1, attrs.evolve(rows[place], kind=runlog.Kind.RECORD, id=10**9, timestamp=0))
    return rebuilt(log, rows)


def unpaid(log, random):
    """A buffer is sent before the credit for it has come."""
    first = [
        place
        for place in places(log, lambda row: row.kind is runlog.Kind.CREDIT and row.dir is runlog.Direction.IN)
        if log.rows[place].position == 0 and log.job.edges[0].initial_credit == 0
    ]
    if not first:
        return None
    credit = random.choice(first)
    later = places(
        log,
        lambda row: (
            (row.kind, row.dir, row.channel) == (runlog.Kind.BUFFER, runlog.Direction.OUT, log.rows[credit].channel)
        ),
    )
    if not later:
        return None
    rows = list(log.rows)
    rows.insert(credit, rows.pop(later[0]))
    return rebuilt(log, rows)


def own(row, kind, **fields):
    """A row of the same subtask alone."""
    fields = dict.fromkeys(("timestamp", "key", "id", "value")) | fields
    place = {"dir": runlog.Direction.OUT, "edge": runlog.OWN, "producer": row.subtask, "consumer": row.subtask}
    return attrs.evolve(row, kind=runlog.Kind(kind), **place, **fields)


def hurried(log, random):
    """A subtask that passes records on says that a time is over, and then sends its last record as of that time."""
    passers = {edge.target for edge in log.job.edges} & {edge.source for edge in log.job.edges}
    sent = [
        at
        for at, row in enumerate(log.rows)
        if row.kind is runlog.Kind.RECORD and row.dir is runlog.Direction.OUT and row.task in passers and row.timestamp
    ]
    if not sent:
        return None
    row = log.rows[sent[-1]]
    before, behind = (
        [one for one in part if (one.task, one.subtask) == (row.task, row.subtask)]
        for part in (log.rows[: sent[-1]], log.rows[sent[-1] + 1 :])
    )
    times = [one.timestamp for one in before if one.kind is runlog.Kind.WATERMARK and one.dir is runlog.Direction.OUT]
    if any(one.timestamp is not None and one.timestamp <= max(times, default=0) for one in (row, before[-1])):
        return None  # late already
    if any(one.kind is runlog.Kind.RECORD and (one.timestamp or 0) <= row.timestamp for one in behind):
        return None  # that would be late, too
    rows = [*log.rows[: sent[-1]], own(row, "clock", timestamp=row.timestamp), *log.rows[sent[-1] :]]
    return rebuilt(log, rows)


CORRUPTIONS = [
    (dropped, {"LOG-LOSS"}, set()),
    (doubled, {"LOG-LOSS"}, set()),
    (invented, {"LOG-LOSS"}, set()),
    (swapped, {"LOG-ORDER"}, set()),
    (re_routed, {"LOG-ROUTE"}, set()),
    (regressed, {"LOG-WATERMARK"}, set()),
    (overtaken, {"LOG-ORDER"}, {"LOG-LATE"}),
    (hurried, {"LOG-MADE-LATE"}, set()),
    (leaked, {"LOG-BARRIER"}, set()),
    (repeated_status, {"LOG-STATUS"}, set()),
    (continued, {"LOG-END"}, {"LOG-MADE-LATE"}),
    (unpaid, {"LOG-CREDIT"}, set()),
]


@pytest.mark.parametrize(("corrupt", "named", "related"), CORRUPTIONS, ids=lambda one: getattr(one, "__name__", ""))
def test_a_corrupted_log_is_caught_by_what_names_the_fault(corrupt, named, related):
    """And by nothing that is not about it. A record that a watermark has overtaken may be made late by that."""
    seen = Counter()
    for seed in range(200):
        log, _run = run_of(seed)
        corrupted = corrupt(log, Random(seed))
        if corrupted is not None:
            found = failed(corrupted)
            assert named <= found <= named | related, seed
            seen.update(found)
    assert all(seen[invariant] >= 5 for invariant in named | related)


def test_a_violation_says_where():
    config = make_word_count()
    run = strategy.draw_run(Random(1), config)
    log = make_log(config, run.seen, "the run")
    place = places(log, is_received_record)[2]
    lost = log.rows[place]
    (verdict,) = [one for one in check(rebuilt(log, [r for r in log.rows if r is not lost])) if one.violations]
    (violation,) = verdict.violations
    assert (verdict.invariant, violation.run, violation.channel) == ("LOG-LOSS", "the run", lost.channel)
    assert violation.message == f"record {lost.id} was sent and not received"
    sent = log.rows[find_sent(log, lost)]
    assert violation.position == sent.position
    assert sent in violation.around
    assert 2 <= len(violation.around) <= 7


# --- an engine that is wrong ----------------------------------------------------------------------------------


def test_an_eager_valve_makes_records_late(monkeypatch):
    monkeypatch.setattr(
        valve,
        "aligned_minimum",
        lambda state: max((one.watermark for one in state.channels if one.aligned), default=None),
    )
    found = Counter()
    for seed in range(150):
        found.update(failed(run_of.__wrapped__(seed)[0]))
    assert set(found) == {"LOG-LATE"}


# --- a small log by hand --------------------------------------------------------------------------------------

EDGE = runlog.Edge(0, "in", "out", "forward", "pointwise", 1, 1)


def small_log(*rows, capabilities=None, complete=False):
    made = [
        runlog.Row(
            "run",
            "in" if side == "out" else "out",
            0,
            0,
            runlog.Direction(side),
            0,
            0,
            0,
            0,
            runlog.Kind(kind),
            **fields,
        )
        for side, kind, fields in rows
    ]
    return runlog.renumber(
        runlog.RunLog(
            "run",
            runlog.Job("test", "flink-7728", (EDGE,), capabilities or runlog.Capabilities()),
            tuple(made),
            complete,
        )
    )


def test_equal_watermarks_are_right_where_an_engine_says_so():
    twice = [("out", "watermark", {"timestamp": 3})] * 2
    assert failed(small_log(*twice)) == {"LOG-WATERMARK"}
    assert failed(small_log(*twice, capabilities=runlog.Capabilities(equal_watermarks=True))) == set()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("out", "end_of_partition", {})], "the partition ends before its data"),
        (
            [("out", "watermark", {"timestamp": 3}), ("out", "end_of_data", {})],
            "the source ends at watermark 3, not at",
        ),
        ([("out", "end_of_data", {})], "the source ends at watermark None, not at"),
        ([("out", "end_of_data", {}), ("out", "end_of_data", {})], "end_of_data behind the end of data"),
    ],
)
def test_wrong_ends(rows, message):
    (verdict,) = [one for one in check(small_log(*rows)) if one.invariant == "LOG-END"]
    assert any(message in violation.message for violation in verdict.violations)


def test_a_run_that_is_over_has_ended_its_channels():
    rows = [("out", "record", {"id": 1, "timestamp": 1}), ("in", "record", {"id": 1, "timestamp": 1})]
    assert failed(small_log(*rows)) == set()
    assert failed(small_log(*rows, complete=True)) == {"LOG-END"}


def test_what_is_still_on_its_way_is_not_lost():
    sent = [("out", "record", {"id": number, "timestamp": 1}) for number in (1, 2, 3)]
    assert failed(small_log(*sent, ("in", "record", {"id": 1, "timestamp": 1}))) == set()
    assert failed(small_log(*sent, ("in", "record", {"id": 2, "timestamp": 1}))) == {"LOG-LOSS"}


MIDDLE = (
    runlog.Edge(0, "in", "mid", "rebalance", "all_to_all", 2, 1),
    runlog.Edge(1, "mid", "out", "custom", "all_to_all", 1, 1),
)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("i0 barrier 1, i1 barrier 1, o barrier 1, i0 record 5, o record 6", None),
        ("i0 barrier 1, i1 end_of_data 0, i1 end_of_partition 0, o barrier 1, i0 barrier 2, o barrier 2", None),
        ("i0 end_of_data 0, i0 end_of_partition 0, i1 end_of_data 0, i1 end_of_partition 0, o barrier 1", None),
        (
            "i0 end_of_data 0, i0 end_of_partition 0, i1 end_of_data 0, o barrier 1",
            "barrier 1 is sent before it was met",
        ),
        ("i0 barrier 1, i0 record 5", "record is read behind a barrier"),
        ("i0 barrier 1, i1 barrier 2", "barrier 2 is met while others wait for barrier 1"),
        ("i0 barrier 1, o barrier 1, i1 barrier 1", "barrier 1 is sent before it was met"),
        ("i0 barrier 1, i1 barrier 1, o record 6, o barrier 1", "record is sent before barrier 1"),
    ],
)
def test_barriers_cut_every_channel(rows, message):
    """`i0`: the task in the middle receives from producer 0; `o`: it hands out. Its inputs are logged as sent, too."""
    made = []
    for side, kind, number in (text.split() for text in rows.split(", ")):
        fields = {"id": int(number)} if kind == "record" else {"value": int(number)}
        channel = (0, int(side[1]), 0) if side[0] == "i" else (1, 0, 0)
        if side[0] == "i":
            made.append(
                runlog.Row("run", "in", channel[1], 0, runlog.Direction.OUT, *channel, 0, runlog.Kind(kind), **fields)
            )
        made.append(
            runlog.Row(
                "run",
                "mid",
                0,
                0,
                runlog.Direction({"i": "in", "o": "out"}[side[0]]),
                *channel,
                0,
                runlog.Kind(kind),
                **fields,
            )
        )
    log = runlog.renumber(runlog.RunLog("run", runlog.Job("test", "flink-7728", MIDDLE), tuple(made), complete=False))
    (verdict,) = [one for one in check(log) if one.invariant == "LOG-BARRIER"]
    assert [message in one.message for one in verdict.violations[:1]] == ([] if message is None else [True])


@pytest.mark.parametrize(
    ("lacking", "skipped"),
    [
        ({"explicit_watermarks": False}, {"LOG-WATERMARK", "LOG-LATE", "LOG-MADE-LATE"}),
        ({"clock_scope": runlog.ClockScope.JOB}, {"LOG-LATE", "LOG-MADE-LATE"}),
        ({"order_scope": runlog.OrderScope.NONE}, {"LOG-ORDER"}),
        ({"known_routing": False, "keys_meet": True}, set()),
        ({"idleness": False}, {"LOG-STATUS"}),
        ({"known_routing": False}, {"LOG-ROUTE"}),
        ({"credit": False}, {"LOG-CREDIT"}),
        ({"checkpoints": False}, {"LOG-BARRIER"}),
        ({"endings": False}, {"LOG-END"}),
        ({}, set()),
    ],
)
def test_what_an_engine_cannot_show_is_skipped(lacking, skipped):
    log, _run = run_of(1)
    able = attrs.evolve(log.job.capabilities, **{"credit": True, **lacking})
    verdicts = check(attrs.evolve(log, job=attrs.evolve(log.job, capabilities=able)))
    unknown = {"LOG-RESULT", "LOG-RECOVER"}  # nobody has said what is expected, and it was never restored
    assert {verdict.invariant for verdict in verdicts if verdict.status is Status.SKIPPED} == skipped | unknown
    assert all(verdict.reason for verdict in verdicts if verdict.status is Status.SKIPPED)


def test_invariants_have_ids_and_statements():
    names = "WATERMARK ORDER LOSS ROUTE CREDIT LATE MADE-LATE STATUS END BARRIER RESULT RECOVER"
    assert [one.id for one in INVARIANTS] == [f"LOG-{name}" for name in names.split()]
    assert all(one.statement.endswith(".") for one in INVARIANTS)


# --- files ----------------------------------------------------------------------------------------------------


def test_a_log_that_counts_wrongly_is_refused():
    log, _run = run_of(0)
    for wrong in (log.rows[1:], [*log.rows[:3], *log.rows[2:]]):
        with pytest.raises(runlog.MalformedLogError):
            runlog.check_numbers(attrs.evolve(log, rows=tuple(wrong)))


def test_a_log_is_written_and_read(tmp_path):
    pytest.importorskip("pyarrow")
    config = make_word_count(Wire(16, 0, 1))
    log = make_log(config, strategy.draw_run(Random(2), config).seen, "a run")
    runlog.write_runlog(tmp_path / "log.parquet", log)
    assert runlog.read_runlog(tmp_path / "log.parquet") == log
