"""The wiring of producers and consumers: old releases, dynamic graphs, and claims."""

import pytest

from tests.reference.walking import claim, walk
from tidegate.reference.model import InvalidInputError, Outcome, Rejected
from tidegate.reference.partitioning import float_wiring, wiring
from tidegate.reference.partitioning.wiring import Config, Pattern, Reads, State, Wire


def wire(pattern, producers, consumers):
    (outcome,) = walk("wiring", Config(pattern, producers, consumers), (Wire(),))
    return outcome


@pytest.mark.parametrize("pair", [(7, 57), (57, 7), (13, 14), (26, 22), (299, 300), (300, 299), (1, 300), (300, 1)])
def test_properties_hold_far_beyond_small_pairs(pair):
    assert len(wire(Pattern.POINTWISE, *pair).observations) == max(pair)


@pytest.mark.rule("PART-18")
def test_part_18_fourteen_pairs_differed_until_1_12():
    differing = [
        (producers, consumers)
        for producers, consumers in wiring.pairs_up_to_40()
        if [list(float_wiring.compute_producers(j, producers, consumers)) for j in range(consumers)]
        != [list(wiring.compute_producers(j, producers, consumers)) for j in range(consumers)]
    ]
    assert len(differing) == 14
    assert {(14, 16), (20, 24), (26, 22)} <= set(differing)
    assert differing[0] == (14, 16)


@pytest.mark.rule("PART-18")
def test_part_18_consumers_that_do_not_exist_in_1_13_0():
    overruns = [
        (producers, consumers)
        for producers in range(1, 60)
        for consumers in range(producers + 1, 60)
        if float_wiring.compute_fed_consumers(producers - 1, producers, consumers).stop != consumers
    ]
    assert overruns[0] == (7, 57)
    assert min(overruns, key=lambda pair: pair[1]) == (13, 14)


@pytest.mark.rule("PART-19")
@pytest.mark.parametrize(("count", "consumers", "runs"), [(4, 2, [[0, 1], [2, 3]]), (5, 3, [[0], [1, 2], [3, 4]])])
def test_part_19_subpartitions_of_a_dynamic_graph(count, consumers, runs):
    compute = wiring.compute_dynamic_subpartitions
    assert [list(compute(j, count, consumers, broadcast=False)) for j in range(consumers)] == runs
    assert [list(compute(j, count, consumers, broadcast=True)) for j in range(consumers)] == [
        [*range(count)]
    ] * consumers


# --- claims, told of what is wrong ----------------------------------------------------------------------------


def is_balanced(pairs):
    state = State(Config(Pattern.POINTWISE, 4, 4))
    outcome = Outcome(state, tuple(Reads(consumer, producer, 0) for consumer, producer in pairs), ())
    return claim("wiring", "balanced")(state, Wire(), outcome)


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
        return range(subpartitions if broadcast or consumer == consumers - 1 else 0)

    monkeypatch.setattr(wiring, "compute_dynamic_subpartitions", give_all_to_the_last)
    assert claim("wiring", "dynamic-consumers-share-out-the-subpartitions")(1, 2)
    assert not claim("wiring", "dynamic-consumers-share-out-the-subpartitions")(2, 2)


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


def test_edges_of_a_dynamic_graph_are_wired_in_the_extension_only():
    with pytest.raises(InvalidInputError, match="extension dynamic"):
        walk("wiring", Config(Pattern.ALL_TO_ALL, 1, 1), "wire1")
