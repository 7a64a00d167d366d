"""Whole jobs over the protocol: examples that are right, engines that are not, and what is told of them."""

import json
import shutil
from xml.etree import ElementTree as ET

import attrs
import pytest

from tidegate.conformance.cli.main import main
from tidegate.conformance.engines.base import Abilities
from tidegate.conformance.engines.errors import BadHelloError
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.expectations import parse_expectations
from tidegate.conformance.judging.jobs import shrinking
from tidegate.conformance.judging.jobs.drawing import JobCase, describe_graph, draw_job
from tidegate.conformance.judging.jobs.judging import Judge
from tidegate.conformance.judging.jobs.reference_jobs import ABILITIES, ReferenceJobs
from tidegate.conformance.judging.jobs.report import ToldJobs
from tidegate.conformance.judging.jobs.run import run_jobs
from tidegate.conformance.judging.jobs.shrinking import is_chained
from tidegate.conformance.kinds import resolve_jobs
from tidegate.properties.cases.job import ACTIVE, CO_TIMER, IDLE, TIMER, at, make_timed, mark
from tidegate.reference.elements import MAX, Status, StatusChange, Watermark

WRONG = "python:tests.conformance.judging.jobs.wrong_engines"
EXAMPLES = {"python": "exec:python3 examples/python/jobs.py", "javascript": "exec:node examples/javascript/jobs.js"}


def run(name, jobs=20, **options):
    limits = {"case_timeout": options.pop("case_timeout", None), "strict": options.pop("strict", False)}
    return run_jobs(resolve_jobs(name, **limits), name, jobs, **options)


@pytest.mark.parametrize("language", EXAMPLES)
def test_examples_are_conformant(language):
    if language == "javascript" and shutil.which("node") is None:
        pytest.skip("Node is not installed: the example in Python is tried alone")
    result = run(EXAMPLES[language], 30, strict=True)
    assert (result.found, result.exit_code, result.counts["explained"]) == ({}, Exit.CONFORMANT, 30)
    assert result.counts["records"] > 100
    assert result.reasons["LOG-LATE"] == "the engine shows no watermarks"


def test_the_reference_is_conformant():
    result = run("reference", 40)
    assert (result.found, result.exit_code, result.counts["explained"]) == ({}, Exit.CONFORMANT, 40)


@pytest.mark.parametrize(
    ("engine", "kind", "message"),
    [
        ("Loses", "fail LOG-LOSS", "sent and not received"),
        ("Misroutes", "fail LOG-ROUTE", "LOG-ROUTE"),
        ("BadField", "error job", 'row 1, field edge: must be a whole number in -1..2147483647, not "first"'),
        ("NoKind", "error job", "row 0 has no field kind"),
        ("Stranger", "error job", "belongs to"),
        ("Fails", "fail job", "the job failed: out of luck"),
        ("Raises", "error job", "internal: RuntimeError: no such job"),
        ("Dies", "crash job", "it had shown no rows by then"),
    ],
)
def test_wrong_engines_are_convicted(engine, kind, message):
    result = run(f"{WRONG}:{engine}", 12)
    assert result.exit_code == Exit.VIOLATIONS
    told = [str(wrong) for wrong in result.found[kind].small.wrongs]
    assert any(message in one for one in told), told


def test_a_job_that_does_not_end_is_told_with_what_it_showed(monkeypatch):
    monkeypatch.setattr(shrinking, "MOST_SECONDS", 0.0)
    result = run(f"{WRONG}:Hangs", 1, case_timeout=1.0, seed=4)
    (found,) = result.found.values()
    assert result.counts["timeout"] == 1
    assert "no end after 1 s; it had shown" in found.first.wrongs[0].message


def test_rows_may_stand_in_a_parquet_file():
    assert run(f"{WRONG}:InAFile", 5).exit_code == Exit.CONFORMANT


def test_failures_are_made_small_in_programs_scripts_and_settings():
    result = run(f"{WRONG}:NewestFirst", 12)
    small = result.found["fail LOG-LOSS"].small.case
    assert (len(small.config.operators), small.size) == (2, 1)
    assert small.settings == {"newest_first": True}
    other = run(f"{WRONG}:Loses", 12).found["fail LOG-LOSS"].small.case
    assert other.settings == {"newest_first": False}


def test_an_engine_without_jobs_is_refused():
    with pytest.raises(BadHelloError, match="declares no jobs"):
        run(f"{WRONG}:Mute", 1)


@pytest.mark.parametrize(
    ("jobs", "complaint"),
    [
        ([], "jobs must be an object"),
        ({"operators": ["sink"]}, "jobs.partitioners must name at least one"),
        ({"operators": "sink", "partitioners": ["hash"]}, "jobs.operators is invalid"),
        ({"operators": ["sink"], "partitioners": ["hash"], "watermarks": 1}, "jobs.watermarks is invalid"),
        ({"operators": ["sink"], "partitioners": ["hash"], "colour": 1}, "jobs.colour is unknown"),
        ({"operators": ["sink"], "partitioners": ["hash"], "settings": {"a": []}}, "jobs.settings is invalid"),
    ],
)
def test_declarations_are_looked_at(jobs, complaint):
    from tidegate.conformance.engines import messages

    names = {"name": "n", "version": "v", "language": "l"}
    with pytest.raises(BadHelloError, match=complaint):
        messages.describe({"protocol": 1, "implementation": names, "components": {}, "jobs": jobs}, 1)


# --- event time -----------------------------------------------------------------------------------------------

SCRIPT = (at(1, "a"), at(1, "b"), mark(1), IDLE, ACTIVE, mark(5))
TIMED = JobCase("timed", make_timed(TIMER, SCRIPT))


def run_timed(change=lambda rows: rows):
    judge = Judge(ReferenceJobs())
    answer = judge._engine.run(TIMED.as_request()).answer
    return judge.judge(TIMED, {"rows": change(answer["rows"])})


def of_timer(row, direction, kind):
    return (row["task"], row.get("dir"), row["kind"]) == ("timer", direction, kind)


def move_before(rows, wanted, place):
    """The first row of this kind, and those like it, right before another one."""
    moved = [row for row in rows if of_timer(row, *wanted) and row.get("value") != "1"]
    rest = [row for row in rows if row not in moved]
    first = next(at for at, row in enumerate(rest) if place(row))
    return [*rest[:first], *moved, *rest[first:]]


def is_a_timer(row):
    return row["kind"] == "timer"


def test_timers_that_fire_as_they_should_are_explained():
    judged = run_timed()
    assert (judged.wrongs, judged.explained) == ((), True)
    assert sum(row.kind == "timer" for row in judged.log.rows) == 2


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda rows: move_before(rows, ("out", "status"), is_a_timer), "TIME-"),
        (lambda rows: move_before(rows, ("out", "watermark"), is_a_timer), "TIME-"),
        (lambda rows: [{**row, "timestamp": "9"} if is_a_timer(row) else row for row in rows], "TIME-1"),
        (lambda rows: [row for row in rows if not is_a_timer(row)], "TIME-"),
    ],
)
def test_timers_that_lie_are_found(change, rule):
    judged = run_timed(change)
    assert any(wrong.name.startswith(rule) for wrong in judged.wrongs), judged.wrongs


def test_a_timer_that_fires_again_is_told_from_one_that_is_early():
    def again(rows):
        last = max(at for at, row in enumerate(rows) if is_a_timer(row))
        return [*rows[: last + 1], rows[last], *rows[last + 1 :]]

    (wrong,) = [one for one in run_timed(again).wrongs if one.name.startswith("TIME-")]
    assert (wrong.rules, "once more" in wrong.message) == (("TIME-1",), True)
    (wrong,) = [
        one
        for one in run_timed(lambda rows: move_before(rows, (None, "timer"), is_heard)).wrongs
        if one.name.startswith("TIME-")
    ]
    assert (wrong.rules, "not due" in wrong.message) == (("TIME-1",), True)


def is_heard(row):
    return of_timer(row, "in", "watermark")


def ends_before_it_is_idle(rows):
    heard = [(row["kind"], row["edge"]) for row in rows if row.get("dir") == "in" and row["task"] == "timer"]
    return heard.index(("watermark", 0)) < heard.index(("status", 1))


def test_a_timer_of_what_came_late_names_what_made_time_go_on():
    """The first input is over, and the second idle: event time is at its end, and a record behind that is late."""
    judge = Judge(ReferenceJobs())
    cases = (JobCase(f"late-{number}", make_timed(CO_TIMER, (), (IDLE, ACTIVE, at(5, "a")))) for number in range(50))
    runs = ((case, judge._engine.run(case.as_request()).answer["rows"]) for case in cases)
    case, rows = next((case, rows) for case, rows in runs if ends_before_it_is_idle(rows))
    place = next(at for at, row in enumerate(rows) if of_timer(row, "in", "record")) + 1
    fires = {"task": "timer", "subtask": 0, "kind": "timer", "key": "a", "timestamp": "5"}
    judged = judge.judge(case, {"rows": [*rows[:place], fires, *rows[place:]]})
    (wrong,) = [one for one in judged.wrongs if one.name.startswith("TIME-")]
    assert wrong.name == "TIME-6"
    assert {"COMB-2", "COMB-4"} <= {*wrong.rules}
    assert f"event time was {MAX} by then" in wrong.message


def test_without_rows_of_timers_nothing_is_explained():
    judge = Judge(ReferenceJobs())
    answer = judge._engine.run(TIMED.as_request()).answer
    judge.abilities = attrs.evolve(judge.abilities, shows=("record", "watermark"))
    assert judge.judge(TIMED, answer).explained is False


# --- what is drawn --------------------------------------------------------------------------------------------


def test_jobs_are_drawn_within_what_is_declared():
    few = Abilities(
        operators=("source", "map", "sink"), partitioners=("rebalance", "forward"), parallelism=2, faults=("kill",)
    )
    cases = [draw_job(1, index, few, faults=3) for index in range(150)]
    operators = [one for case in cases for one in case.config.operators]
    assert {str(one.function) for one in operators} == {"source", "map", "sink"}
    assert {one.parallelism for one in operators} == {1, 2}
    assert {str(edge.partitioner) for case in cases for edge in case.config.edges} == {"rebalance"}
    assert not any(is_chained(case.config) for case in cases)
    items = [item for one in operators for script in one.scripts for item in script]
    assert not any(isinstance(item, Watermark | StatusChange) for item in items)
    assert {fault["fault"] for case in cases for fault in case.faults} == {"kill"}
    assert {len(case.faults) for case in cases} == {1, 2, 3}


def test_no_source_ends_idle_unless_that_is_declared():
    def ends_idle(abilities):
        scripts = [
            [item for item in script if isinstance(item, StatusChange)]
            for index in range(80)
            for one in draw_job(1, index, abilities).config.operators
            for script in one.scripts
        ]
        return any(script and script[-1].status is Status.IDLE for script in scripts)

    assert not ends_idle(ABILITIES)
    assert ends_idle(attrs.evolve(ABILITIES, idle_ends=True))


def test_settings_are_drawn_and_often_as_usual():
    able = attrs.evolve(ABILITIES, settings={"mode": ("plain", "odd", "odder")})
    drawn = [draw_job(1, index, able).settings["mode"] for index in range(200)]
    assert set(drawn) == {"plain", "odd", "odder"}
    assert drawn.count("plain") > 80
    assert draw_job(1, 7, able) == draw_job(1, 7, able)


def test_the_graph_names_tasks_and_edges_as_rows_do():
    case = draw_job(0, 3, attrs.evolve(ABILITIES, chaining=False))
    graph = describe_graph(case.config)
    assert [task["name"] for task in graph["tasks"]]
    assert all(len(task["operators"]) == 1 for task in graph["tasks"])
    assert [edge["number"] for edge in graph["edges"]] == [*range(len(case.config.edges))]


# --- what is told ---------------------------------------------------------------------------------------------


def test_known_failures_are_expected_and_stale_ones_are_told():
    known = parse_expectations("rule LOG-LOSS -- we know", "known")
    result = run(f"{WRONG}:Loses", 12, expectations=known)
    assert result.counts["xfail"] > 0
    assert (result.found, result.exit_code) == ({}, Exit.CONFORMANT)
    stale = run("reference", 2, expectations=parse_expectations("rule LOG-LOSS -- we know", "known"))
    assert stale.exit_code == Exit.VIOLATIONS
    assert "nothing failed by it" in stale.problems[0]


def test_the_command_prints_and_writes_what_was_found(tmp_path, capsys):
    command = ["jobs", "--engine", f"{WRONG}:Loses", "--jobs", "4", "--report", str(tmp_path)]
    assert main(command) == Exit.VIOLATIONS
    told = capsys.readouterr().out
    assert "fail LOG-LOSS" in told
    assert "reproduce tidegate jobs --engine" in told
    suites = ET.fromstring((tmp_path / "junit.xml").read_bytes())  # noqa: S314 - it is ours
    assert suites.find("testsuite").get("tests") == "4"
    head, *jobs, tail = map(json.loads, (tmp_path / "report.jsonl").read_text().splitlines())
    assert (head["format"], len(jobs), tail["conclusion"]) == ("tidegate-jobs/1", 4, "not conformant")
    assert len([*(tmp_path / "runs").glob("*.parquet")]) == 4
    assert "fail LOG-LOSS" in (tmp_path / "summary.md").read_text()


def test_the_old_name_says_where_jobs_went(capsys):
    with pytest.raises(SystemExit) as error:
        main(["flink", "jobs", "2.3.0"])
    assert error.value.code == Exit.USAGE
    assert "tidegate jobs --engine flink:2.3.0" in capsys.readouterr().err


def test_the_command_of_a_finding_shows_it_again():
    result = run(f"{WRONG}:NewestFirst", 12)
    words = ToldJobs(result).json()["findings"]["fail LOG-LOSS"]["reproduce"].split()
    number = int(words[words.index("--first") + 1])
    again = run(f"{WRONG}:NewestFirst", 1, first=number)
    assert again.kinds["fail LOG-LOSS"] == 1
