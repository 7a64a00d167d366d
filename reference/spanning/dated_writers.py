"""How older releases wrote records into buffers, where the way differs and the bytes must not.

Flink 1.5 drives its serializer by result states (SPAN-7). Flink 1.10 lets a broadcast writer write a record for one
channel into the memory that all channels share, and has the other channels start behind it (SPAN-16).
"""

from enum import StrEnum

from tidegate.reference.claims import law
from tidegate.reference.spanning.records import cut, encode_record, sizes_and_streams


class Written(StrEnum):
    """What the serializer of 1.5 returns after it has filled a buffer as far as it can."""

    PARTIAL_RECORD_BUFFER_FULL = "PARTIAL_RECORD_MEMORY_SEGMENT_FULL"
    FULL_RECORD_BUFFER_FULL = "FULL_RECORD_MEMORY_SEGMENT_FULL"
    FULL_RECORD = "FULL_RECORD"


def compute_written(unwritten: int, room: int) -> Written:
    """The result for a number of unwritten bytes and the room for them; without a buffer there is no room."""
    if unwritten > room:
        return Written.PARTIAL_RECORD_BUFFER_FULL
    return Written.FULL_RECORD_BUFFER_FULL if unwritten == room else Written.FULL_RECORD


def write_by_results(buffer_size: int, payloads: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """SPAN-7: while the result says that the buffer is full, finish it; stop when the record is complete."""
    finished: list[bytes] = []
    buffer: bytes | None = None
    for payload in payloads:
        unwritten = encode_record(payload)
        while True:
            room = 0 if buffer is None else buffer_size - len(buffer)
            result = compute_written(len(unwritten), room)
            if buffer is not None:
                buffer, unwritten = buffer + unwritten[:room], unwritten[room:]
            if result is Written.FULL_RECORD:
                break
            if buffer is not None:
                finished.append(buffer)
                buffer = None
            if result is Written.FULL_RECORD_BUFFER_FULL:
                break
            buffer = b""
        assert not unwritten, "after an emit no byte stays in the serializer"
    return (*finished, *([buffer] if buffer else []))


@law("SPAN-7", samples=sizes_and_streams)
def results_of_1_5_lead_to_the_same_buffers(buffer_size: int, payloads: tuple[bytes, ...]) -> bool:
    """The loop over the result states of Flink 1.5 makes the buffers that are made today."""
    return write_by_results(buffer_size, payloads) == cut(b"".join(map(encode_record, payloads)), buffer_size)


def write_to_shared_memory(channels: int, emits: tuple[tuple[int | None, bytes], ...]) -> tuple[bytes, ...]:
    """SPAN-16: what each channel reads if every byte goes to one memory that all channels share.

    An emit names its channel; None stands for all. A channel has consumers, each from one position of the
    memory to another. A record for one channel ends the consumers of all; behind it the others get new ones.
    """
    memory = b""
    starts = [0] * channels
    read = [b""] * channels
    for target, payload in emits:
        if target is not None:
            read = [so_far + memory[at:] for so_far, at in zip(read, starts, strict=True)]
            starts = [len(memory) + (0 if channel == target else len(payload)) for channel in range(channels)]
        memory += payload
    return tuple(so_far + memory[at:] for so_far, at in zip(read, starts, strict=True))
