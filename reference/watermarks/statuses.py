"""Statuses and latency markers through a task: from its channels, through the valve and a chain, to its output.

Whether a channel is idle is announced by an element of its own, which travels with the data. The valve makes one status
of those of all channels; the operators of the chain pass it on; the output announces each change to all its channels,
and lets no watermark through while it is idle. A latency marker takes part in none of this: it goes straight through
the operators, each of which takes its time, and out on one channel.

Choices. `flink-18934` is 1.14 and later: the status passes through every operator. `flink-5017` is 1.3 to 1.13: the
task has one status, of which only its network outputs are told. The valve is the one of `flink-7728`. The output takes
its channels in turn for records. A task with no output channels ends in a sink.

On the wire. The valve is that of `flink-7728`. The output takes its channels in turn for records, from channel 0.
The channel that a latency marker is sent on is free: whatever the rules allow is accepted.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import product
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, law, sometimes
from tidegate.reference.elements import (
    Counted,
    Index,
    Long,
    Parts,
    Position,
    Status,
    StatusChange,
    Watermark,
    at_least,
    check_long,
    one_of,
)
from tidegate.reference.model import Component, Outcome, reach, rejected
from tidegate.reference.partitioning import partitioner as partitioning
from tidegate.reference.watermarks import latency, valve

SEMANTICS = ("flink-18934", "flink-5017")

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """A task with input channels, a chain of operators and one output."""

    channels: Annotated[Parts, "How many input channels."] = attrs.field(validator=at_least(1))
    operators: Annotated[Parts, "How many operators the chain has."] = attrs.field(validator=at_least(1))
    outputs: Annotated[
        Position,
        "How many channels the output has. With 0 the task ends in a sink, and nothing is sent.",
        Counted.PARTS,
    ] = attrs.field(validator=at_least(0))
    semantics: Annotated[
        str,
        "`flink-18934` is 1.14 and later: a status passes through every operator. `flink-5017` is 1.3 to 1.13: only "
        "the output is told of it.",
    ] = attrs.field(default=SEMANTICS[0], validator=one_of(*SEMANTICS))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """The valve at the input, and the output if there is one."""

    config: Config
    valve: valve.State
    output: partitioning.State | None


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Record:
    """A record arrives on a channel."""

    type: ClassVar[str] = "record"
    channel: Index


@attrs.frozen
class LatencyMarker:
    """A latency marker arrives on a channel."""

    type: ClassVar[str] = "latency_marker"
    channel: Index


Event = Record | valve.ChannelWatermark | valve.ChannelStatus | LatencyMarker

# --- observations ---------------------------------------------------------------------------------------------


class Element(StrEnum):
    RECORD = "record"
    WATERMARK = "watermark"
    STATUS = "status"
    LATENCY_MARKER = "latency_marker"


@attrs.frozen
class Handled:
    """An operator, by its place in the chain, handles an element. It processes records, and only times markers."""

    type: ClassVar[str] = "handled"
    operator: Annotated[Position, "Its place in the chain, from 0."]
    element: Annotated[Element, "What it handles."]


@attrs.frozen
class Sent:
    """An element is written to a channel of the output. Where it goes to several channels, one observation for each,
    ascending.
    """

    type: ClassVar[str] = "sent"
    channel: Annotated[Position, "The channel of the output, from 0."]
    element: Annotated[Element, "What is written."]
    timestamp: Annotated[Long | None, "Of a watermark; always there with a watermark, and only then."] = attrs.field(
        default=None, validator=attrs.validators.optional(check_long)
    )
    status: Annotated[Status | None, "Of a status; always there with a status, and only then."] = None


Observation = Handled | Sent

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Every channel active, and active announced."""
    (at_input,) = valve.start(valve.Config(config.channels))
    if not config.outputs:
        return (State(config, at_input, None),)
    (output,) = partitioning.start(partitioning.Config(partitioning.Partitioner.RESCALE, config.outputs))
    return (State(config, at_input, output),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if not 0 <= event.channel < state.config.channels:
        return rejected(state, "VALVE-1")
    if isinstance(event, LatencyMarker):
        return on_latency_marker(state)
    if isinstance(event, Record):
        after, sent = emit(state, partitioning.Record(), Sent(0, Element.RECORD))
        rules = ("STAT-2", "STAT-1") if not state.valve.active else ("STAT-2",)
        return (Outcome(after, (*pass_chain(state, Element.RECORD), *sent), rules),)
    return (on_valve(state, event),)


def on_latency_marker(state: State) -> tuple[Outcome[State, Observation], ...]:
    """LAT-2: around the valve, out on one channel, whichever. LAT-1: a sink only takes its time."""
    timed = pass_chain(state, Element.LATENCY_MARKER)
    if state.output is None:
        return (Outcome(state, timed, ("LAT-1",)),)
    sent = (Sent(channel, Element.LATENCY_MARKER) for channel in range(state.config.outputs))
    return tuple(Outcome(state, (*timed, one), ("LAT-2", "LAT-1")) for one in sent)


def on_valve(state: State, event: valve.ChannelWatermark | valve.ChannelStatus) -> Outcome[State, Observation]:
    """STAT-1: what the valve lets through goes through the chain and out."""
    (passed,) = valve.step(state.valve, event)
    after = attrs.evolve(state, valve=passed.state)
    seen: tuple[Observation, ...] = ()
    for element in passed.observations:
        assert isinstance(element, Watermark | StatusChange)
        if isinstance(element, Watermark):
            seen += pass_chain(state, Element.WATERMARK)
            after, sent = emit(after, element, Sent(0, Element.WATERMARK, timestamp=element.timestamp))
        else:
            if state.config.semantics == "flink-18934":
                seen += pass_chain(state, Element.STATUS)
            after, sent = emit(after, element, Sent(0, Element.STATUS, status=element.status))
        seen += sent
    ignored = isinstance(event, valve.ChannelWatermark) and not state.valve.channels[event.channel].active
    if ignored:
        return Outcome(after, seen, ("STAT-4", "VALVE-2"))
    changed = any(isinstance(element, StatusChange) for element in passed.observations)
    return Outcome(after, seen, ("STAT-1", "STAT-2", "STAT-3") if changed else ("STAT-1", "STAT-2"))


def pass_chain(state: State, element: Element) -> tuple[Handled, ...]:
    return tuple(Handled(operator, element) for operator in range(state.config.operators))


def emit(state: State, element: partitioning.Event, sent: Sent) -> tuple[State, tuple[Sent, ...]]:
    """What the output makes of an element: the same on each channel that it is written to."""
    if state.output is None:
        return state, ()
    (outcome,) = partitioning.step(state.output, element)
    written = (one.channel for one in outcome.observations if isinstance(one, partitioning.Send))
    return attrs.evolve(state, output=outcome.state), tuple(attrs.evolve(sent, channel=channel) for channel in written)


# --- claims ---------------------------------------------------------------------------------------------------

Seen = Outcome[State, Observation]


def written(outcome: Seen, *elements: Element) -> list[Sent]:
    return [seen for seen in outcome.observations if isinstance(seen, Sent) and seen.element in elements]


@always("STAT-2", "LAT-2")
def time_to_all_channels(before: State, _event: Event, outcome: Seen) -> bool:
    """Watermarks and statuses go to all channels, records and latency markers to one."""
    everyone = range(before.config.outputs)
    sent = written(outcome, Element.WATERMARK, Element.STATUS)
    alike = {(seen.element, seen.timestamp, seen.status) for seen in sent}
    whole = len(sent) == len(alike) * before.config.outputs and {seen.channel for seen in sent} in (
        set(),
        set(everyone),
    )
    return whole and len(written(outcome, Element.RECORD, Element.LATENCY_MARKER)) <= 1


@always("STAT-1")
def no_watermark_while_idle(before: State, _event: Event, outcome: Seen) -> bool:
    """No watermark is sent between idle and the next active."""
    active = before.output is None or before.output.active
    for seen in outcome.observations:
        if isinstance(seen, Sent) and seen.status is not None:
            active = seen.status is Status.ACTIVE
        elif isinstance(seen, Sent) and seen.element is Element.WATERMARK and not active:
            return False
    return True


@always("STAT-3", "STAT-1")
def one_status_for_the_task(_before: State, _event: Event, outcome: Seen) -> bool:
    """What the output has announced is what the valve says."""
    output = outcome.state.output
    return output is None or output.active == outcome.state.valve.active


@always("LAT-2")
def markers_change_nothing(before: State, event: Event, outcome: Seen) -> bool:
    """A marker changes nothing."""
    return not isinstance(event, LatencyMarker) or outcome.state == before


@always("STAT-1")
def records_pass_while_idle(before: State, event: Event, outcome: Seen) -> bool:
    """A record passes, idle or not."""
    arrived = isinstance(event, Record) and 0 <= event.channel < before.config.channels
    return not arrived or len(written(outcome, Element.RECORD)) == min(before.config.outputs, 1)


@sometimes("STAT-1")
def a_record_of_an_idle_task(before: State, _event: Event, outcome: Seen) -> bool:
    """A record is sent by an output that has announced that it is idle."""
    return before.output is not None and not before.output.active and bool(written(outcome, Element.RECORD))


# --- laws -----------------------------------------------------------------------------------------------------


def timestamps_and_announcements() -> Iterator[tuple[Long, int]]:
    yield from product((Long(-5), Long(0), Long(7)), (0, 1))


@law("STAT-4", samples=timestamps_and_announcements)
def quiet_return_is_ignored(timestamp: Long, announced: int) -> bool:
    """A watermark after idleness counts exactly if active was announced before it.

    A channel that was idle sends a watermark, having announced that it is active again or not.
    """
    (state,) = start(Config(channels=1, operators=1, outputs=1))
    events: list[Event] = [valve.ChannelStatus(0, Status.IDLE)]
    events += [valve.ChannelStatus(0, Status.ACTIVE)] * announced
    (outcome,) = step(reach(step, state, events), valve.ChannelWatermark(0, timestamp))
    return bool(written(outcome, Element.WATERMARK)) == bool(announced)


COMPONENT = Component.of(__name__, latency, title="Statuses and latency markers through a task")
