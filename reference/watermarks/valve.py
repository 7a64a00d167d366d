"""The status-watermark valve: one output watermark and status from the watermarks and statuses of many channels.

The valve lets the smallest watermark of its *aligned* channels through. A channel that goes idle no longer holds
anything back; when it becomes active again its old watermark may lie behind what was already emitted, and until it
has caught up it is *unaligned* and does not count. When every channel is idle nothing can hold the output back, so
the highest watermark is flushed before the valve turns idle.

Choices. `flink-7728` is the algorithm of Flink 1.4 to 2.3 (StatusWatermarkValve, FLINK-7728): the flush and the
re-evaluation on idleness happen only if the channel that turns idle carries the last output, and a channel that
becomes active again triggers no re-evaluation. Both omissions lose or stall watermarks (VALVE-12, VALVE-13).
`flink-40475` is the corrected valve.
"""

from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.elements import (
    MAX,
    MIN,
    Index,
    Long,
    Parts,
    Status,
    StatusChange,
    Watermark,
    at_least,
    check_long,
    one_of,
)
from tidegate.reference.model import Component, Order, Outcome, Symmetry, rejected
from tidegate.reference.tuples import rearrange, replace, sorting

SEMANTICS = ("flink-7728", "flink-40475")

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """A valve over several channels."""

    channels: Parts = attrs.field(validator=at_least(1))
    semantics: Annotated[str, "`flink-7728` is that of Flink 1.4 to 2.3, `flink-40475` the corrected one."] = (
        attrs.field(default=SEMANTICS[0], validator=one_of(*SEMANTICS))
    )


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Channel:
    watermark: Long = MIN
    active: bool = True
    aligned: bool = True


@attrs.frozen
class State:
    config: Config
    channels: tuple[Channel, ...]
    last: Long = MIN
    active: bool = True


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class ChannelWatermark:
    """A watermark arrives on a channel."""

    type: ClassVar[str] = "watermark"
    channel: Index
    timestamp: Long = attrs.field(validator=check_long)


@attrs.frozen
class ChannelStatus:
    """A status arrives on a channel."""

    type: ClassVar[str] = "status"
    channel: Index
    status: Status


Event = ChannelWatermark | ChannelStatus

# --- observations ---------------------------------------------------------------------------------------------

Observation = Watermark | StatusChange

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """VALVE-1: every channel active, aligned and at MIN; nothing emitted yet."""
    return (State(config, (Channel(),) * config.channels),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if not 0 <= event.channel < state.config.channels:
        return rejected(state, "VALVE-1")
    match event:
        case ChannelWatermark(channel, timestamp):
            return (on_watermark(state, channel, timestamp),)
        case ChannelStatus(channel, status):
            return (on_status(state, channel, status),)


def on_status(state: State, index: int, status: Status) -> Outcome[State, Observation]:
    if state.channels[index].active == (status is Status.ACTIVE):
        return Outcome(state, (), ("VALVE-7",))
    return on_idle(state, index) if status is Status.IDLE else on_active(state, index)


def on_watermark(state: State, index: int, timestamp: Long) -> Outcome[State, Observation]:
    channel = state.channels[index]
    if not channel.active:
        return Outcome(state, (), ("VALVE-2",))
    if timestamp <= channel.watermark:
        return Outcome(state, (), ("VALVE-3",))
    caught_up = channel.aligned or timestamp >= state.last
    channels = replace(state.channels, index, Channel(timestamp, active=True, aligned=caught_up))
    rules = ("VALVE-4",) if caught_up else ("VALVE-4", "VALVE-6")
    return emit_aligned_minimum(State(state.config, channels, state.last, active=True), rules)


def on_idle(state: State, index: int) -> Outcome[State, Observation]:
    watermark = state.channels[index].watermark
    carries_last_output = watermark == state.last
    channels = replace(state.channels, index, Channel(watermark, active=False, aligned=False))
    if any(channel.active for channel in channels):
        others_active = State(state.config, channels, state.last, active=True)
        if carries_last_output:
            return emit_aligned_minimum(others_active, ("VALVE-9", "VALVE-8"))
        return Outcome(others_active, (), ("VALVE-9", "VALVE-8"))
    announcement = StatusChange(Status.IDLE)
    highest = max([channel.watermark for channel in channels])
    if highest <= state.last:
        nothing_to_flush = State(state.config, channels, state.last, active=False)
        return Outcome(nothing_to_flush, (announcement,), ("VALVE-10", "VALVE-8", "VALVE-14"))
    flushed = State(state.config, channels, highest, active=False)
    if carries_last_output:
        return Outcome(flushed, (Watermark(highest), announcement), ("VALVE-10", "VALVE-8"))
    if state.config.semantics == "flink-40475":
        return Outcome(flushed, (Watermark(highest), announcement), ("VALVE-10", "VALVE-13", "VALVE-8"))
    lost = State(state.config, channels, state.last, active=False)
    return Outcome(lost, (announcement,), ("VALVE-10", "VALVE-13", "VALVE-8"))


def on_active(state: State, index: int) -> Outcome[State, Observation]:
    watermark = state.channels[index].watermark
    channels = replace(state.channels, index, Channel(watermark, active=True, aligned=watermark >= state.last))
    active = State(state.config, channels, state.last, active=True)
    announcement = () if state.active else (StatusChange(Status.ACTIVE),)
    if state.config.semantics == "flink-40475":
        derived = emit_aligned_minimum(active, ("VALVE-11", "VALVE-12"))
        return Outcome(derived.state, announcement + derived.observations, derived.rules)
    if is_minimum_pending(active):
        return Outcome(active, announcement, ("VALVE-11", "VALVE-12"))
    return Outcome(active, announcement, ("VALVE-11",))


def emit_aligned_minimum(state: State, because: tuple[str, ...]) -> Outcome[State, Observation]:
    """VALVE-5: emit the smallest watermark of the aligned channels, if there is one and it is new."""
    minimum = aligned_minimum(state)
    if minimum is None or minimum <= state.last:
        return Outcome(state, (), (*because, "VALVE-5"))
    rules = (*because, "VALVE-5", "VALVE-15") if minimum == MAX else (*because, "VALVE-5")
    return Outcome(State(state.config, state.channels, minimum, state.active), (Watermark(minimum),), rules)


def aligned_minimum(state: State) -> Long | None:
    return min([channel.watermark for channel in state.channels if channel.aligned], default=None)


def is_minimum_pending(state: State) -> bool:
    minimum = aligned_minimum(state)
    return minimum is not None and minimum > state.last


# --- claims ---------------------------------------------------------------------------------------------------


@always("VALVE-5")
def watermarks_increase(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Each watermark emitted is higher than the one before it."""
    emitted = [seen.timestamp for seen in outcome.observations if isinstance(seen, Watermark)]
    return all(timestamp > before.last for timestamp in emitted) and outcome.state.last >= before.last


@always("VALVE-16")
def watermark_of_a_channel(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A watermark emitted is a fresh one with the timestamp that some channel holds."""
    held = {channel.watermark for channel in outcome.state.channels}
    return all(seen.timestamp in held for seen in outcome.observations if isinstance(seen, Watermark))


@invariant("VALVE-6")
def aligned_means_caught_up(state: State) -> bool:
    """An aligned channel is active and not behind the last output."""
    return all(c.active and c.watermark >= state.last for c in state.channels if c.aligned)


@invariant("VALVE-17")
def active_while_a_channel_is(state: State) -> bool:
    """The valve is active exactly while some channel, tracked one by one, is active."""
    return state.active == any(channel.active for channel in state.channels)


@always("VALVE-10", "VALVE-11")
def statuses_alternate(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Each change of the valve's status is announced once, and nothing else is."""
    announced = [seen.status for seen in outcome.observations if isinstance(seen, StatusChange)]
    if before.active == outcome.state.active:
        return not announced
    return announced == [Status.ACTIVE if outcome.state.active else Status.IDLE]


@always("VALVE-3")
def channel_watermarks_never_fall(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The watermark of a channel never falls."""
    pairs = zip(before.channels, outcome.state.channels, strict=True)
    return all(new.watermark >= old.watermark for old, new in pairs)


@always("VALVE-18")
def as_by_scanning(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """However an engine keeps its channels, it emits what a scan over all of them finds."""
    channels = outcome.state.channels
    aligned = [channel.watermark for channel in channels if channel.aligned]
    found = min(aligned) if outcome.state.active and aligned else max(c.watermark for c in channels)
    return all(seen.timestamp == found for seen in outcome.observations if isinstance(seen, Watermark))


@invariant("VALVE-13")
def all_idle_puts_out_the_maximum(state: State) -> bool:
    """While every channel is idle, the last output is the maximum over all channels."""
    return state.active or state.last == max(channel.watermark for channel in state.channels)


@invariant("VALVE-12")
def no_pending_minimum(state: State) -> bool:
    """The last output is never below the minimum over the aligned channels."""
    return not is_minimum_pending(state)


@sometimes("VALVE-10")
def a_flush_when_all_turn_idle(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The last channel turns idle, and the maximum comes out before that is announced."""
    return len(outcome.observations) > 1 and outcome.observations[-1] == StatusChange(Status.IDLE)


@sometimes("VALVE-6", "VALVE-4")
def a_channel_catches_up(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A channel that was active and unaligned counts again."""
    pairs = zip(before.channels, outcome.state.channels, strict=True)
    return isinstance(event, ChannelWatermark) and any(new.aligned and not old.aligned for old, new in pairs)


@sometimes("VALVE-12")
def a_minimum_stays_pending(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """In flink-7728 a channel becomes active, and a minimum above the last output is not emitted."""
    return isinstance(event, ChannelStatus) and is_minimum_pending(outcome.state)


# --- symmetry -------------------------------------------------------------------------------------------------


def rearrange_channels(state: State, order: Order) -> State:
    return State(state.config, rearrange(state.channels, order), state.last, state.active)


def sort_channels(state: State) -> Order:
    return sorting([(one.watermark, one.active, one.aligned) for one in state.channels])


SYMMETRY = Symmetry("channels", "channel", rearrange_channels, sort_channels)

COMPONENT = Component.of(__name__, title="The status-watermark valve")
