"""A MiniCluster in a process of its own, which runs jobs one by one."""

import contextlib
import json
import math
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from tidegate.conformance.engines.base import Started
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.flink.cache import check_jars
from tidegate.conformance.engines.flink.jobs.compiling import compile_host, join
from tidegate.conformance.engines.java import ONE_COMPILER
from tidegate.conformance.engines.processes.orphans import die_with_parent

Json = dict[str, Any]

#: Small segments, so that records span buffers; little memory, so that credit runs out.
_SETTINGS = {
    "taskmanager.memory.segment-size": "4kb",
    "taskmanager.memory.min-segment-size": "256b",
    "taskmanager.memory.network.min": "8mb",
    "taskmanager.memory.network.max": "8mb",
    "taskmanager.memory.managed.size": "8mb",
    "rest.port": "0",
    "rest.bind-port": "0",
    # On a busy or stalled machine, nothing times out.
    "pekko.ask.timeout": "120 s",
    "pekko.startup-timeout": "120 s",
    "akka.ask.timeout": "120 s",
    "heartbeat.timeout": "600000",
}
#: For queries: batch execution, and some state, need more.
_OF_SQL = {"taskmanager.memory.managed.size": "64mb"}
_OPENED = ("java.lang", "java.util", "java.net", "java.nio", "java.time", "java.util.concurrent")
_LOGGING = Path(__file__).parent.parent / "log4j2-quiet.properties"


#: Default settings of a job, apart from its program.
USUAL: Json = {"padding": 0, "slow_micros": 0, "slow_timers_micros": 0, "processing_timers": False}


class ClusterDiedError(RuntimeError):
    """The process ended, or did not answer, during a job."""


class Cluster(Started):
    """After a crash the next job restarts it."""

    def __init__(
        self, version: str, task_managers: int = 2, slots: int = 4, start_timeout: float = 90.0, *, sql: bool = False
    ) -> None:
        self.version = version
        self._sql = sql
        self._shape = (task_managers, slots)
        self._start_timeout = start_timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: Any = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._rest = b""

    def start(self) -> None:
        if self._process is not None:
            return
        check_jars(self.version)
        java = shutil.which("java")
        if java is None:
            raise CannotStartError("no Java found", "install a JDK of version 11 or later (17 is tested)")
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._scratch = tempfile.TemporaryDirectory(prefix="tidegate-minicluster-", ignore_cleanup_errors=True)
        self._rest = b""
        self._process = subprocess.Popen(  # noqa: S603 - our own command line
            [java, *self._options(self._scratch.name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - no thread of ours holds a lock
        )
        try:
            self._read_line(self._start_timeout)
        except ClusterDiedError as error:
            raise CannotStartError(f"the MiniCluster of Flink {self.version} did not start: {error}", "") from error

    def _options(self, scratch: str) -> list[str]:
        """`scratch`: Flink's unpacked and spilled files are deleted with the process, which is killed in the end."""
        given = {**_SETTINGS, **(_OF_SQL if self._sql else {})}
        settings = ",".join(f"{key}={value}" for key, value in given.items())
        return [
            "-Xmx768m",
            "-XX:+UseSerialGC",
            *ONE_COMPILER,
            "-XX:+ExitOnOutOfMemoryError",
            f"-Djava.io.tmpdir={scratch}",
            f"-Dlog4j2.configurationFile={_LOGGING}",
            f"-Dlog4j.configurationFile={_LOGGING}",
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
            "-cp",
            join(compile_host(self.version, sql=self._sql)),
            "tidegate.JobHost",
            *map(str, self._shape),
            settings,
        ]

    def run(self, config: Json, settings: Json | None = None, seconds: float = 60.0) -> Json:
        """What a program showed: `graph`, `rows`, `totals`, `collected`; `error` if it failed, `timeout` if it hung."""
        return self.ask({"config": config, **USUAL, **(settings or {})}, seconds)

    def ask(self, request: Json, seconds: float) -> Json:
        """The host's answer to a request (java/JobHost.java).

        Raises
        ------
        ClusterDiedError
            The process died during the job, or gave no answer; it is restarted for the next one, if possible.
        """
        try:
            self.start()
        except CannotStartError as error:
            raise ClusterDiedError(str(error)) from error
        assert self._process is not None
        assert self._process.stdin is not None
        line = json.dumps({**request, "seconds": math.ceil(seconds)}).encode() + b"\n"
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
            answer: Json = json.loads(self._read_line(seconds + 30.0))
        except (OSError, ClusterDiedError, ValueError) as error:
            self.close()
            raise ClusterDiedError(f"the MiniCluster gave no answer: {error}") from error
        return answer

    def _read_line(self, seconds: float) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        deadline = time.monotonic() + seconds
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise ClusterDiedError(f"silent for {seconds:g} s")
            chunk = os.read(descriptor, 1 << 20)
            if not chunk:
                raise ClusterDiedError(f"it ended: {self._last_words()}")
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines: list[str] = self._errors.read().decode(errors="replace").strip().splitlines()
        return " | ".join(lines[-8:]) or "no output"

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        if self._scratch is not None:
            self._scratch.cleanup()
