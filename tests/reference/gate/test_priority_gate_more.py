"""Sequence numbers far apart."""

import pytest

from tidegate.reference.gate.priority_gate.step import start
from tidegate.reference.gate.priority_gate.values import Config
from tidegate.reference.gate.sequence_numbers import GREATEST_INT, LEAST_INT, is_outdated, wrap

HALF = 2**30


@pytest.mark.parametrize(
    ("number", "wrapped"), [(2**31, -(2**31)), (2**31 - 1, 2**31 - 1), (-(2**31) - 1, 2**31 - 1), (2**32 + 5, 5)]
)
def test_numbers_wrap_around_after_32_bits(number, wrapped):
    assert wrap(number) == wrapped


@pytest.mark.rule("GATE-11")
@pytest.mark.parametrize(
    ("sequence", "polled", "outdated"),
    [
        (HALF, -1, True),
        (HALF - 1, -1, False),
        (-1, HALF, False),
        (-1, HALF - 1, True),
        (0, HALF, True),
        (HALF, 0, False),
        (LEAST_INT, GREATEST_INT, False),
        (GREATEST_INT, LEAST_INT, True),
    ],
)
def test_a_negative_number_is_newer_than_one_beyond_half_the_range(sequence, polled, outdated):
    assert is_outdated(sequence, polled) == outdated


def test_numbers_begin_with_0_where_nothing_else_is_said():
    (state,) = start(Config(2))
    assert [channel.expected for channel in state.channels] == [0, 0]
    assert Config(2) == Config(2, subpartitions=1, first=0)
