"""What is expected of a job is what any run of the specification comes to."""

from collections import Counter
from itertools import islice

import attrs
import pytest

from tidegate.conformance.engines.base import Abilities
from tidegate.conformance.judging.jobs.drawing import draw_job
from tidegate.conformance.judging.jobs.explanation import run_anyhow
from tidegate.conformance.judging.jobs.judging import Judge
from tidegate.conformance.judging.jobs.reference_jobs import ABILITIES, ReferenceJobs
from tidegate.conformance.judging.jobs.results import compute_results, expect_results, is_tidy
from tidegate.conformance.judging.jobs.shrinking import narrower, smaller_configs
from tidegate.properties.cases.job import ACTIVE, IDLE, at, mark
from tidegate.properties.runlog import check
from tidegate.properties.runlog.recording import make_job
from tidegate.reference.job.layout import compute_layout
from tidegate.reference.job.programs import Function
from tidegate.traces.runlog import OWN, Direction, Kind, Row, RunLog, renumber

#: Nothing but results can be seen, so that programs are drawn whose results are certain.
BLIND = attrs.evolve(ABILITIES, shows=("record", "result"))
KILLED = Abilities(
    operators=("source", "map", "filter", "sum", "union", "sink"),
    partitioners=("hash",),
    parallelism=3,
    uniform=True,
    faults=("kill",),
    shows=("record", "result"),
)


def collect(config):
    """By task, what the sinks of a run of the specification have collected."""
    collected = {}
    state = run_anyhow(config)
    for place, subtask in zip(compute_layout(config).places, state.subtasks, strict=True):
        collected.setdefault(place.task.name, Counter()).update((key, int(value)) for key, value in subtask.collected)
    return collected


@pytest.mark.parametrize("steady", [True, False])
def test_results_are_those_of_the_specification(steady):
    certain = 0
    for index in range(60):
        config = draw_job(2, index, BLIND if steady else ABILITIES).config
        wanted = compute_results(config)
        certain += len(wanted)
        collected = collect(config)
        assert wanted == {task: collected[task] for task in wanted}
    assert certain > (40 if steady else 10)


def test_drawn_under_faults_no_record_is_late_and_all_workers_are_alike():
    for index in range(60):
        case = draw_job(3, index, attrs.evolve(KILLED, watermarks=True, idleness=True), faults=2)
        assert is_tidy(case.config)
        assert len({one.parallelism for one in case.config.operators if one.function is not Function.SOURCE}) == 1
        assert max(len(script) for one in case.config.operators for script in one.scripts) >= 30


def test_what_is_made_small_still_has_as_many_workers_everywhere():
    config = draw_job(3, 1, KILLED, faults=1).config
    smaller = list(islice(smaller_configs(config, KILLED, (narrower,)), 40))
    widths = [{one.parallelism for one in each.operators if not one.scripts} for each in smaller]
    assert all(len(one) == 1 for one in widths)
    assert {1} in widths


@pytest.mark.parametrize(
    ("script", "tidy"),
    [
        ([at(1, "a"), mark(1), at(2, "a")], True),
        ([at(1, "a"), mark(1), at(1, "a")], False),
        ([at(1, "a"), IDLE, ACTIVE, mark(10_000)], False),
        ([at(1, "a"), mark(10_000), IDLE, ACTIVE, mark(10_001)], True),
        ([at(1, "a"), IDLE, ACTIVE, at(4, "a")], False),
    ],
)
def test_a_script_is_tidy_if_nothing_in_it_can_be_late(script, tidy):
    config = draw_job(3, 1, KILLED).config
    source, *others = config.operators
    scripts = (tuple(script), *source.scripts[1:])
    changed = attrs.evolve(config, operators=(attrs.evolve(source, scripts=scripts), *others))
    assert is_tidy(changed) is tidy


# --- a log of results -----------------------------------------------------------------------------------------


def find_summed():
    """A job that counts, and what it must commit."""
    for index in range(200):
        config = draw_job(4, index, KILLED, faults=1).config
        results = compute_results(config)
        sums = {one.id for one in config.operators if one.function is Function.SUM}
        behind = {edge.target for edge in config.edges if edge.source in sums}
        for task in compute_layout(config).tasks:
            if set(task.operators) & behind and results.get(task.name):
                return config, task.name, results[task.name]
    raise AssertionError("no job of the seed counts")


def judge(results, task, config, *, counts_once=True):
    place = task, 0, 0, Direction.OUT, OWN, 0, 0, 0, Kind.RESULT
    rows = [Row("run", *place, key=key, value=value) for key, value in results]
    log = expect_results(config, RunLog("run", make_job(config), tuple(rows)), counts_once=counts_once)
    others = [one for one in log.job.expected if one.task == task]
    log = attrs.evolve(log, job=attrs.evolve(log.job, expected=tuple(others)))
    (verdict,) = [one for one in check(renumber(log)) if one.invariant == "LOG-RESULT"]
    return [one.message for one in verdict.violations]


def test_a_total_that_is_missing_or_beyond_the_last_is_found():
    config, task, results = find_summed()
    right = list(results.elements())
    key, most = max(results, key=lambda one: one[1])
    assert judge(right, task, config) == []
    assert len(judge(right[1:], task, config)) == 1
    beyond = [*right, (key, most + 1)]
    assert "is no result of the job" in judge(beyond, task, config)[0]
    assert judge(beyond, task, config, counts_once=False) == []
    assert len(judge([*right[1:], (key, most + 1)], task, config, counts_once=False)) == 1


def test_results_that_nobody_can_know_are_not_judged():
    config = draw_job(0, 3, ABILITIES).config
    place = "nobody", 0, 0, Direction.OUT, OWN, 0, 0, 0, Kind.RESULT
    log = RunLog("run", make_job(config), (Row("run", *place, key="a", value=7),))
    assert not expect_results(config, log).rows


def test_an_engine_that_shows_results_is_held_to_them():
    judge = Judge(ReferenceJobs())
    judge.abilities = attrs.evolve(judge.abilities, shows=(*ABILITIES.shows, "result"))
    for index in range(40):
        case = draw_job(5, index, BLIND)
        results = compute_results(case.config)
        rows = judge._engine.run(case.as_request()).answer["rows"]
        told = [{"task": task, "subtask": 0, "kind": "result", "key": key, "value": value}
                for task, counts in results.items() for key, value in counts.elements()]  # fmt: skip
        if not told:
            continue
        assert judge.judge(case, {"rows": [*rows, *told]}).wrongs == ()
        wrongs = judge.judge(case, {"rows": [*rows, *told[1:]]}).wrongs
        assert [wrong.name for wrong in wrongs] == ["LOG-RESULT"]
        return
    raise AssertionError("no job has results")
