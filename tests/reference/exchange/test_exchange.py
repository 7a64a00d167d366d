"""Push and pull exchange, rule by rule."""

import attrs
import pytest

from tests.reference import walking
from tests.reference.walking import ending, refuses
from tidegate.reference.exchange import values
from tidegate.reference.exchange.step import TRAITS, types_agree
from tidegate.reference.model import Outcome
from tidegate.reference.subpartition.values import Flush, Released

ALL = [result.value for result in values.ResultType]
PUSHED = ["pipelined", "pipelined_bounded"]
KEPT = ["blocking", "blocking_persistent", "hybrid_full"]


def play(result, trace, limit=2):
    return walking.play("exchange", {"result": result, "consumers": 2, "limit": limit}, trace)


def last(result, trace, limit=2):
    return walking.ending("exchange", {"result": result, "consumers": 2, "limit": limit}, trace)


@pytest.mark.rule("XCHG-1", "XCHG-2")
@pytest.mark.parametrize("result", ALL)
def test_xchg_2_only_blocking_results_wait_for_the_end(result):
    early = last(result, "register 0request")
    assert early == (("rejected", ("XCHG-2",)) if result.startswith("blocking") else ("connected 0", early[1]))
    assert last(result, "register finish 0request")[0] == "connected 0"


@pytest.mark.rule("XCHG-1")
@pytest.mark.parametrize("result", PUSHED)
def test_xchg_1_a_pushed_result_is_read_once_and_released_by_its_producer(result):
    assert last(result, "register 0request 1request") == ("rejected", ("XCHG-1",))
    assert last(result, "register 0request 0leave 1request") == ("rejected", ("XCHG-1",))
    assert last(result, "register 0request finish 0leave") == ("released", ("XCHG-1",))
    assert last(result, "register 0request 0leave finish") == ("released", ("XCHG-1",))
    assert last(result, "register release") == ("rejected", ("XCHG-1",))


@pytest.mark.rule("XCHG-1")
def test_xchg_1_a_bounded_result_fills_up():
    assert play("pipelined_bounded", "register produce produce produce 0request 0pull+ produce produce")[3:] == [
        "full",
        "connected 0",
        "item 0 False",
        "notified 0",
        "full",
    ]
    assert "full" not in play("pipelined", "register produce produce produce")


@pytest.mark.rule("XCHG-2")
@pytest.mark.parametrize("result", KEPT)
def test_xchg_2_a_kept_result_is_read_as_often_as_wanted(result):
    seen = play(result, "register produce finish 0request 0pull+ 0pull+ 0leave 1request 1pull+ 1pull- release 1pull+")
    assert seen[3:] == [
        "connected 0",
        "item 0 False",
        "item 1 True",
        "",
        "connected 1",
        "item 0 False",
        "item 1 True",
        "released",
        "none",
    ]


@pytest.mark.rule("XCHG-2")
@pytest.mark.parametrize("result", ALL)
def test_xchg_2_only_persistent_results_survive_the_job(result):
    assert last(result, "register finish end_job")[0] == ("" if result == "blocking_persistent" else "released")
    assert last(result, "register finish end_job produce")[0] == "rejected"


@pytest.mark.rule("XCHG-3")
def test_xchg_3_an_item_moves_when_it_is_pulled_with_credit():
    assert play("pipelined", "register 0request produce 0pull- 0pull+ 0pull+ produce produce produce finish")[2:] == [
        "notified 0",
        "none",
        "item 0 False",
        "none",
        "notified 0",
        "notified 0",
        "",
        "notified 0",
    ]
    assert last("pipelined", "register 0request finish 0pull-") == ("item 0 True", ("XCHG-3", "XCHG-1"))
    assert last("pipelined", "register produce 0request flush") == ("notified 0", ("XCHG-3",))


@pytest.mark.rule("XCHG-4")
def test_xchg_4_a_consumer_asks_until_the_result_is_there_and_then_no_more():
    assert play("pipelined", "0request produce 0pull+ register register 0request 0request 2request -1leave") == [
        "retry 0",
        "rejected",
        "rejected",
        "",
        "rejected",
        "connected 0",
        "rejected",
        "rejected",
        "rejected",
    ]


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


@pytest.mark.rule("XCHG-2")
@pytest.mark.parametrize("trace", ["release", "end_job"])
def test_what_was_never_registered_is_not_seen_to_be_released(trace):
    config = {"result": "blocking", "consumers": 1, "limit": 1}
    assert ending("exchange", config, trace) == ("", ("XCHG-2",))
    assert ending("exchange", config, f"register {trace}") == ("released", ("XCHG-2",))


@pytest.mark.parametrize(("result", "rule"), [("pipelined", "XCHG-1"), ("blocking", "XCHG-2")])
@pytest.mark.parametrize("event", ["produce", "finish"])
def test_behind_its_end_a_result_takes_nothing_for_the_reason_of_its_kind(result, rule, event):
    config = {"result": result, "consumers": 1, "limit": 1}
    assert ending("exchange", config, event) == ("rejected", ("XCHG-4",))
    assert ending("exchange", config, f"register finish {event}") == ("rejected", (rule,))
