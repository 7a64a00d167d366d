"""The kernels find what the folds find: on clean logs, on corrupted ones, however the rows are cut into chunks."""

from collections import Counter
from contextlib import ExitStack
from random import Random
from unittest import mock

import attrs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.properties.runlog.test_runlog import CORRUPTIONS, MIDDLE, places, rebuilt, run_of, small_log, swap
from tidegate.properties.cases import job as strategy
from tidegate.properties.runlog import Status, check
from tidegate.properties.runlog.recording import make_log
from tidegate.reference.job.examples import make_word_count
from tidegate.reference.job.step import is_done
from tidegate.reference.partitioning import keygroups, keys
from tidegate.traces import runlog

pyarrow = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")

from tidegate.properties.kernels import disagreement, matching, numbering, segments  # noqa: E402
from tidegate.properties.kernels.columns import make_chunk  # noqa: E402
from tidegate.properties.kernels.keys import compute_hash_codes, compute_key_groups  # noqa: E402
from tidegate.properties.kernels.layout import NONE, Layout  # noqa: E402
from tidegate.properties.kernels.numbering import OutgrownError  # noqa: E402
from tidegate.properties.kernels.run import Wanted, audit_run, find_skipped  # noqa: E402

WIDTHS = {32: pyarrow.int32(), 64: pyarrow.int64()}
SCHEMA = pyarrow.schema(
    [(name, WIDTHS[runlog.INTEGERS[name]] if name in runlog.INTEGERS else pyarrow.string()) for name in runlog.COLUMNS]
)


def as_batch(rows):
    columns = {name: [getattr(row, name) for row in rows] for name in runlog.COLUMNS}
    return pyarrow.record_batch([pyarrow.array(columns[field.name], field.type) for field in SCHEMA], schema=SCHEMA)


def chunks_of(log, sizes):
    """The rows of a log in chunks of the sizes, over and over."""

    def chunks(numbering):
        start, turn = 0, 0
        while start < len(log.rows):
            size = sizes[turn % len(sizes)]
            yield make_chunk(as_batch(log.rows[start : start + size]), numbering)
            start, turn = start + size, turn + 1

    return chunks


def by_fold(log):
    found = Counter()
    for verdict in check(log):
        found.update((one.invariant, one.channel, one.position, one.message) for one in verdict.violations)
    return found


#: As where a job is large, where much waits at a channel, where much is out of order.
CRAMPED = {(numbering, "FEW"): 0, (segments, "FEW"): 0, (matching, "LONG"): 2, (disagreement, "MOST_TANGLED"): 1}


def by_kernel(log, sizes=(7, 1, 30)):
    """With room, and without any."""
    found = look(log, sizes)
    with ExitStack() as stack:
        for (module, name), value in CRAMPED.items():
            stack.enter_context(mock.patch.object(module, name, value))
        assert look(log, sizes) == found
    return found


def look(log, sizes):
    tallies = audit_run(log.job, chunks_of(log, sizes), complete=log.complete).tallies
    for tally in tallies.values():
        assert tally.violated == len(tally.findings)
    steps = {(row.attempt, row.dir, row.channel, row.kind, row.position, row.step) for row in log.rows}
    found = [one for tally in tallies.values() for one in tally.findings]
    places = {(one.attempt, one.direction, one.channel, one.kind, one.position, one.step) for one in found}
    assert places - {(0, runlog.Direction.OUT, (runlog.OWN, 0, 0), runlog.Kind.RESULT, 0, 0)} <= steps
    return Counter((one.invariant, one.channel, one.position, one.message) for one in found)


# --- clean and corrupted logs ---------------------------------------------------------------------------------


def test_clean_logs_are_clean():
    for seed in range(100):
        assert by_kernel(run_of(seed)[0]) == Counter(), seed


@pytest.mark.parametrize("corrupt", [one[0] for one in CORRUPTIONS], ids=lambda one: one.__name__)
def test_one_corruption_is_found_as_by_the_folds(corrupt):
    seen = 0
    for seed in range(200):
        log = corrupt(run_of(seed)[0], Random(seed)) if seen < 30 else None
        if log is not None:
            wanted = by_fold(log)
            assert by_kernel(log) == wanted, seed
            seen += bool(wanted)
    assert seen >= 5


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 299),
    wounds=st.lists(st.tuples(st.sampled_from([one[0] for one in CORRUPTIONS]), st.integers(0, 99)), max_size=4),
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=4),
    keep=st.floats(0.2, 1),
    complete=st.booleans(),
)
def test_corruptions_together_are_found_as_by_the_folds(seed, wounds, sizes, keep, complete):
    """Several of them, in a run that may be cut off."""
    log = run_of(seed)[0]
    log = attrs.evolve(log, rows=log.rows[: int(len(log.rows) * keep)], complete=complete)
    for corrupt, number in wounds:
        try:
            log = corrupt(log, Random(number)) or log
        except (StopIteration, IndexError, ValueError, TypeError):  # the cut took away what it needs
            continue
    assert by_kernel(log, sizes) == by_fold(log)


OF_NO_ELEMENT = {runlog.Kind.BUFFER, runlog.Kind.CREDIT}


def own_row(row, random):
    """A row of the same subtask alone."""
    fields = {"kind": random.choice(sorted(runlog.OWN_KINDS)), "timestamp": random.choice([None, 0, 3, 5, 9])}
    fields |= {"id": random.choice([None, 1, 2]), "value": random.choice([None, 1, 2]), "key": None}
    place = {"dir": runlog.Direction.OUT, "edge": runlog.OWN, "producer": row.subtask, "consumer": row.subtask}
    return attrs.evolve(row, **place, **fields)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.integers(0, 299))
def test_rows_at_random_are_judged_as_by_the_folds(data, seed):
    """Rows removed, repeated, exchanged and changed in any field: nothing of a log is taken for granted."""
    random = Random(data.draw(st.integers(0, 10**6)))
    log = run_of(seed)[0]
    assume(log.rows)
    rows = list(log.rows)
    for _ in range(data.draw(st.integers(1, 6))):
        at, other = random.randrange(len(rows)), random.randrange(len(rows))
        row = rows[at]
        what = random.randrange(9)
        if what == 0 and len(rows) > 1:
            del rows[at]
        elif what == 1:
            rows.insert(other, row)
        elif what == 2:
            rows[at], rows[other] = rows[other], row
        elif what == 3:
            rows[at] = attrs.evolve(row, timestamp=random.choice([None, 0, 5, -(2**63), 2**63 - 1]))
        elif what == 4:
            rows[at] = attrs.evolve(row, value=random.choice([None, 0, 1, 2]))
        elif what == 5:
            rows[at] = attrs.evolve(row, id=random.choice([None, 1, 2, 3]), key=random.choice([None, "a", "é", ""]))
        elif what < 8:
            rows.insert(other, own_row(row, random))
        elif row.flow is None and row.edge != runlog.OWN:
            rows[at] = attrs.evolve(
                row, kind=random.choice([one for one in runlog.Kind if one not in OF_NO_ELEMENT | runlog.OWN_KINDS])
            )
    log = rebuilt(attrs.evolve(log, complete=random.random() < 0.5), rows)
    sizes = data.draw(st.lists(st.integers(1, 60), min_size=1, max_size=4))
    assert by_kernel(log, sizes) == by_fold(log)


@pytest.mark.parametrize("order", ["subtask", "receivers first"])
def test_rows_of_subtasks_need_not_be_interleaved(order):
    for seed in range(60):
        log = run_of(seed)[0]
        log = swap(log, *random_pair(log, seed)) if seed % 2 and log.rows else log
        rows = sorted(log.rows, key=lambda row: (row.task, row.subtask) if order == "subtask" else row.dir)
        log = rebuilt(log, rows)
        assert by_kernel(log, [13]) == by_fold(log), seed


def random_pair(log, seed):
    random = Random(seed)
    return random.randrange(len(log.rows)), random.randrange(len(log.rows))


# --- single things --------------------------------------------------------------------------------------------


def test_a_channel_that_lost_and_overtook_is_looked_at_twice():
    """The status is received once less than sent: it is lost, and what came before it has not overtaken anything."""
    sent = [("out", "status", {"value": 0}), *records("out", 1, 2), ("out", "status", {"value": 1})]
    sent += [*records("out", 3), ("out", "status", {"value": 0}), *records("out", 4, 5)]
    received = [*records("in", 1, 2), ("in", "status", {"value": 1}), *records("in", 3), ("in", "status", {"value": 0})]
    for last in ([4, 5], [5, 4]):
        log = small_log(*sent, *received, *records("in", *last))
        for sizes in ([1], [3], [100]):
            assert by_kernel(log, sizes) == by_fold(log)
    assert ("LOG-ORDER", (0, 0, 0), 5, "record 5 overtakes what was sent before it") in by_kernel(log)


def records(side, *numbers):
    return [(side, "record", {"id": number, "timestamp": 1}) for number in numbers]


def test_scattered_and_broadcast_records():
    edges = (
        runlog.Edge(3, "in", "mid", "custom", "all_to_all", 1, 3),
        runlog.Edge(5, "in", "out", "broadcast", "all_to_all", 1, 3),
        runlog.Edge(9, "in", "end", "hash", "all_to_all", 1, 3, 128),
    )
    made = []
    for edge, number, consumer, key in [
        (3, 1, 1, "a"), (3, 2, 0, "a"), (3, 3, 0, "a"), (3, 4, 2, "b"), (3, 5, 1, "a"), (3, 6, 2, "a"),
        (5, 7, 0, None), (5, 7, 2, None), (5, 8, 1, None), (5, 7, 1, None), (5, 8, 1, None), (5, 8, 0, None),
        (9, 10, 0, "a"), (9, 11, 1, "a"), (9, 12, 2, "a"), (9, 13, 2, "żółw"), (9, 14, 1, "żółw"), (9, 15, 0, "żółw"),
    ]:  # fmt: skip
        task = next(one.target for one in edges if one.number == edge)
        fields = {"kind": runlog.Kind.RECORD, "id": number, "key": key, "timestamp": 1}
        made.append(runlog.Row("run", "in", 0, 0, runlog.Direction.OUT, edge, 0, consumer, 0, **fields))
        made.append(runlog.Row("run", task, consumer, 0, runlog.Direction.IN, edge, 0, consumer, 0, **fields))
    log = runlog.renumber(runlog.RunLog("run", runlog.Job("test", "flink-7728", edges), tuple(made), complete=False))
    wanted = by_fold(log)
    assert Counter(one[0] for one in wanted) == {"LOG-ROUTE": 2 + 2 + 8}
    for sizes in ([1], [4], [100]):
        assert by_kernel(log, sizes) == wanted


def test_messages_and_counts():
    log = small_log(*[("out", "watermark", {"timestamp": stamp}) for stamp in (5, 3, 3)])
    tallies = audit_run(log.job, chunks_of(log, [2]), complete=False, wanted=Wanted(most=1)).tallies
    tally = tallies["LOG-WATERMARK"]
    assert (tally.checked, tally.violated) == (3, 2)
    assert [one.message for one in tally.findings] == ["watermark 3 after 5"]
    assert tallies["LOG-LOSS"].checked == 3


def test_what_an_engine_cannot_show_is_skipped():
    log = small_log(*records("out", 1), capabilities=runlog.Capabilities(explicit_watermarks=False, credit=True))
    verdicts = {one.invariant: one.reason for one in check(log) if one.status is Status.SKIPPED}
    assert find_skipped(log.job, Wanted()) == verdicts
    assert set(audit_run(log.job, chunks_of(log, [2]), complete=False).tallies).isdisjoint(verdicts)


def test_keys_belong_where_the_specification_says():
    texts = ["", "a", "to be", "żółw", "😀", "a" * 40, "Aa", "BB", *(f"key-{number}" for number in range(300))]
    for strings in (pyarrow.array(texts), pyarrow.array(["x", *texts])[1:], pyarrow.array(texts[:1])):
        wanted = [keys.compute_hash_code(keys.StringKey(text)) % 2**32 for text in strings.to_pylist()]
        codes = compute_hash_codes(strings)
        assert codes.tolist() == wanted
        groups = [
            keygroups.compute_key_group(keys.compute_hash_code(keys.StringKey(one)), 97) for one in strings.to_pylist()
        ]
        assert compute_key_groups(codes, 97).tolist() == groups
    corners = np.array([code % 2**32 for code, _murmur in keygroups.known_murmurs()], dtype=np.uint32)
    assert compute_key_groups(corners, 2**31).tolist() == [murmur for _code, murmur in keygroups.known_murmurs()]


# --- what is no log -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 7}, "out/0: step 7 is missing, comes twice or is out of order"),
        ({"position": 7}, "channel 0/0/0: position 7"),
        ({"edge": 4}, "edge 4 is unknown"),
        ({"edge": -1}, "edge -1 is unknown"),
        ({"consumer": 1}, "edge 0 has no channel from 0 to 1"),
        ({"task": "elsewhere"}, "task 'elsewhere' is unknown"),
        ({"task": "in"}, "belongs to out/0"),
        ({"kind": "rumour"}, "kind 'rumour' is unknown"),
        ({"dir": None}, "column dir has rows without a value"),
        ({"position": None}, "column position has no value in row 2"),
        ({"id": NONE}, "stands for no value"),
        ({"value": 2**60}, "lies beyond"),
    ],
)
def test_rows_that_are_no_log_are_refused(change, message):
    log = small_log(*records("out", 1, 2), *records("in", 1), ("in", "watermark", {"timestamp": None}))
    rows = list(log.rows)
    rows[2] = attrs.evolve(rows[2], **change)
    with pytest.raises(runlog.MalformedLogError, match=message):
        audit_run(log.job, chunks_of(attrs.evolve(log, rows=tuple(rows)), [10]), complete=False)


def test_what_does_not_fit_a_worker_is_refused(monkeypatch):
    monkeypatch.setattr(disagreement, "MOST_PENDING", 20)
    log = small_log(*records("out", *range(50)))
    with pytest.raises(OutgrownError, match="27 elements wait for their other side"):
        audit_run(log.job, chunks_of(log, [9]), complete=False)


def test_a_job_is_a_table():
    layout = Layout(runlog.Job("test", "flink-7728", MIDDLE))
    assert [layout.channel_at(code) for code in range(3)] == [(0, 0, 0), (0, 1, 0), (1, 0, 0)]
    assert [layout.code_of(layout.channel_at(code)) for code in range(3)] == [0, 1, 2]
    assert [layout.subtask_at(code) for code in range(4)] == [("in", 0), ("in", 1), ("mid", 0), ("out", 0)]
    assert [layout.count_inputs(code) for code in range(4)] == [0, 0, 2, 1]
    assert [layout.count_outputs(code) for code in range(4)] == [1, 1, 1, 0]


def test_a_word_count_is_clean():
    config = make_word_count()
    run = strategy.draw_run(Random(3), config)
    log = make_log(config, run.seen, "run", complete=is_done(run.state))
    assert places(log, lambda row: row.key is not None)
    assert by_kernel(log) == Counter()
