"""Keys and key groups at the edges of what there is, and their laws, told of what is wrong."""

import pytest

from tidegate.reference.claims import claims_in
from tidegate.reference.model import InvalidInputError
from tidegate.reference.partitioning import keygroups, keys
from tidegate.reference.partitioning.keys import IntKey, StringKey

LAWS = {law.name: law for law in claims_in(keys, keygroups)}


@pytest.mark.parametrize("value", [-(2**31), 2**31 - 1])
def test_the_least_and_the_greatest_int_are_keys(value):
    assert IntKey(value).value == value


@pytest.mark.parametrize("unit", [0xD800, 0xDFFF])
def test_the_first_and_the_last_surrogate_are_no_keys(unit):
    with pytest.raises(InvalidInputError):
        StringKey(chr(unit))


@pytest.mark.parametrize("unit", [0xD7FF, 0xE000])
def test_what_stands_around_the_surrogates_is_a_key(unit):
    assert StringKey(chr(unit)).value == chr(unit)


@pytest.mark.rule("PART-11")
def test_part_11_a_target_with_a_single_key_group_decides():
    assert keygroups.compute_effective_max_parallelism(128, 1) == 1


# --- laws, told of what is wrong --------------------------------------------------------------------------------


def test_the_range_of_each_subtask_must_be_right(monkeypatch):
    right = keygroups.compute_owned_range
    holds = LAWS["owned-ranges-are-preimages"].holds
    assert holds(3, 7)
    monkeypatch.setattr(
        keygroups, "compute_owned_range", lambda subtask, *more: range(0) if subtask == 1 else right(subtask, *more)
    )
    assert not holds(3, 7)


@pytest.mark.parametrize(("most", "parallelism", "is_right"), [(16, 11, True), (16, 12, False), (12, 3, False)])
def test_a_default_is_a_power_of_two_and_half_as_much_again(monkeypatch, most, parallelism, is_right):
    monkeypatch.setattr(keygroups, "compute_default_max_parallelism", lambda _parallelism: most)
    assert LAWS["default-leaves-room-to-grow"].holds(parallelism) == is_right


def test_a_target_with_a_single_key_group_counts_by_itself(monkeypatch):
    holds = LAWS["channel-is-where-the-state-is"].holds
    assert holds(7, 1, 4)
    monkeypatch.setattr(keygroups, "compute_effective_max_parallelism", lambda configured, _of_target: configured)
    assert not holds(7, 1, 4)
