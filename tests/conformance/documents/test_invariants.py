"""What `tidegate explain` says of each invariant of run logs, and that `tidegate rules` lists them."""

import json
import linecache

import pytest

from tests.paths import ROOT
from tidegate.conformance.cli.main import main
from tidegate.conformance.documents import invariants
from tidegate.conformance.exits import Exit
from tidegate.conformance.synthetic import faults, restored
from tidegate.properties.runlog import INVARIANTS

each_invariant = pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda one: one.id)


@each_invariant
def test_an_invariant_is_explained(invariant, capsys):
    assert main(["explain", invariant.id.lower()]) == Exit.CONFORMANT
    said = capsys.readouterr().out
    assert invariant.statement in said
    explained = invariants.explain_invariant(invariant.id)
    assert f"def {explained.fold.function}(" in linecache.getline(str(ROOT / explained.fold.path), explained.fold.line)
    assert all(f"Kernel {place}" in said for place in explained.kernels)
    for place in explained.kernels:
        assert f'"{invariant.id}"' in linecache.getline(str(ROOT / place.path), place.line)
    assert explained.example.startswith(f"{invariant.id}: ")
    assert "\n  > " in explained.example
    assert explained.example in said


@each_invariant
def test_the_commands_show_the_example(invariant, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    explained = invariants.explain_invariant(invariant.id)
    generate, audit = (command.split()[1:] for command in explained.commands)
    assert main(generate) == Exit.CONFORMANT
    assert main(audit) == Exit.VIOLATIONS
    assert explained.example.splitlines()[0] in capsys.readouterr().out


def test_every_fault_is_of_an_invariant():
    planted = dict(invariants.find_planted())
    assert planted.keys() == faults.PLANT.keys() | restored.PLANT.keys()
    known = {one.id for one in INVARIANTS}
    assert all(shows & known for shows in planted.values())
    assert known == {name for shows in planted.values() for name in shows & known}


def test_without_numpy_the_commands_are_left(monkeypatch):
    monkeypatch.setattr(invariants, "find_spec", lambda _name: None)
    explained = invariants.explain_invariant("LOG-ORDER")
    assert explained.example == ""
    assert explained.text().endswith(explained.commands[-1])


@pytest.mark.parametrize("words", [["rules", "LOG"], ["rules"], ["rules", "log", "--format", "markdown"]])
def test_rules_list_them(words, capsys):
    assert main(words) == Exit.CONFORMANT
    said = capsys.readouterr().out
    assert all(one.id in said for one in INVARIANTS)


def test_rules_of_a_component_have_none_of_them(capsys):
    assert main(["rules", "valve", "--format", "json"]) == Exit.CONFORMANT
    assert not [one for one in json.loads(capsys.readouterr().out) if one["id"].startswith("LOG-")]


def test_an_unknown_invariant_is_told_the_known_ones(capsys):
    with pytest.raises(SystemExit):
        main(["explain", "LOG-NOTHING"])
    assert "there are LOG-WATERMARK to LOG-RECOVER" in capsys.readouterr().err
