"""One turn of the loop of the network input: a record of the current buffer, or the next item of the gate."""

import attrs

from tidegate.reference.elements import StatusChange, Watermark
from tidegate.reference.gate import gate
from tidegate.reference.gate.end_of_data import EndOfData, compute_end_of_data
from tidegate.reference.input import backlogs
from tidegate.reference.input.network_input.values import Config, Element, InputStatus, Kind, State
from tidegate.reference.model import InvalidInputError, Rejected
from tidegate.reference.spanning import stream_elements
from tidegate.reference.spanning.reading import RecordReader, Result, read_next
from tidegate.reference.tuples import replace
from tidegate.reference.watermarks import valve


@attrs.frozen
class Turn:
    """One turn of the loop; without a status it goes on, and where `goes_on` is set a batch does."""

    state: State
    observations: tuple[Element, ...] = ()
    rules: tuple[str, ...] = ()
    status: InputStatus | None = None
    goes_on: bool = False


def take_turn(state: State) -> Turn:
    """NIN-1: the next record of the current buffer; without one, the next item of the gate."""
    if state.current is None:
        return poll_gate(state)
    reader = state.readers[state.current]
    assert reader is not None
    return read_current(state, state.current, reader)


def read_current(state: State, index: int, reader: RecordReader) -> Turn:
    read = read_next(reader)
    assert read is not None
    used_up = read.result is not Result.INTERMEDIATE
    state = attrs.evolve(state, readers=replace(state.readers, index, read.reader), current=None if used_up else index)
    if read.result is Result.PARTIAL:
        return Turn(state, rules=("NIN-7",))
    turn = dispatch(state, index, stream_elements.decode_element(read.payload))
    return attrs.evolve(turn, rules=(*turn.rules, "SPAN-2", *(("NIN-7",) if reader.gathered else ())))


def dispatch(state: State, index: int, element: stream_elements.StreamElement) -> Turn:
    """NIN-3: each kind of element its own way."""
    more = InputStatus.MORE_AVAILABLE
    aside = None if is_dated(state.config) else more
    match element:
        case stream_elements.Record():
            return Turn(state, (element,), ("NIN-3", "NIN-1"), more, goes_on=True)
        case Watermark(timestamp):
            return through_valve(state, valve.ChannelWatermark(index, timestamp), aside)
        case StatusChange(status):
            return through_valve(state, valve.ChannelStatus(index, status), aside)
        case stream_elements.LatencyMarker():
            return Turn(state, (element,), ("NIN-3", "NIN-1"), aside, goes_on=True)
        case stream_elements.RecordAttributes(backlog) if not is_dated(state.config):
            combined, out = backlogs.combine(state.backlogs, index, backlog=backlog)
            seen = () if out is None else (stream_elements.RecordAttributes(out),)
            return Turn(attrs.evolve(state, backlogs=combined), seen, ("NIN-3", "NIN-1"), more, goes_on=False)
    raise InvalidInputError(f"{type(element).__name__} does not come on a channel with one subpartition")


def through_valve(state: State, event: valve.Event, status: InputStatus | None) -> Turn:
    (outcome,) = valve.step(state.valve, event)
    seen = tuple(one for one in outcome.observations if not isinstance(one, Rejected))
    passed = attrs.evolve(state, valve=outcome.state)
    return Turn(passed, seen, ("NIN-3", outcome.rules[0], "NIN-1"), status, goes_on=True)


def poll_gate(state: State) -> Turn:
    polled = gate.on_poll(state.gate)
    item = gate.polled_item(polled)
    state = attrs.evolve(state, gate=polled.state)
    if item is None:
        over = gate.is_finished(state.gate)
        return Turn(
            state,
            rules=("NIN-4", "NIN-1") if over else ("NIN-1",),
            status=InputStatus.END_OF_INPUT if over else InputStatus.NOTHING_AVAILABLE,
        )
    payload, *rest = state.waiting[item.channel]
    state = attrs.evolve(state, waiting=replace(state.waiting, item.channel, tuple(rest)))
    if isinstance(payload, Kind):
        return on_channel_event(state, item.channel, payload)
    reader = state.readers[item.channel]
    assert reader is not None
    readers = replace(state.readers, item.channel, RecordReader(reader.gathered, payload))
    return Turn(attrs.evolve(state, readers=readers, current=item.channel), rules=("NIN-1",))


def on_channel_event(state: State, index: int, kind: Kind) -> Turn:
    """NIN-4: an event ends the call, unless it is a batch; before 1.11 it did not."""
    status = None if is_dated(state.config) else InputStatus.MORE_AVAILABLE
    if kind is Kind.END_OF_PARTITION:
        state = attrs.evolve(state, readers=replace(state.readers, index, None))
    if kind in (Kind.END_OF_DATA, Kind.STOP):
        state = attrs.evolve(state, drains=(*state.drains, kind is Kind.END_OF_DATA))
        known = compute_end_of_data(state.config.channels, state.drains)
        if known is not EndOfData.NOT_YET:
            drained = known is EndOfData.DRAINED
            ended = InputStatus.END_OF_DATA if drained else InputStatus.STOPPED
            return Turn(state, rules=("NIN-4", "GATE-15"), status=ended)
    return Turn(state, rules=("NIN-4",), status=status, goes_on=True)


def is_available(state: State) -> bool:
    """NIN-6: a buffer is being read, or the gate has something."""
    return state.current is not None or state.gate.available


def is_dated(config: Config) -> bool:
    return config.semantics == "flink-1.5"
