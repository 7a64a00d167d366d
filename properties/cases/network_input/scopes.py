"""Scopes of the network input: elements of all kinds, records cut anywhere, and endings, each on its own.

Which buffers may come depends on the state: they must go on with what has come before on their channel.
"""

from collections.abc import Callable, Iterator

import attrs

from tidegate.properties.cases.scope import Scope, counted
from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.input.network_input import values as network_input
from tidegate.reference.spanning import stream_elements
from tidegate.reference.spanning.records import HEADER_BYTES, encode_record

RECORD, TIMED = stream_elements.Record(b"r"), stream_elements.Record(b"", Long(7))
EARLY, LATE = Watermark(Long(1)), Watermark(Long(2))
IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)
MARKER = stream_elements.LatencyMarker(Long(3), Long(1), Long(2), 4)
BACKLOG, FRESH = stream_elements.RecordAttributes(backlog=True), stream_elements.RecordAttributes(backlog=False)

ONE, BATCH = network_input.Process(batch=False), network_input.Process(batch=True)
#: Whatever the state, and what must be refused there.
CALLS: tuple[network_input.Event, ...] = (ONE, BATCH, network_input.Buffer(0, b""))
REFUSED: tuple[network_input.Event, ...] = (
    network_input.Buffer(9, b"\x00"),
    network_input.ChannelEvent(-1, network_input.Kind.BARRIER),
)


def encode(*elements: stream_elements.StreamElement) -> bytes:
    return b"".join(encode_record(stream_elements.encode_element(element)) for element in elements)


def encode_each(*elements: stream_elements.StreamElement) -> tuple[bytes, ...]:
    return tuple(encode(element) for element in elements)


#: What a record is cut into: the whole, its beginning and its rest; two of them; one and the beginning of another.
WHOLE = encode(RECORD)
PIECES = (WHOLE, WHOLE[:2], WHOLE[2:], WHOLE * 2, WHOLE + WHOLE[:HEADER_BYTES], WHOLE[HEADER_BYTES:])
HALVES = (WHOLE, WHOLE[:2], WHOLE[2:])
RESTS = (WHOLE[2:], WHOLE[HEADER_BYTES:])


@attrs.frozen
class Part:
    """A part of what the input does: what each channel may get, and how much of it may wait there.

    With `capped` any number of items may come, and it is the cap that ends it: of old a call does not always tell
    whether there was something, so that states would stay together if nothing could come in some of them.
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
    """The same with another value for each channel."""
    return data.replace(b"r", bytes((ord("r") + channel,)))


def goes_on(state: network_input.State, channel: int, data: bytes) -> bool:
    """Whether the buffer begins where what came before it on the channel ends: with the rest of a record, or anew."""
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
