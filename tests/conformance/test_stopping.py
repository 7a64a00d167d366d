"""A process that has told what it knows exits with that, whatever signals come on its way out."""

import subprocess
import sys

from tests.processes import PATIENCE

PROGRAM = """
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
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (2, b"")
