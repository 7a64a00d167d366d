"""One job on a cluster, and what is done to it meanwhile: killed and stopped processes, a restore at another width.

Faults come one behind the other, each when a checkpoint was completed since the last, so that there is something to go
on from. What the job has shown are the lines of its journals, attempt by attempt, and what it has committed.
"""

import contextlib
import time
from pathlib import Path
from typing import Any

from tidegate.conformance.engines.flink.cluster.processes import (
    HEARTBEAT_TIMEOUT,
    PATIENCE,
    ClusterError,
    FlinkCluster,
    JobEndedError,
)

Json = dict[str, Any]

KILL_TASK_MANAGER = "kill_taskmanager"
PAUSE = "pause"
LONG_PAUSE = "long_pause"
KILL_JOB_MANAGER = "kill_jobmanager"
RESCALE = "rescale"
FAULTS = (KILL_TASK_MANAGER, PAUSE, LONG_PAUSE, KILL_JOB_MANAGER, RESCALE)
#: How long a process is stopped, in seconds: too short and long enough to be given up.
PAUSES = {PAUSE: 1.0, LONG_PAUSE: HEARTBEAT_TIMEOUT / 1000 + 2}
SETTINGS = {
    "execution.checkpointing.interval": "300 ms",
    "execution.checkpointing.min-pause": "0 ms",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "1000",
    "restart-strategy.fixed-delay.delay": "500 ms",
}
#: What scripts may halt for: the first checkpoint that was asked for, and the end of all faults.
CHECKPOINT, FAULT = "checkpoint", "fault"
#: How often a job is asked to stop.
STOPS = 10


class Run:
    """A job while it runs. Each restore from a savepoint begins a generation, with journals of its own."""

    def __init__(self, cluster: FlinkCluster, case: Json) -> None:
        self.cluster, self.case = cluster, case
        self.folder: Path = cluster.folder / "jobs" / case["name"]
        self.folder.mkdir(parents=True)
        self.widths = [int(case["parallelism"])]
        self.done: list[Json] = []
        self.job = ""

    @property
    def journals(self) -> Path:
        return self.folder / f"generation-{len(self.widths) - 1}"

    def write(self) -> Path:
        case = self.case
        names = ("max_parallelism", "width", "padding", "pause", "slow_micros", "sink")
        settings = SETTINGS | case["settings"]
        lines = [" ".join(str(case[name]) for name in names)]
        lines.append(",".join(f"{name}={value}" for name, value in settings.items()))
        lines += [f"{at}|{','.join(script)}" for at, scripts in enumerate(case["scripts"]) for script in scripts]
        path = self.folder / "job.txt"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    def submit(self, savepoint: str | None = None) -> None:
        arguments = [str(self.folder / "job.txt"), str(self.journals), str(self.widths[-1])]
        self.job = self.cluster.submit(arguments, savepoint)
        self.wait_until_running()

    def wait_until_running(self) -> None:
        wanted = (len(self.case["scripts"]) + 2) * self.widths[-1]

        def is_running() -> bool:
            told = self.cluster.get(f"/jobs/{self.job}")
            if told["state"] in ("FAILED", "CANCELED", "FINISHED"):
                why = self.cluster.get(f"/jobs/{self.job}/exceptions").get("root-exception", "")
                raise JobEndedError(f"the job is {told['state']}: {str(why)[:2000]}")
            return sum(int(one["tasks"]["RUNNING"]) for one in told["vertices"]) == wanted

        self.cluster.wait_for(is_running, PATIENCE, "bring the job to run")

    # --- what the journals say --------------------------------------------------------------------------------

    def read(self, generation: int) -> list[list[str]]:
        """Journals, line by line. A line that was cut by a kill has no end, and is none."""
        folder = self.folder / f"generation-{generation}"
        texts = (path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.rows")))
        return [text.split("\n")[:-1] for text in texts if "\n" in text]

    def attempts(self) -> set[tuple[str, str]]:
        journals = self.read(len(self.widths) - 1)
        return {(lines[0].split()[2], lines[0].split()[3]) for lines in journals}

    def is_done(self) -> bool:
        """Whether all sources of the newest attempt have nothing more to send."""
        journals = [lines for lines in self.read(len(self.widths) - 1) if lines[0].startswith("source")]
        newest: dict[tuple[str, str], list[str]] = {}
        for lines in sorted(journals, key=lambda lines: int(lines[0].split()[4])):
            task, subtask, *_attempt = lines[0].split()
            newest[task, subtask] = lines
        return len(newest) == len(self.case["scripts"]) * self.widths[-1] and all(
            "done" in lines for lines in newest.values()
        )

    def count_received(self) -> int:
        """What the sinks have received behind their last snapshots."""
        count = 0
        for lines in self.read(len(self.widths) - 1):
            saved = max((at for at, line in enumerate(lines) if line.startswith("snapshot ")), default=len(lines))
            count += sum(line.startswith("in ") for line in lines[saved:]) if lines[0].startswith("sink ") else 0
        return count

    def count_checkpoints(self) -> int:
        return int(self.cluster.get(f"/jobs/{self.job}/checkpoints")["counts"]["completed"])

    # --- faults -----------------------------------------------------------------------------------------------

    def harm(self, fault: Json) -> None:
        """`hit`: the fault met a process that ran a part of the job, or the job itself.

        `undoes`: a checkpoint is asked for, and the fault waits until the sinks have received so much behind it.
        Scripts that halt for the checkpoint, and then for the fault, see to it that there is so much, in any weather.
        """
        before = self.count_checkpoints()
        if "undoes" in fault:
            self.cluster.post(f"/jobs/{self.job}/checkpoints", {"checkpointType": "CONFIGURED"})
        self.cluster.wait_for(lambda: self.count_checkpoints() > before, PATIENCE, "complete a checkpoint")
        if "undoes" in fault:
            (self.folder / CHECKPOINT).touch()
            self.cluster.wait_for(lambda: self.count_received() >= fault["undoes"], PATIENCE, "go on behind it")
        time.sleep(fault["after"] / 1000)
        kind, known = fault["fault"], self.attempts()
        if kind == RESCALE:
            self.rescale(int(fault["parallelism"]))
            self.done.append({"fault": kind, "hit": True})
            return
        if kind == KILL_JOB_MANAGER:
            self.cluster.kill("jobmanager")
            self.cluster.start_job_manager()
            self.done.append({"fault": kind, "hit": True})
            self.wait_for_attempt(known)
            return
        hosts = self.cluster.hosts_of(self.job)
        self.done.append({"fault": kind, "hit": bool(hosts)})
        if not hosts:
            return
        host = hosts[fault["which"] % len(hosts)]
        if kind == KILL_TASK_MANAGER:
            self.cluster.kill(host)
            self.cluster.start_task_manager()
        else:
            self.cluster.stop(host)
            time.sleep(PAUSES[kind])
            self.cluster.go_on(host)
        if kind != PAUSE:
            self.wait_for_attempt(known)

    def wait_for_attempt(self, known: set[tuple[str, str]]) -> None:
        self.cluster.wait_for(lambda: len(self.attempts()) > len(known), PATIENCE, "restart the job")
        self.wait_until_running()

    def rescale(self, parallelism: int) -> None:
        savepoint = self.stop(drain=False)
        self.widths.append(parallelism)
        self.submit(savepoint)

    # --- the whole --------------------------------------------------------------------------------------------

    def run(self) -> Json:
        started = time.monotonic()
        self.write()
        self.submit()
        for fault in self.case["faults"]:
            self.harm(fault)
        (self.folder / FAULT).touch()
        self.cluster.wait_for(self.is_done, 2 * PATIENCE, "read the scripts to their ends")
        self.stop(drain=True)
        committed = sorted((self.folder / "committed").glob("*"))
        return {
            "generations": [
                {"parallelism": width, "journals": self.read(number)} for number, width in enumerate(self.widths)
            ],
            "committed": [line for path in committed for line in path.read_text(encoding="utf-8").splitlines()],
            "faults": self.done,
            "seconds": round(time.monotonic() - started, 1),
        }

    def stop(self, *, drain: bool) -> str:
        """The savepoint of a job that is then finished.

        A stop that falls into a restart is refused, or fails with it, and is asked for once more.
        """
        for _ in range(STOPS):
            with contextlib.suppress(JobEndedError):
                self.wait_until_running()
            try:
                savepoint = self.cluster.stop_job(self.job, drain=drain)
            except ClusterError:
                if drain and self.cluster.state_of(self.job) == "FINISHED":
                    return ""
                continue
            self.cluster.wait_for(lambda: self.cluster.state_of(self.job) == "FINISHED", PATIENCE, "end the job")
            return savepoint
        state = self.cluster.state_of(self.job)
        raise ClusterError(f"the job is {state}, and not finished: read {self.cluster.log_of('jobmanager')}")


def run_job(cluster: FlinkCluster, case: Json) -> Json:
    """What a job has shown under the faults of its case.

    Raises
    ------
    ClusterError
        It hangs, or the cluster does; the message says which log to read.
    """
    return Run(cluster, case).run()
