"""What the network input does: where it starts, and what each event leads to."""

from collections.abc import Iterator
from itertools import permutations

import attrs

from tidegate.reference.claims import always, law, sometimes
from tidegate.reference.gate import gate
from tidegate.reference.input import backlogs
from tidegate.reference.input.network_input import values
from tidegate.reference.input.network_input.loop import is_available, is_dated, take_turn
from tidegate.reference.input.network_input.values import Config, Event, InputStatus, Kind, Observation, State
from tidegate.reference.model import Outcome, Rejected, reach, rejected
from tidegate.reference.spanning import stream_elements
from tidegate.reference.spanning.reading import RecordReader
from tidegate.reference.spanning.records import cuts, encode_record
from tidegate.reference.tuples import replace
from tidegate.reference.watermarks import valve

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """NIN-1: an empty gate, a deserializer for each channel, and none of them current."""
    channels = config.channels
    (empty,) = gate.start(gate.Config(channels))
    (fresh,) = valve.start(valve.Config(channels))
    return (
        State(
            config, empty, ((),) * channels, (RecordReader(),) * channels, fresh, backlogs.Backlogs((None,) * channels)
        ),
    )


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    match event:
        case values.Buffer(channel, data):
            return on_arrive(state, channel, gate.Item.DATA, data)
        case values.ChannelEvent(channel, Kind.BARRIER):
            return on_arrive(state, channel, gate.Item.DATA, Kind.BARRIER)
        case values.ChannelEvent(channel, Kind.END_OF_PARTITION):
            return on_arrive(state, channel, gate.Item.END_OF_PARTITION, Kind.END_OF_PARTITION)
        case values.ChannelEvent(channel, kind):
            if is_dated(state.config):
                return rejected(state, "NIN-4")
            return on_arrive(state, channel, gate.Item.END_OF_DATA, kind)
        case values.Process(batch):
            return (on_process(state, batch=batch),)


def on_arrive(
    state: State, index: int, item: gate.Item, payload: bytes | Kind
) -> tuple[Outcome[State, Observation], ...]:
    (arrived,) = gate.step(state.gate, gate.Arrive(index, item))
    if Rejected() in arrived.observations:
        return rejected(state, *arrived.rules)
    if payload == b"":
        return (Outcome(state, (), ("GATE-25",)),)
    waiting = replace(state.waiting, index, (*state.waiting[index], payload))
    queued = attrs.evolve(state, gate=arrived.state, waiting=waiting)
    signal = (values.Available(),) if not is_available(state) else ()
    return (Outcome(queued, signal, ("NIN-6", *arrived.rules)),)


def on_process(state: State, *, batch: bool) -> Outcome[State, Observation]:
    seen: tuple[Observation, ...] = ()
    rules: tuple[str, ...] = ()
    while True:
        turn = take_turn(state)
        seen += () if state.finished else turn.observations
        rules = (*turn.rules, *rules)
        state = turn.state
        if turn.status is not None and not (turn.goes_on and batch and not is_dated(state.config)):
            break
    if turn.status is InputStatus.END_OF_DATA:
        state = attrs.evolve(state, finished=True)
        seen, rules = (*seen, values.EndInput()), (*rules, "NIN-8")
    elif turn.status is InputStatus.STOPPED:
        rules = (*rules, "NIN-8")
    elif state.finished:
        rules = ("NIN-8", *rules)
    deciding, *others = (*rules, "NIN-5") if is_dated(state.config) else (*rules, "NIN-2", "NIN-5")
    returned = values.Returned(turn.status, is_available(state))
    return Outcome(state, (*seen, returned), (deciding, *sorted({*others} - {deciding})))


# --- claims ---------------------------------------------------------------------------------------------------


def find_returned(outcome: Outcome[State, Observation]) -> values.Returned | None:
    return next((seen for seen in outcome.observations if isinstance(seen, values.Returned)), None)


@always("NIN-2", "NIN-3")
def one_element_a_call(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A call hands on one element, unless it may go on; of old it handed on one record, and what came before it."""
    passed = [
        seen
        for seen in outcome.observations
        if isinstance(seen, stream_elements.Record | stream_elements.LatencyMarker | stream_elements.RecordAttributes)
    ]
    if is_dated(outcome.state.config):
        return sum(isinstance(seen, stream_elements.Record) for seen in passed) <= 1
    return len(passed) <= 1 or event == values.Process(batch=True)


@always("NIN-5")
def statuses_of_the_release(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Each call says one status, and one that its release knows."""
    returned = find_returned(outcome)
    if returned is None or not isinstance(event, values.Process):
        return returned is None and not isinstance(event, values.Process)
    dated = (InputStatus.MORE_AVAILABLE, InputStatus.NOTHING_AVAILABLE, InputStatus.END_OF_INPUT)
    return returned.status in dated or not is_dated(outcome.state.config)


@always("NIN-4")
def ends_when_all_channels_have(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The end of data is said in the call that polls the last one; the end of input when all is over and read."""
    returned, state = find_returned(outcome), outcome.state
    status = returned.status if returned else None
    data_ended = len(before.drains) < len(state.drains) == state.config.channels
    says_so = status in (InputStatus.END_OF_DATA, InputStatus.STOPPED)
    over = gate.is_finished(state.gate) and state.current is None
    return says_so == data_ended and (status is not InputStatus.END_OF_INPUT or over)


@always("NIN-6")
def unavailable_means_nothing(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A call on an input that is not available would find nothing."""
    if is_available(outcome.state):
        return True
    again = on_process(outcome.state, batch=True)
    return again.observations == (values.Returned(InputStatus.NOTHING_AVAILABLE, available=False),)


@always("NIN-7", "NIN-1")
def readers_keep_their_own(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What a channel has gathered stays as it is while other channels are read."""
    if not isinstance(event, values.Process):
        return outcome.state.readers == before.readers
    untouched = [
        index
        for index, waiting in enumerate(outcome.state.waiting)
        if waiting == before.waiting[index] and index != before.current
    ]
    return all(outcome.state.readers[index] == before.readers[index] for index in untouched)


@always("NIN-8")
def finished_operator_is_spared(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Once the operator was told that its input is over, nothing reaches it."""
    if not before.finished or not isinstance(event, values.Process):
        return True
    return len(outcome.observations) == 1


@sometimes("NIN-7", "NIN-1")
def one_record_while_another_is_cut(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A record is handed on while the beginning of another waits for its rest."""
    pairs = zip(before.readers, outcome.state.readers, strict=True)
    waits = any(one is not None and bool(one.gathered) and one == other for one, other in pairs)
    return waits and any(isinstance(seen, stream_elements.Record) for seen in outcome.observations)


@sometimes("NIN-4")
def the_input_ends(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """All channels have ended, and that is said."""
    returned = find_returned(outcome)
    return returned is not None and returned.status is InputStatus.END_OF_INPUT


# --- laws -----------------------------------------------------------------------------------------------------


def cut_channels() -> Iterator[tuple[tuple[values.Buffer, ...], tuple[tuple[bytes, ...], ...]]]:
    """Two channels with two records each, every cut of either stream, and every order of the four buffers."""
    payloads = ((b"a", b"bc"), (b"d", b""))
    one, other = (
        b"".join(encode_record(stream_elements.encode_element(stream_elements.Record(value))) for value in channel)
        for channel in payloads
    )
    for first, second in cuts(one):
        third, fourth = other[:7], other[7:]
        buffers = (values.Buffer(0, first), values.Buffer(0, second), values.Buffer(1, third), values.Buffer(1, fourth))
        for order in permutations(range(4)):
            if order.index(0) < order.index(1) and order.index(2) < order.index(3):
                yield tuple(buffers[place] for place in order), payloads


@law("NIN-7", "NIN-1", samples=cut_channels)
def each_channel_on_its_own(events: tuple[values.Buffer, ...], payloads: tuple[tuple[bytes, ...], ...]) -> bool:
    """However streams are cut and interleaved, each channel gives its own records, whole and in order."""
    (state,) = start(Config(len(payloads)))
    seen = on_process(reach(step, state, events), batch=True).observations
    records = [one.value for one in seen if isinstance(one, stream_elements.Record)]
    per_channel = [tuple(value for value in records if value in channel) for channel in payloads]
    return per_channel == list(payloads) and len(records) == sum(map(len, payloads))
