"""A standalone cluster of Flink from the jars in the cache: JobManager, TaskManagers, and ZooKeeper if needed.

Each is a Java process that ends with ours, however that ends.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.flink.cache import cache_folder, check_jars, folder_of
from tidegate.conformance.engines.flink.jobs import harm
from tidegate.conformance.engines.flink.jobs.compiling import compile_into, digest_of, join, make_sources
from tidegate.conformance.engines.java import ONE_COMPILER
from tidegate.conformance.engines.processes.orphans import die_with_parent

Json = dict[str, Any]

JOB_MANAGER = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
TASK_MANAGER = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"
ZOO_KEEPER = "org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServerMain"
MAIN = "tidegate.Deployed"
BOUNDARY = "tidegate-cluster-jar"
_OPENED = ("java.lang", "java.util", "java.net", "java.nio", "java.time", "java.util.concurrent", "java.lang.reflect")
#: Seconds until all TaskManagers are there: ten on an idle machine.
START = 300.0
#: Milliseconds without heartbeats after which a TaskManager is given up, or ZooKeeper gives up a JobManager.
#: Connections show at once that a process was killed; on a busy machine others may be silent for seconds.
HEARTBEAT_TIMEOUT = 10_000
SESSION_TIMEOUT = 10_000
#: The most that one poll counts, in seconds: if the whole machine stood still, no process has really waited.
LONGEST_LOOK = 2.0
#: Seconds for anything else, after which the job counts as hanging.
PATIENCE = 300.0
#: Seconds for an election.
ELECTIONS = 60
#: How often a JobManager is started if it ends before it answers.
STARTS = 4
#: Below the ephemeral ports: while a JobManager is down, no connection may get its port.
PORTS = range(15_000, 32_000)
#: No script computes the memory of a TaskManager for us: all its parts are set.
_MEMORY = {
    "taskmanager.cpu.cores": "1",
    "taskmanager.memory.task.heap.size": "96m",
    "taskmanager.memory.task.off-heap.size": "0m",
    "taskmanager.memory.framework.heap.size": "96m",
    "taskmanager.memory.framework.off-heap.size": "64m",
    "taskmanager.memory.network.min": "16m",
    "taskmanager.memory.network.max": "16m",
    "taskmanager.memory.managed.size": "8m",
    "taskmanager.memory.jvm-metaspace.size": "128m",
    "taskmanager.memory.jvm-overhead.min": "64m",
    "taskmanager.memory.jvm-overhead.max": "64m",
    "taskmanager.memory.segment-size": "4kb",
    "taskmanager.memory.min-segment-size": "256b",
    "jobmanager.memory.process.size": "700m",
}
_PROMPT = {
    "heartbeat.interval": "500",
    "heartbeat.timeout": str(HEARTBEAT_TIMEOUT),
    "heartbeat.rpc-failure-threshold": "1",
    "slot.request.timeout": "30000",
    "cluster.registration.initial-timeout": "100",
    "cluster.registration.max-timeout": "500",
    "cluster.registration.error-delay": "200",
    "cluster.registration.refused-registration-delay": "200",
    "rest.await-leader-timeout": "20000",
    "pekko.ask.timeout": "120 s",
    "pekko.startup-timeout": "120 s",
    "akka.ask.timeout": "120 s",
    "web.timeout": "120000",
    "web.refresh-interval": "100",
    "taskmanager.load-balance.mode": "SLOTS",
}
_LOGGING = """\
rootLogger.level = WARN
rootLogger.appenderRef.console.ref = console
appender.console.name = console
appender.console.type = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss,SSS} %-5p %c{1} %m%n
"""


class ClusterError(RuntimeError):
    """A request to the cluster failed; the message names the log to read."""


def find_port() -> int:
    """A free port that no other process gets by chance while we do not hold it."""
    for port in random.sample(PORTS, len(PORTS)):
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port
    raise CannotStartError("no port is free", f"a cluster listens on some between {PORTS.start} and {PORTS.stop}")


def make_jar(version: str) -> Path:
    """Our programs, compiled once against the version."""
    jars = sorted(folder_of(version).glob("*.jar"))
    sources = make_sources(version, jars, deployed=True)
    classes = cache_folder() / "flink-cluster" / f"{version}-{digest_of(sources)}"
    if not classes.is_dir():
        compile_into(classes, sources, jars)
    jar = classes.parent / f"{classes.name}.jar"
    if not jar.is_file():
        with tempfile.NamedTemporaryFile(dir=classes.parent, delete=False) as file, zipfile.ZipFile(file, "w") as made:
            for path in sorted(classes.rglob("*.class")):
                made.write(path, path.relative_to(classes))
        Path(file.name).rename(jar)
    return jar


class FlinkCluster:
    """The JobManager may be killed, too: a ZooKeeper keeps its state. `options`: those of its processes."""

    def __init__(
        self, version: str, options: dict[str, str] | None = None, task_managers: int = 2, slots: int = 3
    ) -> None:
        check_jars(version)
        java = shutil.which("java")
        if java is None:
            raise CannotStartError("no Java found", "install a JDK of version 11 or later (17 is tested)")
        self._java = java
        self.version = version
        self.jar = make_jar(version)
        self.folder = Path(tempfile.mkdtemp(prefix="tidegate-cluster-"))
        self.rest = find_port()
        self.slots = slots
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._started = 0
        self._jar_id = ""
        self._wanted = task_managers
        self._jobs = 0
        self._quorum = find_port()
        self._write_config(options or {})

    # --- life -------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException as error:
            self.close(keep=isinstance(error, ClusterError))
            raise
        return self

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        self.close(keep=isinstance(error, ClusterError))

    def _write_config(self, options: dict[str, str]) -> None:
        rpc = find_port()
        local = {"jobmanager.rpc.address": "localhost", "jobmanager.rpc.port": rpc, "rest.address": "localhost"}
        local |= {"rest.port": self.rest, "rest.bind-address": "localhost", "jobmanager.bind-host": "localhost"}
        local |= {"taskmanager.bind-host": "localhost", "taskmanager.host": "localhost"}
        local |= {"taskmanager.numberOfTaskSlots": self.slots, "io.tmp.dirs": self.folder / "tmp"}
        local |= {"execution.checkpointing.dir": f"file://{self.folder}/checkpoints", "web.upload.dir": self.folder}
        local |= {"high-availability.type": "zookeeper", "high-availability.cluster-id": "/tidegate"}
        local |= {"high-availability.zookeeper.quorum": f"localhost:{self._quorum}"}
        local |= {"high-availability.storageDir": f"file://{self.folder}/ha"}
        local |= {"high-availability.zookeeper.client.session-timeout": SESSION_TIMEOUT, **harm.OF_THE_CLUSTER}
        for name in ("conf", "tmp", "logs"):
            (self.folder / name).mkdir()
        lines = [f"{key}: {value}\n" for key, value in (_MEMORY | _PROMPT | local | options).items()]
        (self.folder / "conf" / "config.yaml").write_text("".join(lines), encoding="utf-8")
        (self.folder / "conf" / "log4j2.properties").write_text(_LOGGING, encoding="utf-8")

    def start(self) -> None:
        self._launch("zookeeper", ZOO_KEEPER, [str(self._quorum), str(self.folder / "zookeeper")], "128m")
        self._launch_job_manager()
        for _ in range(self._wanted):
            self.start_task_manager()
        self._wait_for_job_manager()
        self.wait_for(lambda: self.get("/overview")["slots-total"] >= self.slots * self._wanted, START, "come up")

    def _launch(self, name: str, main: str, arguments: list[str], heap: str) -> None:
        logging = self.folder / "conf" / "log4j2.properties"
        options = [f"-Xmx{heap}", "-XX:+UseSerialGC", *ONE_COMPILER, "-XX:MaxMetaspaceSize=512m"]
        options += [f"-Djava.io.tmpdir={self.folder / 'tmp'}"]
        options += [f"-Dlog4j2.configurationFile={logging}", f"-Dlog4j.configurationFile={logging}"]
        options += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
        path = join(sorted(folder_of(self.version).glob("*.jar")))
        with self.log_of(name).open("ab") as log:
            self.processes[name] = subprocess.Popen(  # noqa: S603 - our own command line
                [self._java, *options, "-cp", path, main, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - no thread of ours holds a lock
            )

    def log_of(self, name: str) -> Path:
        return self.folder / "logs" / f"{name}.log"

    def start_job_manager(self) -> None:
        self._launch_job_manager()
        self._wait_for_job_manager()

    def _launch_job_manager(self) -> None:
        self._launch("jobmanager", JOB_MANAGER, ["--configDir", str(self.folder / "conf")], "300m")

    def _wait_for_job_manager(self) -> None:
        """A JobManager that ends while it starts, as on a stalled machine, is restarted; its log goes on."""

        def answers() -> bool:
            return bool(self.get("/overview"))

        for left in reversed(range(STARTS)):
            try:
                self.wait_for(answers, START, "get a JobManager")
            except ClusterError:
                if not left or self.processes["jobmanager"].poll() is None:
                    raise
                self._launch_job_manager()
            else:
                return

    def start_task_manager(self) -> str:
        self._started += 1
        name = f"taskmanager-{self._started}"
        arguments = ["--configDir", str(self.folder / "conf"), "-D", f"taskmanager.resource-id={name}"]
        self._launch(name, TASK_MANAGER, arguments, "256m")
        return name

    def close(self, *, keep: bool = False) -> None:
        """`keep`: the logs stay, to show what went wrong."""
        for name in list(self.processes):
            self.kill(name)
        shutil.rmtree(self.folder / "tmp" if keep else self.folder, ignore_errors=True)

    # --- harm -------------------------------------------------------------------------------------------------

    def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self, name: str) -> None:
        os.kill(self.processes[name].pid, signal.SIGSTOP)

    def go_on(self, name: str) -> None:
        if name in self.processes:
            os.kill(self.processes[name].pid, signal.SIGCONT)

    # --- REST -------------------------------------------------------------------------------------------------

    def get(self, path: str) -> Json:
        return self._ask(urllib.request.Request(f"http://localhost:{self.rest}{path}"))

    def post(self, path: str, body: Json) -> Json:
        data, header = json.dumps(body).encode(), {"Content-Type": "application/json"}
        return self._ask(urllib.request.Request(f"http://localhost:{self.rest}{path}", data, header))

    def _ask(self, request: urllib.request.Request, elections: int = ELECTIONS) -> Json:
        """Raise ClusterError if the request is refused, with the reason; OSError if there is no answer.

        During the election of a leader, all requests must wait: on a busy machine that may be at any time.
        """
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - our own host
                told: Json = json.load(answer)
                return told
        except urllib.error.HTTPError as error:
            if error.code == HTTPStatus.SERVICE_UNAVAILABLE and elections:
                time.sleep(1)
                return self._ask(request, elections - 1)
            text = error.read().decode(errors="replace")[:2000]
            raise ClusterError(f"{request.full_url} is refused: {text}") from error

    def wait_for(self, happened: Callable[[], bool], seconds: float, what: str) -> None:
        waited = 0.0
        while waited < seconds:
            looked = time.monotonic()
            try:
                if happened():
                    return
            except (OSError, ClusterError, KeyError):
                pass  # not yet
            if any(process.poll() is not None for process in self.processes.values()):
                break
            time.sleep(0.1)
            waited += min(time.monotonic() - looked, LONGEST_LOOK)
        ended = [name for name, process in self.processes.items() if process.poll() is not None]
        if ended:
            raise ClusterError(
                f"{ended[0]} ended by itself when the cluster was to {what}: read {self.log_of(ended[0])}"
            )
        raise ClusterError(f"the cluster did not {what} within {seconds:g} s: read {self.log_of('jobmanager')}")

    def make_job_folder(self) -> Path:
        """One per job, deleted with the cluster."""
        self._jobs += 1
        folder = self.folder / "jobs" / str(self._jobs)
        folder.mkdir(parents=True)
        return folder

    def submit(self, arguments: list[str], savepoint: str | None = None) -> str:
        if not self._jar_id:
            self._jar_id = self._upload()
        body = {"entryClass": MAIN, "programArgsList": arguments} | ({"savepointPath": savepoint} if savepoint else {})
        return str(self.post(f"/jars/{self._jar_id}/run", body)["jobid"])

    def _upload(self) -> str:
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="jarfile"; filename="job.jar"\r\n'
        head += "Content-Type: application/x-java-archive\r\n\r\n"
        data = head.encode() + self.jar.read_bytes() + f"\r\n--{BOUNDARY}--\r\n".encode()
        header = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        request = urllib.request.Request(f"http://localhost:{self.rest}/jars/upload", data, header)
        return str(self._ask(request)["filename"]).rsplit("/", maxsplit=1)[-1]

    def state_of(self, job: str) -> str:
        return str(self.get(f"/jobs/{job}")["state"])

    def hosts_of(self, job: str) -> list[str]:
        """The TaskManagers that run a part of the job."""
        found = set()
        for vertex in self.get(f"/jobs/{job}")["vertices"]:
            managers = self.get(f"/jobs/{job}/vertices/{vertex['id']}/taskmanagers")["taskmanagers"]
            found |= {one["taskmanager-id"] for one in managers if one["status"] == "RUNNING"}
        return sorted(found & set(self.processes))

    def cancel_job(self, job: str) -> None:
        request = urllib.request.Request(f"http://localhost:{self.rest}/jobs/{job}?mode=cancel", method="PATCH")
        self._ask(request)

    def stop_job(self, job: str) -> str:
        """Stop with a savepoint and return its path; None if that was refused, and the job goes on."""
        body = {"drain": False, "targetDirectory": f"file://{self.folder}/savepoints"}
        trigger = self.post(f"/jobs/{job}/stop", body)["request-id"]
        place = ""

        def is_saved() -> bool:
            nonlocal place
            told = self.get(f"/jobs/{job}/savepoints/{trigger}")
            if told["status"]["id"] != "COMPLETED":
                return False
            place = told["operation"].get("location", "")
            return True

        self.wait_for(is_saved, PATIENCE, "take a savepoint")
        return place
