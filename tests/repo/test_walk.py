"""The walks in CONTRIBUTING: a newcomer who follows one meets what is really called, in that order."""

import re
import sys

import pytest

from tests.paths import ROOT
from tidegate.conformance.cli.main import main

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = ROOT / "examples" / "python"
#: The words of each command, and where it reaches its verdict.
WALKS = {
    "run": (
        [
            *("--engine", f"exec:{sys.executable} {EXAMPLES}/engine.py", "--component", "partitioner"),
            *("--stage", "directed", "--stage", "golden"),
        ],
        ("conformance/judging/judge_fast.py", "Judge.judge"),
    ),
    "jobs": (
        ["--engine", f"exec:{sys.executable} {EXAMPLES}/jobs.py", "--jobs", "2"],
        ("conformance/judging/jobs/explanation.py", "replay"),
    ),
}


def read_walk(command):
    """The file and the function of each step, and how many steps there are."""
    section = PAGE.partition(f"## The walk of `tidegate {command}`\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^\d+\. `([\w/.]+)`: `([\w.]+)` ", section, flags=re.MULTILINE)
    assert len(steps) == len(re.findall(r"^\d+\. ", section, flags=re.MULTILINE))
    return steps


class Follower:
    """Notes each function of ours when it is first called, and who has called whom when a verdict is first reached."""

    def __init__(self, verdict):
        self.verdict = verdict
        self.called = {}
        self.stack = []

    def __call__(self, frame, event, _argument):
        if event == "call":
            place = self.place(frame)
            self.called.setdefault(place, len(self.called))
            if place == self.verdict and not self.stack:
                while frame is not None:
                    self.stack.append(self.place(frame))
                    frame = frame.f_back

    @staticmethod
    def place(frame):
        file = frame.f_code.co_filename.replace(f"{ROOT}/src/tidegate/", f"{ROOT}/")
        return file.removeprefix(f"{ROOT}/"), frame.f_code.co_qualname


def follow(arguments, verdict):
    follower, before = Follower(verdict), sys.getprofile()
    sys.setprofile(follower)
    try:
        assert main(arguments) == 0
    finally:
        sys.setprofile(before)
    return follower


@pytest.mark.parametrize("command", WALKS)
def test_a_walk_is_short(command):
    walk = read_walk(command)
    assert 10 < len(walk) <= 20
    assert len({file for file, _function in walk}) <= 10


@pytest.mark.parametrize("command", WALKS)
def test_a_command_takes_its_walk(command):
    (words, verdict), walk = WALKS[command], read_walk(command)
    follower = follow([command, *words], verdict)
    assert [step for step in walk if step not in follower.called] == []
    assert sorted(walk, key=follower.called.__getitem__) == walk
    ours = [place for place in follower.stack if place[0].startswith("conformance/")]
    assert ours[-1] == walk[0]
    assert [place for place in ours if place not in walk] == [], "nothing in between is left out"
