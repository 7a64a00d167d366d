"""Workers end with the process that started them, whenever that ends."""

import subprocess
import sys

from tests.paths import PYTHONPATH

#: The worker looks at its parent only after the parent was killed.
ORPHAN = """
import os, signal, time
from multiprocessing import get_context
from tidegate.conformance.workers import follow_parent

def work(parent):
    while os.getppid() == parent:
        time.sleep(0.01)
    follow_parent()
    time.sleep(600)

if __name__ == "__main__":
    get_context("spawn").Process(target=work, args=(os.getpid(),)).start()
    os.kill(os.getpid(), signal.SIGKILL)
"""
PATIENCE = 120


def test_a_worker_whose_parent_is_gone_before_it_looks_ends(tmp_path):
    """The worker holds our pipe: it is closed when the worker has ended."""
    script = tmp_path / "orphan.py"
    script.write_text(ORPHAN, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        env={"PYTHONPATH": PYTHONPATH},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode < 0
