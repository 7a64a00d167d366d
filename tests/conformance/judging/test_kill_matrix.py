"""The kill matrix: what it says of a wrong engine, stage by stage."""

from tidegate.conformance.judging.kill_matrix import examine, make_matrix
from tidegate.conformance.judging.suite import Budget


def test_a_wrong_engine_is_caught_by_each_stage_on_its_own():
    row = examine("valve-never-flushes", Budget(200))
    assert (row.component, row.rule) == ("valve", "VALVE-10")
    assert [kill.stage for kill in row.kills] == ["directed", "golden", "complete", "generated", "metamorphic"]
    assert row.named
    assert row.smallest <= 4
    assert row.kill("directed").cases == 1
    assert row.kill("no such stage") is None


def test_rows_come_in_the_order_of_the_names():
    names = ["wiring-only-once", "gate-not-requeued"]
    rows = list(make_matrix(names, Budget(20)))
    assert [row.mutant for row in rows] == names
    assert all(row.kills for row in rows)
