"""The kill matrix, as a page and for programs."""

import json
import os

import pytest

from tidegate.conformance.cli import museum
from tidegate.conformance.cli.main import main
from tidegate.conformance.cli.options import USUAL_CASES
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging import kill_matrix
from tidegate.conformance.judging.suite import STAGES, Budget

ONE = ("museum", "--mutant", "valve-never-flushes", "--cases", "20")


def test_the_matrix_is_written_as_a_page(tmp_path, capsys):
    page = tmp_path / "museum.md"
    assert main([*ONE, "--out", str(page)]) == Exit.CONFORMANT
    *_, head, _line, row = page.read_text().splitlines()
    cells = dict(zip(*(line.strip("| ").split(" | ") for line in (head, row)), strict=True))
    assert cells == {
        "component": "valve",
        "wrong engines": "1",
        **dict.fromkeys(STAGES, "0"),
        "directed": "1",
        "named first": "1",
        "blamed first": "1",
    }
    assert "all stages: 1 of 1 caught; the broken rule is named for 1, first for 1" in capsys.readouterr().out


def test_wrong_engines_are_given_what_the_default_run_gives():
    assert Budget().cases == USUAL_CASES


def test_the_matrix_for_programs(capsys):
    assert main([*ONE, "--every-stage", "--format", "json"]) == Exit.CONFORMANT
    (row,) = json.loads(capsys.readouterr().out)
    assert [kill["stage"] for kill in row["kills"]][:2] == ["directed", "golden"]


def test_rows_that_are_kept_are_not_tried_again(tmp_path, capsys, monkeypatch):
    file = tmp_path / "rows.jsonl"
    assert main([*ONE, "--results", str(file)]) == Exit.CONFORMANT
    first = capsys.readouterr().out
    # A line that was cut off by the end of its process is no line.
    file.write_text(file.read_text() + '{"mutant": "valve-')
    monkeypatch.setattr(kill_matrix, "examine_all", lambda _names: pytest.fail("they are known"))
    assert main([*ONE, "--results", str(file)]) == Exit.CONFORMANT
    assert capsys.readouterr().out == first


def test_rows_that_were_changed_are_not_believed(tmp_path):
    file = tmp_path / "rows.jsonl"
    kill = kill_matrix.Kill("directed", 1, 0.1, 3, ("VALVE-10",), named=True)
    rows = [
        kill_matrix.Row(f"valve-{name}", "valve", "VALVE-10", (kill,), "VALVE-9", ("VALVE-10",), 0.1) for name in "abc"
    ]
    museum.Kept(file, "a", {"valve"}).add(rows[:1])
    line = json.loads(file.read_text())
    for key in line:
        for value in (None, 2**70, "\x1b[2J", [], {}, [[]]):
            file.write_text(json.dumps(line | {key: value}))  # and without its end
            assert museum.Kept(file, "a", {"valve"}).rows == {}
    kept = museum.Kept(file, "a", {"valve"})
    for row in rows:
        kept.add([row])
    assert museum.Kept(file, "a", {"valve"}).rows == {row.mutant: row for row in rows}
    assert museum.Kept(file, "of another seed", {"valve"}).rows == {}
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SystemExit, match=str(int(Exit.USAGE))):
        main([*ONE, "--results", str(tmp_path / "pipe")])


def test_whom_the_failures_are_blamed_on(capsys):
    assert main(["museum", "--mutant", "valve-never-flushes", "--blame"]) == Exit.CONFORMANT
    assert capsys.readouterr().out.strip().endswith("without the engine itself, for 1 of 1 (100.0 %)")


def test_a_page_that_cannot_be_written(tmp_path, capsys):
    assert main([*ONE, "--out", str(tmp_path / "no folder" / "page.md")]) == Exit.CANNOT_WRITE
    assert "no folder" in capsys.readouterr().err
