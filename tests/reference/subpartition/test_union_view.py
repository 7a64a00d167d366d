"""Several subpartitions read as one, rule by rule."""

import attrs
import pytest

from tests.reference.walking import broken_claims, state_after, walk
from tidegate.reference.model import InvalidInputError, Outcome
from tidegate.reference.subpartition import union_view

BOTH = "0register 1register"


def test_early_views_have_their_first_turns_in_any_order():
    outcomes = walk("union_view", {"views": 3}, "0whole 1whole 0tell 1tell 0register 1register")
    assert len(outcomes) == 6


def test_there_are_up_to_six_views():
    for views in (0, 7):
        with pytest.raises(InvalidInputError):
            union_view.Config(views)


# --- claims, told of what is wrong ----------------------------------------------------------------------------


def test_an_item_that_is_not_the_oldest_of_its_view_is_refused():
    before = state_after("union_view", {"views": 2}, f"{BOTH} 0whole 0tell poll 0whole 0tell 1whole 1tell 0whole")
    numbers = [(one.view, one.number) for one in before.fetched]
    assert numbers[0] == (0, 1)
    for view, number, is_right in ((0, 1, True), (0, 2, False), (1, 0, True), (1, 1, False)):
        outcome = Outcome(before, (union_view.GotItem(view, number, 0),), ())
        broken = broken_claims("union_view", before, union_view.PollItem(), outcome)
        assert ("items-of-a-view-keep-their-order" not in broken) == is_right


def test_who_wakes_the_reader_before_all_are_there_is_refused():
    before = state_after("union_view", {"views": 2}, "0register 0whole")
    fetched = attrs.evolve(before, fetched=(union_view.Fetched(0, 0, union_view.Item.WHOLE),))
    outcome = Outcome(fetched, (union_view.WokenUp(),), ())
    assert "nobody-is-woken-before-all-are-there" in broken_claims(
        "union_view", before, union_view.TellAvailable(0), outcome
    )
