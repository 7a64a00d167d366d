"""The walk of `tidegate run` in CONTRIBUTING: a newcomer who follows it meets what is really called, in that order."""

import re
import sys

from tests.paths import ROOT
from tidegate.conformance.cli.main import main

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## The walk of `tidegate run`\n")[2].partition("\n## ")[0]
#: The file and the function of each step.
WALK = re.findall(r"^\d+\. `([\w/.]+)`: `([\w.]+)` ", SECTION, flags=re.MULTILINE)
VERDICT = ("conformance/judging/judge_fast.py", "Judge.judge")


class Follower:
    """Notes each function of ours when it is first called, and who has called whom when a verdict is first reached."""

    def __init__(self):
        self.called = {}
        self.stack = []

    def __call__(self, frame, event, _argument):
        if event == "call":
            place = self.place(frame)
            self.called.setdefault(place, len(self.called))
            if place == VERDICT and not self.stack:
                while frame is not None:
                    self.stack.append(self.place(frame))
                    frame = frame.f_back

    @staticmethod
    def place(frame):
        file = frame.f_code.co_filename.replace(f"{ROOT}/src/tidegate/", f"{ROOT}/")
        return file.removeprefix(f"{ROOT}/"), frame.f_code.co_qualname


def follow(arguments):
    follower, before = Follower(), sys.getprofile()
    sys.setprofile(follower)
    try:
        assert main(arguments) == 0
    finally:
        sys.setprofile(before)
    return follower


def test_the_walk_is_short():
    assert len(WALK) == len(re.findall(r"^\d+\. ", SECTION, flags=re.MULTILINE))
    assert 10 < len(WALK) <= 20
    assert len({file for file, _function in WALK}) <= 10


def test_a_run_takes_the_walk():
    engine = f"exec:{sys.executable} {ROOT}/examples/python/engine.py"
    follower = follow(
        ["run", "--engine", engine, "--component", "partitioner", "--stage", "directed", "--stage", "golden"]
    )
    assert [step for step in WALK if step not in follower.called] == []
    assert sorted(WALK, key=follower.called.__getitem__) == WALK
    ours = [place for place in follower.stack if place[0].startswith("conformance/")]
    assert ours[-1] == WALK[0]
    assert [place for place in ours if place not in WALK] == [], "nothing in between is left out"
