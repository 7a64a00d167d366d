"""One job on Bytewax: started, killed and started again as its case says, until it comes to its end."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.orphans import die_with_parent

Json = dict[str, Any]

FLOW = "tidegate.conformance.engines.bytewax.flow:flow"
#: Seconds that the last attempt may take.
PATIENCE = 60.0


class BytewaxError(RuntimeError):
    """A job did not come to its end; the message has the last words of the process."""


def find_version() -> str:
    if importlib.util.find_spec("bytewax") is None:
        raise CannotStartError("Bytewax is not installed", "pip install 'tidegate[bytewax]'")
    return version("bytewax")


def run_job(case: Json) -> Json:
    """The journals of each attempt, and which faults have met a process that ran.

    Raises
    ------
    BytewaxError
        It fails without a fault, or does not end.
    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tidegate-bytewax-") as folder:
        home = Path(folder)
        (home / "job.json").write_text(json.dumps(case), encoding="utf-8")
        (home / "saved").mkdir()
        begin = [sys.executable, "-m", "bytewax.recovery", str(home / "saved"), str(case["partitions"])]
        subprocess.run(begin, check=True, capture_output=True)  # noqa: S603 - our own command line
        faults = []
        for number, fault in enumerate(case["faults"]):
            faults.append({"fault": fault["fault"], "hit": run_attempt(home, number, fault["workers"], fault)})
            if not faults[-1]["hit"]:
                break
        if all(fault["hit"] for fault in faults):
            run_attempt(home, len(case["faults"]), case["workers"], None)
        attempts = [read_journals(one) for one in sorted(home.glob("attempt-*"))]
    return {"attempts": attempts, "faults": faults, "seconds": round(time.monotonic() - started, 1)}


def run_attempt(home: Path, number: int, workers: int, fault: Json | None) -> bool:
    """Whether it was killed, a while after so many records were counted; else it came to its end."""
    journals = home / f"attempt-{number}"
    journals.mkdir()
    command = [
        sys.executable,
        "-m",
        "bytewax.run",
        FLOW,
        "-w",
        str(workers),
        "-r",
        str(home / "saved"),
        "-s",
        "0",
        "-b",
        "0",
    ]
    told = {"TIDEGATE_JOB": str(home / "job.json"), "TIDEGATE_JOURNALS": str(journals)}
    with (home / "errors").open("ab") as errors:
        process = subprocess.Popen(  # noqa: S603 - our own command line
            command,
            env={**os.environ, **told},
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - no thread of ours holds a lock
        )
    deadline = time.monotonic() + PATIENCE
    try:
        while process.poll() is None:
            if time.monotonic() > deadline:
                raise BytewaxError(f"attempt {number} did not end within {PATIENCE:g} s: {last_words(home)}")
            if fault is not None and count_received(journals) >= fault["after"]:
                time.sleep(fault["delay"] / 1000)
                process.kill()
                return process.wait() == -signal.SIGKILL
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    if process.returncode:
        raise BytewaxError(f"attempt {number} ended with {process.returncode}: {last_words(home)}")
    return False


def read_journals(folder: Path) -> list[list[str]]:
    """A line that was cut by a kill has no end, and is none."""
    return [path.read_text(encoding="utf-8").split("\n")[:-1] for path in sorted(folder.glob("*.rows"))]


def count_received(folder: Path) -> int:
    return sum(line.startswith("in ") for lines in read_journals(folder) for line in lines)


def last_words(home: Path) -> str:
    lines = (home / "errors").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return " | ".join(lines[-8:]) or "without a word"
