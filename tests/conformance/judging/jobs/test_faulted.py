"""Jobs on a real cluster that is harmed, and what would be said if it, or its log, were wrong."""

import copy
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tidegate.conformance.cli.main import main
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.flink.cluster import processes
from tidegate.conformance.engines.flink.cluster.processes import (
    PORTS,
    STARTS,
    ClusterError,
    FlinkCluster,
    find_port,
)
from tidegate.conformance.engines.flink.cluster.running import CHECKPOINT, FAULT, FAULTS, KILL_TASK_MANAGER, run_job
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.jobs import faulted
from tidegate.conformance.judging.jobs.faulted import (
    UNALIGNED,
    FaultedJob,
    FaultedResult,
    compute_expected,
    draw_case,
    judge,
)

HARM = {"fault": KILL_TASK_MANAGER, "after": 0, "which": 0, "undoes": 5}
#: No checkpoints but those that are asked for.
RARE = {"execution.checkpointing.interval": "1 h"}


@pytest.fixture(scope="module")
def shown(flink_version):
    """Two jobs of which a TaskManager is killed, the second with a sink that commits at once; on one cluster."""
    case = draw_case(0, 0, 0) | {"parallelism": 2, "faults": [HARM], "settings": {UNALIGNED: "true"} | RARE}
    script = draw_case(0, 1, 0)["scripts"][0][0]
    script = [*script[:60], f"h {CHECKPOINT}", *script[60:200], f"h {FAULT}", *script[200:300]]
    case |= {"scripts": [[script, script]], "pause": 8, "slow_micros": 0}
    eager = case | {"name": "eager", "sink": "eager"}
    with FlinkCluster(flink_version("2.3.0")) as cluster:
        answers = [(one, run_job(cluster, one)) for one in (case, eager)]
        pids = [one.pid for one in cluster.processes.values()]
    return answers, cluster, pids


def test_a_cluster_that_loses_a_process_keeps_every_promise(shown):
    (case, answer), _eager = shown[0]
    job = judge(case, answer)
    assert job.violations == []
    assert (job.hits, job.restores) == (1, 1)
    passed = {one.invariant for one in job.verdicts if one.status == "passed"}
    assert passed == {f"LOG-{name}" for name in ["ORDER", "LOSS", "ROUTE", "LATE", "MADE-LATE", "RESULT", "RECOVER"]}
    result = FaultedResult("flink-cluster:2.3.0", 0, 1, [job])
    assert result.exit_code is Exit.CONFORMANT
    assert "1 of 1 faults hit; 1 jobs were restored, 1 times in all" in result.as_text()


def test_a_sink_that_is_at_least_once_is_caught(shown):
    case, answer = shown[0][1]
    job = judge(case, answer)
    assert {one.split(":")[0] for one in job.violations} == {"LOG-RESULT"}
    assert FaultedResult("flink-cluster:2.3.0", 0, 1, [job]).exit_code is Exit.VIOLATIONS


def move_snapshot(journals, checkpoint):
    """Before the last record that a count has read."""
    for lines in journals:
        snapshots = [at for at, line in enumerate(lines) if line.startswith(f"snapshot {checkpoint} ")]
        if lines[0].startswith("count ") and snapshots:
            read = max(at for at, line in enumerate(lines[: snapshots[0]]) if line.startswith("in "))
            lines.insert(read, lines.pop(snapshots[0]))
            return


def lose_snapshot(journals, checkpoint):
    for lines in journals:
        snapshots = [line for line in lines if line.startswith(f"snapshot {checkpoint} ")]
        if lines[0].startswith("count ") and snapshots:
            lines.remove(snapshots[0])
            return


def restore_otherwise(journals, checkpoint):
    for lines in journals:
        if lines[0].startswith("count ") and lines[1].startswith(f"restored {checkpoint} "):
            lines[1] = f"restored {checkpoint} {int(lines[1].split()[2]) + 1}"
            return


@pytest.mark.parametrize(
    ("wound", "named"),
    [(move_snapshot, "LOG-LOSS"), (lose_snapshot, "LOG-RECOVER"), (restore_otherwise, "LOG-RECOVER")],
)
def test_a_log_that_is_a_little_wrong_is_caught(shown, wound, named):
    case, answer = copy.deepcopy(shown[0][0])
    journals = answer["generations"][0]["journals"]
    (checkpoint,) = {line.split()[1] for lines in journals for line in lines if line.startswith("restored ")}
    wound(journals, checkpoint)
    assert named in {one.split(":")[0] for one in judge(case, answer).violations}


def test_what_is_not_committed_is_missing(shown):
    case, answer = copy.deepcopy(shown[0][0])
    answer["committed"].pop()
    assert [one.split(":")[0] for one in judge(case, answer).violations] == ["LOG-RESULT"]


def test_nothing_is_left_behind(shown):
    _answers, cluster, pids = shown
    assert not cluster.folder.exists()
    assert not cluster.processes
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            processes.os.kill(pid, 0)


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


def test_no_connection_gets_a_port_of_ours_by_chance():
    """While a JobManager is down, its port is nobody's."""
    least, most = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split())
    assert PORTS.stop <= least <= most
    assert find_port() in PORTS


def test_faults_are_part_of_the_case():
    case = draw_case(3, 4, 3)
    assert case == draw_case(3, 4, 3)
    assert case != draw_case(3, 5, 3)
    cases = [draw_case(0, index, 3) for index in range(60)]
    assert {fault["fault"] for one in cases for fault in one["faults"]} == set(FAULTS)
    assert {one["settings"][UNALIGNED] for one in cases} == {"true", "false"}
    assert all(1 <= len(one["faults"]) <= 3 for one in cases)
    assert draw_case(0, 0, 0)["faults"] == []


def test_no_script_sends_behind_its_own_watermark():
    for script in (script for index in range(20) for one in draw_case(0, index, 0)["scripts"] for script in one):
        announced = -1
        for kind, *words in (item.split() for item in script):
            assert int(words[-1]) > announced
            announced = int(words[-1]) if kind == "w" else announced


def test_what_is_expected_is_a_count_of_each_window():
    case = {"width": 10, "scripts": [[["r k1 3", "w 4", "r k1 9"]], [["r k1 10", "r k2 0"]]]}
    assert [(one.key, one.timestamp, one.value) for one in compute_expected(case)] == [
        ("k1", 9, 2),
        ("k1", 19, 1),
        ("k2", 9, 1),
    ]


def test_a_job_that_hangs_leaves_the_answer_open():
    job = FaultedJob(draw_case(0, 0, 1), error="the cluster did not restart the job within 60 s: read x.log")
    result = FaultedResult("flink-cluster:2.3.0", 0, 1, [job])
    assert result.exit_code is Exit.UNDETERMINED
    assert "read x.log" in result.as_text()


def test_the_command(monkeypatch, capsys, tmp_path, shown):
    (case, answer), _eager = shown[0]
    asked = []

    def run(*asked_for, observe, **others):
        asked.append((*asked_for, others))
        result = FaultedResult("flink-cluster:2.3.0", 0, 1, [judge(case, answer)])
        observe(result.jobs[0])
        return result

    monkeypatch.setattr(faulted, "run_faulted", run)
    command = ["jobs", "--engine", "flink-cluster:2.3.0", "--jobs", "1", "--faults", "2", "--report", str(tmp_path)]
    assert main(command) == 0
    assert asked == [("2.3.0", 1, 0, 2, {"first": 0, "known": []})]
    assert "1 jobs were restored" in capsys.readouterr().out
    _head, line = map(json.loads, (tmp_path / "report.jsonl").read_text(encoding="utf-8").splitlines())
    assert (line["restores"], line["status"]) == (1, "pass")
    assert main([*command, "--resume"]) == 0
    assert asked[1] == ("2.3.0", 1, 0, 2, {"first": 0, "known": [line]})
    assert main(["audit", "--local", str(tmp_path / "runs")]) == Exit.UNDETERMINED
    assert "LOG-WATERMARK met nothing to check" in capsys.readouterr().out


def test_jobs_that_passed_before_are_counted_and_not_run_again(shown, monkeypatch):
    (case, answer), _eager = shown[0]
    known = judge(case | {"name": "cluster-0-1"}, answer)
    asked = []

    def run_some(_version, cases):
        asked.extend(case["name"] for case in cases)
        yield from ()

    monkeypatch.setattr(faulted, "run_all", run_some)
    result = faulted.run_faulted("2.3.0", 3, 0, 1, known=[json.loads(json.dumps(known.as_json()))])
    assert asked == ["cluster-0-0", "cluster-0-2"]
    told, alone = result.as_json(), FaultedResult("flink-cluster:2.3.0", 0, 1, [known]).as_json()
    assert told == alone
    assert told["rows"] > 0


def test_a_job_that_failed_before_stays_one_that_failed(shown, monkeypatch):
    case, answer = shown[0][1]
    failed = judge(case | {"name": "cluster-0-1"}, answer)
    monkeypatch.setattr(faulted, "run_all", lambda _version, _cases: (job for job in ()))
    result = faulted.run_faulted("2.3.0", 2, 0, 1, known=[json.loads(json.dumps(failed.as_json()))])
    assert (result.violated, result.exit_code) == (1, Exit.VIOLATIONS)
    assert result.jobs[0].violations == failed.violations


def test_a_job_that_hangs_costs_its_cluster_and_leaves_the_logs(monkeypatch):
    made = []

    class Fake:
        def __init__(self, _version, *, highly_available):
            self.keeps_logs, self.highly_available = False, highly_available
            made.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_error):
            return None

    def hang(_cluster, case):
        if len(made) == 1:
            raise ClusterError("read x.log")
        return {"generations": [], "committed": [], "faults": [], "seconds": 0.0}

    monkeypatch.setattr(faulted, "FlinkCluster", Fake)
    monkeypatch.setattr(faulted, "run_job", hang)
    result = faulted.run_faulted("2.3.0", 2, 0, 1, kinds=(KILL_TASK_MANAGER,))
    assert [job.error for job in result.jobs] == ["read x.log", ""]
    assert [(one.keeps_logs, one.highly_available) for one in made] == [(True, False), (False, False)]
    faulted.run_faulted("2.3.0", 1, 0, 1, kinds=("kill_jobmanager",))
    assert made[-1].highly_available


@pytest.mark.parametrize("comes_up", [0, 1])
def test_a_cluster_that_does_not_come_up_loses_nothing_that_is_known(monkeypatch, comes_up):
    made = []

    class Fake:
        def __init__(self, _version, *, highly_available):
            self.keeps_logs = highly_available
            made.append(self)

        def __enter__(self):
            if len(made) > comes_up:
                raise ClusterError("the cluster did not come up within 300 s: read y.log")
            return self

        def __exit__(self, *_error):
            return None

    def hang(_cluster, _case):
        raise ClusterError("read x.log")

    monkeypatch.setattr(faulted, "FlinkCluster", Fake)
    monkeypatch.setattr(faulted, "run_job", hang)
    if not comes_up:
        with pytest.raises(CannotStartError, match=r"did not come up .* read y\.log"):
            faulted.run_faulted("2.3.0", 9, 0, 1)
        return
    told = []
    result = faulted.run_faulted("2.3.0", 9, 0, 1, observe=told.append)
    assert [job.error.rpartition(" ")[2] for job in result.jobs] == ["x.log", *["y.log"] * faulted.MOST_MISSES]
    assert result.exit_code is Exit.UNDETERMINED
    assert told == result.jobs
