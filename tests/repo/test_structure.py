"""Tests about the repository itself: what may import what, how long a module may be, what must not stand in it."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import TOGETHER

ROOT = Path(__file__).parent.parent.parent
ORDER = ("reference", "traces", "properties", "conformance")
MODULES = sorted(path for folder in ORDER for path in (ROOT / folder).rglob("*.py"))
HEAVY = ("pyspark", "jpype", "pyarrow", "numpy", "hypothesis", "jsonschema", "pandas")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_imports_to_the_left(path):
    folder = path.relative_to(ROOT).parts[0]
    forbidden = set(ORDER[ORDER.index(folder) + 1 :]) | {"tests"}
    assert not [name for name in imported(path) if name.split(".")[0] in forbidden]


@pytest.mark.parametrize("path", sorted((ROOT / "reference").rglob("*.py")), ids=lambda path: path.name)
def test_reference_needs_only_the_standard_library_and_attrs(path):
    allowed = {*sys.stdlib_module_names, "attrs", "reference"}
    assert {name.split(".")[0] for name in imported(path)} <= allowed


def test_a_judge_shares_no_code_with_the_accused():
    accused = [
        path
        for path in [
            *(ROOT / "conformance" / "museum").rglob("*.py"),
            *(ROOT / "conformance" / "engines").glob("*.py"),
            *(ROOT / "conformance" / "spark").rglob("*.py"),
            *(ROOT / "conformance" / "flink").rglob("*.py"),
        ]
        if path.name != "reference.py"
    ]
    assert accused
    for path in accused:
        assert "reference" not in {name.split(".")[0] for name in imported(path)}, path


def test_what_the_accused_share_is_how_engines_are_reached_and_what_a_run_log_is():
    """Nothing that judges, draws cases or writes pages may stand behind them by a detour."""
    shared = ("conformance.museum", "conformance.spark", "conformance.flink", "conformance.engines", "traces.runlog")
    for folder in ("museum", "spark", "flink"):
        for path in (ROOT / "conformance" / folder).rglob("*.py"):
            ours = [name for name in imported(path) if name.split(".")[0] in ("conformance", "properties", "traces")]
            strangers = [name for name in ours if not any(name == one or name.startswith(f"{one}.") for one in shared)]
            assert not strangers, path


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_stay_small(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 310


@pytest.mark.parametrize("command", [["--help"], ["rules"], ["run", "--help"], ["explain", "VALVE-13"]])
def test_commands_start_light(command):
    """`--help` and the rules need none of the heavy libraries."""
    program = (
        "import sys, conformance.cli.main as m\n"
        "try:\n    m.main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        f"print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *command], capture_output=True, text=True, check=True)
    assert "HEAVY []" in done.stderr


def test_what_is_run_together_is_there():
    """A folder that was given another name would not be, and cost minutes that nobody sees."""
    assert all((ROOT / place).exists() for place in TOGETHER)


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def test_no_path_of_a_machine_stands_in_the_repository():
    machine = re.compile(rb"(^|[^A-Za-z0-9_.])/(work|root|home)/")
    for path in tracked_files():
        if path.is_file() and path.suffix != ".gz":
            assert not machine.search(path.read_bytes()), path


def test_tracked_files_are_small():
    assert not [path for path in tracked_files() if path.is_file() and path.stat().st_size > 2_000_000]
