"""Runs of several attempts, spliced at what they were restored from: by folds and by kernels alike."""

from collections import Counter
from random import Random

import attrs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.properties.runlog.test_runlog import own, run_of
from tidegate.properties.runlog import Status, check
from tidegate.traces import runlog
from tidegate.traces.runlog import Delivery, Direction, Kind, OrderScope, Result

pytest.importorskip("pyarrow")
pytest.importorskip("numpy")

from tests.properties.kernels.test_kernels import by_kernel, chunks_of
from tidegate.properties.kernels.run import audit_run

#: A run that is told in two attempts goes on with old statuses, turns and ends: what is said of these is not new there.
OF_SPLICING = {"LOG-LOSS", "LOG-ORDER", "LOG-RECOVER", "LOG-RESULT"}


def restored_run(seed, cut, undone, restarts=1):
    """A clean run that was restored: rows up to the cut, snapshots, some rows that are undone, and the rest again.

    What the specification logs comes in the order of causes, so that every prefix of it is a cut. Checkpoint 0 is the
    beginning; with more restarts the same checkpoint is restored more than once.
    """
    log = run_of(seed)[0]
    rows = [row for row in log.rows if row.kind is not Kind.BARRIER]
    cut, places = int(len(rows) * cut), list({(row.task, row.subtask): row for row in rows}.values())
    before, after = rows[:cut], rows[cut:]
    made = [*before, *(own(row, "snapshot", value=1, id=7) for row in places), *after[:undone]]
    for attempt in range(1, restarts + 1):
        count = len(after) if attempt == restarts else undone
        again = [*(own(row, "restored", value=1, id=7) for row in places), *after[:count]]
        made += [attrs.evolve(row, attempt=attempt) for row in again]
    job = attrs.evolve(log.job, restored={str(attempt): 1 for attempt in range(1, restarts + 1)})
    return runlog.renumber(attrs.evolve(log, job=job, rows=tuple(made)))


def by_fold(log):
    found = Counter()
    for verdict in check(log):
        found.update((one.invariant, one.attempt, one.channel, one.position, one.message) for one in verdict.violations)
    return found


def by_kernels(log, sizes=(7, 1, 30)):
    by_kernel(log, sizes)
    tallies = audit_run(log.job, chunks_of(log, sizes), complete=log.complete).tallies
    found = [one for tally in tallies.values() for one in tally.findings]
    return Counter((one.invariant, one.attempt, one.channel, one.position, one.message) for one in found)


def named(found):
    return {one[0] for one in found} & OF_SPLICING


def rebuilt(log, rows):
    return runlog.renumber(attrs.evolve(log, rows=tuple(rows)))


def test_attempts_are_spliced_where_they_were_restored():
    """Merely one behind the other they would show losses and doubles, or nothing was undone."""
    concatenated = 0
    for seed in range(40):
        for cut, undone, restarts in ((0.3, 9, 1), (0.6, 4, 2), (0.0, 5, 1)):
            log = restored_run(seed, cut, undone, restarts)
            if log.rows:
                assert named(by_fold(log)) == set(), seed
                assert by_kernels(log) == by_fold(log), seed
                as_one = attrs.evolve(log.job, restored={})
                rows = [attrs.evolve(row, attempt=0) for row in log.rows]
                concatenated += bool(named(by_fold(rebuilt(attrs.evolve(log, job=as_one), rows))))
    assert concatenated > 40


# --- teeth ----------------------------------------------------------------------------------------------------


def shift_snapshot(log, random):
    """One record off: a snapshot says that it has what was read just behind it."""
    rows = list(log.rows)
    for at, row in enumerate(rows):
        mates = [place for place in range(at) if (rows[place].task, rows[place].subtask) == (row.task, row.subtask)]
        is_snapshot = row.kind is Kind.SNAPSHOT and mates and rows[mates[-1]].kind is Kind.RECORD
        if is_snapshot and rows[mates[-1]].attempt == 0:
            rows.insert(mates[-1], rows.pop(at))
            return rebuilt(log, rows)
    return None


def lose(kind):
    def corrupt(log, random):
        """The last: sources may be over by then, and need none."""
        *_others, last = (at for at, row in enumerate(log.rows) if row.kind is kind)
        return rebuilt(log, [row for at, row in enumerate(log.rows) if at != last])

    return corrupt


def change(kind, **fields):
    def corrupt(log, random):
        at = next(at for at, row in enumerate(log.rows) if row.kind is kind)
        return rebuilt(log, [*log.rows[:at], attrs.evolve(log.rows[at], **fields), *log.rows[at + 1 :]])

    return corrupt


def repeat_restore(log, random):
    at = next(at for at, row in enumerate(log.rows) if row.kind is Kind.RESTORED)
    return rebuilt(log, [*log.rows, log.rows[at]])


WOUNDS = {
    "splice one record off": (shift_snapshot, "LOG-LOSS"),
    "snapshot lost": (lose(Kind.SNAPSHOT), "LOG-RECOVER"),
    "restore not told": (lose(Kind.RESTORED), "LOG-RECOVER"),
    "other checkpoint": (change(Kind.RESTORED, value=2), "LOG-RECOVER"),
    "other state": (change(Kind.RESTORED, id=8), "LOG-RECOVER"),
    "restored twice": (repeat_restore, "LOG-RECOVER"),
}


@pytest.mark.parametrize("wound", WOUNDS)
def test_a_wrong_recovery_is_found(wound):
    corrupt, name = WOUNDS[wound]
    seen = 0
    for seed in range(60):
        log = restored_run(seed, 0.5, 6)
        log = corrupt(log, Random(seed)) if log.rows else None
        if log is not None:
            found = by_fold(log)
            assert by_kernels(log) == found
            seen += name in named(found)
    assert seen >= 10


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 299),
    cut=st.floats(0, 1),
    undone=st.integers(0, 40),
    restarts=st.integers(1, 3),
    wounds=st.lists(st.tuples(st.sampled_from(sorted(WOUNDS)), st.integers(0, 9)), max_size=2),
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=3),
    complete=st.booleans(),
    delivery=st.sampled_from(list(Delivery)),
    data=st.data(),
)
def test_attempts_are_judged_as_by_the_folds(seed, cut, undone, restarts, wounds, sizes, complete, delivery, data):
    log = restored_run(seed, cut, undone, restarts)
    assume(log.rows)
    for name, number in wounds:
        log = WOUNDS[name][0](log, Random(number)) or log
    able = attrs.evolve(log.job.capabilities, delivery=delivery)
    some = data.draw(st.lists(st.sampled_from(log.rows), max_size=6))
    rows = [*log.rows, *(own(row, "result", timestamp=1, value=row.subtask, key=None) for row in some)]
    expected = tuple(Result(row.task, None, 1, row.subtask) for row in some[1:])
    job = attrs.evolve(log.job, capabilities=able, expected=expected)
    rows = rows if data.draw(st.booleans()) else [row for row in rows if row.step % 7 != 5]
    log = rebuilt(attrs.evolve(log, job=job, complete=complete), rows)
    assert by_kernels(log, sizes) == by_fold(log)


# --- results, order and delivery ------------------------------------------------------------------------------

EDGE = runlog.Edge(0, "in", "out", "hash", "all_to_all", 1, 2, 128)


def small(rows, expected=None, **able):
    """Rows `out id key consumer` and `in …` of one edge, or results."""
    made = []
    for line in rows:
        side, *fields = line.split()
        if side == "result":
            template = runlog.Row("run", "out", 0, 0, Direction.OUT, 0, 0, 0, 0, Kind.RECORD)
            made.append(own(template, "result", key=fields[0], value=int(fields[1])))
            continue
        number, key, consumer = fields[0], fields[1], int(fields[2])
        task, subtask = ("in", 0) if side == "out" else ("out", consumer)
        place = "run", task, subtask, 0, Direction(side), 0, 0, consumer, 0, Kind.RECORD
        made.append(runlog.Row(*place, timestamp=1, key=key, id=int(number)))
    able = {"explicit_watermarks": False, "endings": False, "known_routing": False} | able
    job = runlog.Job("test", "flink-7728", (EDGE,), runlog.Capabilities(**able), expected=expected)
    return runlog.renumber(runlog.RunLog("run", job, tuple(made)))


EXPECTED = (Result("out", "a", None, 1), Result("out", "a", None, 1), Result("out", "b", None, 2))


@pytest.mark.parametrize(
    ("results", "delivery", "wrong"),
    [
        (["a 1", "b 2", "a 1"], "exactly_once", []),
        (["a 1", "b 2", "a 1", "b 2"], "exactly_once", ["more often than 1"]),
        (["a 1", "b 2", "a 1", "b 2"], "at_least_once", []),
        (["a 1", "b 2"], "exactly_once", ["missing 1 times"]),
        (["a 1"], "at_least_once", ["missing 1 times"]),
        (["a 1", "b 2", "a 1", "c 3"], "at_least_once", ["no result of the job"]),
    ],
)
def test_results_are_those_of_the_specification(results, delivery, wrong):
    """A sink that is exactly once in name only shows here."""
    log = small([f"result {one}" for one in results], EXPECTED, delivery=Delivery(delivery))
    found = by_fold(log)
    assert by_kernels(log) == found
    assert [text in one[-1] for one, text in zip(sorted(found), wrong, strict=True)] == [True] * len(wrong)
    cut_off = attrs.evolve(log, complete=False)
    assert not any("missing" in one[-1] for one in by_fold(cut_off))
    assert by_kernels(cut_off) == by_fold(cut_off)


REPEATS = {"delivery": Delivery.AT_LEAST_ONCE, "order_scope": OrderScope.KEY}


@pytest.mark.parametrize(
    ("able", "rows", "wrong"),
    [
        ({}, "out 1 a 0, out 2 b 0, in 2 b 0, in 1 a 0", {"LOG-ORDER"}),
        ({"order_scope": OrderScope.KEY}, "out 1 a 0, out 2 b 0, in 2 b 0, in 1 a 0", set()),
        ({"order_scope": OrderScope.KEY}, "out 1 a 0, out 2 a 0, in 2 a 0, in 1 a 0", {"LOG-ORDER"}),
        ({"order_scope": OrderScope.NONE}, "out 1 a 0, out 2 a 0, in 2 a 0, in 1 a 0", set()),
        ({}, "out 1 a 0, in 1 a 0, in 1 a 0", {"LOG-LOSS"}),
        ({"delivery": Delivery.AT_LEAST_ONCE}, "out 1 a 0, in 1 a 0, in 1 a 0", set()),
        ({"delivery": Delivery.AT_LEAST_ONCE}, "out 1 a 0, out 1 a 0, in 1 a 0", set()),
        ({"delivery": Delivery.AT_LEAST_ONCE}, "out 1 a 0, in 1 a 0, in 2 a 0", {"LOG-LOSS"}),
        ({"delivery": Delivery.AT_LEAST_ONCE}, "out 1 a 0, out 2 a 0, in 1 a 0", {"LOG-LOSS"}),
        ({"delivery": Delivery.AT_LEAST_ONCE}, "out 1 a 0, out 2 b 0, in 2 b 0, in 1 a 0", {"LOG-ORDER"}),
        (REPEATS, "out 1 a 0, out 2 a 0, in 2 a 0, in 1 a 0", {"LOG-ORDER"}),
        # Sent, received, sent again and killed before it had left, read again: not the second is received.
        (REPEATS, "out 1 a 0, out 2 a 0, out 1 a 0, in 1 a 0, in 1 a 0, in 2 a 0", set()),
        (
            {"delivery": Delivery.AT_LEAST_ONCE},
            "out 1 a 0, out 2 b 0, out 1 a 0, in 1 a 0, in 1 a 0, in 2 b 0",
            set(),
        ),
        ({"keys_meet": True}, "out 1 a 0, out 2 a 1, in 1 a 0, in 2 a 1", {"LOG-ROUTE"}),
        ({"keys_meet": True}, "out 1 a 0, out 2 b 1, in 1 a 0, in 2 b 1", set()),
    ],
)
def test_an_engine_is_held_to_what_it_promises(able, rows, wrong):
    log = small(rows.split(", "), **able)
    found = by_fold(log)
    assert {one[0] for one in found} == wrong
    assert by_kernels(log) == found
    assert by_kernels(log, [1]) == found


MARKS = [("watermark", 5), ("watermark", 6), ("record", 1), ("record", 2)]


@pytest.mark.parametrize("scope", list(OrderScope))
@pytest.mark.parametrize(
    ("second", "received", "is_wrong"),
    [
        # The second attempt says everything again, and the first had received nothing of it, or all.
        (MARKS, MARKS, False),
        (MARKS, MARKS * 2, False),
        (MARKS[2:], MARKS, False),
        # It says nothing again that was received, and what it says comes in another order.
        ([("record", 3), ("watermark", 7)], [*MARKS, ("watermark", 7), ("record", 3)], True),
        ([("watermark", 7), ("watermark", 8)], [*MARKS, ("watermark", 8), ("watermark", 7)], True),
    ],
)
def test_a_restart_of_an_engine_that_repeats_is_no_disorder(scope, second, received, is_wrong):
    """Of a channel, too: only what was sent once and received once has an order."""
    edge = attrs.evolve(EDGE, partitioner="rebalance", consumers=1)
    able = runlog.Capabilities(delivery=Delivery.AT_LEAST_ONCE, order_scope=scope, equal_watermarks=True, endings=False)
    job = runlog.Job("test", "flink-7728", (edge,), able, restored={"1": None})

    def row(task, way, attempt, kind, number):
        fields = {"timestamp": number} if kind == "watermark" else {"timestamp": 9, "id": number}
        return runlog.Row("run", task, 0, 0, way, 0, 0, 0, 0, Kind(kind), attempt=attempt, **fields)

    rows = [row("in", Direction.OUT, 0, *one) for one in MARKS]
    rows += [row("in", Direction.OUT, 1, *one) for one in second]
    rows += [row("out", Direction.IN, 1, *one) for one in received]
    log = runlog.renumber(runlog.RunLog("run", job, tuple(rows)))
    found = [one for one in by_fold(log) if one[0] == "LOG-ORDER"]
    assert bool(found) is (is_wrong and scope is OrderScope.CHANNEL)
    for sizes in ([1], [5], [50]):
        assert [one for one in by_kernels(log, sizes) if one[0] == "LOG-ORDER"] == found


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["out", "in"]), st.integers(1, 4), st.sampled_from("ab"), st.integers(0, 1)),
        max_size=14,
    ),
    scope=st.sampled_from(list(OrderScope)),
    delivery=st.sampled_from(list(Delivery)),
    meets=st.booleans(),
    size=st.integers(1, 9),
)
def test_promises_are_judged_as_by_the_folds(rows, scope, delivery, meets, size):
    lines = [" ".join(map(str, row)) for row in rows]
    log = small(lines, order_scope=scope, delivery=delivery, keys_meet=meets)
    assert by_kernels(log, [size]) == by_fold(log)


@pytest.mark.parametrize("kind", ["watermark", "clock", None])
def test_without_event_time_lateness_is_undetermined(kind):
    logs = (run_of(seed)[0] for seed in range(60))
    log = next(one for one in logs if ("LOG-MADE-LATE", Status.PASSED) in {(v.invariant, v.status) for v in check(one)})
    rows = [row for row in log.rows if row.kind is not Kind.WATERMARK]
    if kind == "watermark":
        rows = log.rows
    elif kind == "clock":
        rows = [one for row in rows for one in (own(row, "clock", timestamp=-(2**62)), row)]
    log = rebuilt(log, rows)
    status = {one.invariant: one.status for one in check(log)}
    tallies = audit_run(log.job, chunks_of(log, [50]), complete=True).tallies
    for name in ("LOG-LATE", "LOG-MADE-LATE"):
        assert (status[name] is Status.UNDETERMINED) is (kind is None)
        assert (tallies[name].checked == 0) is (kind is None)
    assert (status["LOG-WATERMARK"] is Status.UNDETERMINED) is (kind != "watermark")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attempt": 2}, "attempt 2"),
        ({"edge": 0}, "edge 0"),
        ({"producer": 1}, "alone"),
        ({"subtask": 5, "producer": 5, "consumer": 5}, "subtask"),
        ({"kind": Kind.RECORD}, "edge -1"),
    ],
)
def test_rows_of_a_subtask_alone_are_at_a_place_of_the_job(change, message):
    log = small(["result a 1"])
    log = attrs.evolve(log, rows=tuple(attrs.evolve(row, **change) for row in log.rows))
    with pytest.raises(runlog.MalformedLogError, match=message):
        check(log)
    with pytest.raises(runlog.MalformedLogError):
        audit_run(log.job, chunks_of(log, [5]), complete=True)


def test_a_restored_run_is_read_as_it_was_written(tmp_path):
    log = restored_run(1, 0.5, 3)
    runlog.write_runlog(tmp_path / "run.parquet", log)
    assert runlog.read_runlog(tmp_path / "run.parquet") == log
