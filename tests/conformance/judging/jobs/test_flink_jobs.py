"""Whole jobs on a real MiniCluster: run logs that hold, runs that are explained, and lies that are not."""

import json
import os
import signal

import attrs
import pytest

from tidegate.conformance.cli.main import main
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.flink.jobs.cluster import Cluster, ClusterDiedError, Settings
from tidegate.conformance.engines.flink.jobs.compiling import compile_host
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.jobs.drawing import JobCase, draw_job
from tidegate.conformance.judging.jobs.judging import SWALLOWED_END, judge_log, run_job, shrink_job
from tidegate.conformance.judging.jobs.reading import OtherGraphError, read_run
from tidegate.properties.runlog import check
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.job.examples import make_word_count
from tidegate.reference.job.programs import Config, Edge, Function, Operator, Record
from tidegate.traces.codec import encode
from tidegate.traces.runlog import read_runlog

JOBS = 25


@pytest.fixture(scope="module")
def cluster(flink_version):
    with Cluster(flink_version("2.3.0"), task_managers=4, slots=1) as running:
        yield running


@pytest.fixture(scope="module")
def word_count(cluster):
    """A job that ran, with what the cluster showed of it."""
    case = JobCase("words", make_word_count(), Settings())
    return case, cluster.run(encode(case.config), case.settings)


def make_pipe(*script):
    """A source with one script, and a sink behind a shuffle."""
    operators = (Operator(1, "source", Function.SOURCE, 1, (script,)), Operator(2, "sink", Function.SINK))
    return JobCase("pipe", Config(operators, (Edge(1, 2, Partitioner.HASH),)), Settings())


def test_word_count_is_a_run_of_the_specification(word_count):
    case, shown = word_count
    judged = judge_log(case, read_run(case.config, shown, "words", "flink"), shown)
    assert (judged.wrongs, judged.known, judged.explained) == ((), (), True)
    assert shown["totals"] == {"3": {"to": 2, "be": 2, "or": 1, "not": 1}}


def test_random_jobs_are_runs_of_the_specification(cluster):
    judged = [run_job(cluster, draw_job(0, index)) for index in range(JOBS)]
    assert [(one.case.name, one.wrongs) for one in judged if one.wrongs] == []
    assert sum(one.explained for one in judged) > JOBS // 2
    assert any(one.case.settings.padding > 4096 and len(one.log.rows) for one in judged)
    assert any(SWALLOWED_END in one.known for one in judged), "FLINK-40499 is found by chance, and early"


def test_large_records_span_buffers_and_arrive_whole(cluster):
    script = tuple(Record("k", Long(number), Long(number)) for number in range(5))
    judged = run_job(cluster, attrs.evolve(make_pipe(*script), settings=Settings(padding=40_000, slow_micros=500)))
    assert (judged.wrongs, judged.explained) == ((), True)


def test_flink_40499_a_source_that_ends_idle_never_says_that_event_time_is_over(cluster):
    record = Record("a", Long(1), Long(1))
    assert run_job(cluster, make_pipe(record)).known == ()
    idle = run_job(cluster, make_pipe(record, Watermark(Long(1)), StatusChange(Status.IDLE)))
    assert (idle.known, idle.wrongs) == ((SWALLOWED_END,), ())
    small = shrink_job(cluster, idle, lambda again: SWALLOWED_END in again.known)
    assert small.case.config.operators[0].scripts == ((StatusChange(Status.IDLE),),)


def drop(rows, kind, direction):
    place = next(at for at, row in enumerate(rows) if row[5] == kind and row[2] == direction)
    return rows[:place] + rows[place + 1 :]


def swap_records(rows):
    first, second = [at for at, row in enumerate(rows) if row[5] == "record" and row[2] == "in" and row[4] == 0][:2]
    rows = list(rows)
    rows[first], rows[second] = rows[second], rows[first]
    return rows


def delay_watermark(rows):
    """The first watermark is handed out after what follows it, on both sides of nothing: only the order changes."""
    place = next(at for at, row in enumerate(rows) if row[5] == "watermark" and row[2] == "out")
    later = next(at for at in range(place, len(rows)) if rows[at][5] == "record" and rows[at][:2] == rows[place][:2])
    return [*rows[:place], *rows[place + 1 : later + 1], rows[place], *rows[later + 1 :]]


@pytest.mark.parametrize(
    ("lie", "complaint"),
    [
        (lambda rows: drop(rows, "record", "in"), "LOG-LOSS"),
        (lambda rows: drop(rows, "watermark", "in"), "LOG-LOSS"),
        (lambda rows: drop(rows, "end_of_partition", "out"), "LOG-END"),
        (swap_records, "LOG-ORDER"),
        (delay_watermark, "not as specified"),
    ],
)
def test_a_log_that_lies_is_caught(word_count, lie, complaint):
    case, shown = word_count
    told = {**shown, "rows": lie(shown["rows"])}
    judged = judge_log(case, read_run(case.config, told, "words", "flink"), told)
    assert any(complaint in wrong for wrong in judged.wrongs), judged.wrongs


def test_results_that_lie_are_caught(word_count):
    case, shown = word_count
    told = {**shown, "totals": {"3": {"to": 2, "be": 2, "or": 1, "not": 2}}}
    judged = judge_log(case, read_run(case.config, told, "words", "flink"), told)
    assert "the sums know something else" in judged.wrongs


@pytest.mark.parametrize(("key", "value"), [("name", "o3"), ("parallelism", 3)])
def test_another_job_graph_is_refused(word_count, key, value):
    case, shown = word_count
    graph = [{**vertex, key: value} if vertex["inputs"] else vertex for vertex in shown["graph"]]
    with pytest.raises(OtherGraphError):
        read_run(case.config, {**shown, "graph": graph}, "words", "flink")


def test_a_dead_cluster_costs_one_job(flink_version):
    with Cluster(flink_version("2.3.0"), task_managers=1, slots=2) as cluster:
        os.killpg(cluster._process.pid, signal.SIGKILL)
        with pytest.raises(ClusterDiedError, match="gave no answer"):
            cluster.run(encode(make_pipe().config), Settings())
        assert run_job(cluster, make_pipe()).wrongs == ()


def test_checkpoints_cut_every_channel(cluster):
    script = tuple(Record("k", Long(number), Long(number)) for number in range(40))
    settings = Settings(slow_micros=2000, checkpoint_interval=10)
    judged = run_job(cluster, attrs.evolve(make_pipe(*script), settings=settings))
    assert (judged.wrongs, judged.explained) == ((), not any(row.kind == "barrier" for row in judged.log.rows))


def test_command_writes_run_logs_and_a_summary(flink_version, tmp_path, capsys):
    flink_version("2.3.0")
    assert main(["flink", "jobs", "2.3.0", "--jobs", "2", "--report", str(tmp_path), "--json"]) == Exit.CONFORMANT
    summary = json.loads(capsys.readouterr().out)
    assert summary == json.loads((tmp_path / "summary.json").read_text())
    assert (summary["jobs"], summary["wrong"]) == (2, 0)
    for file in sorted(tmp_path.glob("*.parquet")):
        assert not any(verdict.violations for verdict in check(read_runlog(file)))


def test_versions_that_cannot_run_jobs_are_refused():
    with pytest.raises(CannotStartError, match=r"1\.14 or later, not 1\.12\.5"):
        compile_host("1.12.5")
    with pytest.raises(CannotStartError, match=r"tidegate flink fetch 0\.0\.1"):
        Cluster("0.0.1").start()
