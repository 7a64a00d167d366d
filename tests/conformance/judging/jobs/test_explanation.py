"""The judge of whole jobs: runs of the specification pass, whatever their schedule, and spoilt ones do not."""

from functools import cache
from random import Random

import attrs
import pytest

from tidegate.conformance.judging.jobs import explanation
from tidegate.conformance.judging.jobs.answers import Shown
from tidegate.conformance.judging.jobs.drawing import JobCase
from tidegate.conformance.judging.jobs.explanation import find_certain_sums, find_wrongs, replay
from tidegate.conformance.judging.jobs.judging import judge_log
from tidegate.conformance.judging.verdicts import Status
from tidegate.properties.cases import job as strategy
from tidegate.properties.runlog import check
from tidegate.properties.runlog.recording import make_log
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.elements import Long
from tidegate.reference.job.programs import Config, Edge, Function, Operator, Record
from tidegate.reference.job.step import compute_results, is_done
from tidegate.reference.rules import all_rules
from tidegate.traces.runlog import Direction, Kind, renumber


def draw(seed):
    """A job without a wire, a run of it to the end, and its results."""
    random = Random(seed)
    config = attrs.evolve(strategy.draw_program(random), wire=None)
    run = strategy.draw_run(random, config)
    assert is_done(run.state)
    results = compute_results(run.state)
    collected = [(0, key, int(value)) for key, value in results.collected]
    totals = [(number, key, int(total)) for number, key, total in results.totals]
    return config, make_log(config, run.seen), collected, totals


@cache
def runs():
    return [draw(seed) for seed in range(120)]


def test_runs_of_the_specification_pass():
    for config, log, collected, totals in runs():
        assert find_wrongs(config, log, collected, totals) == []


def lose_a_row(log, random):
    """And count anew, so that only the loss is wrong."""
    rows = list(log.rows)
    del rows[random.randrange(len(rows))]
    return renumber(attrs.evolve(log, rows=tuple(rows)))


def move_a_watermark(log, _random):
    place = next((n for n, row in enumerate(log.rows) if (row.kind, row.dir) == (Kind.WATERMARK, Direction.OUT)), None)
    if place is None:
        return log
    rows = list(log.rows)
    rows[place] = attrs.evolve(rows[place], timestamp=rows[place].timestamp - 1)
    return attrs.evolve(log, rows=tuple(rows))


def repeat_a_row(log, random):
    rows = list(log.rows)
    rows.insert(place := random.randrange(len(rows)), rows[place])
    return renumber(attrs.evolve(log, rows=tuple(rows)))


@pytest.mark.parametrize("spoil", [lose_a_row, move_a_watermark, repeat_a_row])
def test_a_spoilt_log_does_not_pass(spoil):
    random = Random(1)
    spoilt = 0
    for config, log, collected, totals in runs():
        worse = spoil(log, random) if log.rows else log
        if worse != log:
            spoilt += 1
            assert find_wrongs(config, worse, collected, totals)
    assert spoilt > 50


def test_a_log_that_counts_wrongly_does_not_pass():
    config, log, collected, totals = next(one for one in runs() if len(one[1].rows) > 3)
    worse = attrs.evolve(log, rows=log.rows[1:])
    (wrong,) = find_wrongs(config, worse, collected, totals)
    assert "counts wrongly" in str(wrong)
    judged = judge_log(JobCase("job", config), Shown((worse,), frozenset(Kind), config))
    assert (judged.status, judged.explained, judged.wrongs[0]) == (Status.FAIL, False, wrong)


def test_the_invariants_of_a_log_are_evaluated_once(monkeypatch):
    config, log, *_results = next(one for one in runs() if len(one[1].rows) > 3)
    asked = []
    monkeypatch.setattr(explanation, "check", lambda log: asked.append(log) or check(log))
    judge_log(JobCase("job", config), Shown((log,), frozenset(Kind), config))
    assert asked == [log]


def test_other_results_do_not_pass():
    config, log, collected, totals = next(one for one in runs() if one[2] and one[3])
    assert [*map(str, find_wrongs(config, log, collected[1:], totals))] == [
        "LOG-RESULT: the sinks have collected other results"
    ]
    assert str(find_wrongs(config, log, collected, totals[1:])[0]) == "LOG-RESULT: the sums hold other totals"


def test_a_difference_names_the_subtask_and_the_step():
    config, log, _collected, _totals = next(one for one in runs() if any(row.id is not None for row in one[1].rows))
    rows = tuple(row if row.id is None else attrs.evolve(row, id=row.id + 1) for row in log.rows)
    difference = replay(config, attrs.evolve(log, rows=rows)).difference
    assert "step" in difference.message
    assert difference.name in all_rules()


def test_a_sum_behind_a_sum_depends_on_the_schedule():
    script = (Record("a", Long(1), Long(1)),)
    operators = (
        Operator(1, "in", Function.SOURCE, 1, (script,)),
        Operator(2, "sum", Function.SUM, 2),
        Operator(3, "again", Function.SUM, 2),
    )
    config = Config(operators, (Edge(1, 2, Partitioner.HASH), Edge(2, 3, Partitioner.HASH)))
    assert find_certain_sums(config) == {2}
