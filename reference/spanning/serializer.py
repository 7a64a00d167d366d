"""The serializer: the records of one channel written back to back into buffers of a fixed size.

A record is its length and its payload (SPAN-1). The writer ignores record boundaries when it cuts: it fills the open
buffer, hands it out when it is full, and goes on in the next. So a record may span many buffers, and its header may be
cut after any byte (SPAN-3). A flush hands out what is in the open buffer already. The buffer stays open, and only the
rest of it is handed out later.

Choices. A buffer is observed as soon as it is finished, as by a reader that is always ready. A buffer with nothing left
to hand out is not observed. The component `writer` adds several channels.

On the wire. A record is written as its length, 4 bytes, big-endian, and then its payload; both may be cut anywhere.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, law, sometimes
from tidegate.reference.elements import Bytes, at_least
from tidegate.reference.model import Component, Outcome, Rejected, follow, rejected
from tidegate.reference.spanning import dated_writers, stream_elements
from tidegate.reference.spanning.records import HEADER_BYTES, cut, decode_length, encode_record, sizes_and_streams

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """The size of a buffer."""

    buffer_size: Annotated[Bytes, "The size of a buffer in bytes."] = attrs.field(validator=at_least(1))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """`filled` counts the bytes in the open buffer; `pending` are the last of them, those not handed out yet."""

    config: Config
    filled: int = 0
    pending: bytes = b""
    finished: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class WriteRecord:
    """A record is written. After `finish` it is rejected."""

    type: ClassVar[str] = "record"
    payload: Annotated[bytes, "The payload of the record, without its length."]


@attrs.frozen
class Flush:
    """Hand out the bytes of the open buffer not handed out yet; the buffer stays open. After `finish` nothing is
    observed.
    """

    type: ClassVar[str] = "flush"


@attrs.frozen
class ControlEvent:
    """An event is written, which finishes the open buffer. After `finish` it is rejected."""

    type: ClassVar[str] = "event"


@attrs.frozen
class Finish:
    """Nothing more comes. A second one is rejected."""

    type: ClassVar[str] = "finish"


Event = WriteRecord | Flush | ControlEvent | Finish

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Buffer:
    """A buffer, or what is left of it, as soon as it is finished. There is none for no bytes."""

    type: ClassVar[str] = "buffer"
    data: Annotated[bytes, "The bytes that were not handed out yet."]


Observation = Buffer

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """No buffer is open: one is taken only when there is a byte to write (SPAN-4)."""
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    match event:
        case Flush():
            return (on_flush(state),)
        case _ if state.finished:
            return rejected(state, "SPAN-14")
        case WriteRecord(payload):
            return (on_record(state, payload),)
        case ControlEvent():
            return (end_buffer(state, finished=False),)
        case Finish():
            return (end_buffer(state, finished=True),)


def on_record(state: State, payload: bytes) -> Outcome[State, Observation]:
    encoded = encode_record(payload)
    size = state.config.buffer_size
    room = size - state.filled
    # One piece per buffer. Each fills its buffer to the end; the last may leave room.
    pieces = (state.pending + encoded[:room], *cut(encoded[room:], size))
    filled = (state.filled + len(encoded)) % size
    if filled == 0:
        buffers = tuple(Buffer(piece) for piece in pieces)
        return Outcome(State(state.config), buffers, ("SPAN-4", *compute_rules(payload)))
    buffers = tuple(Buffer(piece) for piece in pieces[:-1])
    return Outcome(State(state.config, filled, pieces[-1]), buffers, compute_rules(payload))


def compute_rules(payload: bytes) -> tuple[str, ...]:
    return ("SPAN-3", "SPAN-1") if payload else ("SPAN-1", "SPAN-3")


def end_buffer(state: State, *, finished: bool) -> Outcome[State, Observation]:
    """SPAN-14: the open buffer ends here, full or not."""
    return Outcome(State(state.config, finished=finished), hand_out(state.pending), ("SPAN-14",))


def on_flush(state: State) -> Outcome[State, Observation]:
    flushed = State(state.config, state.filled, b"", state.finished)
    return Outcome(flushed, hand_out(state.pending), ("SPAN-6", "SPAN-10"))


def hand_out(data: bytes) -> tuple[Observation, ...]:
    return (Buffer(data),) if data else ()


# --- claims ---------------------------------------------------------------------------------------------------


def bytes_out(outcome: Outcome[State, Observation]) -> bytes:
    return b"".join(seen.data for seen in outcome.observations if isinstance(seen, Buffer))


@always("SPAN-3", "SPAN-1")
def the_bytes_are_kept(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What is handed out and what is pending are the bytes of the records, in order, none lost and none twice."""
    written = encode_record(event.payload) if isinstance(event, WriteRecord) and not before.finished else b""
    return bytes_out(outcome) + outcome.state.pending == before.pending + written


@always("SPAN-4")
def the_open_buffer_has_room(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A buffer that is full is not open any more."""
    state = outcome.state
    return len(state.pending) <= state.filled < state.config.buffer_size


@always("SPAN-3")
def buffers_hold_something(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No buffer is empty, and none is larger than the buffer size."""
    size = before.config.buffer_size
    return all(0 < len(seen.data) <= size for seen in outcome.observations if isinstance(seen, Buffer))


@always("SPAN-14")
def nothing_spans_an_event(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Behind an event, or the end, the next record starts a buffer of its own."""
    refused = Rejected() in outcome.observations
    return refused or not isinstance(event, ControlEvent | Finish) or outcome.state.filled == 0


@always("SPAN-6")
def flush_leaves_the_buffer_open(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A flush hands out everything pending and takes no room from the open buffer."""
    return not isinstance(event, Flush) or (outcome.state.filled == before.filled and not outcome.state.pending)


@sometimes("SPAN-3")
def a_record_spans_buffers(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A record fills a buffer, and the rest of it waits in the next one."""
    return isinstance(event, WriteRecord) and bool(outcome.observations) and bool(outcome.state.pending)


# --- laws -----------------------------------------------------------------------------------------------------


def write(buffer_size: int, payloads: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The buffers that a serializer makes of the payloads and the end."""
    (state,) = start(Config(buffer_size))
    events: list[Event] = [*map(WriteRecord, payloads), Finish()]
    seen = (one for outcome in follow(step, state, events) for one in outcome.observations)
    return tuple(one.data for one in seen if isinstance(one, Buffer))


def payloads_of_many_lengths() -> Iterator[tuple[bytes]]:
    yield from ((bytes(length),) for length in (0, 1, 255, 256, 257, 65535, 65536))


@law("SPAN-1", samples=payloads_of_many_lengths)
def length_then_payload(payload: bytes) -> bool:
    """An encoded record states the length of its payload and then is the payload."""
    encoded = encode_record(payload)
    return decode_length(encoded) == len(payload) and encoded[HEADER_BYTES:] == payload


@law("SPAN-3", "SPAN-4", samples=sizes_and_streams)
def cut_at_capacity_alone(buffer_size: int, payloads: tuple[bytes, ...]) -> bool:
    """The buffers of a channel are its bytes cut at the buffer size: up to a forced end all but the last are full."""
    return write(buffer_size, payloads) == cut(b"".join(map(encode_record, payloads)), buffer_size)


COMPONENT = Component.of(__name__, dated_writers, stream_elements, title="Records written across buffers")
