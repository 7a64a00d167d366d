"""One job on a cluster, and its faults: killed and stopped processes, a restore at another parallelism.

Faults come one after the other, each when a source reaches its place and a checkpoint was completed since, so
that there is something to restore. Sources wait for it after a while (java/Durable.java).
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tidegate.conformance.engines.flink.cluster.processes import (
    HEARTBEAT_TIMEOUT,
    PATIENCE,
    ClusterError,
    FlinkCluster,
)
from tidegate.conformance.engines.flink.jobs import harm

Json = dict[str, Any]

PAUSE = "pause"
LONG_PAUSE = "long_pause"
KILL_JOB_MANAGER = "kill_jobmanager"
#: Not a fault, and never drawn: with it, tests trigger a checkpoint of a job that takes none itself.
CHECKPOINT = "checkpoint"
FAULTS = (
    *(harm.KILL_TASK_MANAGER, harm.FAIL_TASK, harm.RESCALE, harm.RESCALE_CHECKPOINT),
    *(PAUSE, LONG_PAUSE, KILL_JOB_MANAGER),
)
#: Seconds for which a process is stopped: too short, and long enough, to be given up.
PAUSES = {PAUSE: 1.0, LONG_PAUSE: HEARTBEAT_TIMEOUT / 1000 + 2}
#: Files by which sources and this process wait for each other, and the one that fails a source (java/Durable.java).
REACHED, HARMED, FAIL = "reached-", "harmed-", "fail"
#: Until a killed process is missed, a job may be deployed to it again, and fail again.
OPTIONS = {"restart-strategy.fixed-delay.delay": "500 ms", "restart-strategy.fixed-delay.attempts": "100"}
#: How many savepoints may be refused: there are none while a task ends; the next one covers the remaining tasks.
SAVEPOINTS = 50
OVER = frozenset(("FINISHED", "FAILED", "CANCELED"))


class Run:
    """A running job. Each restore at another parallelism begins a generation, with journals of its own."""

    def __init__(self, cluster: FlinkCluster, request: Json) -> None:
        self.cluster, self.request = cluster, request
        self.faults: list[Json] = request["faults"]
        self.programs = harm.make_programs(request["config"], self.faults)
        self.folder = cluster.make_job_folder()
        self.generation = -1
        self.hit: list[bool] = []
        self.job = ""
        #: Checkpoints completed before the last fault.
        self.before = 0

    @property
    def journals(self) -> Path:
        return self.folder / f"generation-{self.generation}"

    def submit(self, savepoint: str | None = None) -> None:
        self.generation += 1
        request = {
            **self.request,
            "config": self.programs[self.generation],
            "folder": str(self.folder),
            "journals": str(self.journals),
            "rest_micros": harm.REST,
            "options": {**harm.make_options(self.folder, self.request["options"]), **OPTIONS},
        }
        path = self.folder / f"request-{self.generation}.json"
        path.write_text(json.dumps(request), encoding="utf-8")
        self.job = self.cluster.submit([str(path)], savepoint)
        self.before = 0

    # --- observation ------------------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        return self.cluster.state_of(self.job)

    def wait_for(self, happened: Callable[[], bool], what: str) -> bool:
        """Whether it happened before the job was over."""
        seen = False

        def is_settled() -> bool:
            nonlocal seen
            seen = happened()
            return seen or self.state in OVER

        self.cluster.wait_for(is_settled, PATIENCE, what)
        return seen

    def is_running(self) -> bool:
        vertices = self.cluster.get(f"/jobs/{self.job}")["vertices"]
        return all(one["tasks"]["RUNNING"] + one["tasks"]["FINISHED"] == one["parallelism"] for one in vertices)

    def count_attempts(self) -> int:
        return len({(one[0][2], one[0][3]) for one in harm.read_journals(self.journals)})

    def count_checkpoints(self) -> int:
        return int(self.cluster.get(f"/jobs/{self.job}/checkpoints")["counts"]["completed"])

    def count_behind(self) -> int:
        """What the sinks have received since their last snapshots."""
        count = 0
        for journal in harm.read_journals(self.journals):
            kinds = [row[3] for row in journal[1:]]
            saved = max((at for at, kind in enumerate(kinds) if kind == "snapshot"), default=len(kinds))
            count += kinds[saved:].count("record") if not journal[0][-1] else 0
        return count

    # --- faults -----------------------------------------------------------------------------------------------

    def harm(self, at: int) -> bool:
        """Whether the fault hit a process that ran a part of the job, or the job itself.

        `undoes`, only in tests: how much the sinks must receive after the last checkpoint.
        """
        fault, met = self.faults[at], False
        if self.wait_for((self.folder / f"{REACHED}{at}").exists, "come to where it is to be harmed"):
            if fault["fault"] == CHECKPOINT:
                self.cluster.post(f"/jobs/{self.job}/checkpoints", {"checkpointType": "CONFIGURED"})
            went_on = self.wait_for(lambda: self.count_checkpoints() > self.before, "complete a checkpoint")
            went_on = went_on and self.wait_for(lambda: bool(self.cluster.hosts_of(self.job)), "be seen to run")
            hosts = self.cluster.hosts_of(self.job)
            if went_on and "undoes" in fault:
                went_on = self.wait_for(lambda: self.count_behind() >= fault["undoes"], "go on behind a checkpoint")
            met = went_on and self.strike(fault["fault"], hosts[at % len(hosts)] if hosts else "")
        (self.folder / f"{HARMED}{at}").touch()
        return met

    def strike(self, fault: str, host: str) -> bool:
        """`host`: a TaskManager that runs a part of the job, if there is one."""
        attempts = self.count_attempts()
        if fault == CHECKPOINT:
            return True
        if fault == harm.RESCALE:
            return self.stop()
        if fault == harm.RESCALE_CHECKPOINT:
            return self.cancel()
        if fault == harm.FAIL_TASK:
            path = self.folder / FAIL
            path.touch()
            met = self.wait_for(lambda: not path.exists(), "fail")
            path.unlink(missing_ok=True)
        elif fault == KILL_JOB_MANAGER:
            self.cluster.kill("jobmanager")
            self.cluster.start_job_manager()
            met = True
        else:
            met = host in self.cluster.processes
            self.harm_host(fault, host)
        if met and fault != PAUSE:
            self.wait_for(lambda: self.count_attempts() > attempts, "restart the job")
            if self.wait_for(self.is_running, "bring the job to run"):
                self.before = self.count_checkpoints()
        return met

    def harm_host(self, fault: str, host: str) -> None:
        if not host:
            return
        if fault == harm.KILL_TASK_MANAGER:
            self.cluster.kill(host)
            self.cluster.start_task_manager()
        else:
            self.cluster.stop(host)
            time.sleep(PAUSES[fault])
            self.cluster.go_on(host)

    def stop(self) -> bool:
        """With a savepoint, from which the job is restored."""
        tries, savepoint = 0, ""
        try:
            while not savepoint and tries < SAVEPOINTS and self.state not in OVER:
                savepoint = self.cluster.stop_job(self.job)
                tries += 1
        except ClusterError:
            return False  # it has ended, or is about to
        if not savepoint:
            return False
        self.wait_for(lambda: False, "end the job")
        self.submit(savepoint)
        return True

    def cancel(self) -> bool:
        """The job is restored from the last completed checkpoint, which is known only after it has ended."""
        self.cluster.cancel_job(self.job)
        self.wait_for(lambda: False, "end the job")
        kept = {
            int(one.parent.name[4:]): one.parent for one in self.folder.glob(f"checkpoints/{self.job}/chk-*/_metadata")
        }
        if self.state != "CANCELED" or not kept:
            return False
        self.submit(kept[max(kept)].as_uri())
        return True

    # --- the whole --------------------------------------------------------------------------------------------

    def run(self) -> Json:
        """What the job has shown. If it or the cluster hangs, an error that names the log to read."""
        trouble: Json = {}
        try:
            self.submit()
            for at in range(len(self.faults)):
                self.hit.append(self.harm(at))
            self.wait_for(lambda: False, "end the job")
            if self.state != "FINISHED":
                why = self.cluster.get(f"/jobs/{self.job}/exceptions").get("root-exception", "")
                trouble = {"error": f"the job is {self.state}: {str(why)[:2000]}"}
        except (ClusterError, OSError) as error:
            trouble = {"error": str(error), "timeout": True}
        return {**trouble, "hit": self.hit, **harm.read_shown(self.folder, self.read_graphs(), self.programs)}

    def read_graphs(self) -> list[Any]:
        paths = [self.folder / f"generation-{number}" / "graph.json" for number in range(self.generation + 1)]
        return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
