"""What holds of reading records out of buffers and no single buffer shows: over every cut, with readers that are wrong,
with lengths that are, and for several channels at once.
"""

from collections.abc import Iterator
from enum import StrEnum

from tidegate.reference.claims import law
from tidegate.reference.spanning.reading import (
    Read,
    RecordReader,
    Result,
    compute_unconsumed,
    read_buffer,
)
from tidegate.reference.spanning.records import HEADER_BYTES, cuts, encode_record, short_streams

Pieces = tuple[bytes, ...]


def encode_all(payloads: tuple[bytes, ...]) -> bytes:
    return b"".join(map(encode_record, payloads))


def read_pieces(pieces: Pieces, taken: int | None = None) -> list[Read | None]:
    """Everything that one reader reads from the pieces."""
    reader = RecordReader()
    reads: list[Read | None] = []
    for piece in pieces:
        reads += read_buffer(reader, piece, taken)
        if reads[-1] is None:
            break
        reader = reads[-1].reader
    return reads


def payloads_of(reads: list[Read | None]) -> tuple[bytes, ...]:
    return tuple(read.payload for read in reads if read is not None and read.result is not Result.PARTIAL)


# --- cuts -----------------------------------------------------------------------------------------------------


def cut_streams() -> Iterator[tuple[tuple[bytes, ...], Pieces]]:
    """Every cut of short streams into three pieces, empty ones included, and into single bytes."""
    for payloads in short_streams(2):
        stream = encode_all(payloads)
        yield payloads, tuple(bytes([byte]) for byte in stream)
        yield from ((payloads, (one, two, three)) for one, more in cuts(stream) for two, three in cuts(more))


@law("SPAN-22", "SPAN-20", samples=cut_streams)
def cuts_do_not_matter(payloads: tuple[bytes, ...], pieces: Pieces) -> bool:
    """However a stream is cut into buffers, the same records are read."""
    return payloads_of(read_pieces(pieces)) == payloads


@law("SPAN-25", samples=cut_streams)
def only_what_spans_is_copied(payloads: tuple[bytes, ...], pieces: Pieces) -> bool:
    """What is copied out of a buffer are bytes of a record that the end of the buffer cuts."""
    ends = [len(encode_all(payloads[:count])) for count in range(len(payloads) + 1)]
    reader, position = RecordReader(), 0
    for piece in pieces:
        *_, last = read_buffer(reader, piece)
        assert last is not None
        position += len(piece)
        begun = max(end for end in ends if end <= position)
        if last.reader.gathered != encode_all(payloads)[begun:position]:
            return False
        reader = last.reader
    return True


@law("SPAN-31", samples=cut_streams)
def each_buffer_is_given_back_once(_payloads: tuple[bytes, ...], pieces: Pieces) -> bool:
    """A buffer is given back with its last result, when none of it is unread, and never before."""
    reader = RecordReader()
    for piece in pieces:
        reads = [read for read in read_buffer(reader, piece) if read is not None]
        given_back = [read for read in reads if read.result is not Result.INTERMEDIATE]
        used_up = [read for read in reads if not read.reader.rest]
        if given_back != reads[-1:] or used_up != reads[-1:]:
            return False
        reader = reads[-1].reader
    return True


@law("SPAN-32", samples=cut_streams)
def unconsumed_bytes_can_be_replayed(payloads: tuple[bytes, ...], pieces: Pieces) -> bool:
    """At any moment a new reader that gets the unconsumed bytes first goes on where the old one stood.

    After each record asked for: the unconsumed bytes, read anew, and the later pieces give the missing records.
    """
    reader = RecordReader()
    delivered = 0
    for index, piece in enumerate(pieces):
        for read in read_buffer(reader, piece):
            assert read is not None
            delivered += read.result is not Result.PARTIAL
            replayed = (compute_unconsumed(read.reader), *pieces[index + 1 :])
            if payloads_of(read_pieces(replayed)) != payloads[delivered:]:
                return False
            reader = read.reader
    return True


# --- readers and lengths that are wrong -----------------------------------------------------------------------

TWO_BYTES, FOUR_BYTES = encode_record(b"ab"), encode_record(b"cdef")


def wrong_readers() -> Iterator[tuple[int, bytes, tuple[str, ...]]]:
    header = "\0\0\0\2"
    # Too few bytes: "ef" and the start of the next header are then taken for a header.
    yield 2, FOUR_BYTES + TWO_BYTES, ("intermediate cd", "partial ")
    # Too many, but inside the buffer: accepted, and what follows is shifted.
    yield 6, TWO_BYTES + TWO_BYTES + b"gh", (f"intermediate ab{header}", "partial ")
    # Past the end of the buffer.
    yield 3, TWO_BYTES, ("error",)
    yield 3, TWO_BYTES + b"\0", ("last ab\0",)


@law("SPAN-26", samples=wrong_readers)
def wrong_reader_inside_a_buffer(taken: int, buffer: bytes, results: tuple[str, ...]) -> bool:
    """Inside a buffer a reader that takes too few or too many bytes shifts what follows; only the end stops it."""
    reads = read_buffer(RecordReader(), buffer, taken)
    return tuple("error" if read is None else f"{read.result} {read.payload.decode()}" for read in reads) == results


def cuts_inside_both_records() -> Iterator[tuple[Pieces]]:
    """The first piece ends inside the first record, the second inside the second record."""
    for at in range(1, len(FOUR_BYTES)):
        for length in range(1, len(TWO_BYTES)):
            yield ((FOUR_BYTES[:at], FOUR_BYTES[at:] + TWO_BYTES[:length], TWO_BYTES[length:]),)


@law("SPAN-27", samples=cuts_inside_both_records)
def wrong_reader_across_buffers(pieces: Pieces) -> bool:
    """A reader of records that span buffers sees the bytes of one record: others stay whole, it cannot go beyond.

    A reader that takes one byte of each record: the records behind stay whole, the rest of each is dropped.
    """
    greedy = read_pieces(pieces, taken=5)
    return payloads_of(read_pieces(pieces, taken=1)) == (b"c", b"a") and greedy[-1] is None


def negative_lengths() -> Iterator[tuple[int, int]]:
    yield from ((length, number) for length in (-1, -2, -5, -(2**31)) for number in (1, 2, 3))


@law("SPAN-28", samples=negative_lengths)
def negative_length_in_a_buffer(length: int, taken: int) -> bool:
    """A negative length with its whole header in the buffer is read as a record that fits."""
    header = length.to_bytes(HEADER_BYTES, "big", signed=True)
    first, second = read_buffer(RecordReader(), header + bytes(taken) + encode_record(bytes(taken)), taken)
    return first is not None and second is not None and first.payload == second.payload == bytes(taken)


@law("SPAN-28", samples=negative_lengths)
def negative_length_across_buffers(length: int, at: int) -> bool:
    """A negative length whose header spans buffers costs the rest of the buffer; the next starts with a header."""
    header = length.to_bytes(HEADER_BYTES, "big", signed=True)
    reads = read_pieces((header[:at], header[at:] + FOUR_BYTES, TWO_BYTES))
    results = [read.result for read in reads if read is not None]
    return results == [Result.PARTIAL, Result.PARTIAL, Result.LAST] and payloads_of(reads) == (b"ab",)


# --- several channels -----------------------------------------------------------------------------------------


class Control(StrEnum):
    """What arrives on a channel besides buffers."""

    EVENT = "event"
    END_OF_PARTITION = "end_of_partition"


def demultiplex(
    channels: int, arrivals: tuple[tuple[int, bytes | Control], ...]
) -> tuple[tuple[bytes, ...], ...] | None:
    """The payloads that each channel delivers, one reader per channel (SPAN-33).

    SPAN-30: only the end of its partition releases the reader of a channel. None is a state error: a buffer came
    after that.
    """
    readers: list[RecordReader | None] = [RecordReader()] * channels
    payloads: list[tuple[bytes, ...]] = [()] * channels
    for channel, item in arrivals:
        reader = readers[channel]
        if item is Control.END_OF_PARTITION:
            readers[channel] = None
        elif isinstance(item, bytes):
            if reader is None:
                return None
            reads = [read for read in read_buffer(reader, item) if read is not None]
            payloads[channel] += tuple(read.payload for read in reads if read.result is not Result.PARTIAL)
            readers[channel] = reads[-1].reader
    return tuple(payloads)


def interleavings() -> Iterator[tuple[tuple[tuple[int, bytes], ...]]]:
    """Two channels, the stream of each in two pieces, in every order that keeps each channel's own."""
    orders = ((0, 0, 1, 1), (0, 1, 0, 1), (0, 1, 1, 0), (1, 0, 0, 1), (1, 0, 1, 0), (1, 1, 0, 0))
    for zero in cuts(FOUR_BYTES + TWO_BYTES):
        for one in cuts(TWO_BYTES + FOUR_BYTES):
            for order in orders:
                left = [list(zero), list(one)]
                yield (tuple((channel, left[channel].pop(0)) for channel in order),)


@law("SPAN-33", samples=interleavings)
def channels_do_not_mix(arrivals: tuple[tuple[int, bytes], ...]) -> bool:
    """However the buffers of two channels are interleaved, each channel gives its own records."""
    return demultiplex(2, arrivals) == ((b"cdef", b"ab"), (b"ab", b"cdef"))


def two_pieces() -> Iterator[tuple[bytes, bytes]]:
    yield from cuts(TWO_BYTES)


@law("SPAN-30", samples=two_pieces)
def only_the_end_releases_a_reader(one: bytes, two: bytes) -> bool:
    """An event leaves a record that is half read alone; after the end of the partition a buffer is an error."""
    event = demultiplex(1, ((0, one), (0, Control.EVENT), (0, two)))
    end = demultiplex(2, ((0, one), (1, Control.END_OF_PARTITION), (0, two), (0, Control.END_OF_PARTITION)))
    after_the_end = demultiplex(1, ((0, one), (0, Control.END_OF_PARTITION), (0, two)))
    return event == ((b"ab",),) and end == ((b"ab",), ()) and after_the_end is None
