"""The partitioner: a network output, and which of its channels each element is written to.

The partitioner chooses for records: one channel, or all of them. Other elements do not use it and do not move it on.
Watermarks and statuses concern every consumer and go to all channels; a latency marker goes to any one. The output
remembers which status it announced last. It announces only changes, and drops watermarks while it is idle.

Choices. The first channel of rebalance, every channel of shuffle and the channel of a latency marker are drawn at
random (RebalancePartitioner, ShufflePartitioner, RecordWriter), so that every channel is allowed. Keys are those of
the protocol: strings, ints and longs (KeyGroupStreamPartitioner).

On the wire. One observation for each channel written to, ascending. The first channel of `rebalance`, each of
`shuffle` and that of a latency marker are free: whatever the rules allow is accepted. The announced status starts
active: an equal status sends nothing, and neither does a watermark while idle.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import product
from typing import Annotated, Any, ClassVar

import attrs

from tidegate.reference.claims import always, law, sometimes
from tidegate.reference.elements import (
    LatencyMarker,
    Parts,
    Position,
    Status,
    StatusChange,
    Watermark,
    at_least,
    between,
)
from tidegate.reference.model import Component, InvalidInputError, Outcome
from tidegate.reference.partitioning import edges, java_random, keygroups, keys, loads
from tidegate.reference.partitioning.keys import Key

# --- config ---------------------------------------------------------------------------------------------------


class Partitioner(StrEnum):
    FORWARD = "forward"
    REBALANCE = "rebalance"
    RESCALE = "rescale"
    SHUFFLE = "shuffle"
    GLOBAL = "global"
    BROADCAST = "broadcast"
    HASH = "hash"


def check_max_parallelism(config: "Config", _attribute: "attrs.Attribute[Any]", value: int | None) -> None:
    if (value is None) == (config.kind is Partitioner.HASH):
        raise InvalidInputError("max_parallelism belongs to kind hash, and to no other")
    if value is not None and not 1 <= value <= keygroups.MOST_KEY_GROUPS:
        raise InvalidInputError(f"max_parallelism must be in 1..{keygroups.MOST_KEY_GROUPS}, not {value}")


@attrs.frozen
class Config:
    """A partitioner over several channels."""

    kind: Annotated[Partitioner, "How a record finds its channel."]
    channels: Annotated[Parts, "How many channels; it may exceed `max_parallelism`."] = attrs.field(
        validator=at_least(1)
    )
    max_parallelism: Annotated[
        int | None,
        "The number of key groups. Always there with `hash`, and only then.",
        between(1, keygroups.MOST_KEY_GROUPS),
    ] = attrs.field(default=None, validator=check_max_parallelism)


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """`next_channel` is where rebalance and rescale go with the next record; the others leave it alone."""

    config: Config
    next_channel: int = 0
    active: bool = True


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Record:
    """A record is emitted; it has a key where the partitioner is of kind hash, and only there."""

    type: ClassVar[str] = "record"
    key: Annotated[Key | None, "The key of the record; with `hash` always, with others never."] = None


Event = Record | Watermark | StatusChange | LatencyMarker

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Send:
    """The element is written to a channel."""

    type: ClassVar[str] = "send"
    channel: Position


Observation = Send

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """The announced status is active. PART-3: rebalance may begin at any channel."""
    if config.kind is Partitioner.REBALANCE:
        return tuple(State(config, first) for first in range(config.channels))
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    match event:
        case Record(key):
            return on_record(state, key)
        case Watermark():
            return (on_watermark(state),)
        case StatusChange(status):
            return (on_status(state, status),)
        case LatencyMarker():
            return on_latency_marker(state)


def on_record(state: State, key: Key | None) -> tuple[Outcome[State, Observation], ...]:
    config = state.config
    if (key is None) == (config.kind is Partitioner.HASH):
        raise InvalidInputError("a record has a key where the kind is hash, and only there")
    even_if_idle = () if state.active else ("OUT-10",)
    if config.kind is Partitioner.SHUFFLE:
        return send_to_any(state, ("PART-4", *even_if_idle))
    if config.kind is Partitioner.BROADCAST:
        return (send_to_all(state, ("PART-5", *even_if_idle)),)
    if config.kind in (Partitioner.RESCALE, Partitioner.REBALANCE):
        rule = "PART-2" if config.kind is Partitioner.RESCALE else "PART-3"
        moved_on = State(config, (state.next_channel + 1) % config.channels, state.active)
        return (Outcome(moved_on, (Send(state.next_channel),), (rule, *even_if_idle)),)
    if key is not None:
        channel = compute_channel_of_key(config, key)
        return (Outcome(state, (Send(channel),), ("PART-6", "PART-7", "PART-8", *even_if_idle)),)
    return (Outcome(state, (Send(0),), ("PART-1", *even_if_idle)),)


def on_watermark(state: State) -> Outcome[State, Observation]:
    if not state.active:
        return Outcome(state, (), ("OUT-7",))
    return send_to_all(state, ("OUT-7", "OUT-12"))


def on_status(state: State, status: Status) -> Outcome[State, Observation]:
    active = status is Status.ACTIVE
    if active == state.active:
        return Outcome(state, (), ("OUT-9",))
    return send_to_all(State(state.config, state.next_channel, active), ("OUT-9", "OUT-12"))


def on_latency_marker(state: State) -> tuple[Outcome[State, Observation], ...]:
    return send_to_any(state, ("OUT-12", "OUT-11"))


def send_to_any(state: State, rules: tuple[str, ...]) -> tuple[Outcome[State, Observation], ...]:
    return tuple(Outcome(state, (Send(channel),), rules) for channel in range(state.config.channels))


def send_to_all(state: State, rules: tuple[str, ...]) -> Outcome[State, Observation]:
    return Outcome(state, tuple(Send(channel) for channel in range(state.config.channels)), rules)


def compute_channel_of_key(config: Config, key: Key) -> int:
    """PART-6: hash code, key group, owner of the key group."""
    assert config.max_parallelism is not None
    group = keygroups.compute_key_group(keys.compute_hash_code(key), config.max_parallelism)
    return keygroups.compute_owner(group, config.channels, config.max_parallelism)


# --- claims ---------------------------------------------------------------------------------------------------


@always("PART-5", "OUT-12")
def channels_exist(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What is sent goes to one channel of the output or to all of them, each once and ascending."""
    sent = [seen.channel for seen in outcome.observations if isinstance(seen, Send)]
    everywhere = list(range(outcome.state.config.channels))
    return sent in ([], everywhere) or (len(sent) == 1 and sent[0] in everywhere)


@always("OUT-10", "OUT-11", "PART-5")
def records_and_markers_pass(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A record or latency marker is sent once, a broadcast record to each channel, whatever the status."""
    if not isinstance(event, Record | LatencyMarker):
        return True
    to_all = isinstance(event, Record) and before.config.kind is Partitioner.BROADCAST
    return len(outcome.observations) == (before.config.channels if to_all else 1)


@always("OUT-12")
def only_records_move_the_partitioner(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Watermarks, statuses and latency markers leave the turn of the channels as it was."""
    return isinstance(event, Record) or outcome.state.next_channel == before.next_channel


@always("OUT-9", "OUT-10")
def only_a_status_counts(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Only a status changes the status."""
    return isinstance(event, StatusChange) or outcome.state.active == before.active


@always("OUT-9")
def statuses_alternate(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A status is sent exactly if it is news."""
    return not isinstance(event, StatusChange) or bool(outcome.observations) == (outcome.state.active != before.active)


@always("OUT-7")
def no_watermark_while_idle(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A watermark passes exactly if active."""
    return not isinstance(event, Watermark) or bool(outcome.observations) == before.active


@sometimes("OUT-7")
def a_watermark_is_dropped(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A watermark is sent to no channel."""
    return isinstance(event, Watermark) and not outcome.observations


@sometimes("PART-2", "PART-3")
def the_turn_begins_again(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Behind the last channel it is the turn of the first."""
    return outcome.state.next_channel < before.next_channel


# --- laws -----------------------------------------------------------------------------------------------------


def emit_record(state: State) -> tuple[State, int]:
    """Where a record goes that has one channel, and no choice of it."""
    (outcome,) = step(state, Record())
    (seen,) = outcome.observations
    assert isinstance(seen, Send)
    return outcome.state, seen.channel


def compute_turns(state: State, records: int) -> list[int]:
    turns = []
    for _record in range(records):
        state, channel = emit_record(state)
        turns.append(channel)
    return turns


def channel_counts() -> Iterator[tuple[int]]:
    yield from ((channels,) for channels in range(1, 8))


@law("PART-3", samples=channel_counts)
def rebalance_may_start_anywhere(channels: int) -> bool:
    """Rebalance goes round the channels, and each of them may be the first.

    Each first channel is possible, and whichever it is, every channel has its turn before one has a second.
    """
    rounds = [compute_turns(state, channels) for state in start(Config(Partitioner.REBALANCE, channels))]
    fair = all(sorted(turns) == list(range(channels)) for turns in rounds)
    return fair and sorted(turns[0] for turns in rounds) == list(range(channels))


def pairs_of_channel_counts() -> Iterator[tuple[int, int]]:
    yield from product(range(1, 5), repeat=2)


@law("PART-13", "PART-2", samples=pairs_of_channel_counts)
def outputs_do_not_share_their_turn(channels: int, others: int) -> bool:
    """Each output has a partitioner of its own: it goes through its own channels, in order, from the first.

    Two outputs of one operator, written to by turns, each see the sequence that they would see alone.
    """
    (state,), (other,) = start(Config(Partitioner.RESCALE, channels)), start(Config(Partitioner.RESCALE, others))
    for turn in range(10):
        state, channel = emit_record(state)
        other, other_channel = emit_record(other)
        if (channel, other_channel) != (turn % channels, turn % others):
            return False
    return True


COMPONENT = Component.of(
    __name__,
    keys,
    keygroups,
    java_random,
    edges,
    loads,
    title="The partitioner of a network output",
    drawn=("PART-4",),
)
