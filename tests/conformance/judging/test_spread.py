"""Draws that must look like chance: what is accused, with how many draws, and that chance itself never is."""

from random import Random

import pytest

from tidegate.conformance.engines.museum import Engine
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.judging.reference_engine import ReferenceEngine
from tidegate.conformance.judging.spread import find_oddity
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.conformance.reports.findings import describe
from tidegate.reference.partitioning.partitioner import Config, Partitioner, Record
from tidegate.traces.cases import Case

SHUFFLE = Case("shuffle", "partitioner", Config(Partitioner.SHUFFLE, 4), (Record(),) * 180)


@pytest.mark.parametrize("sides", [1, 2, 3, 8, 33, 257])
@pytest.mark.parametrize("draws", [0, 1, 2, 30, 1000])
def test_chance_is_never_accused(sides, draws):
    random = Random(f"{sides}/{draws}")
    assert not any(find_oddity(random.choices(range(sides), k=draws), sides) for _ in range(200))


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        ([0] * 60, "the draw 0 came 60 times in 60, of 4"),
        (Random(0).choices(range(3), k=180), "the draw 3 never came in 180, of 4"),
        ([0, 1, 2, 3] * 15, "a step of 1 from draw to draw came 59 times in 59, of 4"),
        (Random(0).choices(range(4), [6, 1, 1, 1], k=300), "the draw 0 came"),
    ],
)
def test_what_is_no_chance_is_accused_in_words(drawn, words):
    assert find_oddity(drawn, 4).startswith(words)


def test_the_bound_is_stated_and_kept():
    """Two sides, always the same: one draw in 2^n is like that, and the bound says so for draws and for steps."""
    assert not find_oddity([0] * 46, 2)
    assert find_oddity([0] * 47, 2).endswith("at most once in 1e13 such cases")


@pytest.mark.parametrize("make", [ReferenceEngine, lambda seed: Engine(seed=seed)], ids=["reference", "museum"])
def test_right_engines_are_never_accused(make):
    for seed in range(40):
        assert Runner(InProcess(make(seed))).run_one(SHUFFLE).status is Status.PASS


def test_the_verdict_says_what_is_odd():
    verdict = Runner(InProcess(Engine("partitioner-shuffle-never-last"))).run_one(SHUFFLE)
    assert (verdict.status, verdict.rules) == (Status.FAIL, ("PART-4",))
    assert "the draw 3 never came in 180" in describe(verdict, "exec:./mine").text()
