"""The claims about the combiner refuse what they are there to refuse."""

import pytest

from tidegate.reference.elements import MAX, MIN, Long, Status, StatusChange, Watermark
from tidegate.reference.model import Outcome
from tidegate.reference.watermarks import combiner
from tidegate.reference.watermarks.combiner import Config, Input, InputWatermark, State

CLAIMS = {claim.name: claim for claim in combiner.COMPONENT.claims}
BEFORE = State(Config(1), (Input(Long(5)),), Long(5))


def refuses(name, combined, *seen):
    after = State(BEFORE.config, BEFORE.inputs, Long(combined))
    return not CLAIMS[name].holds(BEFORE, InputWatermark(0, Long(6)), Outcome(after, seen, ()))


@pytest.mark.parametrize(("combined", "emitted"), [(5, [5]), (4, []), (6, [4])], ids=["again", "fallen", "behind"])
def test_a_combined_watermark_that_is_not_new_is_refused(combined, emitted):
    assert refuses("combined-never-falls", combined, *(Watermark(Long(timestamp)) for timestamp in emitted))


def test_a_status_before_its_watermark_is_refused():
    assert refuses("watermark-before-status", 6, StatusChange(Status.IDLE), Watermark(Long(6)))
    assert refuses("watermark-before-status", 6, StatusChange(Status.IDLE), StatusChange(Status.ACTIVE))


@pytest.mark.parametrize("past", [MIN, MAX])
def test_what_used_to_block_is_the_low_input_and_nothing_else(monkeypatch, past):
    monkeypatch.setattr(combiner, "combine_ignoring_idleness", lambda _inputs, _combined: past)
    assert not CLAIMS["idle-input-used-to-block"].holds(Long(0), Long(7))


def test_today_an_idle_input_does_not_block(monkeypatch):
    monkeypatch.setattr(combiner, "compute_combined", lambda _config, inputs, _last: (inputs[0].watermark, "COMB-2"))
    assert not CLAIMS["idle-input-used-to-block"].holds(Long(0), Long(7))
