"""The life cycle of a chain, rule by rule."""

import attrs
import pytest

from tests.reference.walking import broken_claims, seen, state_after, walk
from tests.reference.walking import last as deciding
from tidegate.reference.chaining.chain_lifecycle import step as chain_lifecycle
from tidegate.reference.chaining.chain_lifecycle import values
from tidegate.reference.chaining.chain_lifecycle.claims import subtrees_stay_together, working_while_they_are_called
from tidegate.reference.model import InvalidInputError, Outcome

DRAIN, STOP = values.Finish(drain=True), values.Finish(drain=False)


def tree(*parents, sources=0, inputs=1, semantics="flink-2.3", lingering=()):
    operators = [values.Operator(index in lingering, parent) for index, parent in enumerate((None, *parents))]
    return values.Config(tuple(operators), sources, sources + inputs, semantics)


def show(seen):
    """`2.open` for a call, `!1` for the error of operator 1, with those attached to it; x for a refusal."""
    match seen:
        case values.Called(operator=operator, call=call):
            return f"{operator}.{call.value}"
        case values.Failed(operator=operator, suppressed=suppressed):
            return "!" + "+".join(map(str, (operator, *suppressed)))
    return "x"


def last(config, *events):
    return " ".join(map(show, walk("chain_lifecycle", config, events)[-1].observations))


def fails(operator, call):
    return values.Fault(operator, call, failing=True)


OPENED = (values.Create(), values.Open())
STRAIGHT = tree(0, 1)


@pytest.mark.rule("CHAIN-30")
@pytest.mark.parametrize(
    ("config", "order"),
    [
        (tree(), (0,)),
        (STRAIGHT, (2, 1, 0)),
        (tree(0, 0), (1, 2, 0)),
        (tree(0, 0, 1, 1), (3, 4, 1, 2, 0)),
        (tree(0, 0, 2), (1, 3, 2, 0)),
        (tree(0, sources=2), (1, 0, 2, 3)),
    ],
)
def test_chain_30_subtree_by_subtree(config, order):
    (created,) = walk("chain_lifecycle", config, (values.Create(),))
    assert created.observations == tuple(values.Called(index, values.Call.CREATE) for index in order)
    assert created.rules == ("CHAIN-30",)
    assert values.compute_creation_order(config) == order


@pytest.mark.rule("CHAIN-30")
def test_a_chain_may_be_as_long_as_it_likes():
    assert values.compute_creation_order(tree(*range(2999))) == tuple(range(2999, -1, -1))


@pytest.mark.rule("CHAIN-31")
def test_chain_31_state_and_opening_by_turns():
    assert last(STRAIGHT, *OPENED) == "2.init 2.open 1.init 1.open 0.init 0.open"
    assert last(tree(sources=1), *OPENED) == "0.init 0.open 1.init 1.open"
    old = attrs.evolve(STRAIGHT, semantics="flink-1.5")
    assert last(old, *OPENED) == "2.init 1.init 0.init 2.open 1.open 0.open"
    assert (
        last(STRAIGHT, values.Create(), fails(1, values.Call.OPEN), values.Open()) == "2.init 2.open 1.init 1.open !1"
    )


@pytest.mark.rule("CHAIN-32")
def test_chain_32_prepare_from_the_head_without_sources():
    prepare = values.Checkpoint(values.Step.PREPARE)
    assert last(tree(0, 0, sources=1), *OPENED, prepare) == "0.prepare 2.prepare 1.prepare"
    assert last(STRAIGHT, *OPENED, fails(1, values.Call.PREPARE), prepare) == "0.prepare 1.prepare !1"
    assert walk("chain_lifecycle", STRAIGHT, (*OPENED, prepare))[-1].rules == ("CHAIN-32", "CHAIN-33")


@pytest.mark.rule("CHAIN-33")
@pytest.mark.parametrize("what", [values.Step.SNAPSHOT, values.Step.COMPLETE, values.Step.ABORT, values.Step.SUBSUME])
def test_chain_33_from_the_tail_with_sources(what):
    shown = last(tree(0, sources=1), *OPENED, values.Checkpoint(what))
    assert shown == f"1.{what.value} 0.{what.value} 2.{what.value}"


@pytest.mark.rule("CHAIN-33")
def test_chain_33_a_notification_reaches_all():
    faults = [fails(operator, call) for operator in (0, 2) for call in (values.Call.COMPLETE, values.Call.SNAPSHOT)]
    assert (
        last(STRAIGHT, *OPENED, *faults, values.Checkpoint(values.Step.COMPLETE))
        == "2.complete 1.complete 0.complete !2+0"
    )
    assert last(STRAIGHT, *OPENED, *faults, values.Checkpoint(values.Step.SNAPSHOT)) == "2.snapshot !2"
    old = attrs.evolve(STRAIGHT, semantics="flink-1.10")
    assert last(old, *OPENED, *faults, values.Checkpoint(values.Step.COMPLETE)) == "2.complete !2"
    assert last(old, *OPENED, values.Checkpoint(values.Step.ABORT)) == "x"


@pytest.mark.rule("CHAIN-33")
@pytest.mark.parametrize(
    ("what", "shown"),
    [
        (values.Step.PREPARE, ""),
        (values.Step.SNAPSHOT, ""),
        (values.Step.COMPLETE, ""),
        (values.Step.SUBSUME, ""),
        (values.Step.ABORT, "1.abort 0.abort"),
    ],
)
def test_chain_33_closed_operators_rest(what, shown):
    assert last(tree(0), *OPENED, values.Close(), values.Checkpoint(what)) == shown


@pytest.mark.rule("CHAIN-34")
def test_chain_34_each_completely_before_the_next():
    ended = (*OPENED, values.EndInput(0), DRAIN)
    assert last(STRAIGHT, *ended) == (
        "0.quiesce 0.finish 1.end_input 1.quiesce 1.finish 2.end_input 2.quiesce 2.finish"
    )
    assert last(tree(sources=1, inputs=0), *ended) == "1.quiesce 1.finish 0.quiesce 0.finish"
    assert last(STRAIGHT, *OPENED, values.EndInput(0), fails(1, values.Call.END_INPUT), DRAIN).endswith(
        "1.end_input !1"
    )
    assert walk("chain_lifecycle", STRAIGHT, ended)[-1].rules == ("CHAIN-34", "CHAIN-37")


@pytest.mark.rule("CHAIN-34")
def test_chain_34_the_old_orders():
    ended = (*OPENED, values.EndInput(0), DRAIN)
    assert last(attrs.evolve(STRAIGHT, semantics="flink-1.10"), *ended) == (
        "0.close 1.end_input 1.close 2.end_input 2.close"
    )
    assert last(attrs.evolve(STRAIGHT, semantics="flink-1.5"), *ended) == "0.close 1.close 2.close"
    assert last(attrs.evolve(STRAIGHT, semantics="flink-1.5"), *OPENED, values.EndInput(0)) == ""


@pytest.mark.rule("CHAIN-34")
def test_chain_34_the_head_is_told_of_each_input_once():
    config = tree(0, inputs=2)
    outcome = walk("chain_lifecycle", config, (*OPENED, values.EndInput(1)))[-1]
    assert outcome.observations == (values.Called(0, values.Call.END_INPUT, 1),)
    assert last(config, *OPENED, values.EndInput(1), values.EndInput(1)) == "x"
    assert last(config, *OPENED, values.EndInput(1), DRAIN) == "x"
    assert last(config, *OPENED, fails(0, values.Call.END_INPUT), values.EndInput(0), values.EndInput(1)) == "x"


@pytest.mark.rule("CHAIN-35")
def test_chain_35_a_stop_ends_nothing():
    config = tree(0, lingering=(0,))
    assert last(config, *OPENED, values.Mail(1), STOP) == "0.quiesce 1.mail 1.quiesce"
    assert last(attrs.evolve(config, semantics="flink-1.10"), *OPENED, STOP) == "0.close 1.end_input 1.close 0.mail"
    assert last(attrs.evolve(config, semantics="flink-1.5"), *OPENED, STOP) == "x"


@pytest.mark.rule("CHAIN-36")
def test_chain_36_all_are_closed_once():
    assert last(tree(0, sources=1), values.Create(), values.Close()) == "1.close 0.close 2.close"
    faults = [fails(operator, values.Call.CLOSE) for operator in (1, 0)]
    assert last(STRAIGHT, *OPENED, *faults, values.Close()) == "2.close 1.close 0.close !1+0"
    assert last(STRAIGHT, *OPENED, values.Close(), values.Close()) == ""


@pytest.mark.rule("CHAIN-36")
@pytest.mark.parametrize("semantics", ["flink-1.5", "flink-1.10"])
def test_chain_36_to_dispose_was_to_close(semantics):
    config = tree(0, inputs=0, semantics=semantics)
    fault = fails(0, values.Call.DISPOSE)
    assert last(config, *OPENED, DRAIN, values.Close()) == "1.dispose 0.dispose"
    assert last(config, *OPENED, fault, DRAIN, values.Close()) == "1.dispose 0.dispose 1.dispose 0.dispose !0"
    assert last(config, *OPENED, fault, values.Close()) == "1.dispose 0.dispose"


@pytest.mark.rule("CHAIN-37")
def test_chain_37_mails_run_before_the_next_operator_learns_anything():
    config = tree(0, inputs=0, lingering=(0, 1))
    mails = (*OPENED, values.Mail(1), values.Mail(0), DRAIN)
    assert last(config, *mails) == ("0.quiesce 1.mail 0.mail 0.finish 0.mail 1.end_input 1.quiesce 1.finish 1.mail")
    assert last(attrs.evolve(config, semantics="flink-1.10"), *mails) == (
        "0.close 1.end_input 1.close 1.mail 0.mail 0.mail 1.mail"
    )
    assert last(attrs.evolve(config, semantics="flink-1.5"), *OPENED, values.Mail(0)) == "x"


@pytest.mark.parametrize(
    ("events", "refused"),
    [
        ([], values.Open()),
        ([], values.Close()),
        ([], values.Checkpoint(values.Step.COMPLETE)),
        ([values.Create()], values.Create()),
        ([values.Create()], values.EndInput(0)),
        ([values.Create()], DRAIN),
        ([values.Create()], values.Mail(0)),
        ([values.Create()], values.Checkpoint(values.Step.PREPARE)),
        (OPENED, values.Open()),
        (OPENED, values.EndInput(1)),
        (OPENED, values.EndInput(-1)),
        (OPENED, values.Mail(3)),
        (OPENED, values.Mail(-1)),
        (OPENED, fails(3, values.Call.OPEN)),
        ((*OPENED, values.Close()), STOP),
        ((*OPENED, STOP), STOP),
        ((*OPENED, STOP), values.Mail(0)),
        ((values.Create(), values.Close()), values.Open()),
        ((values.Create(), fails(0, values.Call.INIT), values.Open()), values.Open()),
    ],
)
def test_what_is_refused_changes_nothing(events, refused):
    assert last(STRAIGHT, *events, refused) == "x"


@pytest.mark.parametrize(
    "make",
    [
        lambda: values.Config((), 0, 1),
        lambda: values.Config((values.Operator(lingers=False, parent=0),), 0, 1),
        lambda: tree(None),
        lambda: tree(1),
        lambda: tree(-1),
        lambda: tree(inputs=-1),
        lambda: tree(sources=-1),
        lambda: tree(sources=1, inputs=-1),
        lambda: tree(sources=1, semantics="flink-1.10"),
        lambda: tree(semantics="flink-1.9"),
        lambda: fails(0, values.Call.MAIL),
        lambda: fails(0, values.Call.CREATE),
    ],
)
def test_what_makes_no_sense_is_an_error(make):
    with pytest.raises(InvalidInputError):
        make()


@pytest.mark.parametrize(
    ("events", "named"),
    [
        ((values.Create(), values.Open()), "ready-before-they-are-called"),
        ((*OPENED, values.Close()), "ready-before-they-are-called"),
        ((*OPENED, values.EndInput(0), DRAIN), "working-while-they-are-called"),
    ],
)
def test_properties_see_the_reversed_order(monkeypatch, events, named):
    before = state_after("chain_lifecycle", STRAIGHT, events[:-1])
    monkeypatch.setattr(values, "compute_creation_order", lambda _config: (0, 1, 2))
    monkeypatch.setattr(values, "compute_forward_order", lambda _config: (2, 1, 0))
    (turned,) = chain_lifecycle.step(before, events[-1])
    assert named in broken_claims("chain_lifecycle", before, events[-1], turned)


# --- claims, told of what is wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize("semantics", values.SEMANTICS)
@pytest.mark.parametrize("call", [values.Call.PREPARE, values.Call.FINISH, values.Call.QUIESCE])
def test_operators_that_work_are_called_from_the_head_on(semantics, call):
    chain = (values.Operator(lingers=False), values.Operator(lingers=False, parent=0))
    before = values.State(values.Config(chain, 0, 1, semantics))
    for order, holds in (((0, 1), True), ((1, 0), False)):
        outcome = Outcome(before, tuple(values.Called(operator, call) for operator in order), ())
        assert working_while_they_are_called.holds(before, values.Finish(drain=True), outcome) == holds


def test_an_operator_that_is_created_before_those_below_it_is_refused(monkeypatch):
    assert subtrees_stay_together.holds((0,))
    monkeypatch.setattr(values, "compute_creation_order", lambda _config: (0, 1))
    assert not subtrees_stay_together.holds((0,))


# --- chains that had finished before a restore ----------------------------------------------------------------

THE_END = "9223372036854775807"
MARK = f"watermark(timestamp {THE_END})"


def past(*parents, sources=0, inputs=1):
    operators = [{"lingers": True}, *({"lingers": False, "parent": parent} for parent in parents)]
    return {"operators": operators, "sources": sources, "inputs": sources + inputs, "extension": "finished"}


@pytest.mark.rule("CHAIN-39")
def test_chain_39_operators_that_had_finished_are_only_created():
    trace = f"create open prepare 0w{THE_END} 0end complete abort subsume drain complete close close"
    created, *rest = seen("chain_lifecycle", past(0), trace)
    assert created == "call(operator 1, call create), call(operator 0, call create)"
    assert set(rest) == {"nothing", MARK}


@pytest.mark.rule("CHAIN-39")
@pytest.mark.parametrize(
    ("trace", "rule"),
    [
        ("open", "CHAIN-31"),
        ("create open open", "CHAIN-31"),
        ("create close open", "CHAIN-31"),
        ("create create", "CHAIN-30"),
        ("create open 0mail", "CHAIN-39"),
        ("create 0end", "CHAIN-34"),
        ("create open 1end", "CHAIN-34"),
        ("create open 0end 0end", "CHAIN-34"),
        ("create open close 0end", "CHAIN-34"),
        ("create open drain", "CHAIN-34"),
        ("create open 0end drain drain", "CHAIN-34"),
        ("create snapshot", "CHAIN-33"),
        ("close", "CHAIN-36"),
    ],
)
def test_chain_39_what_is_out_of_turn_is_refused(trace, rule):
    assert deciding("chain_lifecycle", past(), trace) == ("rejected", rule)


@pytest.mark.rule("CHAIN-40")
@pytest.mark.parametrize(
    ("config", "trace", "told"),
    [
        (past(), f"0w{THE_END}", MARK),
        (past(inputs=2), f"1w{THE_END}", "nothing"),
        (past(inputs=2), f"1w{THE_END} 0w{THE_END}", MARK),
        (past(inputs=2), f"1w{THE_END} 1w{THE_END}", "rejected"),
        (past(), "0w9223372036854775806", "rejected"),
        (past(), f"-1w{THE_END}", "rejected"),
        (past(), f"1w{THE_END}", "rejected"),
        (past(), f"0end 0w{THE_END}", "rejected"),
        (past(), "0record", "rejected"),
        (past(), "0status", "rejected"),
        (past(), "0latency_marker", "rejected"),
        (past(inputs=0), "drain", MARK),
        (past(inputs=0), "stop", "nothing"),
        (past(sources=1), f"0w{THE_END}", "nothing"),
        (past(sources=1), f"1w{THE_END}", "rejected"),
        (past(sources=1), f"0w{THE_END} 0end 1end drain", MARK),
        (past(sources=1), "0end 1end drain", "nothing"),
        (past(sources=2, inputs=0), "0end 1end drain", MARK),
        (past(sources=2, inputs=0), "0end 1end stop", "nothing"),
        (past(), f"0w{THE_END} 0end drain", "nothing"),
        (past(), "0end drain", "nothing"),
    ],
)
def test_chain_40_event_time_is_over(config, trace, told):
    assert seen("chain_lifecycle", config, f"create open {trace}")[-1] == told


@pytest.mark.rule("CHAIN-41")
@pytest.mark.parametrize(
    ("config", "told"),
    [
        (past(), "channel_state(operator 0, side inputs), channel_state(operator 0, side outputs)"),
        (past(0, 1), "channel_state(operator 2, side outputs), channel_state(operator 0, side inputs)"),
        (past(0, 0), "channel_state(operator 1, side outputs), channel_state(operator 0, side inputs)"),
    ],
)
def test_chain_41_what_is_on_the_channels_is_saved(config, told):
    for trace in ("create open snapshot", "create open 0end drain snapshot", "create open close snapshot"):
        assert seen("chain_lifecycle", config, trace)[-1] == told


def test_elements_belong_to_the_extension():
    for event in ("0w5", "0record"):
        with pytest.raises(InvalidInputError, match="extension finished"):
            walk("chain_lifecycle", tree(), f"create open {event}")


@pytest.mark.parametrize("semantics", ["flink-1.10", "flink-1.5"])
def test_chains_that_had_finished_are_younger_than_the_old_orders(semantics):
    with pytest.raises(InvalidInputError, match="younger"):
        values.Config((values.Operator(lingers=False),), 0, 0, semantics, "finished")
