"""The claims about partitioners, keys and draws refuse what they are there to refuse; and arithmetic, in corners."""

import pytest

from tidegate.reference.model import InvalidInputError, Outcome, Rejected
from tidegate.reference.partitioning import keygroups, selection
from tidegate.reference.partitioning import partitioner as partitioning
from tidegate.reference.partitioning.keygroups import MOST_KEY_GROUPS
from tidegate.reference.partitioning.keys import StringKey
from tidegate.reference.partitioning.partitioner import Config, Partitioner, Record, Send, State
from tidegate.reference.partitioning.selection import Load

CLAIMS = {claim.name: claim for claim in partitioning.COMPONENT.claims}

# --- channels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("channels", "is_right"),
    [((), True), ((1,), True), ((0, 1), True), ((2,), False), ((0, 0), False), ((1, 0), False), ((0, 1, 1), False)],
)
def test_one_channel_or_all(channels, is_right):
    state = State(Config(Partitioner.GLOBAL, 2))
    outcome = Outcome(state, tuple(map(Send, channels)), ())
    assert CLAIMS["channels-exist"].holds(state, Record(), outcome) == is_right


def test_what_is_refused_is_sent_nowhere():
    state = State(Config(Partitioner.GLOBAL, 2))
    assert CLAIMS["channels-exist"].holds(state, Record(), Outcome(state, (Rejected(),), ()))


@pytest.mark.parametrize(
    "rounds",
    [[[0, 1, 2], [1, 1, 1], [2, 0, 1]], [[1, 2, 0], [0, 2, 1], [0, 1, 2]]],
    ids=["one round is not fair", "each channel is the last once, but not the first"],
)
def test_a_rebalance_that_leaves_channels_out_is_refused(monkeypatch, rounds):
    monkeypatch.setattr(partitioning, "compute_turns", lambda state, _records: rounds[state.next_channel])
    assert not CLAIMS["rebalance-may-start-anywhere"].holds(3)


# --- key groups -----------------------------------------------------------------------------------------------


def test_a_range_that_is_not_the_preimage_is_refused(monkeypatch):
    right = keygroups.compute_owned_range
    monkeypatch.setattr(
        keygroups, "compute_owned_range", lambda subtask, *counts: range(1) if subtask == 1 else right(subtask, *counts)
    )
    assert not CLAIMS["owned-ranges-are-preimages"].holds(3, 8)


@pytest.mark.parametrize(
    ("most", "is_right"), [(32, True), (18, False), (16, False), (24, False), (MOST_KEY_GROUPS, True)]
)
def test_a_default_without_room_to_grow_is_refused(monkeypatch, most, is_right):
    monkeypatch.setattr(keygroups, "compute_default_max_parallelism", lambda _parallelism: most)
    assert CLAIMS["default-leaves-room-to-grow"].holds(12) == is_right


@pytest.mark.rule("PART-11")
def test_a_target_with_a_single_key_group_counts():
    assert keygroups.compute_effective_max_parallelism(128, 1) == 1


def test_a_writer_that_ignores_the_target_is_refused(monkeypatch):
    monkeypatch.setattr(keygroups, "compute_effective_max_parallelism", lambda configured, _of_target: configured)
    assert not CLAIMS["channel-is-where-the-state-is"].holds(7, 1, 4)


@pytest.mark.parametrize(
    ("value", "bits", "rotated"), [(2**31, 1, 1), (2**32 - 1, 13, 2**32 - 1), (0x8000_0001, 15, 0xC000)]
)
def test_what_is_rotated_out_comes_in_again(value, bits, rotated):
    assert keygroups.rotate_left(value, bits) == rotated


@pytest.mark.parametrize("surrogate", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
def test_an_unpaired_surrogate_is_no_text(surrogate):
    with pytest.raises(InvalidInputError):
        StringKey(f"a{chr(surrogate)}b")


# --- draws ----------------------------------------------------------------------------------------------------


def draw_as_java(seed, bound, count):
    """java.util.Random.nextInt(bound), written from its documentation with Java's arithmetic, int by int."""

    def to_int(value):
        return (value & 0xFFFF_FFFF) - ((value & 0x8000_0000) << 1)

    state = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)
    drawn = []
    while len(drawn) < count:
        while True:
            state = (state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
            bits = to_int(state >> (48 - 31))
            if bound & -bound == bound:
                drawn.append(to_int((bound * bits) >> 31))
                break
            value = bits % bound
            if to_int(bits - value + (bound - 1)) >= 0:
                drawn.append(value)
                break
    return tuple(drawn)


@pytest.mark.rule("PART-4")
@pytest.mark.parametrize("seed", [0, 42, -1, -(2**63), 2**47 + 5, 2**63 - 1])
@pytest.mark.parametrize("channels", [1, 3, 8, 100, 3 * 2**29, 2**30 + 1, 2**31 - 1])
def test_draws_are_those_of_java(seed, channels):
    assert selection.compute_draws(seed, channels, 12) == draw_as_java(seed, channels, 12)


def test_a_scrambled_seed_has_48_bits():
    assert selection.scramble(-1) == 2**48 - 1 - 0x5DEECE66D
    assert selection.scramble(2**63 - 1) == 2**48 - 1 - 0x5DEECE66D


# --- choices --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("compute_custom_channel", lambda choose, key, channels: choose(key, channels) % channels),
        ("is_refused_by_partition", lambda channel, channels: channel >= channels),
    ],
)
def test_a_custom_choice_that_is_changed_or_not_refused_is_noticed(monkeypatch, name, wrong):
    monkeypatch.setattr(selection, name, wrong)
    assert not CLAIMS["custom-choice-is-not-checked"].holds(-1, 2)


@pytest.mark.parametrize(
    ("loads", "traversed", "chosen", "is_right"),
    [
        ([(0, 0), (0, 0), (1, 3)], 3, 0, True),
        ([(0, 0), (0, 0), (1, 3)], 3, 1, False),
        ([(1, 3), (1, 3), (1, 3)], 3, 0, True),
        ([(1, 3), (1, 3), (1, 3)], 3, 1, False),
        ([(2, 3), (1, 3), (1, 3)], 1, 1, False),
        ([(1, 5), (2, 5), (1, 3)], 2, 0, True),
        ([(1, 5), (2, 5), (1, 3)], 3, 0, False),
    ],
    ids=["first idle", "second idle", "first of equals", "second of equals", "too far", "best seen", "better unseen"],
)
def test_the_idlest_is_the_first_of_the_best(monkeypatch, loads, traversed, chosen, is_right):
    monkeypatch.setattr(selection, "compute_idlest_channel", lambda _loads, _last, _traversed: chosen)
    loads = tuple(Load(*load) for load in loads)
    assert CLAIMS["idlest-is-the-first-of-the-best"].holds(loads, -1, traversed) == is_right


def by_bytes_alone(loads, last, traversed):
    """Another way to the same turns: with every record a channel gets bytes."""
    looked_at = [(last + 1 + offset) % len(loads) for offset in range(min(traversed, len(loads)))]
    return min(looked_at, key=lambda channel: loads[channel].queued_bytes)


def once_while_all_are_idle(loads, last, _traversed):
    """A wrong writer: it takes turns only while all channels are idle or were until just now."""
    return (last + 1) % len(loads) if any(load.buffers == 0 for load in loads) else last


@pytest.mark.parametrize(("choose", "is_right"), [(by_bytes_alone, True), (once_while_all_are_idle, False)])
def test_channels_that_nobody_reads_get_fuller(monkeypatch, choose, is_right):
    monkeypatch.setattr(selection, "compute_idlest_channel", choose)
    assert CLAIMS["unread-channels-take-turns"].holds(3, 3) == is_right
