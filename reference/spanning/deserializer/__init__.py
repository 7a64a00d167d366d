"""The deserializer: the buffers of one channel read back into the records that were written.

Buffers end anywhere. What is complete is delivered at once; of a record that goes on in the next buffer the bytes are
gathered, be it a single byte of its header. Each record says whether bytes of its buffer remain; a buffer that ends in
mid-record says so. How one record is read is in `reading`, where long records are kept in `spilling`.

Choices. Lengths on the wire are never negative, so the protocol asks nothing about them. If one comes all the same,
Flink trusts it (SPAN-28): with its whole header in one buffer it is taken for a record that fits, here an empty one.

On the wire. A record is its length, 4 bytes, big-endian and never negative, and then as many bytes of payload.
"""

from tidegate.reference.model import Component
from tidegate.reference.spanning.deserializer import claims, spilling, step

COMPONENT = Component.of(__name__, step, claims, spilling, title="Records read across buffers")
