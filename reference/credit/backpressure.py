"""Backpressure: when a producer has to stop writing.

A producer writes into buffers of its own pool, and a buffer comes back only when it was sent. A reader without credit
sends nothing, so its subpartition fills up: with all buffers of the pool, or as many as one subpartition may have.
Then the producer stops altogether, the other subpartitions included.

Choices. Flink 2.3: LocalBufferPool of a result partition. A buffer is counted from when it is written until it is sent.
"""

from collections.abc import Iterator
from itertools import product

from tidegate.reference.claims import law
from tidegate.reference.credit import readers
from tidegate.reference.credit.readers import Added, Reader, start_reader
from tidegate.reference.subpartition import queue as queues


def is_writer_blocked(free: int, queued: tuple[int, ...], limit: int) -> bool:
    """CREDIT-30: no buffer is `free`, or one subpartition has `queued` as many as it may.

    Less than none is free where a writer that may stop only now and then has gone beyond its pool.
    """
    return free <= 0 or any(count >= limit for count in queued)


# --- laws -----------------------------------------------------------------------------------------------------


def write_until_blocked(pool: int, limit: int, initial: tuple[int, ...]) -> tuple[int, ...]:
    """How many buffers a producer gets to write on each of its channels, one after the other in turns."""
    written = [0] * len(initial)
    everyone = [start_reader(credit) for credit in initial]
    while True:
        for index, reader in enumerate(everyone):
            queued = tuple(map(count_queued, everyone))
            if is_writer_blocked(pool - sum(queued), queued, limit):
                return tuple(written)
            everyone[index] = send_all(readers.on_add(reader, Added.DATA).reader)
            written[index] += 1


def send_all(reader: Reader) -> Reader:
    while readers.is_sendable(reader):
        reader, _message = readers.read(reader)
    return reader


def count_queued(reader: Reader) -> int:
    return queues.count_data(reader.subpartition)


def small_producers() -> Iterator[tuple[int, int, int, int]]:
    yield from product((1, 2, 3, 4), (1, 2, 3), (0, 1, 3), (0, 2))


@law("CREDIT-30", samples=small_producers)
def credit_keeps_the_writer_going(pool: int, limit: int, first: int, second: int) -> bool:
    """A writer stops exactly when its pool, or the share of one channel, is full of data for which credit lacks."""
    written = write_until_blocked(pool, limit, (first, second))
    queued = [max(0, count - credit) for count, credit in zip(written, (first, second), strict=True)]
    one_more_credit = write_until_blocked(pool, limit, (first + 1, second + 1))
    is_full = sum(queued) == pool or max(queued) == limit
    is_fair = sum(queued) <= pool and max(queued) <= limit
    return is_full and is_fair and sum(one_more_credit) > sum(written)
