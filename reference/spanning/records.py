"""How a record lies in the stream of bytes of a channel: four bytes of length, then the payload (SPAN-1).

Writers cut that stream into buffers and readers put it together again; both sides share these few functions.
"""

from collections.abc import Iterator
from itertools import product

HEADER_BYTES = 4


def encode_record(payload: bytes) -> bytes:
    """SPAN-1: the length of the payload, big-endian, and the payload itself."""
    return len(payload).to_bytes(HEADER_BYTES, "big") + payload


def decode_length(header: bytes) -> int:
    """The length that a header states. It is signed, as every int in Java (SPAN-28)."""
    return int.from_bytes(header[:HEADER_BYTES], "big", signed=True)


def cut(stream: bytes, size: int) -> tuple[bytes, ...]:
    """The stream in pieces of `size`; only the last may be shorter."""
    return tuple(stream[start : start + size] for start in range(0, len(stream), size))


def cuts(stream: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Every way to cut the stream in two, empty pieces included."""
    yield from ((stream[:at], stream[at:]) for at in range(len(stream) + 1))


def short_streams(most: int) -> Iterator[tuple[bytes, ...]]:
    """Every sequence of up to `most` records with payloads of zero to five bytes, the bytes all different."""
    for count in range(1, most + 1):
        for lengths in product((0, 1, 5), repeat=count):
            yield tuple(bytes(range(10 * n + 1, 10 * n + 1 + length)) for n, length in enumerate(lengths))


def sizes_and_streams() -> Iterator[tuple[int, tuple[bytes, ...]]]:
    """Sizes of buffers, and records to write into them."""
    yield from ((size, payloads) for payloads in short_streams(3) for size in range(1, 14))
