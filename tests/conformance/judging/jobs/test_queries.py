"""Queries: drawn in time and in every shape, held to the result of the usual settings, made small."""

from collections import Counter

import attrs
import pytest

from tidegate.conformance.engines.base import PROTOCOL_VERSION, QUERY, Abilities, Description, Ran, Refused
from tidegate.conformance.engines.flink.jobs.sql import FlinkSql
from tidegate.conformance.engines.jobs import JobEngine
from tidegate.conformance.judging.jobs.judging import QueryJudge
from tidegate.conformance.judging.jobs.queries import (
    CHANGING,
    END_OF_TIME,
    SHAPES,
    QueryCase,
    draw_query,
    sum_up,
    tell_difference,
)
from tidegate.conformance.judging.jobs.run import run_jobs
from tidegate.conformance.judging.verdicts import Status

ABILITIES = Abilities(
    operators=(QUERY,),
    partitioners=(),
    parallelism=3,
    settings={"batch": (0, 5), "order": ("up", "down", "none"), "reuse": (False, True)},
)


def test_the_same_numbers_give_the_same_query_and_every_shape_is_drawn():
    drawn = [draw_query(0, index, ABILITIES) for index in range(200)]
    assert drawn[7] == draw_query(0, 7, ABILITIES)
    assert {case.shape for case in drawn} == set(SHAPES)
    usual = {name: values[0] for name, values in ABILITIES.settings.items()}
    assert all(case.settings != usual for case in drawn), "a query is never held against itself"


def test_no_row_is_late_and_no_two_have_the_same_time():
    for index in range(100):
        times = []
        for scripts in draw_query(1, index, ABILITIES).tables.values():
            for script in scripts:
                watermark = -1
                for item in script:
                    if item[0] == "watermark":
                        assert item[1] > watermark
                        watermark = item[1]
                    elif item[0] in ("record", "+I", "+U"):
                        assert item[-1] > watermark
                        times.append(item[-1])
        assert len(times) == len(set(times))


def test_what_is_taken_back_is_not_there_in_the_end():
    changes = [["+I", "a", "1"], ["-U", "a", "1"], ["+U", "a", "2"], ["+I", "b", "1"], ["-D", "b", "1"]]
    assert sum_up({"0": changes}) == Counter({("a", "2"): 1})
    assert tell_difference(Counter({("a",): 1}), Counter({("a",): 1})) == ""
    told = tell_difference(Counter({("a",): 2}), Counter({("a",): 1, ("b",): 1}))
    assert told.startswith("the usual settings give 2 rows, these give 2: ")
    assert told.endswith("1 rows are missing, such as (a); 1 rows are too many, such as (b)")


def test_what_changes_a_row_comes_from_where_the_row_came_from_behind_it():
    seen = set()
    for index in range(200):
        for name, scripts in draw_query(2, index, ABILITIES).tables.items():
            if name not in CHANGING:
                continue
            at = {"k": 1, "id": 3}[CHANGING[name]["key"]]
            owners = {}
            for number, script in enumerate(scripts):
                there = {}
                for item in (one for one in script if one[0] in ("+I", "-U", "+U", "-D")):
                    seen.add((name, item[0]))
                    assert owners.setdefault(item[at], number) == number
                    if item[0] in ("-U", "-D"):
                        gone = there.pop(item[at])
                        assert name == "c" or gone[1:] == item[1:], "what is taken back is what was there"
                    else:
                        assert (item[at] in there) == (item[0] == "+U" and name == "c")
                        there[item[at]] = item
    assert seen == {(name, kind) for name in "cd" for kind in ("+I", "+U", "-D")} | {("d", "-U")}


def test_a_source_that_is_idle_has_said_that_all_time_is_over():
    scripts = [one for at in range(200) for table in draw_query(2, at, ABILITIES).tables.values() for one in table]
    ends = [script[script.index(("idle",)) - 1 :] for script in scripts if ("idle",) in script]
    assert ends
    assert all(end[0] == ("watermark", END_OF_TIME) for end in ends)
    assert all([item[0] for item in end[1:]] == ["idle", "pause", "watermark"] for end in ends)


class Lying(JobEngine):
    """Gives back the ids of a table, but in batches loses the last of several."""

    def start(self):
        return Description(PROTOCOL_VERSION, "lying", "1", "python", {}, 1, ABILITIES)

    def run(self, request):
        if "MATCH_RECOGNIZE" in request.program["query"]:
            return Refused("refused", "no patterns here")
        tables = request.program["tables"].values()
        rows = [item for scripts in tables for script in scripts for item in script if item[0] in ("record", "+I")]
        kept = rows[:-1] if request.settings["batch"] and len(rows) > 1 else rows
        return Ran({"collected": {"0": [["+I", str(item[3])] for item in kept]}})

    def close(self):
        pass


def test_a_setting_that_loses_rows_is_found_and_made_small():
    result = run_jobs(Lying(), "lying", 60)
    assert all(result.counts[status] for status in (Status.FAIL, Status.PASS, Status.SKIP))
    assert {kind.partition(" of ")[0] for kind in result.found} == {"fail LOG-RESULT"}
    for found in result.found.values():
        small = found.small.case
        assert small.settings == {"batch": 5, "order": "up", "reuse": False}
        assert small.size == 2, "two rows, of whatever table"


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
