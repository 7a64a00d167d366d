"""Programs that tests start: of this tree, however the tests were started, and waited for as long as it takes."""

import os
import signal
import subprocess
import sys
import time

from tests.paths import PYTHONPATH, ROOT

#: More seconds than anything takes on a busy machine. It ends a test that would hang, and decides nothing else.
PATIENCE = 300.0
#: Seconds after which an engine that answers nothing hangs; others answer in a thousandth of them.
HANGS = 2.0


def tidegate_command(*words):
    return [sys.executable, "-m", "tidegate", *map(str, words)]


def run_tidegate(*words, cwd=ROOT, **environment):
    return subprocess.run(
        tidegate_command(*words),
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": PYTHONPATH, **environment},
        timeout=PATIENCE,
        check=False,
    )


def launch(command, **options):
    """A process that can be interrupted. Under nohup, or behind `&` in a script, it would inherit that it cannot."""
    usual = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH, **options.pop("env", {})}
    return subprocess.Popen(
        command,
        **{**usual, **options},
        env=environment,
        preexec_fn=restore_interrupts,  # noqa: PLW1509  sets a disposition and takes no lock
    )


def restore_interrupts():
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def wait_until(condition, process):
    """Wait for something that a living process is about to do."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, "it ended too early"
        assert time.monotonic() < deadline, f"nothing came of it in {PATIENCE:g} s"
        time.sleep(0.05)
