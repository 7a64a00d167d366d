"""A report, and what becomes of it when it is interrupted, in the way, or cannot be written."""

import fcntl
import json
import os
import resource
import subprocess
import sys

import pytest

from tests.conformance.reports.reading import read_report
from tests.paths import PYTHONPATH, ROOT
from tests.processes import PATIENCE, launch, tidegate_command
from tests.processes import run_tidegate as tidegate
from tidegate.conformance.reports.writing import write_whole

WRONG = ("--engine", "python:tidegate.conformance.engines.museum.engines:ValveAlwaysFlushes", "--component", "valve")
QUICK = ("run", *WRONG, "--stage", "directed", "--jobs", "1")

#: Interrupts the command when it comes to a place, which is named first.
INTERRUPTED = """
import os, signal, sys
from pkgutil import resolve_name
from tidegate.conformance.cli.main import main

owner, _, name = sys.argv.pop(1).rpartition(".")
original = getattr(resolve_name(owner), name)

def interrupted(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGINT)
    return original(*args, **kwargs)

setattr(resolve_name(owner), name, interrupted)
sys.exit(main())
"""


@pytest.mark.parametrize(
    "place",
    [
        "judging.suite.undeclared_cases",
        "judging.run.shrink_findings",
        "judging.shrink.Search.take_first",
        "judging.run.measure",
        "reports.folder.as_junit",
        "engines.processes.process.ProcessEngine.close",
        "cli.results.show",
    ],
)
def test_an_interrupt_loses_nothing_wherever_it_comes(place, tmp_path):
    command = [sys.executable, "-c", INTERRUPTED, f"tidegate.conformance.{place}", *QUICK, "--report", str(tmp_path)]
    with launch(command) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, err
    assert "Traceback" not in err
    assert "valve breaks VALVE-10" in out
    assert "is not conformant" in out
    _header, verdicts, footer = read_report(tmp_path / "report.jsonl")
    assert footer["exit"] == 1
    assert any(line["verdict"] == "fail" for line in verdicts)
    assert {"junit.xml", "summary.md", "index.html"} <= {path.name for path in tmp_path.iterdir()}


def test_an_interrupt_before_anything_is_known():
    with launch([sys.executable, "-c", INTERRUPTED, "tidegate.conformance.cli.main.make_parser", *QUICK]) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (2, "", "tidegate: interrupted\n")


def test_nothing_of_an_earlier_run_survives_the_start_of_a_new_one(tmp_path):
    for name in ("report.jsonl", "junit.xml", "summary.md", "index.html"):
        (tmp_path / name).write_text("old", encoding="utf-8")
    place = "tidegate.conformance.judging.run.suite.declared_components"
    broken = INTERRUPTED.replace("signal.SIGTERM", "signal.SIGKILL")
    with launch([sys.executable, "-c", broken, place, *QUICK, "--report", str(tmp_path)]) as process:
        process.wait(PATIENCE)
    assert {path.name for path in tmp_path.iterdir()} == {"lock", "report.jsonl"}
    assert (tmp_path / "report.jsonl").read_text(encoding="utf-8").count("\n") == 1, "a header, and nothing else"


def in_the_way(folder, name):
    (folder / name).mkdir(parents=True)


@pytest.mark.parametrize(
    ("prepare", "path", "why"),
    [
        (lambda folder: in_the_way(folder, "report.jsonl"), "report/report.jsonl", "Is a directory"),
        (lambda folder: in_the_way(folder, "junit.xml"), "report/junit.xml", "Is a directory"),
        (lambda folder: folder.touch(), "report", "File exists"),
    ],
)
def test_a_report_that_cannot_be_written_hides_no_result(prepare, path, why, tmp_path):
    prepare(tmp_path / "report")
    done = tidegate(*QUICK, "--report", tmp_path / "report")
    assert done.returncode == 74
    assert "is not conformant" in done.stdout
    assert f"the report is not complete: {tmp_path / path}: cannot be written: {why}" in done.stderr


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_hides_no_result(jobs, tmp_path):
    """Files may not grow beyond a kilobyte or so."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))

    words = ("run", "--engine", "reference", "--component", "wiring", "--component", "statuses", "--stage", "directed")
    done = subprocess.run(
        tidegate_command(*words, "--jobs", jobs, "--report", tmp_path),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": PYTHONPATH, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )
    assert done.returncode == 74, done.stderr
    assert "is conformant" in done.stdout
    assert f"{tmp_path}" in done.stderr


def test_a_second_run_into_a_folder_is_refused(tmp_path):
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = tidegate(*QUICK, "--report", tmp_path)
    assert done.returncode == 64
    assert done.stderr == f"tidegate: {tmp_path}: another run is running here; wait for its end\n"


@pytest.mark.parametrize(("target", "words"), [("| head -0", ""), (">/dev/full", "standard output: cannot be written")])
def test_output_that_nobody_takes(target, words):
    line = f"{' '.join(tidegate_command('rules', 'valve'))} {target}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=ROOT, env={**os.environ, "PYTHONPATH": PYTHONPATH}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 74
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_output_that_cannot_be_encoded_is_escaped():
    done = tidegate("run", "--engine", "na\N{LATIN SMALL LETTER I WITH DIAERESIS}ve", PYTHONIOENCODING="ascii")
    assert done.returncode == 64
    assert "there is no engine 'na\\xefve'" in done.stderr


def test_json_that_cannot_be_encoded_is_still_json():
    face = "\N{GRINNING FACE}"
    engine = f"exec:{sys.executable} examples/python/engine.py {face}"
    case = ("--component", "valve", "--config", '{"channels":1}', "--trace", "0w1", "--format", "json")
    done = tidegate("replay", *case, "--engine", engine, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert face in json.loads(done.stdout)["engine"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    """So does a device: `--out /dev/stdout`."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="pipe"):
        write_whole(pipe, b"nobody reads it")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, b"all of it")
    assert os.read(reader, 99) == b"all of it"
    os.close(reader)
    assert pipe.is_fifo()
    assert [*tmp_path.iterdir()] == [pipe]
