"""Hostile files, words and numbers: an error of its own for each, never exit 70, nothing that repaints a terminal."""

import argparse
import json
import re
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from tidegate.conformance import workers
from tidegate.conformance.cli.main import main, make_parser
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging import kill_matrix

RUN = ("run", "--engine", "reference", "--component", "valve", "--stage", "generated", "--cases", "1")
CAMPAIGN = ("campaign", "--engine", "reference", "--component", "valve", "--cases", "1", "--local")
COMMANDS = {
    "replay": ("replay", "{}"),
    "expect": (*RUN, "--expect", "{}"),
    "report": (*RUN, "--report", "{}"),
    "campaign": (*CAMPAIGN, "--out", "{}"),
    "campaign-expect": (*CAMPAIGN, "--out", "out", "--expect", "{}"),
    "audit": ("audit", "--local", "{}"),
    "traces": ("generate", "traces", "--component", "valve", "--cases", "1", "--out", "{}"),
    "config": ("replay", "--component", "valve", "--config", "{}", "--trace", "0w1"),
    "trace": ("explain", "valve", "--trace", "{}"),
    "explain": ("explain", "{}"),
    "rules": ("rules", "{}"),
    "schemas": ("schemas", "{}"),
    "schemas-to": ("schemas", "--to", "{}"),
    "explore": ("explore", "{}"),
    "matrix": ("matrix", "{}", "--out", "out"),
    "engine": ("smoke", "--engine", "{}"),
    "exec": ("smoke", "--engine", "exec:{}"),
}
CONTENTS = {
    "junk": bytes(range(256)) * 9,
    "empty": b"",
    "utf-16": "case a -- b\n".encode("utf-16"),
    "deep": b"[" * 100_000,
    "half.jsonl.gz": b"\x1f\x8b\x08",
}
ODD_NAMES = ("missing \x1b[2J\u202e\x9b", "<img src=x>|[a](b)", "\udcff", "x" * 300)


@pytest.fixture
def places(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in CONTENTS.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    return (*CONTENTS, "folder", "loop", "junk/below", *ODD_NAMES)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_file_and_no_word_ends_in_an_internal_error(command, places, capsys):
    for place in places:
        try:
            code = main([word.format(place) for word in COMMANDS[command]])
        except SystemExit as ended:
            code = ended.code
        said = "".join(capsys.readouterr())
        assert code != Exit.INTERNAL, (place, said)
        assert "Traceback" not in said, place
        assert said.replace("\n", "").encode(errors="backslashreplace").decode().isprintable(), (place, said)


def test_a_bug_of_ours_names_its_place(monkeypatch, capsys):
    monkeypatch.delenv("TIDEGATE_DEBUG", raising=False)
    monkeypatch.setattr("tidegate.conformance.cli.rules.run", lambda _args: json.loads("{"))
    assert main(["rules"]) == Exit.INTERNAL
    said = capsys.readouterr().err
    assert re.search(r"internal error at conformance/cli/main\.py:\d+: JSONDecodeError: Expecting", said)
    assert "a bug of Tidegate" in said


def numeric_options(parser=None, verb=()):
    """Every option of every verb that is no text."""
    for action in (parser or make_parser())._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from numeric_options(below, (*verb, name))
        elif action.type not in (None, str, Path) and action.option_strings:
            yield " ".join((*verb, action.option_strings[-1]))


#: What some verbs ask for.
NEEDED = {"campaign": ("--cases=1", "--out=x"), "generate log": ("--events=1", "--out=x"), "diff": ("--engine=x",)}
ABSURD = ["1e999", "nan", "9" * 30, "9" * 5000, "\u0663", "", "x\x1b", "0x1", "1_0", " 1"]


@pytest.mark.parametrize("option", [*numeric_options()])
def test_absurd_numbers_are_usage_errors(option, capsys):
    verb, _space, name = option.rpartition(" ")
    for number in [*ABSURD, *["-1"] * (name != "--seed")]:
        with pytest.raises(SystemExit) as ended:
            make_parser().parse_args([*verb.split(), *NEEDED.get(verb, ()), f"{name}={number}"])
        said = capsys.readouterr().err
        assert ended.value.code == Exit.USAGE
        assert f"argument {name}: " in said, said


#: Commands that write, and what they tell although they cannot.
WRITING = {
    "diff": (("diff", *["--engine", "reference"] * 2, "--component", "valve", "--cases", "1", "--report"), "agree"),
    "campaign": ((*CAMPAIGN, "--out"), ""),
    "traces": (("generate", "traces", "valve", "--cases", "1", "--out"), ""),
    "engines-page": (("generate", "engines-page", "--reports", "reports", "--out"), ""),
}


@pytest.mark.parametrize("command", WRITING)
def test_what_cannot_be_written_is_told_all_the_same(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    words, told = WRITING[command]
    assert main([*words, "file/\x1b[2J"]) == Exit.CANNOT_WRITE
    said = capsys.readouterr()
    assert told in said.out
    assert "file" in said.err
    assert "cannot be written" in said.err
    assert said.err.replace("\n", "").isprintable()


@pytest.mark.parametrize("content", [b"{}", b"[]", b'{"engine":3}', b"[" * 99_999, b"\xff", b""])
def test_reports_of_engines_that_are_none_are_named(content, tmp_path, capsys):
    (tmp_path / "a.json").write_bytes(content)
    command = ["generate", "engines-page", "--reports", str(tmp_path), "--out", str(tmp_path / "page.md")]
    assert main(command) == Exit.BAD_INPUT
    assert "a.json, line 1: " in capsys.readouterr().err


@pytest.mark.parametrize("stop", [KeyboardInterrupt, BrokenProcessPool])
def test_a_matrix_that_is_stopped_keeps_its_rows(stop, tmp_path, monkeypatch, capsys):
    def make_matrix(names, _budget, **_options):
        kill = kill_matrix.Kill("directed", 1, 0.1, 3, ("VALVE-10",), named=True)
        yield [kill_matrix.Row(names[0], "valve", "VALVE-10", (kill,), None, ("VALVE-10",), 0.1)]
        raise stop

    monkeypatch.setattr(kill_matrix, "make_matrix", make_matrix)
    page = tmp_path / "page.md"
    page.write_text("of an earlier matrix")
    assert main(["museum", "--component", "valve", "--report", str(page / "x")]) == Exit.CANNOT_WRITE
    said = capsys.readouterr()
    assert "these are the rows until then" in said.err
    assert "| VALVE-10 | directed |" in said.out
    assert main(["museum", "--component", "valve", "--out", str(page)]) == Exit.UNDETERMINED
    said = capsys.readouterr()
    assert "all stages: 1 of 1 caught" in said.out
    assert "page.md is unchanged" in said.err
    assert page.read_text() == "of an earlier matrix"


def test_a_museum_without_processes_says_so(monkeypatch, capsys):
    def refuse(*_options, **_more):
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(workers.ProcessPoolExecutor, "submit", refuse)
    assert main(["museum", "--component", "valve"]) == Exit.CANNOT_WRITE
    assert "tidegate: no processes can be started: No such file or directory" in capsys.readouterr().err
    monkeypatch.setattr(workers, "DeafPool", refuse)
    assert main(["museum", "--component", "valve"]) == Exit.CANNOT_WRITE
    assert "tidegate: no processes can be started, since their semaphores cannot be made" in capsys.readouterr().err
