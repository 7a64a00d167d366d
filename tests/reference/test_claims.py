"""Claims are made by decorators: the function names the claim, its docstring states it, its module makes it."""

import sys

import pytest

from tidegate.reference.claims import always, invariant, law, sometimes
from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import Invariant, Law, Property, Sometimes, claims_in
from tidegate.reference.watermarks.valve import no_pending_minimum


@always("TOY-1", "TOY-2")
def as_in_1_13_0(before, event, outcome):
    """Nothing moves
    by itself.

    What follows is for readers of the code.
    """
    return before == outcome


@invariant("TOY-3")
def is_small(state):
    """It is small."""
    return state < 3


@law("TOY-4", samples=lambda: ((1,), (2,)))
def doubles(number):
    """Twice is more."""
    return 2 * number > number


@sometimes("TOY-5")
def gets_there(_before, _event, outcome):
    """It gets there."""
    return outcome == 3


def test_a_claim_says_what_its_function_says():
    assert as_in_1_13_0 == Property("as-in-1.13.0", "Nothing moves by itself.", ("TOY-1", "TOY-2"), as_in_1_13_0.holds)
    assert (as_in_1_13_0.holds(1, "event", 1), as_in_1_13_0.holds(1, "event", 2)) == (True, False)
    assert is_small == Invariant("is-small", "It is small.", ("TOY-3",), is_small.holds)
    assert all(doubles.holds(*sample) for sample in doubles.samples())


def test_a_claim_without_a_statement_is_none():
    with pytest.raises(TypeError, match=r"test_claims\.silent needs a docstring"):

        @invariant("TOY-3")
        def silent(state):
            return bool(state)


def test_a_module_makes_its_own_claims_in_their_order():
    assert isinstance(no_pending_minimum, Invariant), "imported above, and none of this module"
    mine = (as_in_1_13_0, is_small, doubles, gets_there)
    assert claims_in(__name__) == claims_in(sys.modules[__name__]) == mine
    assert [type(one) for one in mine] == [Property, Invariant, Law, Sometimes]


@pytest.mark.parametrize("component", COMPONENTS.values(), ids=COMPONENTS)
def test_every_claim_of_a_component_has_its_own_name(component):
    kinds = (component.properties, component.invariants, component.laws, component.sometimes)
    assert sum(map(len, kinds)) == len(component.claims) == len({one.name for one in component.claims})
