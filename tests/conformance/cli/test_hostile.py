"""Hostile files, words and numbers: an error of its own for each, never exit 70, nothing that repaints a terminal."""

import argparse
from pathlib import Path

import pytest

from tidegate.conformance.cli.main import main, make_parser
from tidegate.conformance.exits import Exit

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
    "explore": ("explore", "{}"),
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
