"""Rescaling with data in flight."""

import attrs
import pytest

from tests.reference.walking import seen
from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import InvalidInputError
from tidegate.reference.partitioning.keygroups import MOST_KEY_GROUPS, compute_owned_range, compute_owner
from tidegate.reference.recovery import rescaling
from tidegate.reference.recovery.rescaling import Parallelism, Partitioner
from tidegate.traces.codec import decode
from tidegate.traces.notation.text import read_trace, write_observations


def make(partitioner, producers, consumers):
    sides = {"producers": producers, "consumers": consumers}
    return {
        "partitioner": partitioner,
        **{name: dict(zip(("before", "after"), pair, strict=True)) for name, pair in sides.items()},
    }


@pytest.mark.rule("RESC-1", "RESC-2", "RESC-3", "RESC-4")
@pytest.mark.parametrize(
    ("partitioner", "before", "after", "mapping"),
    [
        ("rebalance", 5, 4, ((0, 4), (1,), (2,), (3,))),
        ("shuffle", 2, 5, ((0,), (1,), (), (), ())),
        ("global", 3, 4, ((0, 1, 2), (), (), ())),
        ("custom", 3, 2, ((0, 1, 2), (0, 1, 2))),
        ("hash", 3, 2, ((0, 1), (1, 2))),
        ("hash", 3, 4, ((0,), (0, 1), (1, 2), (2,))),
        ("hash", 3, 7, ((0,), (0,), (0, 1), (1,), (1, 2), (2,), (2,))),
        ("hash", 10, 1, (tuple(range(10)),)),
    ],
)
def test_old_consumers_of_new_ones(partitioner, before, after, mapping):
    """As Flink's own tests of the mappers have it."""
    assert rescaling.map_consumers(Partitioner(partitioner), Parallelism(before, after)) == mapping


@pytest.mark.rule("RESC-7", "RESC-6")
def test_merged_on_both_sides():
    config = make("hash", (2, 1), (3, 2))
    told = "restores(subtasks [0,1], channels [[0,1]], filtered [1])"
    assert seen("rescaling", config, "c0 p0 c2") == [
        told,
        "restores(subtasks [0,1], channels [[0,1],[1,2]], filtered [])",
        "rejected",
    ]


@pytest.mark.rule("RESC-5")
@pytest.mark.parametrize("partitioner", ["forward", "rescale", "broadcast"])
@pytest.mark.parametrize("changed", [((2, 2), (2, 3)), ((3, 2), (2, 2))])
def test_what_cannot_be_rescaled(partitioner, changed):
    assert seen("rescaling", make(partitioner, *changed), "c0 p0 in0,0") == ["rejected"] * 3
    assert seen("rescaling", make(partitioner, (2, 2), (2, 2)), "c0 p0 in0,0") == ["unchanged", "unchanged", "rejected"]


@pytest.mark.rule("RESC-2")
def test_an_heir_is_missed_where_there_are_too_many_subtasks():
    """Why the model ends at 128: ranges are compared on a grid of 32768 key groups, of which there may be others."""
    old, new, group = 193, 195, 98
    assert (compute_owner(group, old, new), compute_owner(group, new, new)) == (96, 98)
    ends = [compute_owned_range(98, new, MOST_KEY_GROUPS)[at] for at in (0, -1)]
    assert [compute_owner(one, old, MOST_KEY_GROUPS) for one in ends] == [97, 97], "96 is not among them"


@pytest.mark.parametrize("parallelism", [(0, 1), (1, 0), (129, 1), (1, 129)])
def test_numbers_of_subtasks_have_bounds(parallelism):
    with pytest.raises(InvalidInputError, match="from 1 to 128"):
        Parallelism(*parallelism)


# --- what may be told, and nothing else -----------------------------------------------------------------------


def ask(config, event):
    """What each allowed outcome shows."""
    model = COMPONENTS["rescaling"]
    (state,) = model.start(decode(config, model.config, strict=True))
    (read,) = read_trace("rescaling", event)
    return [write_observations(outcome.observations) for outcome in model.step(state, read)]


@pytest.mark.rule("RESC-7", "RESC-3")
@pytest.mark.parametrize(
    ("partitioner", "consumers", "told"),
    [
        ("custom", (2, 2), ["unchanged", "restores(subtasks [0,1], channels [[0],[1]], filtered [0,1])"]),
        ("custom", (1, 1), ["unchanged"]),
        ("hash", (2, 2), ["unchanged"]),
        ("rebalance", (2, 2), ["unchanged"]),
        ("custom", (2, 1), ["restores(subtasks [0,1], channels [[0],[1]], filtered [])"]),
    ],
)
def test_who_is_not_rescaled_may_be_told_of_custom_partitioners(partitioner, consumers, told):
    assert ask(make(partitioner, (2, 2), consumers), "c0") == told


@pytest.mark.rule("RESC-8", "RESC-3")
@pytest.mark.parametrize(
    ("partitioner", "consumers", "count"),
    [("custom", (2, 2), 2), ("custom", (1, 1), 1), ("custom", (2, 3), 1), ("hash", (2, 2), 1)],
)
def test_data_of_a_custom_partitioner_may_stay(partitioner, consumers, count):
    assert len(ask(make(partitioner, (1, 1), consumers), "in0,0")) == count


# --- claims, told of what is wrong ----------------------------------------------------------------------------


def test_one_wrong_heir_is_enough():
    config = rescaling.Config(Partitioner.HASH, Parallelism(1, 1), Parallelism(2, 3))
    before, event = rescaling.State(config), rescaling.FindHeirs(rescaling.Side.INPUT, 0, 0)
    right = rescaling.step(before, event)[0]
    assert rescaling.both_ends_know_the_connection.holds(before, event, right)
    wrong = attrs.evolve(right, observations=(*right.observations, rescaling.Goes(0, 2)))
    assert not rescaling.both_ends_know_the_connection.holds(before, event, wrong)


@pytest.mark.parametrize(
    "mapping",
    [((0, 1, 2), (), ()), ((0, 1), (2,), ()), ((0,), (1,)), ((0,), (1,), (2,), (2,))],
    ids=["all to one", "two and none", "one is lost", "one twice"],
)
def test_who_is_not_dealt_out_evenly_is_refused(monkeypatch, mapping):
    assert rescaling.dealt_out_once.holds(3, 3)
    monkeypatch.setattr(rescaling, "deal_out", lambda _subtasks: mapping)
    assert not rescaling.dealt_out_once.holds(3, 3)


def test_one_key_group_without_an_heir_is_refused(monkeypatch):
    right = rescaling.map_consumers
    assert rescaling.every_key_group_finds_its_heir.holds(3, 2, 8)
    monkeypatch.setattr(rescaling, "map_consumers", lambda *args: (right(*args)[0][:-1], *right(*args)[1:]))
    assert not rescaling.every_key_group_finds_its_heir.holds(3, 2, 8)
