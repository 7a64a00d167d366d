"""Several subpartitions read as one, rule by rule."""

import attrs
import pytest

from tests.reference.walking import broken_claims, seen, state_after, walk
from tidegate.reference.model import InvalidInputError, Outcome
from tidegate.reference.subpartition import union_view

BOTH = "0register 1register"


def run(trace, views=2):
    return seen("union_view", {"views": views}, trace)


@pytest.mark.rule("UNION-2")
def test_union_2_nobody_is_woken_before_all_are_there():
    assert run("0whole 0tell 0register 1register")[1:] == ["nothing", "nothing", "woken"]
    assert run("0whole 0register 0tell 1register peek")[2:] == ["nothing", "nothing", "next(view 0)"]


@pytest.mark.rule("UNION-3")
def test_union_3_a_record_that_is_cut_keeps_its_turn():
    told = run(f"{BOTH} 0partial 0tell 1whole 1tell poll poll 0whole 0tell poll poll")
    assert told[6:8] == ["got(view 0, number 0, backlog 0)", "none"]
    assert told[-2:] == ["got(view 0, number 1, backlog 1)", "got(view 1, number 0, backlog 0)"]


@pytest.mark.rule("UNION-3")
def test_union_3_ten_are_fetched_ahead():
    assert run(f"0register {'0whole ' * 12} 0tell query+", views=1)[-1] == "available(value true, backlog 10)"


@pytest.mark.rule("UNION-4")
def test_union_4_an_event_needs_no_credit():
    told = run("0register 0whole 0event 0tell query- query+ poll query-", views=1)
    assert told[4] == "available(value false, backlog 1)"
    assert told[5] == "available(value true, backlog 1)"
    assert told[7] == "available(value true, backlog 0)"


@pytest.mark.rule("UNION-5", "UNION-1")
def test_union_5_all_is_given_back():
    told = run("0register 0whole 1tell 1register 0tell release release 0tell")
    assert told[5:] == ["released(view 0), released(view 1), recycled(count 1)", "nothing", "rejected"]


def test_early_views_have_their_first_turns_in_any_order():
    outcomes = walk("union_view", {"views": 3}, "0whole 1whole 0tell 1tell 0register 1register")
    assert len(outcomes) == 6


@pytest.mark.rule("UNION-3")
def test_union_3_all_views_have_their_turn():
    every = " ".join(f"{view}whole*3" for view in range(4))
    told = run(f"{BOTH} 2register 3register 0whole 0tell poll {every} 1tell 2tell 3tell 0tell {'poll ' * 12}", views=4)
    views = "111230230230"
    assert [one.partition(",")[0] for one in told[-12:]] == [f"got(view {view}" for view in views]


def test_there_are_up_to_six_views():
    assert run("5register", views=6) == ["nothing"]
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
