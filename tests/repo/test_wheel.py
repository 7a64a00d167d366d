"""The wheel, as a user has it: beside other people's packages and folders, with everything that it needs to run."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.paths import ROOT
from tidegate.reference.components import COMPONENTS

#: A package on PyPI that is called like one of our folders.
NAMESAKE = "traces==0.7.0"


def run(*command, cwd, **more):
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from what is tracked, in a copy: building leaves folders behind."""
    copy = tmp_path_factory.mktemp("source")
    for name in run("git", "ls-files", cwd=ROOT).splitlines():
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target, follow_symlinks=False)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps")
    run(*pip, "--wheel-dir", copy / "dist", copy, cwd=copy)
    [built] = (copy / "dist").glob("tidegate-*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """A fresh environment with the wheel and its namesake, and the interpreter in it."""
    folder = tmp_path_factory.mktemp("fresh")
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, "--constraint", ROOT / "constraints.txt", wheel, NAMESAKE, "pytest", cwd=folder)
    return python


@pytest.fixture
def project(tmp_path):
    """Somebody's project, with folders that are called like ours."""
    for name in ("conformance", "reference"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"NAME = 'my {name}'\n")
    (tmp_path / "test_mine.py").write_text(
        "import conformance, reference, traces\n"
        "def test_mine():\n"
        "    assert (conformance.NAME, reference.NAME) == ('my conformance', 'my reference')\n"
        "    assert traces.TimeSeries({1: 2})[1] == 2\n"
    )
    return tmp_path


def test_everything_in_the_wheel_is_ours(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"tidegate"}


def test_every_file_that_is_read_at_run_time_is_in_the_wheel(wheel):
    packed = {name.removeprefix("tidegate/") for name in zipfile.ZipFile(wheel).namelist()}
    folders = ("reference", "traces", "properties", "conformance")
    tracked = run("git", "ls-files", *folders, cwd=ROOT).splitlines()
    assert [name for name in tracked if name not in packed] == []
    assert "py.typed" in packed


def test_the_command_runs_beside_namesakes(python, project):
    tidegate = Path(python).with_name("tidegate")
    run(tidegate, "run", "--engine", "reference", "--component", "valve", "--cases", "20", cwd=project)
    assert "VALVE-13" in run(tidegate, "explain", "VALVE-13", cwd=project)


def test_the_command_writes_every_schema(python, project):
    """They are derived: no file of a component is in the wheel."""
    run(Path(python).with_name("tidegate"), "schemas", "--to", "schemas", cwd=project)
    written = {path.stem for path in (project / "schemas").iterdir()}
    assert {"common", "hello-reply", *COMPONENTS} <= written


def test_the_namesakes_and_pytest_still_work(python, project):
    """The plugin is loaded, and finds itself although a folder is called as one of ours."""
    assert "1 passed" in run(python, "-m", "pytest", "-q", "test_mine.py", cwd=project)
    ours = ("--tidegate-engine", "reference", "--tidegate-component", "wiring", "--tidegate-cases", "5")
    assert "passed" in run(python, "-m", "pytest", "-q", *ours, "test_mine.py", cwd=project)
