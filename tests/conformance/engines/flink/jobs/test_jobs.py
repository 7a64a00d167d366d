"""Whole jobs on a real MiniCluster: run logs that hold, runs that are explained, and lies that are not."""

import json
import os
import signal
import subprocess
import sys
import uuid
from itertools import combinations
from pathlib import Path

import attrs
import pytest

from tests.conformance.engines.conftest import MARK, survivors_in_the_end
from tests.paths import ROOT
from tests.processes import launch
from tidegate.conformance.cli.main import main
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.flink.jobs.cluster import Cluster, ClusterDiedError
from tidegate.conformance.engines.flink.jobs.compiling import compile_host
from tidegate.conformance.engines.flink.jobs.engine import FlinkJobs
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.jobs.drawing import JobCase, draw_job
from tidegate.conformance.judging.jobs.explanation import END_OF_TIME
from tidegate.conformance.judging.jobs.judging import Judge
from tidegate.conformance.judging.jobs.shrinking import shrink_job
from tidegate.conformance.judging.verdicts import Status as Verdict
from tidegate.properties.runlog import check
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.job.examples import make_word_count
from tidegate.reference.job.programs import Config, Edge, Function, Operator, Record
from tidegate.traces.codec import encode
from tidegate.traces.runlog import read_runlog

JOBS = 25


@pytest.fixture(scope="module")
def judge(flink_version):
    with FlinkJobs(flink_version("2.3.0"), start_timeout=300) as running:
        yield Judge(running)


@pytest.fixture(scope="module")
def word_count(judge):
    """A job that ran, with what the cluster showed of it."""
    case = JobCase("words", make_word_count())
    return case, judge._engine.run(case.as_request()).answer


def make_pipe(*script):
    """A source with one script, and a sink behind a shuffle."""
    operators = (Operator(1, "source", Function.SOURCE, 1, (script,)), Operator(2, "sink", Function.SINK))
    return JobCase("pipe", Config(operators, (Edge(1, 2, Partitioner.HASH),)))


INTERRUPTED = {
    "unaligned": True,
    "interruptible_timers": True,
    "processing_timers": True,
    "checkpoint_interval": 100,
    "slow_timers_micros": 20_000,
}


def make_timers(*script):
    """A source with one script, timers, and a sink."""
    operators = (
        Operator(1, "source", Function.SOURCE, 1, (script,)),
        Operator(2, "timer", Function.TIMER),
        Operator(3, "sink", Function.SINK),
    )
    edges = (Edge(1, 2, Partitioner.HASH), Edge(2, 3, Partitioner.GLOBAL))
    return JobCase("timers", Config(operators, edges, extension="event_time"))


def test_word_count_is_a_run_of_the_specification(judge, word_count):
    case, shown = word_count
    judged = judge.judge(case, shown)
    assert (judged.wrongs, judged.explained) == ((), True)
    assert shown["totals"] == {"3": {"to": 2, "be": 2, "or": 1, "not": 1}}


def test_random_jobs_are_runs_of_the_specification(judge):
    judged = [judge.run(draw_job(0, index, judge.abilities)) for index in range(JOBS)]
    plain = [one for one in judged if not one.case.settings["interruptible_timers"]]
    wrongs = [(one.case.name, wrong) for one in plain for wrong in one.wrongs if wrong.name != END_OF_TIME]
    assert wrongs == []
    assert all(one.explained for one in judged)
    assert any(one.case.settings["padding"] > 4096 and len(one.log.rows) for one in judged)
    assert any(one.wrongs for one in judged), "FLINK-40499 is found by chance, and early"


def test_version_2_emits_event_time_before_its_timers_fire(judge):
    """Flink 2.3.0, DataStream V2: found among the first jobs that are drawn."""
    engine = FlinkJobs(judge._engine.version, kit="v2")
    engine._cluster = judge._engine._cluster
    other = Judge(engine)
    judged = [other.run(draw_job(0, index, other.abilities)) for index in range(12)]
    assert [one for one in judged if one.status is Verdict.PASS and one.explained]
    names = [{wrong.name for wrong in one.wrongs} for one in judged]
    assert any({"LOG-MADE-LATE", "TIME-2"} <= found for found in names), names


def test_large_records_span_buffers_and_arrive_whole(judge):
    script = tuple(Record("k", Long(number), Long(number)) for number in range(5))
    judged = judge.run(attrs.evolve(make_pipe(*script), settings={"padding": 40_000, "slow_micros": 500}))
    assert (judged.wrongs, judged.explained) == ((), True)


def test_flink_40499_a_source_that_ends_idle_never_says_that_event_time_is_over(judge):
    record = Record("a", Long(1), Long(1))
    assert judge.run(make_pipe(record)).wrongs == ()
    idle = judge.run(make_pipe(record, Watermark(Long(1)), StatusChange(Status.IDLE)))
    assert [wrong.name for wrong in idle.wrongs] == [END_OF_TIME]
    small = shrink_job(judge, idle, lambda again: again.kind == idle.kind)
    assert small.case.config.operators[0].scripts == ((StatusChange(Status.IDLE),),)


def test_an_idle_status_overtakes_a_watermark_whose_timers_are_interrupted(judge):
    """Flink 2.3.0: the watermark that waits is then swallowed by the output, which is idle."""
    case = make_timers(
        *(Record(key, Long(1), Long(10)) for key in "abc"), Watermark(Long(10)), StatusChange(Status.IDLE)
    )
    assert {wrong.name for wrong in judge.run(case).wrongs} == {END_OF_TIME}
    again = [judge.run(attrs.evolve(case, settings=INTERRUPTED)) for _ in range(3)]
    names = {wrong.name for judged in again for wrong in judged.wrongs}
    assert any(name.startswith("TIME-") for name in names), names


def test_the_end_overtakes_timers_that_are_interrupted_and_records_are_lost(judge):
    """Flink 2.3.0, too."""
    case = make_timers(*(Record(key, Long(1), Long(at)) for at, key in enumerate("abc")))
    assert judge.run(case).wrongs == ()
    again = [judge.run(attrs.evolve(case, settings=INTERRUPTED)) for _ in range(3)]
    assert {"LOG-LOSS", "TIME-2"} <= {wrong.name for judged in again for wrong in judged.wrongs}


def drop(rows, kind, direction):
    place = next(at for at, row in enumerate(rows) if row["kind"] == kind and row.get("dir") == direction)
    return rows[:place] + rows[place + 1 :]


def swap_records(rows):
    records = [at for at, row in enumerate(rows) if (row["kind"], row.get("dir")) == ("record", "in")]
    channels = [[rows[at][name] for name in ("edge", "producer", "consumer")] for at in records]
    first, second = next(
        pair for pair in combinations(range(len(records)), 2) if channels[pair[0]] == channels[pair[1]]
    )
    rows = list(rows)
    rows[records[first]], rows[records[second]] = rows[records[second]], rows[records[first]]
    return rows


def delay_watermark(rows):
    """A watermark is handed out after a record that follows it: only the order changes."""
    place, later = next(
        (place, later)
        for place, later in combinations(range(len(rows)), 2)
        if (rows[place]["kind"], rows[place].get("dir"), rows[later]["kind"]) == ("watermark", "out", "record")
        if [rows[later][name] for name in ("task", "subtask")] == [rows[place][name] for name in ("task", "subtask")]
    )
    return [*rows[:place], *rows[place + 1 : later + 1], rows[place], *rows[later + 1 :]]


@pytest.mark.parametrize(
    ("lie", "complaint"),
    [
        (lambda rows: drop(rows, "record", "in"), "LOG-LOSS"),
        (lambda rows: drop(rows, "watermark", "in"), "LOG-LOSS"),
        (lambda rows: drop(rows, "end_of_partition", "out"), "LOG-END"),
        (swap_records, "LOG-ORDER"),
        (delay_watermark, "OUT-"),
    ],
)
def test_a_log_that_lies_is_caught(judge, word_count, lie, complaint):
    case, shown = word_count
    judged = judge.judge(case, {**shown, "rows": lie(shown["rows"])})
    assert any(complaint in str(wrong) for wrong in judged.wrongs), judged.wrongs


def test_results_that_lie_are_caught(judge, word_count):
    case, shown = word_count
    judged = judge.judge(case, {**shown, "totals": {"3": {"to": 2, "be": 2, "or": 1, "not": 2}}})
    assert "LOG-RESULT: the sums hold other totals" in map(str, judged.wrongs)


STARTING = """
from tidegate.conformance.engines.flink.jobs.cluster import Cluster
cluster = Cluster("2.3.0")
cluster.start()
print(cluster._process.pid, flush=True)
input()
"""


def test_no_cluster_outlives_the_harness(judge, tmp_path):
    mark = uuid.uuid4().hex
    environment = {MARK: mark, "TMPDIR": str(tmp_path)}  # a harness that is killed leaves its scratch
    harness = launch([sys.executable, "-c", STARTING], stdin=subprocess.PIPE, env=environment)
    cluster = int(harness.stdout.readline())
    assert Path(f"/proc/{cluster}/exe").resolve().name == "java"
    os.kill(cluster, signal.SIGSTOP)  # it is so busy that it does not notice
    harness.kill()
    harness.communicate()
    assert survivors_in_the_end(mark) == []


def test_checkpoints_cut_every_channel_and_change_nothing_else(judge):
    script = tuple(Record("k", Long(number), Long(number)) for number in range(40))
    judged = judge.run(attrs.evolve(make_pipe(*script), settings={"slow_micros": 2000, "checkpoint_interval": 10}))
    assert (judged.wrongs, judged.explained) == ((), True)
    assert any(row.kind == "barrier" for row in judged.log.rows)


class Borrowed(FlinkJobs):
    """On a cluster that runs anyway, and goes on running."""

    def __init__(self, engine, seconds=60.0):
        super().__init__(engine.version, seconds)
        self._cluster = engine._cluster

    def close(self):
        pass


def test_command_writes_run_logs_and_a_summary(judge, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("tidegate.conformance.kinds.resolve_jobs", lambda *_words, **_more: Borrowed(judge._engine))
    known = tmp_path / "known.txt"
    known.write_text(f"rule {END_OF_TIME} -- FLINK-40499")
    command = [
        "jobs",
        "--engine",
        "flink:2.3.0",
        "--case",
        str(ROOT / "docs/findings/flink-idle-end.json"),
        "--report",
        str(tmp_path),
        "--format",
        "json",
    ]
    assert main([*command, "--expect", str(known)]) == Exit.CONFORMANT
    summary = json.loads(capsys.readouterr().out)
    assert summary == json.loads((tmp_path / "summary.json").read_text())
    assert (summary["jobs"], summary["findings"]) == (1, {})
    for file in sorted((tmp_path / "runs").glob("*.parquet")):
        assert not any(verdict.violations for verdict in check(read_runlog(file)))


def test_versions_that_cannot_run_jobs_are_refused():
    with pytest.raises(CannotStartError, match=r"1\.14 or later, not 1\.12\.5"):
        compile_host("1.12.5")
    with pytest.raises(CannotStartError, match=r"tidegate flink fetch 0\.0\.1"):
        Cluster("0.0.1").start()


def test_a_dead_cluster_costs_one_job_and_leaves_no_files(judge):
    cluster = judge._engine._cluster
    scratch = Path(cluster._scratch.name)
    assert list(scratch.glob("flink-*"))
    os.killpg(cluster._process.pid, signal.SIGKILL)
    with pytest.raises(ClusterDiedError, match="gave no answer"):
        cluster.run(encode(make_pipe().config))
    assert not scratch.exists()
    assert "error" not in cluster.run(encode(make_pipe().config))


def test_a_job_that_does_not_end_is_a_timeout_with_what_was_seen(judge):
    """The last of these tests: it costs the cluster."""
    script = tuple(Record("k", Long(number), Long(number)) for number in range(40))
    short = Judge(Borrowed(judge._engine, seconds=1))
    judged = short.run(attrs.evolve(make_pipe(*script), settings={"slow_micros": 1_000_000}))
    assert judged.status is Verdict.TIMEOUT
    assert "rows by then" in judged.wrongs[0].message
