"""Scopes of the network input: elements of all kinds, records cut anywhere, and endings, each on its own.

Which buffers may come depends on the state: they must go on with what has come before on their channel.
"""

from collections.abc import Callable, Iterator

import attrs

from properties.cover import EACH_CLASS, EACH_STATE, Selection
from properties.scopes.scope import Scope, counted
from reference.elements import Long, Status, StatusChange, Watermark
from reference.network_input_values import SEMANTICS, Buffer, ChannelEvent, Config, Event, Kind, Process, State
from reference.spanning import HEADER_BYTES, encode_record
from reference.stream_elements import LatencyMarker, Record, RecordAttributes, StreamElement, encode_element

RECORD, TIMED = Record(b"r"), Record(b"", Long(7))
EARLY, LATE = Watermark(Long(1)), Watermark(Long(2))
IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)
MARKER = LatencyMarker(Long(3), Long(1), Long(2), 4)
BACKLOG, FRESH = RecordAttributes(backlog=True), RecordAttributes(backlog=False)

CALLS = (Process(batch=False), Process(batch=True))


def encode(*elements: StreamElement) -> bytes:
    return b"".join(encode_record(encode_element(element)) for element in elements)


def encode_each(*elements: StreamElement) -> tuple[bytes, ...]:
    return tuple(encode(element) for element in elements)


#: A record without a value, in pieces: whole, cut in its header, behind its header; and two records, with and without
#: the beginning of a third.
PIECES = (
    encode(RECORD),
    encode(RECORD)[:2],
    encode(RECORD)[2:],
    encode(RECORD)[:HEADER_BYTES],
    encode(RECORD)[HEADER_BYTES:],
    encode(RECORD, RECORD),
    encode(RECORD, RECORD) + encode(RECORD)[:1],
    encode(RECORD)[1:],
    encode(RECORD)[1:] + encode(RECORD)[:HEADER_BYTES],
)


@attrs.frozen
class Part:
    """A part of what the input does: what each channel may get, how much of it may wait there."""

    name: str
    channels: int
    buffers: tuple[bytes, ...]
    kinds: tuple[Kind, ...]
    waiting: int
    covers: str
    selection: Selection = EACH_CLASS
    capped: bool = False


def unread(state: State, channel: int) -> bytes:
    """The bytes that came on a channel and were not handed on; a channel that is over has none."""
    reader = state.readers[channel]
    waiting = b"".join(item for item in state.waiting[channel] if isinstance(item, bytes))
    return b"" if reader is None else reader.gathered + reader.rest + waiting


def is_stream(data: bytes) -> bool:
    """Whether these are records as above, the last one perhaps incomplete."""
    whole = encode(RECORD)
    while data:
        if not data.startswith(whole[: len(data)]):
            return False
        data = data[len(whole) :]
    return True


def has_room(part: Part, state: State) -> bool:
    """Where a call tells what has arrived, nothing more arrives than is told; of old it does not always tell."""
    return part.capped or sum(map(len, state.waiting)) < part.waiting


def make_alphabet(part: Part) -> Callable[[Config, State], Iterator[Event]]:
    def alphabet(_config: Config, state: State) -> Iterator[Event]:
        for channel in range(part.channels) if has_room(part, state) else ():
            pending = unread(state, channel) if part.buffers == PIECES else b""
            yield from (Buffer(channel, data) for data in part.buffers if is_stream(pending + data) or not pending)
            yield from (ChannelEvent(channel, kind) for kind in part.kinds)
        yield from (Buffer(part.channels, b"\x00"), ChannelEvent(-1, Kind.BARRIER), Buffer(0, b""), *CALLS)

    return alphabet


def make_scope(part: Part, semantics: str) -> Scope:
    bound = "" if part.capped else f", while fewer than {counted(part.waiting, 'item')} wait"
    return Scope(
        name=f"{semantics}-{part.name}",
        component="network_input",
        configs=(Config(part.channels, semantics),),
        alphabet=make_alphabet(part),
        covers=(
            f"{semantics}; {counted(part.channels, 'channel')}; {part.covers}{bound}; an empty buffer, calls "
            "for one element and for a batch; refused: channels out of range and what comes after an end"
        ),
        cap=f"at most {counted(part.waiting, 'item')} waiting" if part.capped else "",
        expand=lambda state: not part.capped or sum(map(len, state.waiting)) <= part.waiting,
        selection=part.selection,
    )


def make_parts(semantics: str, waiting: int, channels: int) -> Iterator[Part]:
    dated = semantics == "flink-1.5"
    elements: tuple[StreamElement, ...] = (RECORD, TIMED, EARLY, LATE, IDLE, ACTIVE, MARKER)
    if not dated:
        elements += (BACKLOG, FRESH)
        covers = "a watermark and both statuses, each in a buffer"
        yield Part("statuses", channels, encode_each(EARLY, IDLE, ACTIVE), (), 1, covers)
        covers = "both record attributes and a record, each in a buffer"
        yield Part("attributes", channels, encode_each(BACKLOG, FRESH, RECORD), (), 1, covers)
    covers = "an element of every kind, each in a buffer"
    yield Part("elements", 1, encode_each(*elements), (), 1 if dated else waiting, covers, capped=dated)
    kinds = (Kind.BARRIER, Kind.END_OF_PARTITION)
    yield Part("cuts", 1, PIECES, kinds, waiting, "records cut anywhere, barriers, the end of partition", EACH_STATE)
    covers = "a record, barriers, both ends of data, ends of partition"
    yield Part("ends", 2, (encode(RECORD),), tuple(Kind), waiting, covers, EACH_STATE)


def make_scopes(waiting: int, channels: int) -> Iterator[Scope]:
    for semantics in SEMANTICS:
        yield from (make_scope(part, semantics) for part in make_parts(semantics, waiting, channels))


def small() -> Iterator[Scope]:
    return make_scopes(waiting=1, channels=2)


def thorough() -> Iterator[Scope]:
    return make_scopes(waiting=2, channels=3)
