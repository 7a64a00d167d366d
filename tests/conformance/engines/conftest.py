"""Running a harness against a hostile engine, and looking for what either left behind."""

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.processes import PATIENCE

HARNESS = Path(__file__).with_name("harness.py")
HOSTILE = Path(__file__).with_name("hostile.py")
MARK = "TIDEGATE_TEST_MARK"


@attrs.frozen
class Outcome:
    """What a harness found, how much memory it took at most, and who outlived it."""

    found: dict[str, Any]
    survivors: list[str]

    @property
    def replies(self) -> dict[str, tuple[str, dict[str, Any]]]:
        return {case: (kind, detail) for case, kind, detail in self.found["replies"]}

    @property
    def peak_megabytes(self) -> float:
        return float(self.found["peak_megabytes"])


def survivors(mark: str) -> list[str]:
    """The command lines of the living processes that inherited the mark."""
    alive = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and mark.encode() in (process / "environ").read_bytes():
                alive.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return alive


def survivors_in_the_end(mark: str) -> list[str]:
    """The survivors, after those that were killed have had the time to go."""
    deadline = time.monotonic() + PATIENCE
    while (alive := survivors(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return alive


@attrs.frozen
class Laboratory:
    scratch: Path
    mark: str = attrs.field(factory=lambda: uuid.uuid4().hex)

    def command(self, engine: str, cases: list[str], **options: Any) -> list[str]:
        text = engine if ":" in engine else f"exec:{sys.executable} {HOSTILE} {engine}"
        return [sys.executable, str(HARNESS), json.dumps({"engine": text, "cases": cases, "options": options})]

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {MARK: self.mark, "HOSTILE_SCRATCH": str(self.scratch)}

    def run(self, engine: str, cases: list[str], **options: Any) -> Outcome:
        usual = {"case_timeout": PATIENCE, "start_timeout": PATIENCE, "bye_grace": 0.5, "kill_grace": 0.2}
        done = subprocess.run(
            self.command(engine, cases, **(usual | options)),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return Outcome(json.loads(done.stdout), survivors_in_the_end(self.mark))


@pytest.fixture
def laboratory(tmp_path: Path) -> Laboratory:
    return Laboratory(tmp_path)


@pytest.fixture
def hostile() -> Callable[[str], str]:
    return lambda name: f"exec:{sys.executable} {HOSTILE} {name}"
