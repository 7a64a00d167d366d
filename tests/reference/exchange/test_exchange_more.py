"""The claims about an exchange, told of what is wrong."""

import attrs
import pytest

from tests.reference import words
from tidegate.reference.exchange.step import TRAITS, types_agree
from tidegate.reference.exchange.values import ResultType


@pytest.mark.parametrize("wrong", [{"repeatable": False}, {"may_be_early": True}])
def test_what_is_kept_beyond_the_job_is_complete_and_read_again(monkeypatch, wrong):
    persistent = ResultType.BLOCKING_PERSISTENT
    assert types_agree.holds(persistent)
    monkeypatch.setitem(TRAITS, persistent, attrs.evolve(TRAITS[persistent], **wrong))
    assert not types_agree.holds(persistent)


@pytest.mark.rule("XCHG-2")
@pytest.mark.parametrize("trace", ["release", "end_job"])
def test_what_was_never_registered_is_not_seen_to_be_released(trace):
    config = {"result": "blocking", "consumers": 1, "limit": 1}
    assert words.last("exchange", config, trace) == ("", ("XCHG-2",))
    assert words.last("exchange", config, f"register {trace}") == ("released", ("XCHG-2",))


@pytest.mark.parametrize(("result", "rule"), [("pipelined", "XCHG-1"), ("blocking", "XCHG-2")])
@pytest.mark.parametrize("event", ["produce", "finish"])
def test_behind_its_end_a_result_takes_nothing_for_the_reason_of_its_kind(result, rule, event):
    config = {"result": result, "consumers": 1, "limit": 1}
    assert words.last("exchange", config, event) == ("rejected", ("XCHG-4",))
    assert words.last("exchange", config, f"register finish {event}") == ("rejected", (rule,))
