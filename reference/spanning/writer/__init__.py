"""The record writer: records for many channels, each channel's bytes in buffers of its own or in shared ones.

A writer that selects channels keeps one open buffer a channel. A broadcast writer writes each record once, into one
buffer that all channels read. The reader of a channel sees the bytes of the records in the order in which they were
emitted, whichever way they were written; what differs is how much memory that takes, and where buffers end.

Choices. As in the `serializer`, a buffer is seen when it is finished or flushed, and only what had not been seen of it.
`pool` says whether the pool has a buffer left over; a writer that needs one waits for it, and waiting is not seen here.
A failure of the flusher is looked for once an emit. Flink 2.3 states the bound of 100 emits but resets its counter
before it compares, so that nothing enforces the bound there (SPAN-11).

On the wire. A record is written as its length, 4 bytes, big-endian, and its payload. After a failure of the flusher
any emit may fail: whatever the rules allow is accepted.
"""

from tidegate.reference.model import Component
from tidegate.reference.spanning import builders
from tidegate.reference.spanning.writer import claims, step, values

COMPONENT = Component.of(__name__, values, claims, step, builders, title="The record writer of many channels")
