"""Signals in the first and in the last moments of a process."""

import signal
import subprocess
import sys

import pytest

from tests.paths import PYTHONPATH
from tests.processes import PATIENCE, launch, tidegate_command
from tidegate.conformance.stopping import SIGNALS
from tidegate.conformance.workers import worker_pool

LEAVING = """
import os, signal, sys
from tidegate.conformance.stopping import SIGNALS, listen

class Late:
    def __del__(self):
        for number in SIGNALS:
            os.kill(os.getpid(), number)

late = Late()
listen()
sys.exit(2)
"""


def test_a_signal_on_the_way_out_changes_nothing():
    done = subprocess.run([sys.executable, "-c", LEAVING], capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (2, b"")


#: Interrupted while an object is taken apart: Python tells what is raised there, and goes on.
SWALLOWING = """
import os, signal, sys, time
from tidegate.conformance.stopping import STOP, listen

class Late:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)

listen()
try:
    STOP.arm()
    Late()
    while True:
        time.sleep(1)
except KeyboardInterrupt:
    print("stopped")
"""


def test_a_signal_that_comes_while_an_object_goes_is_heard_behind_it():
    done = subprocess.run(
        [sys.executable, "-c", SWALLOWING], capture_output=True, timeout=PATIENCE, check=False, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "stopped\n", "")


#: Begins as the command does, and is interrupted when the module that is named comes to be imported.
BEGINNING = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

module = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupt())
from tidegate.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["tidegate.conformance.stopping", "tidegate.conformance.cli.main", "attr"])
def test_a_signal_while_we_are_imported_is_an_interrupt(module):
    with launch([sys.executable, "-c", BEGINNING, module, "rules"]) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (2, "", "tidegate: interrupted\n")


#: As Ctrl-C does while a worker is still importing what it needs.
INTERRUPTED_WORKER = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == "tidegate.conformance.judging.judge_fast":
            os.kill(os.getpid(), signal.SIGINT)

if "--multiprocessing-fork" in sys.orig_argv:
    sys.meta_path.insert(0, Interrupt())
"""


def test_a_worker_that_is_interrupted_before_it_begins_says_nothing(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTED_WORKER)
    engine = "python:tidegate.conformance.engines.museum.engines:Right"
    options = ("--component", "wiring", "--component", "valve", "--stage", "directed", "--jobs", 2)
    path = {"PYTHONPATH": f"{tmp_path}:{PYTHONPATH}"}
    with launch(tidegate_command("run", "--engine", engine, *options), env=path) as process:
        _out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, "Traceback" in err) == (2, False), err


def test_workers_of_a_pool_are_deaf():
    with worker_pool(1) as pool:
        blocked = pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, []).result()
        assert set(SIGNALS) <= set(blocked)
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, []) & set(SIGNALS)
