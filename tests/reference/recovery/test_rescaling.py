"""Rescaling with data in flight."""

import pytest

from tests.reference.walking import seen
from tidegate.reference.model import InvalidInputError
from tidegate.reference.partitioning.keygroups import MOST_KEY_GROUPS, compute_owned_range, compute_owner
from tidegate.reference.recovery import rescaling
from tidegate.reference.recovery.rescaling import Parallelism, Partitioner


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
