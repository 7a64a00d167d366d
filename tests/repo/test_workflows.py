"""The workflows of the repository only call what everybody can call: `make` and `.ci/run`."""

import re

from tests.paths import ROOT

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.yml")}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def test_a_workflow_runs_make_or_the_script_of_ci():
    commands = [(name, run) for name, text in WORKFLOWS.items() for run in re.findall(r"run: (.+)", text)]
    assert commands
    assert [(name, run) for name, run in commands if run != ".ci/run" and not run.startswith("make ")] == []


def test_what_they_make_exists():
    named = set(re.findall(r"run: make ([a-z-]+)", "".join(WORKFLOWS.values())))
    for targets in re.findall(r"target: \[(.+)\]", "".join(WORKFLOWS.values())):
        named |= set(targets.split(", "))
    assert named
    assert named - TARGETS == set()


def test_actions_of_others_are_pinned_to_a_commit():
    used = re.findall(r"uses: (\S+)", "".join(WORKFLOWS.values()))
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)] == []


def test_a_workflow_may_only_read_the_repository():
    assert {name for name, text in WORKFLOWS.items() if "permissions:\n  contents: read\n" not in text} == set()
