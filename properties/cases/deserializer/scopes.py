"""Scopes of the deserializer: short buffers that end anywhere, and continue a stream of short records.

Which buffers may come depends on the state: whatever they are, they must go on with a header that states one of a few
lengths. Any other length would only make engines gather megabytes.
"""

from collections.abc import Iterator
from itertools import product

from tidegate.properties.cases.scope import Scope
from tidegate.reference.spanning.deserializer.step import Buffer, Clear, Config, Event, State
from tidegate.reference.spanning.records import HEADER_BYTES, decode_length, encode_record

#: A length with two bytes that are not 0, and not the same.
LONG = 0x0102


def is_stream(data: bytes, lengths: tuple[int, ...]) -> bool:
    """Whether these are records, the last one perhaps incomplete, all with one of the lengths."""
    headers = [length.to_bytes(HEADER_BYTES, "big") for length in lengths]
    while data:
        header = data[:HEADER_BYTES]
        if not any(known.startswith(header) for known in headers):
            return False
        if len(header) < HEADER_BYTES:
            return True
        data = data[HEADER_BYTES + decode_length(header) :]
    return True


def goes_on(gathered: bytes, data: bytes, lengths: tuple[int, ...]) -> bool:
    """Whether the buffer may come: what follows is a stream, and a long payload is not made of many short buffers."""
    missing = HEADER_BYTES + decode_length(gathered) - len(gathered) if len(gathered) >= HEADER_BYTES else 0
    is_long_enough = missing < 8 or len(data) >= LONG // 2 or not data
    return is_long_enough and is_stream(gathered + data, lengths)


def make_scope(
    name: str, lengths: tuple[int, ...], buffers: tuple[bytes, ...], covers: str, extra_states: int
) -> Scope:
    events = tuple(Buffer(data) for data in dict.fromkeys(buffers))
    known: dict[State, tuple[Event, ...]] = {}

    def alphabet(_config: Config, state: State) -> tuple[Event, ...]:
        if state not in known:
            going_on = (event for event in events if goes_on(state.gathered, event.data, lengths))
            known[state] = (*going_on, Clear())
        return known[state]

    return Scope(
        name=name,
        component="deserializer",
        configs=(Config(),),
        alphabet=alphabet,
        covers=covers,
        extra_states=extra_states,
    )


def short_buffers(most: int, highest: int) -> Iterator[bytes]:
    """Every sequence of up to `most` bytes 0 … `highest`."""
    for length in range(most + 1):
        yield from (bytes(data) for data in product(range(highest + 1), repeat=length))


def whole_records(payloads: tuple[bytes, ...]) -> Iterator[bytes]:
    """Each record, each two of them, and each with the beginning of another one."""
    encoded = [encode_record(payload) for payload in payloads]
    yield from encoded
    yield from (one + other for one, other in product(encoded, repeat=2))
    yield from (one + other[:-1] for one, other in product(encoded, repeat=2))
    yield from (one + bytes(1) for one in encoded)
    yield bytes(HEADER_BYTES - 1)


def make_scopes(most: int, longest: int, extra_states: int) -> Iterator[Scope]:
    lengths = tuple(range(longest + 1))
    payloads = tuple(bytes(range(1, length + 1)) for length in lengths)
    yield make_scope(
        "cuts",
        lengths,
        (*short_buffers(most, longest), *whole_records(payloads)),
        f"records of up to {longest} bytes; every buffer of up to {most} bytes 0 to {longest} that goes on with them, "
        "whole records, two at once, one and the beginning of the next, and clear",
        extra_states,
    )
    yield make_scope(
        "bytes",
        (0, 1, 3),
        tuple(bytes((value,)) for value in (0, 1, 3)),
        "records of 0, 1 and 3 bytes that come byte by byte, and clear",
        extra_states=3 + extra_states,
    )
    yield make_scope(
        "long",
        (0, 1, LONG - 2, LONG),
        (b"", b"\0", b"\0\0", b"\1", b"\2", b"\1\2", b"\0\0\1\2", bytes(range(129)), bytes(129), bytes(LONG - 1)),
        f"records of 0, 1, {LONG - 2} and {LONG} bytes; buffers of a few bytes, {LONG // 2} and {LONG - 1}, clear",
        extra_states=0,
    )


def small() -> Iterator[Scope]:
    return make_scopes(most=2, longest=2, extra_states=1)


def thorough() -> Iterator[Scope]:
    return make_scopes(most=3, longest=3, extra_states=1)
