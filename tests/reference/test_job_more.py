"""Whole jobs in corners that no trace comes to."""

import pytest

from reference.chains import Partitioner
from reference.credit import subpartitions
from reference.elements import Long, Watermark
from reference.job.examples import make_word_count
from reference.job.programs import Config, Edge, Function, Operator, Record, Wire
from reference.job.scheduler import COMPONENT, enabled, start, step
from reference.job.states import Overrun
from reference.model import InvalidInputError

CLAIMS = {claim.name: claim for claim in COMPONENT.claims}


def run(config):
    """Always the first choice that there is: the state before it, the choice, what came of it."""
    (state,) = start(config)
    while choices := enabled(state):
        (outcome,) = step(state, choices[0])
        yield state, choices[0], outcome
        state = outcome.state


def test_an_operator_has_a_subtask():
    with pytest.raises(InvalidInputError):
        Operator(2, "out", Function.SINK, 0)


def test_the_lines_of_word_count_have_no_value_and_its_words_the_times_of_their_lines():
    config = make_word_count()
    lines = [item for script in config.operators[0].scripts for item in script if isinstance(item, Record)]
    assert [(line.key, line.value) for line in lines] == [("to be or", 0), ("not", 0), ("to be", 0)]
    rows = [row for _before, _choice, outcome in run(config) for row in outcome.observations if row.dir == "out"]
    words = [(row.subtask, row.key, row.timestamp) for row in rows if row.kind == "record"]
    assert sorted(words) == [(0, "be", 1), (0, "not", 2), (0, "or", 1), (0, "to", 1), (1, "be", 2), (1, "to", 2)]
    marks = {(row.subtask, row.timestamp) for row in rows if row.kind == "watermark"}
    assert sorted(marks)[:2] == [(0, 1), (0, 2**63 - 1)]
    assert sorted(marks)[2:] == [(1, 2), (1, 2**63 - 1)]


def test_data_that_is_sent_without_credit_finds_no_buffer(monkeypatch):
    script = (Record("a", Long(1), Long(1)), Watermark(Long(1)), Record("a", Long(1), Long(2)))
    operators = (Operator(1, "in", Function.SOURCE, 1, (script,)), Operator(2, "out", Function.SINK))
    config = Config(operators, (Edge(1, 2, Partitioner.REBALANCE),), Wire(8, 0, 1, 8))
    claim = CLAIMS["data-finds-a-buffer"]
    assert all(claim.holds(*one) for one in run(config))
    monkeypatch.setattr(
        subpartitions, "is_available", lambda subpartition, **_credit: subpartitions.is_readable(subpartition)
    )
    broken = next(one for one in run(config) if not claim.holds(*one))
    assert Overrun(0) in broken[2].observations
