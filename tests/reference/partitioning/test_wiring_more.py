"""The claims about the wiring refuse what they are there to refuse; and the old wiring, in corners."""

import pytest

from tidegate.reference.model import Outcome, Rejected
from tidegate.reference.partitioning import float_wiring, wiring
from tidegate.reference.partitioning.wiring import Config, Pattern, Reads, State, Wire

CLAIMS = {claim.name: claim for claim in wiring.COMPONENT.claims}


def is_balanced(pairs):
    state = State(Config(Pattern.POINTWISE, 4, 4))
    outcome = Outcome(state, tuple(Reads(consumer, producer, 0) for consumer, producer in pairs), ())
    return CLAIMS["balanced"].holds(state, Wire(), outcome)


@pytest.mark.parametrize(
    ("pairs", "is_right"),
    [
        ([(0, 0), (0, 1), (1, 2)], True),
        ([(0, 0), (0, 1), (0, 2), (1, 3)], False),
        ([(0, 0), (1, 0), (2, 0), (3, 1)], False),
        ([(0, 0), (0, 1), (0, 2), (0, 0), (0, 0), (1, 0)], False),
    ],
    ids=["one more", "two more for a consumer", "two more for a producer", "two more for both"],
)
def test_nobody_has_two_more_than_another(pairs, is_right):
    assert is_balanced(pairs) == is_right


def test_what_is_refused_wires_nothing():
    state = State(Config(Pattern.POINTWISE, 1, 1))
    assert wiring.all_reads(Outcome(state, (Rejected(), Reads(0, 0, 0)), ())) == [Reads(0, 0, 0)]


def test_runs_that_are_not_balanced_are_refused(monkeypatch):
    """All subpartitions to the last consumer: contiguous and complete, and two more than the other one has."""

    def give_all_to_the_last(consumer, subpartitions, consumers, *, broadcast):
        return range(1) if broadcast else range(subpartitions if consumer == consumers - 1 else 0)

    monkeypatch.setattr(wiring, "compute_dynamic_subpartitions", give_all_to_the_last)
    assert CLAIMS["dynamic-consumers-share-out-the-subpartitions"].holds(1, 2)
    assert not CLAIMS["dynamic-consumers-share-out-the-subpartitions"].holds(2, 2)


@pytest.mark.rule("PART-18")
def test_where_one_number_divides_the_other_no_float_was_used():
    """With numbers that no float can tell apart it shows."""
    third = 2**24
    assert float_wiring.compute_producers(3 * third - 1, 2 * third, 6 * third) == range(third - 1, third)
    assert float_wiring.compute_producers(third + 1, third + 3, third + 3) == range(third + 1, third + 2)


@pytest.mark.rule("PART-18")
@pytest.mark.parametrize(
    ("producer", "fed"), [(0, range(9)), (1, range(9, 17)), (5, range(41, 49)), (6, range(49, 58))]
)
def test_a_producer_of_1_13_feeds_from_where_the_one_before_ended(producer, fed):
    assert float_wiring.compute_fed_consumers(producer, 7, 57) == fed


def test_a_broadcast_has_one_subpartition_and_is_read_as_a_whole(monkeypatch):
    right = wiring.compute_dynamic_subpartitions

    def read_all_there_is(consumer, subpartitions, consumers, *, broadcast):
        return range(subpartitions) if broadcast else right(consumer, subpartitions, consumers, broadcast=False)

    monkeypatch.setattr(wiring, "compute_dynamic_subpartitions", read_all_there_is)
    assert wiring.dynamic_consumers_share_out_the_subpartitions.holds(4, 3)
