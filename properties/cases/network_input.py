"""Cases for the network input: all kinds of elements in buffers cut anywhere, interleaved channels, and ends."""

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import attrs

from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection
from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.payloads import ALPHABETS, draw_bytes
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, draw_longs, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.input.network_input import values as network_input
from tidegate.reference.input.network_input.step import start, step
from tidegate.reference.model import InvalidInputError
from tidegate.reference.spanning import stream_elements
from tidegate.reference.spanning.records import HEADER_BYTES, decode_length, encode_record

#: Bytes written ahead of a cut.
AHEAD = 40
#: Longest element.
LONGEST = 64


class Writer:
    """The written bytes of a case's producers that are not yet cut into buffers."""

    def __init__(self, random: Random, config: network_input.Config) -> None:
        self.random = random
        self.times = draw_longs(random)
        self.alphabet = random.choice(ALPHABETS)
        self.lengths = random.choice(((8,), (8,), (0, 1, 2, 3), (0, 4, 8, 20)))
        kinds = swarm(random, record=4, watermark=2, status=1, latency_marker=0.5, record_attributes=0.5)
        if config.semantics == "flink-1.5":
            kinds.pop("record_attributes", None)
        self.draw_kind = among(random, kinds)
        self.streams = [b""] * config.channels
        self.ends: list[list[int]] = [[] for _ in range(config.channels)]

    def go_on_from(self, state: network_input.State) -> None:
        """Begin with the rest of each channel's incomplete element."""
        for channel in range(state.config.channels):
            self.streams[channel] = rest = finish(find_unfinished(state, channel, b"") or b"")
            self.ends[channel] = [len(rest)] if rest else []

    def draw_element(self) -> stream_elements.StreamElement:
        random, kind = self.draw_kind()
        time = random.choice(self.times)
        if kind == "watermark":
            return Watermark(time)
        if kind == "status":
            return StatusChange(random.choice(list(Status)))
        if kind == "latency_marker":
            return stream_elements.LatencyMarker(time, Long(random.randint(-2, 2)), Long(7), random.randint(0, 3))
        if kind == "record_attributes":
            return stream_elements.RecordAttributes(random.random() < 0.5)
        value = draw_bytes(random, self.alphabet, random.choice(self.lengths))
        return stream_elements.Record(value, random.choice((None, time)))

    def cut(self, channel: int) -> bytes:
        """The next buffer: cut at the end of an element, a byte off, or anywhere."""
        while len(self.streams[channel]) < AHEAD:
            self.streams[channel] += encode_record(stream_elements.encode_element(self.draw_element()))
            self.ends[channel].append(len(self.streams[channel]))
        stream, style = self.streams[channel], self.random.random()
        near = self.random.choice(self.ends[channel][:4])
        size = near if style < 0.6 else near + self.random.choice((-1, 1, 2, 4)) if style < 0.8 else 1
        size = self.random.randint(1, len(stream)) if style > 0.9 else min(max(size, 1), len(stream))
        self.streams[channel] = stream[size:]
        self.ends[channel] = [end - size for end in self.ends[channel] if end > size]
        return stream[:size]


def draw(
    random: Random, config: network_input.Config | None = None
) -> tuple[network_input.Config, tuple[network_input.Event, ...]]:
    config = config or draw_config(random)
    writer = Writer(stream(random, "elements"), config)
    batches = random.choice((0, 0, 0.3, 1))
    weights = swarm(random, buffer=4, process=6, barrier=0.5, end_of_data=0.5, end_of_partition=0.25, drain=0.4)
    drains = random.choice((1, 1, 0.5))
    weights["refused"] = pick(random, "share of refused", (0, 0, 0.2))
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step, is_fair=is_fair)
    writer.go_on_from(walk.state)
    for _ in walk.rounds():
        own, kind = draw_kind()
        batch = own.random() < batches
        for event in draw_events(own, kind, walk.state, writer, drains):
            walk.play_one(network_input.Process(batch) if isinstance(event, network_input.Process) else event)
    return config, walk.events


def draw_config(random: Random) -> network_input.Config:
    semantics = stream(random, "semantics").choice((network_input.SEMANTICS[0],) * 4 + (network_input.SEMANTICS[1],))
    return network_input.Config(stream(random, "channels").choice((1, 1, 2, 2, 2, 3, 4)), semantics)


def is_fair(state: network_input.State, event: network_input.Event) -> bool:
    """False if a channel gets bytes that are not elements: no producer writes them."""
    if not isinstance(event, network_input.Buffer) or not 0 <= event.channel < state.config.channels:
        return True
    return find_unfinished(state, event.channel, event.data) is not None


def find_unfinished(state: network_input.State, channel: int, more: bytes) -> bytes | None:
    """The incomplete element at the end of a channel's unread bytes; None if they are not a sequence of elements."""
    reader = state.readers[channel]
    read = b"" if reader is None else reader.gathered + reader.rest
    data = read + b"".join(one for one in state.waiting[channel] if isinstance(one, bytes)) + more
    while len(data) >= HEADER_BYTES:
        length = decode_length(data)
        payload = data[HEADER_BYTES:][: max(0, length)]
        if not 0 < length <= LONGEST or not is_element(state, payload + fill(payload, length)):
            return None
        if len(payload) < length:
            return data
        data = data[HEADER_BYTES + length :]
    return None if any(data[:3]) else data


def is_element(state: network_input.State, payload: bytes) -> bool:
    try:
        element = stream_elements.decode_element(payload)
    except InvalidInputError:
        return False
    if isinstance(element, stream_elements.RecordAttributes):
        return state.config.semantics != "flink-1.5"
    return not isinstance(element, stream_elements.SubpartitionWatermark)


def finish(unfinished: bytes) -> bytes:
    """The rest of an incomplete element."""
    if not unfinished:
        return b""
    if len(unfinished) < HEADER_BYTES:
        return encode_record(b"\x01")[len(unfinished) :]
    payload = unfinished[HEADER_BYTES:]
    return fill(payload, decode_length(unfinished))


def fill(payload: bytes, length: int) -> bytes:
    """The missing bytes of a payload: of a record, or repeats of the last one, which are valid for every tag."""
    filling = payload[-1:] if len(payload) > 1 else b"\x00"
    return ((b"" if payload else b"\x01") + filling * length)[: length - len(payload)]


def draw_events(
    random: Random, kind: str, state: network_input.State, writer: Writer, drains: float
) -> list[network_input.Event]:
    channels = range(state.config.channels)
    calls: list[network_input.Event] = [network_input.Process(batch=False)]
    if kind == "refused":
        return [draw_refused(random, state)]
    if kind == "process":
        return calls
    if kind == "drain":
        return calls * random.randint(2, 6)
    unfinished = [index for index in channels if not state.gate.channels[index].ended]
    if not unfinished:
        return calls
    if kind == "buffer":
        index = random.choice(unfinished)
        return [network_input.Buffer(index, b"" if random.random() < 0.03 else writer.cut(index))]
    if kind == "end_of_data":
        more = [index for index in unfinished if not state.gate.channels[index].data_ended]
        if not more or state.config.semantics != network_input.SEMANTICS[0]:
            return calls
        chosen = more if random.random() < 0.3 else [random.choice(more)]
        return [
            network_input.ChannelEvent(
                one, network_input.Kind.END_OF_DATA if random.random() < drains else network_input.Kind.STOP
            )
            for one in chosen
        ]
    if kind == "end_of_partition":
        chosen = unfinished if random.random() < 0.2 else [random.choice(unfinished)]
        return [network_input.ChannelEvent(index, network_input.Kind.END_OF_PARTITION) for index in chosen]
    return [network_input.ChannelEvent(random.choice(unfinished), network_input.Kind.BARRIER)]


def draw_refused(random: Random, state: network_input.State) -> network_input.Event:
    """No such channel, or an ended one; or a second end of data, or one in a semantics without it."""
    over = [index for index, channel in enumerate(state.gate.channels) if channel.ended]
    ended = [index for index, channel in enumerate(state.gate.channels) if channel.data_ended]
    if ended and random.random() < 0.4:
        return network_input.ChannelEvent(
            random.choice(ended), random.choice((network_input.Kind.END_OF_DATA, network_input.Kind.STOP))
        )
    index = random.choice(over or [-1, state.config.channels])
    return random.choice(
        (
            network_input.Buffer(index, b"\x00"),
            network_input.ChannelEvent(index, random.choice(list(network_input.Kind))),
        )
    )


# --- aims -----------------------------------------------------------------------------------------------------


def draw_last_decides(random: Random, channels: int) -> tuple[network_input.Config, tuple[network_input.Event, ...]]:
    """The last of many channels holds the others back, is ahead of them when all turn idle, and ends after them."""
    config = network_input.Config(channels, network_input.SEMANTICS[0])
    *others, last = range(channels)
    idlers = random.sample(others, len(others))
    drained = random.choice((True, False))
    ends = [network_input.Kind.END_OF_DATA] * len(others) + [
        network_input.Kind.END_OF_DATA if drained else network_input.Kind.STOP
    ]
    process = network_input.Process(batch=True)

    def write(channel: int, *elements: stream_elements.StreamElement) -> network_input.Buffer:
        written = (encode_record(stream_elements.encode_element(one)) for one in elements)
        return network_input.Buffer(channel, b"".join(written))

    calm = stream_elements.RecordAttributes(backlog=False)
    return config, (
        *(write(index, Watermark(Long(10)), calm) for index in others),
        *(process,) * (channels + 1),
        *(write(last, Watermark(Long(time))) for time in (5, 7, 20)),
        write(last, stream_elements.RecordAttributes(backlog=True), calm),
        *(process,) * 6,
        *(write(index, StatusChange(Status.IDLE)) for index in (last, *idlers)),
        process,
        write(last, StatusChange(Status.ACTIVE), Watermark(Long(25))),
        process,
        *(network_input.ChannelEvent(index, kind) for index, kind in zip((*idlers, last), ends, strict=True)),
        *(process,) * 3,
        *(network_input.ChannelEvent(index, network_input.Kind.END_OF_PARTITION) for index in (*idlers, last)),
        *(process,) * 2,
    )


ONCE = tuple(partial(draw_last_decides, channels=channels) for channels in (9, 65, 257, 1025))


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE, is_fair=is_fair)


# --- scopes ---------------------------------------------------------------------------------------------------


RECORD, TIMED = stream_elements.Record(b"r"), stream_elements.Record(b"", Long(7))
EARLY, LATE = Watermark(Long(1)), Watermark(Long(2))
IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)
MARKER = stream_elements.LatencyMarker(Long(3), Long(1), Long(2), 4)
BACKLOG, FRESH = stream_elements.RecordAttributes(backlog=True), stream_elements.RecordAttributes(backlog=False)

ONE, BATCH = network_input.Process(batch=False), network_input.Process(batch=True)
#: Events for every state, and events that every state must refuse.
CALLS: tuple[network_input.Event, ...] = (ONE, BATCH, network_input.Buffer(0, b""))
REFUSED: tuple[network_input.Event, ...] = (
    network_input.Buffer(9, b"\x00"),
    network_input.ChannelEvent(-1, network_input.Kind.BARRIER),
)


def encode(*elements: stream_elements.StreamElement) -> bytes:
    return b"".join(encode_record(stream_elements.encode_element(element)) for element in elements)


def encode_each(*elements: stream_elements.StreamElement) -> tuple[bytes, ...]:
    return tuple(encode(element) for element in elements)


#: Pieces of records: a whole, its beginning and its rest; two records; one and the beginning of another.
WHOLE = encode(RECORD)
PIECES = (WHOLE, WHOLE[:2], WHOLE[2:], WHOLE * 2, WHOLE + WHOLE[:HEADER_BYTES], WHOLE[HEADER_BYTES:])
HALVES = (WHOLE, WHOLE[:2], WHOLE[2:])
RESTS = (WHOLE[2:], WHOLE[HEADER_BYTES:])


@attrs.frozen
class Part:
    """A part of the input: the items of each channel, and how many may wait.

    With `capped` any number of items may come, up to the cap: in older semantics a call does not always tell whether
    there was an item, so that states would look equal if some could receive nothing.
    """

    name: str
    channels: int
    buffers: tuple[bytes, ...]
    kinds: tuple[network_input.Kind, ...]
    waiting: int
    covers: str
    selection: Selection = EACH_CLASS
    capped: bool = False
    extra_states: int = 0
    calls: tuple[network_input.Event, ...] = (*CALLS, *REFUSED)


def of_channel(channel: int, data: bytes) -> bytes:
    """The same with a different value per channel."""
    return data.replace(b"r", bytes((ord("r") + channel,)))


def goes_on(state: network_input.State, channel: int, data: bytes) -> bool:
    """Whether the buffer continues the channel's bytes: with the rest of a record, or with a new element."""
    reader = state.readers[channel]
    waiting = b"".join(item for item in state.waiting[channel] if isinstance(item, bytes))
    pending = b"" if reader is None else reader.gathered + reader.rest + waiting
    missing = -len(pending) % len(WHOLE)
    return data.startswith(WHOLE[-missing:]) if missing else data not in RESTS


def make_alphabet(part: Part) -> Callable[[network_input.Config, network_input.State], Iterator[network_input.Event]]:
    cut = bool({*part.buffers} & {*RESTS})

    def alphabet(_config: network_input.Config, state: network_input.State) -> Iterator[network_input.Event]:
        has_room = part.capped or sum(map(len, state.waiting)) < part.waiting
        for channel in range(part.channels) if has_room else ():
            buffers = (data for data in part.buffers if not cut or goes_on(state, channel, data))
            yield from (network_input.Buffer(channel, of_channel(channel, data)) for data in buffers)
            yield from (network_input.ChannelEvent(channel, kind) for kind in part.kinds)
        yield from part.calls

    return alphabet


def make_scope(part: Part, semantics: str) -> Scope:
    bound = "" if part.capped else f", while fewer than {counted(part.waiting, 'item')} wait"
    calls = "an empty buffer, calls for one element and for a batch" if BATCH in part.calls else "calls for one element"
    refused = " and channels out of range" if REFUSED[0] in part.calls else ""
    return Scope(
        name=f"{semantics}-{part.name}",
        component="network_input",
        configs=(network_input.Config(part.channels, semantics),),
        alphabet=make_alphabet(part),
        covers=(
            f"{semantics}; {counted(part.channels, 'channel')}; {part.covers}{bound}; {calls}; refused: what comes "
            f"after an end{refused}"
        ),
        cap=f"at most {counted(part.waiting, 'item')} waiting" if part.capped else "",
        expand=lambda state: not part.capped or sum(map(len, state.waiting)) <= part.waiting,
        selection=part.selection,
        extra_states=part.extra_states,
    )


def make_parts(semantics: str, waiting: int, channels: int) -> Iterator[Part]:
    dated = semantics == "flink-1.5"
    elements: tuple[stream_elements.StreamElement, ...] = (RECORD, TIMED, EARLY, LATE, IDLE, ACTIVE, MARKER)
    if not dated:
        elements += (BACKLOG, FRESH)
        covers = "a watermark and both statuses, each in a buffer"
        yield Part("statuses", channels, encode_each(EARLY, IDLE, ACTIVE), (), 1, covers)
        covers = "both record attributes and a record, each in a buffer"
        yield Part("attributes", channels, encode_each(BACKLOG, FRESH, RECORD), (), 1, covers)
    covers = "an element of every kind, each in a buffer"
    yield Part("elements", 1, encode_each(*elements), (), 1 if dated else waiting, covers, capped=dated)
    kinds = (network_input.Kind.BARRIER, network_input.Kind.END_OF_PARTITION)
    yield Part("cuts", 1, PIECES, kinds, waiting, "records cut anywhere, barriers, the end of partition", EACH_STATE)
    covers = "records that are cut in two, barriers"
    yield Part("halves", 2, HALVES, kinds[:1], 1, covers, EACH_STATE, extra_states=2, calls=(ONE,))
    yield Part("turns", 2, (WHOLE,), kinds[:1], waiting + 2, "a record, barriers", EACH_STATE, calls=(ONE,))
    yield Part("pairs", 2, (WHOLE * 2,), kinds[:1], waiting, "two records in a buffer, barriers", EACH_STATE)
    covers = "a record, barriers, both ends of data, ends of partition"
    yield Part("ends", 2, (WHOLE,), tuple(network_input.Kind), waiting, covers, EACH_STATE)


def make_scopes(waiting: int, channels: int) -> Iterator[Scope]:
    for semantics in network_input.SEMANTICS:
        yield from (make_scope(part, semantics) for part in make_parts(semantics, waiting, channels))


def small() -> Iterator[Scope]:
    return make_scopes(waiting=1, channels=2)


def thorough() -> Iterator[Scope]:
    return make_scopes(waiting=2, channels=3)
