"""Queries: drawn in time and in every shape, held to the result of the usual settings, made small."""

from collections import Counter

import attrs
import pytest

from tidegate.conformance.engines.base import PROTOCOL_VERSION, QUERY, Abilities, Description, Ran, Refused
from tidegate.conformance.engines.jobs import JobEngine
from tidegate.conformance.judging.jobs.evaluation import evaluate
from tidegate.conformance.judging.jobs.queries import (
    CHANGING,
    END_OF_TIME,
    SHAPES,
    QueryCase,
    draw_query,
    mend,
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
    assert sum_up(changes) == Counter({("a", "2"): 1})
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
    """Knows what SQLite knows, but loses one of several rows: in batches, or always."""

    def __init__(self, *, always):
        self.always = always

    def start(self):
        return Description(PROTOCOL_VERSION, "lying", "1", "python", {}, 1, ABILITIES)

    def run(self, request):
        known = evaluate(QueryCase("", "", request.program["query"], request.program["tables"]))
        if known is None:
            return Refused("refused", "no such queries here")
        rows = sorted(known.elements())
        kept = rows[:-1] if (self.always or request.settings["batch"]) and len(rows) > 1 else rows
        return Ran({"changes": [["+I", *row] for row in kept]})

    def close(self):
        pass


@pytest.mark.parametrize("always", [False, True], ids=["in batches", "always"])
def test_rows_that_are_lost_are_found_and_made_small(always):
    """Where it is lost under any settings, SQL says that it should be there."""
    result = run_jobs(Lying(always=always), "lying", 60)
    assert all(result.counts[status] for status in (Status.FAIL, Status.PASS, Status.SKIP))
    assert {kind.partition(" of ")[0] for kind in result.found} == {"fail LOG-RESULT"}
    for found in result.found.values():
        small = found.small.case
        assert small.settings == {"batch": 0 if always else 5, "order": "up", "reuse": False}
        assert small.size <= 4, "a row or two of each table"


def test_most_queries_without_windows_are_known_to_sql_in_every_shape():
    known = Counter()
    drawn = Counter()
    for index in range(400):
        case = draw_query(3, index, ABILITIES)
        drawn[case.shape] += 1
        known[case.shape] += evaluate(case) is not None
    in_windows = {"window aggregate", "cascade of windows", "group window", "window join", "pattern"}
    for shape in set(SHAPES) - in_windows:
        assert known[shape] >= drawn[shape] / 4, shape
    assert not any(known[shape] for shape in in_windows)


def test_what_sql_says_of_tables_that_change():
    """By what is left of them; an average of integers is one, and what is not there is null."""
    tables = {
        "c": ((("+I", "a", 1, 1, 10), ("+U", "a", 2, 2, 20), ("+I", "b", 5, 3, 30), ("-D", "b", 5, 3, 40)),),
        "d": (
            (("+I", "a", None, 7, 10), ("watermark", 11), ("-U", "a", None, 7, 10), ("+U", "b", 4, 7, 12)),
            (("+I", "a", 3, 8, 10), ("pause", 1), ("idle",)),
        ),
    }

    def say(query):
        return sorted(evaluate(QueryCase("", "", query, tables)).elements())

    assert say("SELECT k, v FROM c") == [("a", "2")]
    assert say("SELECT x.id, y.v FROM d x LEFT JOIN c y ON x.k = y.k") == [("7", "null"), ("8", "2")]
    assert say("SELECT AVG(v) FROM d") == [("3",)]
    assert say("SELECT id FROM c WHERE ts BETWEEN ts - INTERVAL '1' SECOND AND ts") == [("2",)]
    assert evaluate(QueryCase("", "", "SELECT k FROM d GROUP BY ROLLUP (k)", tables)) is None


def test_what_sql_says_of_versions():
    """Each is valid from its own time until that of the next, or until it is taken away."""
    tables = {
        "a": (tuple(("record", "a", 0, number, at) for number, at in ((1, 5), (2, 15), (3, 25), (4, 35))),),
        "c": ((("+I", "a", 0, 11, 10), ("-D", "a", 0, 11, 20), ("+I", "a", 0, 12, 30), ("+U", "a", 0, 13, 33)),),
    }
    query = "SELECT x.id, y.id FROM a x LEFT JOIN c FOR SYSTEM_TIME AS OF x.ts AS y ON x.k = y.k"
    expected = [("1", "null"), ("2", "11"), ("3", "null"), ("4", "13")]
    assert sorted(evaluate(QueryCase("", "", query, tables)).elements()) == expected


def test_the_key_of_a_query_tells_its_rows_apart():
    """Only then rows of its result can replace each other by it."""
    keyed = 0
    for index in range(400):
        case = draw_query(4, index, ABILITIES)
        if not case.key:
            continue
        keyed += 1
        counted = ", ".join(case.key)
        twice = f"SELECT {counted} FROM ({case.query}) GROUP BY {counted} HAVING COUNT(*) > 1"  # noqa: S608 - ours
        assert not evaluate(attrs.evolve(case, query=twice)), case.query
    assert keyed > 50


def test_scripts_of_changes_are_mended_when_items_are_taken_away():
    """As they were drawn they stay; of what is left, nothing is changed that is not there."""
    first, second = ("+I", "a", 1, 100_001, 5), ("+U", "b", 2, 100_001, 6)
    gone = ("-U", *first[1:])
    assert mend("d", (gone, second)) == (("+I", *second[1:]),)
    over = ("watermark", END_OF_TIME)
    assert mend("a", (over, ("idle",))) == (over, ("idle",))
    assert mend("a", (("pause", 1), ("idle",), ("watermark", END_OF_TIME + 1))) == (
        ("pause", 1),
        ("watermark", END_OF_TIME + 1),
    )
    assert mend("d", (first, gone, ("pause", 1))) == (first, ("-D", *first[1:]), ("pause", 1))
    assert mend("d", (first, second)) == (first,)
    assert mend("c", (("+U", "a", 1, 1, 5), ("-D", "a", 1, 1, 7), ("-D", "a", 1, 1, 8))) == (
        ("+I", "a", 1, 1, 5),
        ("-D", "a", 1, 1, 7),
    )
    for index in range(200):
        for name, scripts in draw_query(6, index, ABILITIES).tables.items():
            for script in scripts if name in CHANGING else ():
                assert mend(name, script) == script
                mended = mend(name, script[1::2])
                assert mend(name, mended) == mended
