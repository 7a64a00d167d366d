"""The default run as a user starts it: on one core and on two of them, and of an engine with every component.

`python -m tests.benchmarks cores` runs this alone. Seconds of processors are much the same on a busy machine.
"""

import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from tests.paths import ROOT

EVERY = "python:tidegate.conformance.engines.museum.engines:Right"


def run(engine, cores=None):
    """Seconds of the whole command, on the clock and of all processors, and what it said last.

    With `cores`, the command and all that it starts, the engine too, may use these cores and no others.
    """
    command = [sys.executable, "-m", "tidegate", "run", "--engine", engine]
    pin = None if cores is None else partial(os.sched_setaffinity, 0, cores)
    started, used = time.perf_counter(), processor_seconds()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=pin)
    seconds = time.perf_counter() - started
    assert done.returncode == 0, done.stdout + done.stderr
    return seconds, processor_seconds() - used, done.stdout.strip().splitlines()[-1]


def processor_seconds():
    """Those of all processes that were started here and have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def compiled(folder):
    """The command line of an example that is compiled: Rust where there is a compiler, else Java."""
    if shutil.which("rustc"):
        program = Path(folder) / "engine"
        subprocess.run(["rustc", "-O", "-o", program, ROOT / "examples" / "rust" / "engine.rs"], check=True)
        return f"exec:{program}"
    subprocess.run(["javac", "-d", folder, ROOT / "examples" / "java" / "Engine.java"], check=True)
    return f"exec:java -cp {folder} Engine"


def measure():
    """On one core everything takes turns: suite, judge and engine. `--jobs 1` is not that: the engine has the other."""
    first, *others = sorted(os.sched_getaffinity(0))
    both = {first, *others[:1]}
    with tempfile.TemporaryDirectory() as folder:
        engine = compiled(folder)
        pairs = [(run(engine, {first})[0], run(engine, both)[0]) for _ in range(3)]
    ratios = [one / two for one, two in pairs]
    named = "Rust" if shutil.which("rustc") else "Java"
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    measured = f"{statistics.median(ratios):.2f} × as fast (3 pairs, {spread})"
    yield f"default run of the {named} example, {len(both)} cores against one", measured, "≥ 1.7 with two"
    seconds, used, said = run(EVERY)
    cases = int(re.search(r": (\d+) cases", said)[1])
    measured = f"{seconds:.0f} s, {used:.0f} of processors"
    yield f"default run of a Python engine with every component, {cases:,} cases", measured, "≤ 60 s"
