"""Signals in the first and in the last moments of a process."""

import subprocess
import sys

import pytest

from tests.processes import PATIENCE, launch

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
