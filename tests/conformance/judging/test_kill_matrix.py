"""The kill matrix: what it says of a wrong engine, stage by stage."""

from functools import partial

from tidegate.conformance.engines.museum.catalog import all_mutants
from tidegate.conformance.judging import kill_matrix
from tidegate.conformance.judging.judge_fast import Remembering
from tidegate.conformance.judging.kill_matrix import blame_all, by_component, examine, make_matrix
from tidegate.conformance.judging.suite import Budget
from tidegate.conformance.judging.verdicts import Passed, Violation
from tidegate.traces.notation.text import read_case


def test_a_wrong_engine_is_caught_by_each_stage_on_its_own():
    row = examine("valve-never-flushes", Budget(200), every=True)
    assert (row.component, row.rule) == ("valve", "VALVE-10")
    assert [kill.stage for kill in row.kills] == ["directed", "golden", "complete", "generated", "metamorphic"]
    assert row.named
    assert row.smallest <= 4
    assert row.kill("directed").cases == 1
    assert row.kill("no such stage") is None


def test_the_first_stage_that_catches_is_enough():
    row = examine("valve-never-flushes", Budget(20))
    assert ([kill.stage for kill in row.kills], row.caught_by) == (["directed"], "directed")


def test_the_rows_of_a_component_come_together():
    names = ["wiring-only-once", "gate-not-requeued", "gate-queued-in-four-lanes"]
    found = list(make_matrix(names, Budget(20)))
    assert {tuple(row.mutant for row in rows) for rows in found} == {("wiring-only-once",), tuple(names[1:])}
    assert all(row.kills for rows in found for row in rows)


def test_rows_of_many_engines_come_in_parts(monkeypatch):
    names = [one.name for one in all_mutants() if one.component == "valve"][:5]
    monkeypatch.setattr(kill_matrix, "TOGETHER", 2)
    found = list(by_component(partial(blame_all, budget=Budget(20)), names, workers=1))
    assert [len(rows) for rows in found] == [2, 2, 1]
    assert [row.mutant for rows in found for row in rows] == names


def test_a_judge_that_remembers_what_is_right_still_sees_what_is_wrong():
    judge = Remembering()
    case = read_case("valve", {"channels": 1}, "0w5 0w4", "one")
    right, wrong = ([[{"type": "watermark", "timestamp": stamp}], []] for stamp in ("5", "4"))
    for _ in range(2):
        assert isinstance(judge.judge(case, right), Passed)
        assert isinstance(judge.judge(case, wrong), Violation)
