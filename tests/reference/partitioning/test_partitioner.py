"""The partitioner, rule by rule."""

import pytest

from tests.reference.walking import begin, claim, state_after, walk
from tidegate.reference import elements
from tidegate.reference.elements import MAX, Long, Status, StatusChange, Watermark
from tidegate.reference.model import Outcome, Rejected
from tidegate.reference.partitioning import java_random
from tidegate.reference.partitioning import loads as loads_module
from tidegate.reference.partitioning import partitioner as partitioning
from tidegate.reference.partitioning.keys import IntKey, LongKey, StringKey
from tidegate.reference.partitioning.loads import Load

IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)
ALL = [0, 1, 2]


def config_of(kind, channels=3):
    return partitioning.Config(kind, channels, 128 if kind is partitioning.Partitioner.HASH else None)


def record_for(kind):
    return partitioning.Record(StringKey("a")) if kind is partitioning.Partitioner.HASH else partitioning.Record()


def run(config, *events):
    """The channels of each event, and the rules of the last, where nothing is free."""
    outcomes = walk("partitioner", config, events)
    return [[seen.channel for seen in outcome.observations] for outcome in outcomes], outcomes[-1].rules


@pytest.mark.rule("PART-3")
def test_part_3_rebalance_starts_anywhere_and_wraps():
    sequences = set()
    for state in partitioning.start(partitioning.Config(partitioning.Partitioner.REBALANCE, 3)):
        sequence = []
        for _ in range(4):
            (outcome,) = partitioning.step(state, partitioning.Record())
            assert outcome.rules == ("PART-3",)
            sequence.append(outcome.observations[0].channel)
            state = outcome.state  # noqa: PLW2901 - the walk from this start
        sequences.add(tuple(sequence))
    assert sequences == {(0, 1, 2, 0), (1, 2, 0, 1), (2, 0, 1, 2)}


@pytest.mark.rule("PART-4")
def test_part_4_shuffle_may_take_any_channel_at_any_time():
    state = begin("partitioner", partitioning.Config(partitioning.Partitioner.SHUFFLE, 3))
    outcomes = partitioning.step(state, partitioning.Record())
    assert [outcome.observations for outcome in outcomes] == [
        (partitioning.Send(0),),
        (partitioning.Send(1),),
        (partitioning.Send(2),),
    ]
    assert {outcome.state for outcome in outcomes} == {state}
    assert {outcome.rules for outcome in outcomes} == {("PART-4",)}


@pytest.mark.rule("PART-6")
@pytest.mark.parametrize(
    ("key", "channels", "most", "channel"),
    [
        # As KeyGroupRangeAssignment.assignKeyToParallelOperator answers.
        *((StringKey(""), 4, 128, 2), (StringKey("a"), 4, 128, 2), (StringKey("b"), 4, 128, 0)),
        *((StringKey("hello"), 4, 128, 1), (StringKey("flink"), 4, 128, 3), (IntKey(7), 300, 128, 264)),
        # murmur(0) = 593689054
        *((IntKey(0), 10, 32768, (593689054 % 32768) * 10 // 32768), (LongKey(Long(-1)), 128, 128, 593689054 % 128)),
        *((IntKey(0), 5, 1, 0), (IntKey(0), 1, 128, 0)),
        # A scrambled hash code without absolute value counts as 0.
        (IntKey(-2089875627), 7, 129, 0),
    ],
)
def test_part_6_hash(key, channels, most, channel):
    rules = ("PART-6", "PART-7", "PART-8")
    assert run(partitioning.Config(partitioning.Partitioner.HASH, channels, most), partitioning.Record(key)) == (
        [[channel]],
        rules,
    )


@pytest.mark.rule("PART-6")
def test_part_6_the_type_of_a_key_counts():
    config = partitioning.Config(partitioning.Partitioner.HASH, 128, 128)
    channels, _rules = run(
        config, *map(partitioning.Record, (IntKey(-7), LongKey(Long(-7)), StringKey("-7"), LongKey(Long(6))))
    )
    assert len({tuple(channel) for channel in channels}) == 3
    assert channels[1] == channels[3]


@pytest.mark.rule("OUT-7", "OUT-12")
@pytest.mark.parametrize(
    "kind", [kind for kind in partitioning.Partitioner if kind is not partitioning.Partitioner.REBALANCE]
)
def test_out_7_watermarks_go_everywhere_in_any_order(kind):
    events = [Watermark(Long(timestamp)) for timestamp in (3, 1, MAX, 1)]
    assert run(config_of(kind), *events) == ([ALL] * 4, ("OUT-7", "OUT-12"))


@pytest.mark.rule("OUT-10")
@pytest.mark.parametrize("kind", list(partitioning.Partitioner))
def test_out_10_records_pass_while_idle(kind):
    active, idle = begin("partitioner", config_of(kind)), state_after("partitioner", config_of(kind), (IDLE,))
    awake, asleep = partitioning.step(active, record_for(kind)), partitioning.step(idle, record_for(kind))
    assert [outcome.observations for outcome in awake] == [outcome.observations for outcome in asleep]
    assert all(outcome.rules[-1] == "OUT-10" and not outcome.state.active for outcome in asleep)


@pytest.mark.rule("OUT-11", "OUT-12")
@pytest.mark.parametrize("kind", list(partitioning.Partitioner))
@pytest.mark.parametrize("active", [True, False])
def test_out_11_latency_marker_takes_any_one_channel(kind, active):
    state = partitioning.State(config_of(kind), 1 if kind is partitioning.Partitioner.RESCALE else 0, active=active)
    outcomes = partitioning.step(state, elements.LatencyMarker())
    assert [outcome.observations for outcome in outcomes] == [(partitioning.Send(channel),) for channel in ALL]
    assert {(outcome.state, outcome.rules) for outcome in outcomes} == {(state, ("OUT-12", "OUT-11"))}


@pytest.mark.rule("OUT-12")
@pytest.mark.parametrize("event", [Watermark(Long(1)), IDLE, ACTIVE, elements.LatencyMarker()])
@pytest.mark.parametrize("kind", [partitioning.Partitioner.RESCALE, partitioning.Partitioner.REBALANCE])
def test_out_12_only_records_take_a_turn(kind, event):
    state = partitioning.State(partitioning.Config(kind, 3), 2)
    assert {outcome.state.next_channel for outcome in partitioning.step(state, event)} == {2}


@pytest.mark.rule("PART-13")
def test_part_13_law_fails_where_outputs_share_a_partitioner(monkeypatch):
    shared = partitioning.State(partitioning.Config(partitioning.Partitioner.RESCALE, 3))
    right = partitioning.step

    def step_shared(_state, event):
        nonlocal shared
        (outcome,) = right(shared, event)
        shared = outcome.state
        return (outcome,)

    monkeypatch.setattr(partitioning, "step", step_shared)
    assert not partitioning.outputs_do_not_share_their_turn.holds(3, 3)


# --- channels -------------------------------------------------------------------------------------------------


def test_what_is_refused_is_sent_nowhere():
    state = partitioning.State(partitioning.Config(partitioning.Partitioner.GLOBAL, 2))
    assert claim("partitioner", "channels-exist")(state, partitioning.Record(), Outcome(state, (Rejected(),), ()))


@pytest.mark.parametrize(
    "rounds",
    [[[0, 1, 2], [1, 1, 1], [2, 0, 1]], [[1, 2, 0], [0, 2, 1], [0, 1, 2]]],
    ids=["one round is not fair", "each channel is the last once, but not the first"],
)
def test_a_rebalance_that_leaves_channels_out_is_refused(monkeypatch, rounds):
    monkeypatch.setattr(partitioning, "compute_turns", lambda state, _records: rounds[state.next_channel])
    assert not claim("partitioner", "rebalance-may-start-anywhere")(3)


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
    assert java_random.compute_draws(seed, channels, 12) == draw_as_java(seed, channels, 12)


def test_a_scrambled_seed_has_48_bits():
    assert java_random.scramble(-1) == 2**48 - 1 - 0x5DEECE66D
    assert java_random.scramble(2**63 - 1) == 2**48 - 1 - 0x5DEECE66D


# --- choices --------------------------------------------------------------------------------------------------


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
    monkeypatch.setattr(loads_module, "compute_idlest_channel", lambda _loads, _last, _traversed: chosen)
    loads = tuple(Load(*load) for load in loads)
    assert claim("partitioner", "idlest-is-the-first-of-the-best")(loads, -1, traversed) == is_right


def by_bytes_alone(loads, last, traversed):
    """Another way to the same turns: with every record a channel gets bytes."""
    looked_at = [(last + 1 + offset) % len(loads) for offset in range(min(traversed, len(loads)))]
    return min(looked_at, key=lambda channel: loads[channel].queued_bytes)


def once_while_all_are_idle(loads, last, _traversed):
    """A wrong writer: it takes turns only while all channels are idle or were until just now."""
    return (last + 1) % len(loads) if any(load.buffers == 0 for load in loads) else last


@pytest.mark.parametrize(("choose", "is_right"), [(by_bytes_alone, True), (once_while_all_are_idle, False)])
def test_channels_that_nobody_reads_get_fuller(monkeypatch, choose, is_right):
    monkeypatch.setattr(loads_module, "compute_idlest_channel", choose)
    assert claim("partitioner", "unread-channels-take-turns")(3, 3) == is_right
