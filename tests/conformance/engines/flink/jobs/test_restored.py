"""Jobs that are killed and restored, on a real cluster and on a MiniCluster, and what is said if they are wrong."""

import copy
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tidegate.conformance.engines.base import Crashed
from tidegate.conformance.engines.errors import UnknownEngineError
from tidegate.conformance.engines.flink.cluster import processes
from tidegate.conformance.engines.flink.cluster.engine import FlinkClusterJobs
from tidegate.conformance.engines.flink.cluster.processes import PORTS, STARTS, ClusterError, FlinkCluster, find_port
from tidegate.conformance.engines.flink.cluster.running import CHECKPOINT, FAULTS
from tidegate.conformance.engines.flink.jobs import harm
from tidegate.conformance.engines.flink.jobs.engine import ABILITIES, FlinkJobs
from tidegate.conformance.judging.jobs.drawing import JobCase, draw_job
from tidegate.conformance.judging.jobs.judging import Judge
from tidegate.conformance.judging.jobs.shrinking import REDUCTIONS
from tidegate.conformance.judging.verdicts import Status
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.elements import Long, Watermark
from tidegate.reference.job.layout import compute_layout
from tidegate.reference.job.programs import Config, Edge, Function, Operator, Record
from tidegate.traces.codec import decode, encode
from tidegate.traces.runlog import Kind

#: No checkpoints but those that are asked for: what comes behind that one is undone.
ONE_CHECKPOINT = {"unaligned": True, "checkpoint_interval": 3_600_000}
KILLED = ({"fault": CHECKPOINT, "after": 20}, {"fault": harm.KILL_TASK_MANAGER, "after": 70, "undoes": 5})


def make_case(faults, settings=None, length=60, other=60, **others):
    """Two scripts; sums of each key, windows of each key, and two sinks."""
    items = []
    for at in range(length):
        items.append(Record("abcdefgh"[at % 8], Long(1), Long(at)))
        items += [Watermark(Long(at - 3))] * (at % 5 == 0)
    operators = (
        Operator(1, "source", Function.SOURCE, 2, (tuple(items), tuple(items[:other]))),
        Operator(2, "sum", Function.SUM, 2),
        Operator(3, "window", Function.WINDOW, 2, size=5),
        Operator(4, "sums", Function.SINK, 2),
        Operator(5, "windows", Function.SINK, 1),
    )
    edges = (
        *(Edge(1, 2, Partitioner.HASH), Edge(1, 3, Partitioner.HASH)),
        *(Edge(2, 4, Partitioner.REBALANCE), Edge(3, 5, Partitioner.GLOBAL)),
    )
    config = Config(operators, edges, extension="event_time")
    return JobCase("restored", config, {**(settings or {}), **others}, tuple(faults))


# --- on a cluster ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shown(flink_version):
    """Two jobs of which a TaskManager is killed, the second with sinks that commit at once; on one cluster."""
    case = make_case(KILLED, ONE_CHECKPOINT)
    eager = make_case(KILLED, ONE_CHECKPOINT, eager=True)
    with FlinkClusterJobs(flink_version("2.3.0")) as engine:
        judge = Judge(engine)
        answers = [(one, engine.run(one.as_request()).answer) for one in (case, eager)]
        cluster = engine._cluster
        pids = [one.pid for one in cluster.processes.values()]
    return judge, answers, cluster, pids


def test_a_cluster_that_loses_a_process_keeps_every_promise(shown):
    judge, ((case, answer), _eager), *_rest = shown
    judged = judge.judge(case, answer)
    assert [str(one) for one in judged.wrongs] == []
    assert judged.status is Status.PASS
    assert judged.hit == (True, True)
    assert judged.restores >= 1
    passed = {one.invariant for one in judged.verdicts if one.status == "passed"}
    assert passed == {f"LOG-{name}" for name in ["ORDER", "LOSS", "ROUTE", "LATE", "MADE-LATE", "RESULT", "RECOVER"]}
    results = [row for row in judged.log.rows if row.kind is Kind.RESULT]
    assert {row.task for row in results} == {"sums", "windows"}


def test_a_sink_that_is_at_least_once_is_caught(shown):
    judge, (_case, (eager, answer)), *_rest = shown
    judged = judge.judge(eager, answer)
    assert {one.name for one in judged.wrongs} == {"LOG-RESULT"}
    assert judged.status is Status.FAIL


def rows_of_sums(answer, kind, checkpoint):
    """Where such rows stand among those of the first generation: the sums read and save."""
    wanted = ("sum", kind, checkpoint)
    rows = answer["generations"][0]["rows"]
    return [at for at, row in enumerate(rows) if (row["task"], row["kind"], row.get("value")) == wanted]


def is_read_by(row, other):
    names = ("task", "subtask", "attempt")
    return (row["kind"], row.get("dir")) == ("record", "in") and all(row[one] == other[one] for one in names)


def move_snapshot(answer, checkpoint):
    """Before the last record that a sum has read, of those that have read any."""
    rows, moved = answer["generations"][0]["rows"], 0
    for at in rows_of_sums(answer, "snapshot", checkpoint):
        read = [place for place in range(at) if is_read_by(rows[place], rows[at])]
        if read:
            rows.insert(read[-1], rows.pop(at))
            moved += 1
    assert moved


def lose_snapshot(answer, checkpoint):
    answer["generations"][0]["rows"].pop(rows_of_sums(answer, "snapshot", checkpoint)[0])


def restore_otherwise(answer, checkpoint):
    answer["generations"][0]["rows"][rows_of_sums(answer, "restored", checkpoint)[0]]["id"] += 1


@pytest.mark.parametrize(
    ("wound", "named"),
    [(move_snapshot, "LOG-LOSS"), (lose_snapshot, "LOG-RECOVER"), (restore_otherwise, "LOG-RECOVER")],
)
def test_a_log_that_is_a_little_wrong_is_caught(shown, wound, named):
    judge, answers, *_rest = shown
    case, answer = copy.deepcopy(answers[0])
    wound(answer, max(row["value"] for row in answer["generations"][0]["rows"] if row["kind"] == "restored"))
    assert named in {one.name for one in judge.judge(case, answer).wrongs}


def test_what_is_not_committed_is_missing(shown):
    judge, answers, *_rest = shown
    case, answer = copy.deepcopy(answers[0])
    assert answer["generations"][-1]["rows"].pop()["kind"] == "result"
    assert {one.name for one in judge.judge(case, answer).wrongs} == {"LOG-RESULT"}


def test_a_job_that_hangs_is_told_with_what_it_showed(shown):
    judge, answers, *_rest = shown
    case, answer = answers[0]
    judged = judge.judge(case, {**answer, "error": "the cluster did not end the job: read x.log", "timeout": True})
    assert judged.status is Status.TIMEOUT
    assert "read x.log" in judged.wrongs[0].message
    assert "rows by then" in judged.wrongs[0].message
    assert judged.hit == (True, True)


def test_nothing_is_left_behind(shown):
    _judge, _answers, cluster, pids = shown
    assert not cluster.folder.exists()
    assert not cluster.processes
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            processes.os.kill(pid, 0)


# --- on a MiniCluster -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault", [harm.KILL_TASK_MANAGER, harm.FAIL_TASK, harm.RESCALE, pytest.param(harm.RESCALE_CHECKPOINT)]
)
def test_a_job_goes_on_from_what_it_has_saved(restoring, fault):
    """A source that has come to its end before is not restored to anything else."""
    settings = {"unaligned": True, "slow_micros": 500}
    judged = restoring.run(make_case([{"fault": fault, "after": 40}], settings, other=15))
    assert [str(one) for one in judged.wrongs] == []
    assert (judged.status, judged.hit) == (Status.PASS, (True,))
    assert judged.restores >= 1
    widths = [[edge.consumers for edge in log.job.edges] for log in judged.logs]
    assert widths == [[2, 2, 2, 1], [3, 3, 3, 2]][: len(widths)]
    assert len(widths) == 1 + (fault in harm.RESCALES)


@pytest.fixture(scope="module")
def restoring(flink_version):
    with FlinkJobs(flink_version("2.3.0"), start_timeout=300) as running:
        yield Judge(running)


# --- without either -------------------------------------------------------------------------------------------


def test_faults_are_part_of_the_case():
    cases = [draw_job(0, index, ABILITIES, 3) for index in range(60)]
    assert cases == [draw_job(0, index, ABILITIES, 3) for index in range(60)]
    assert {fault["fault"] for one in cases for fault in one.faults} == set(ABILITIES.faults)
    assert set(ABILITIES.faults) < set(FAULTS)
    assert all(1 <= len(one.faults) <= 3 for one in cases)
    assert draw_job(0, 0, ABILITIES).faults == ()
    assert any(len(smaller.faults) < len(cases[0].faults) for smaller in REDUCTIONS[0](cases[0], ABILITIES))


def test_at_other_widths_the_same_operators_are_chained():
    """And what is in flight between tasks has somewhere to go."""
    changed = 0
    for index in range(200):
        config = draw_job(1, index, ABILITIES, 1).config
        other = decode(harm.rescale(encode(config)), Config)
        assert [one.scripts for one in other.operators] == [one.scripts for one in config.operators]
        assert [one.operators for one in compute_layout(other).tasks] == [
            one.operators for one in compute_layout(config).tasks
        ]
        changed += other != config
    assert changed > 100


def test_no_fault_is_drawn_for_versions_that_name_their_options_otherwise():
    assert FlinkJobs("1.20.5")._abilities.faults == ()
    assert FlinkJobs("2.0.0")._abilities.faults == ABILITIES.faults


def test_a_version_without_clusters_is_refused():
    with pytest.raises(UnknownEngineError, match=r"2\.0\.0 and later"):
        FlinkClusterJobs("1.17.0")


def test_a_cluster_that_does_not_come_up_says_which_log_to_read(flink_version, monkeypatch):
    monkeypatch.setattr(processes, "JOB_MANAGER", "no.such.Main")
    cluster = FlinkCluster(flink_version("2.3.0"))
    with (
        pytest.raises(ClusterError, match=r"jobmanager ended by itself .* read .*logs.jobmanager\.log") as told,
        cluster,
    ):
        pass
    log = cluster.log_of("jobmanager")
    assert str(log) in str(told.value)
    tries = log.read_text(encoding="utf-8").count("Could not find or load main class no.such.Main")
    assert tries == STARTS
    processes.shutil.rmtree(cluster.folder)


def test_a_cluster_that_does_not_come_up_costs_a_job(monkeypatch):
    class Fake:
        def __init__(self, _version, _options):
            pass

        def __enter__(self):
            raise ClusterError("the cluster did not come up within 300 s: read y.log")

    monkeypatch.setattr("tidegate.conformance.engines.flink.cluster.engine.FlinkCluster", Fake)
    engine = FlinkClusterJobs("2.3.0")
    with pytest.raises(Exception, match=r"read y\.log"):
        engine.start()
    assert engine.run(make_case(()).as_request()) == Crashed("the cluster did not come up within 300 s: read y.log")


def test_no_connection_gets_a_port_of_ours_by_chance():
    """While a JobManager is down, its port is nobody's."""
    least, most = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split())
    assert PORTS.stop <= least <= most
    assert find_port() in PORTS


def test_processes_die_with_ours():
    """Also where we are killed, and can do nothing about it."""
    program = (
        "import subprocess, sys, time\nfrom tidegate.conformance.engines.processes.orphans import die_with_parent\n"
    )
    program += "child = subprocess.Popen(['sleep', '100'], preexec_fn=die_with_parent)\n"
    program += "print(child.pid, flush=True)\ntime.sleep(100)"
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 20
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive(pid)


def is_alive(pid):
    """A zombie that nobody has collected is dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
