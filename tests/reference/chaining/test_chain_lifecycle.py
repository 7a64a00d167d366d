"""The life cycle of a chain: orders, what is no chain, and claims. The directed traces say what is shown."""

from itertools import product

import pytest

from tests.reference.walking import broken_claims, state_after, walk
from tidegate.reference.chaining.chain_lifecycle import step as chain_lifecycle
from tidegate.reference.chaining.chain_lifecycle import values
from tidegate.reference.chaining.chain_lifecycle.claims import subtrees_stay_together, working_while_they_are_called
from tidegate.reference.model import InvalidInputError, Outcome

DRAIN = values.Finish(drain=True)


def tree(*parents, sources=0, inputs=1, semantics="flink-2.3"):
    operators = [values.Operator(lingers=False, parent=parent) for parent in (None, *parents)]
    return values.Config(tuple(operators), sources, sources + inputs, semantics)


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


@pytest.mark.parametrize(
    ("semantics", "call"),
    [
        *product(values.SEMANTICS, (values.Call.PREPARE, values.Call.FINISH, values.Call.QUIESCE)),
        *(("flink-1.10", values.Call.CLOSE), ("flink-1.5", values.Call.CLOSE)),
    ],
)
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


def test_elements_belong_to_the_extension():
    for event in ("0w5", "0record"):
        with pytest.raises(InvalidInputError, match="extension finished"):
            walk("chain_lifecycle", tree(), f"create open {event}")


@pytest.mark.parametrize("semantics", ["flink-1.10", "flink-1.5"])
def test_chains_that_had_finished_are_younger_than_the_old_orders(semantics):
    with pytest.raises(InvalidInputError, match="younger"):
        values.Config((values.Operator(lingers=False),), 0, 0, semantics, "finished")
