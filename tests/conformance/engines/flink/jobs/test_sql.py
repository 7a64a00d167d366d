"""Queries of Flink SQL: tables that are read in one go, and results that SQL knows better."""

from collections import Counter

import attrs
import pytest

from tidegate.conformance.engines.flink.jobs.sql import ABILITIES, FlinkSql, settle
from tidegate.conformance.judging.jobs.evaluation import rows_in_the_end
from tidegate.conformance.judging.jobs.judging import QueryJudge
from tidegate.conformance.judging.jobs.queries import QueryCase, draw_query
from tidegate.conformance.judging.verdicts import Status


def test_what_is_read_in_one_go_is_what_sql_reads():
    for index in range(100):
        case = draw_query(5, index, ABILITIES)
        settled = settle(case.as_json())
        assert settled["changing"] == {}
        for name, scripts in settled["tables"].items():
            assert all(item[0] == "record" for script in scripts for item in script)
            rows = Counter(tuple(item[1:]) for script in scripts for item in script)
            assert rows == Counter(rows_in_the_end(name, case.tables[name]))


@pytest.fixture(scope="module")
def judge(flink_version):
    with FlinkSql(flink_version("2.3.0"), seconds=300, start_timeout=300) as running:
        yield QueryJudge(running)


@pytest.mark.long
def test_mini_batches_lose_rows_that_are_sorted_by_time(judge):
    """Flink 2.3.0: the watermarks of a mini-batch are of processing time, and what they sort out is out for good."""
    late = [item for at in range(10) for item in (("record", "a", 1, at, 9000 - at), ("pause", 100))]
    rows = (*late, ("watermark", 9999))
    usual = {name: values[0] for name, values in judge.abilities.settings.items()}
    case = QueryCase("sorted", "sort", "SELECT id FROM a ORDER BY ts", {"a": (rows,)}, usual)
    assert judge.run(attrs.evolve(case, settings={**usual, "object_reuse": True})).status is Status.PASS
    lost = judge.run(attrs.evolve(case, settings={**usual, "mini_batch_rows": 5}))
    assert [wrong.kind for wrong in lost.wrongs] == ["LOG-RESULT of sort"]


@pytest.mark.long
@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_a_row_that_was_deleted_stays_if_the_first_are_skipped(judge, backend):
    """Flink 2.3.0 with state on the heap: no setting is needed, for SQL knows better."""
    rows = (("+I", "d", 2, 9, 1), ("+I", "d", 1, 1, 2), ("+I", "d", 9, 5, 3), ("-D", "d", 2, 9, 1))
    query = "SELECT id, v FROM d ORDER BY v DESC, id LIMIT 1 OFFSET 1"
    settings = {**judge.abilities.usual, "state_backend": backend}
    case = QueryCase("skipped", "top", query, {"d": (rows,)}, settings, key=("id",))
    told = [wrong.message for wrong in judge.run(case).wrongs]
    assert told[0].startswith("the rows of the tables give" if backend == "hashmap" else "the usual settings give")


@pytest.mark.long
@pytest.mark.parametrize("setting", ["batch", "by_key", "changes_of_state"])
def test_what_sql_says_is_what_flink_says(judge, setting):
    rows = (
        ("+I", "a", None, 1, 1),
        ("+I", "b", 2, 2, 2),
        ("-U", "b", 2, 2, 2),
        ("+U", "a", 3, 2, 3),
        ("+I", "b", 4, 3, 4),
    )
    query = "SELECT x.id, COUNT(y.v) n, AVG(y.v) v FROM d x JOIN d y ON x.k = y.k GROUP BY x.id"
    settings = {**judge.abilities.usual, setting: True}
    judged = judge.run(QueryCase("same", "group", query, {"d": (rows,)}, settings, key=("id",)))
    assert (judged.status, judged.wrongs) == (Status.PASS, ())
