"""Shrinking: small, still failing, in the same way, across a process border."""

import pytest

from tidegate.conformance.engines.museum.catalog import MUTANTS
from tidegate.conformance.engines.museum.engines import Engine
from tidegate.conformance.engines.python import InProcess, PythonEngine
from tidegate.conformance.judging.shrink import renumber, shrink, simpler
from tidegate.conformance.judging.suite import Planned, is_declared
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.properties.cases.drawing import draw_case

VALVES = [mutant.name for mutant in MUTANTS if mutant.component == "valve"]


def first_failure(engine, component, cases):
    description = engine.start()
    runner = Runner(engine)
    drawn = (draw_case(component, "shrink", index) for index in range(cases))
    planned = (Planned("generated", case) for case in drawn if is_declared(description, case))
    failures = (verdict for verdict in runner.run(planned) if verdict.status in (Status.FAIL, Status.ERROR))
    return runner, next(failures, None)


@pytest.mark.parametrize("name", VALVES)
def test_wrong_valves_shrink_to_ten_events(name):
    runner, failure = first_failure(InProcess(Engine(name)), "valve", 4000)
    if failure is None:
        pytest.fail(f"{name} was not caught by 4000 generated cases")
    shrunken = shrink(runner, failure)
    assert shrunken.verdict.status is failure.status
    assert len(shrunken.verdict.case.events) <= 10


def test_shrinks_across_a_process_border():
    with PythonEngine("tidegate.conformance.engines.museum.engines:ValveAlwaysFlushes") as engine:
        runner, failure = first_failure(engine, "valve", 1000)
        shrunken = shrink(runner, failure)
    assert len(shrunken.verdict.case.events) <= 10
    assert shrunken.replays > 0


def test_every_proposal_is_simpler():
    assert list(simpler(5)) == [0, 1, 2, 4]
    assert list(simpler("9")) == ["0", "1", "4", "", ""]
    assert [] in list(simpler([3]))
    assert list(simpler(True)) == []  # noqa: FBT003
    assert all(proposal["type"] == "x" for proposal in simpler({"type": "x", "amount": 3}))


def test_timestamps_are_renumbered_in_their_order():
    events = [{"type": "watermark", "timestamp": t} for t in ("100", "-7", "100")]
    assert [event["timestamp"] for event in renumber({"events": events})["events"]] == ["2", "1", "2"]
