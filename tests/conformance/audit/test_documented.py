"""The example of docs/run-logs.md is a program that works, and its log is audited as the page says."""

import re
import subprocess
import sys

import pytest

from tests.paths import ROOT
from tidegate.conformance.cli.main import main
from tidegate.properties.runlog import INVARIANTS

pytest.importorskip("pyarrow")

PAGE = (ROOT / "docs" / "run-logs.md").read_text(encoding="utf-8")


def write_example(folder, program):
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)
    return str(folder / "my-run.parquet")


def test_the_example(tmp_path, capsys):
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len([line for line in program.splitlines() if line.strip()]) <= 32
    assert main(["audit", "--local", write_example(tmp_path, program)]) == 0
    assert "all that was checked holds" in capsys.readouterr().out
    wrong = program.replace('"in", kind, **fields)', '"in", kind, **fields | ({"id": 1} if "id" in fields else {}))')
    assert wrong != program
    assert main(["audit", "--local", write_example(tmp_path, wrong)]) == 1
    out = capsys.readouterr().out
    assert "record 2 was sent and not received" in out
    assert "record 1 was received more often than it was sent" in out


def test_the_page_has_every_invariant():
    for one in INVARIANTS:
        row = f"| {one.id} | {one.statement[0].lower()}{one.statement[1:].rstrip('.')} |"
        assert row in PAGE
