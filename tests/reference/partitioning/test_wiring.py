"""The wiring of producers and consumers, rule by rule."""

import pytest

from tidegate.reference.model import InvalidInputError
from tidegate.reference.partitioning import float_wiring, wiring
from tidegate.reference.partitioning.wiring import COMPONENT, Config, Pattern, Reads, Wire, start, step


def wire(pattern, producers, consumers):
    (state,) = start(Config(pattern, producers, consumers))
    (outcome,) = step(state, Wire())
    return outcome


def triples(outcome):
    return [(seen.consumer, seen.producer, seen.subpartition) for seen in outcome.observations]


@pytest.mark.rule("PART-15")
def test_part_15_all_to_all():
    outcome = wire(Pattern.ALL_TO_ALL, 2, 3)
    assert triples(outcome) == [(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1), (2, 0, 2), (2, 1, 2)]
    assert outcome.rules == ("PART-15",)


@pytest.mark.rule("PART-16")
@pytest.mark.parametrize(
    ("producers", "consumers", "runs"),
    [
        (1, 1, [[0]]),
        (3, 3, [[0], [1], [2]]),
        (4, 2, [[0, 1], [2, 3]]),
        (5, 3, [[0], [1, 2], [3, 4]]),
        (7, 3, [[0, 1], [2, 3], [4, 5, 6]]),
    ],
)
def test_part_16_pointwise_with_no_more_consumers(producers, consumers, runs):
    outcome = wire(Pattern.POINTWISE, producers, consumers)
    assert triples(outcome) == [(consumer, producer, 0) for consumer, run in enumerate(runs) for producer in run]
    assert outcome.rules == ("PART-16",)


@pytest.mark.rule("PART-17")
@pytest.mark.parametrize(
    ("producers", "consumers", "reads"),
    [
        (2, 4, [(0, 0), (0, 1), (1, 0), (1, 1)]),
        (3, 5, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]),
        # The run of the second producer starts with its subpartition 1.
        (3, 7, [(0, 0), (0, 1), (0, 2), (1, 1), (1, 0), (2, 1), (2, 0)]),
    ],
)
def test_part_17_pointwise_with_more_consumers(producers, consumers, reads):
    outcome = wire(Pattern.POINTWISE, producers, consumers)
    assert triples(outcome) == [(consumer, *read) for consumer, read in enumerate(reads)]
    assert outcome.rules == ("PART-17",)


@pytest.mark.parametrize("pair", [(7, 57), (57, 7), (13, 14), (26, 22), (299, 300), (300, 299), (1, 300), (300, 1)])
@pytest.mark.parametrize("claim", COMPONENT.properties, ids=lambda claim: claim.name)
def test_properties_hold_far_beyond_small_pairs(pair, claim):
    outcome = wire(Pattern.POINTWISE, *pair)
    assert claim.holds(outcome.state, Wire(), outcome)


def test_a_second_event_gives_the_same_again():
    outcome = wire(Pattern.POINTWISE, 3, 7)
    assert step(outcome.state, Wire()) == (outcome,)


@pytest.mark.parametrize(("producers", "consumers"), [(0, 1), (1, 0), (-1, 3)])
def test_both_sides_have_subtasks(producers, consumers):
    with pytest.raises(InvalidInputError):
        Config(Pattern.POINTWISE, producers, consumers)


@pytest.mark.parametrize("law", COMPONENT.laws, ids=lambda law: law.name)
def test_law_holds_on_every_sample(law):
    assert all(law.holds(*sample) for sample in law.samples())


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
    assert [list(compute(j, count, consumers, broadcast=True)) for j in range(consumers)] == [[0]] * consumers


@pytest.mark.parametrize(
    ("function", "broken", "law"),
    [
        ("compute_producers", float_wiring.compute_producers, "wired-as-stated"),
        ("compute_producers", float_wiring.compute_producers, "wired-otherwise-in-1.5"),
        ("compute_fed_consumers", float_wiring.compute_fed_consumers, "runs-past-the-end-in-1.13.0"),
        (
            "compute_dynamic_subpartitions",
            lambda j, count, consumers, **_: range(j, count, consumers),
            "dynamic-consumers-share-out-the-subpartitions",
        ),
    ],
)
def test_law_fails_where_its_function_is_broken(monkeypatch, function, broken, law):
    monkeypatch.setattr(wiring, function, broken)
    claim = next(one for one in COMPONENT.laws if one.name == law)
    assert not all(claim.holds(*sample) for sample in claim.samples())


@pytest.mark.rule("PART-17")
def test_part_17_property_fails_where_two_consumers_share_a_subpartition():
    outcome = wire(Pattern.POINTWISE, 2, 4)
    shared = type(outcome)(outcome.state, (*outcome.observations[:-1], Reads(3, 1, 0)), outcome.rules)
    broken = [claim.name for claim in COMPONENT.properties if not claim.holds(outcome.state, Wire(), shared)]
    assert broken == ["one-reader-for-each-subpartition"]
