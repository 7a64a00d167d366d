"""Claims about the life cycle of a chain, told of what is wrong."""

import pytest

from tidegate.reference.chaining.chain_lifecycle import claims as chain_claims
from tidegate.reference.chaining.chain_lifecycle.claims import subtrees_stay_together, working_while_they_are_called
from tidegate.reference.chaining.chain_lifecycle.values import (
    SEMANTICS,
    Call,
    Called,
    Config,
    Finish,
    Operator,
    State,
)
from tidegate.reference.model import Outcome


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("call", [Call.PREPARE, Call.FINISH, Call.QUIESCE])
def test_operators_that_work_are_called_from_the_head_on(semantics, call):
    chain = (Operator(lingers=False), Operator(lingers=False, parent=0))
    before = State(Config(chain, 0, 1, semantics))
    for order, holds in (((0, 1), True), ((1, 0), False)):
        outcome = Outcome(before, tuple(Called(operator, call) for operator in order), ())
        assert working_while_they_are_called.holds(before, Finish(drain=True), outcome) == holds


def test_an_operator_that_is_created_before_those_below_it_is_refused(monkeypatch):
    assert subtrees_stay_together.holds((0,))
    monkeypatch.setattr(chain_claims, "compute_creation_order", lambda _config: (0, 1))
    assert not subtrees_stay_together.holds((0,))
