"""What is claimed of push and pull exchange; the directed traces say what it shows."""

import attrs
import pytest

from tests.reference.walking import refuses
from tidegate.reference.exchange import values
from tidegate.reference.exchange.step import TRAITS, types_agree
from tidegate.reference.model import Outcome
from tidegate.reference.subpartition.values import Flush, Released


@pytest.mark.rule("XCHG-2")
def test_xchg_2_what_can_be_read_again():
    repeatable = {result.value for result, traits in TRAITS.items() if traits.repeatable}
    assert repeatable == {"blocking", "blocking_persistent", "hybrid_full"}


@pytest.mark.rule("XCHG-1", "XCHG-2")
def test_laws_notice_what_they_forbid(monkeypatch):
    wrong = attrs.evolve(TRAITS[values.ResultType.PIPELINED], repeatable=True)
    monkeypatch.setitem(TRAITS, values.ResultType.PIPELINED, wrong)
    assert refuses("exchange", "types-agree", values.ResultType.PIPELINED)
    monkeypatch.setitem(
        TRAITS, values.ResultType.BLOCKING, attrs.evolve(TRAITS[values.ResultType.BLOCKING], repeatable=False)
    )
    assert refuses("exchange", "reads-alike", values.ResultType.BLOCKING, 1, 2)


def test_properties_notice_what_they_forbid():
    config = values.Config(values.ResultType.BLOCKING, 2, 1)
    state = values.State(config, (values.Consumer(), None), registered=True)
    item = Outcome(state, (values.Pulled(0, end=False),), ())
    free = values.Pull(0, credit=False)
    assert refuses("exchange", "nothing-moves-by-itself", state, free, item)
    assert refuses("exchange", "blocking-is-complete", state, free, item)
    second = Outcome(state, (values.Pulled(1, end=False),), ())
    assert refuses("exchange", "read-in-order", state, values.Pull(0, credit=True), second)
    assert refuses("exchange", "connects-once", state, values.Request(0), Outcome(state, (values.Connected(0),), ()))
    assert refuses("exchange", "tells-who-is-there", state, Flush(), Outcome(state, (values.Notified(1),), ()))
    assert refuses("exchange", "full-adds-nothing", state, Flush(), Outcome(state, (values.Full(),), ()))
    assert refuses("exchange", "released-once", state, Flush(), Outcome(state, (Released(),), ()))


# --- claims, told of what is wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [{"repeatable": False}, {"may_be_early": True}])
def test_what_is_kept_beyond_the_job_is_complete_and_read_again(monkeypatch, wrong):
    persistent = values.ResultType.BLOCKING_PERSISTENT
    assert types_agree.holds(persistent)
    monkeypatch.setitem(TRAITS, persistent, attrs.evolve(TRAITS[persistent], **wrong))
    assert not types_agree.holds(persistent)
