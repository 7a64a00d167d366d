"""A network buffer: one builder writes into it, any number of consumers read it, and the memory goes back at the end.

What is written becomes visible when it is committed. Each consumer has a read position of its own and hands out what
was committed since it last looked; it learns that the buffer is finished only then, so what it believes may be out of
date. That is how a broadcast costs one buffer: every subpartition gets a consumer of the same memory, and the memory
is free when the last of them, the builder, and every slice that was handed out have let go of it.

Choices. Consumers are numbered in the order in which they came. Slices of a consumer are recycled oldest first. Flink:
BufferBuilder, BufferConsumer, NetworkBuffer.

On the wire. Consumers are numbered from 0 in the order in which they came; slices of a consumer are recycled oldest
first.
"""

from tidegate.reference.model import Component
from tidegate.reference.subpartition.buffer import step, values

COMPONENT = Component.of(__name__, values, step, title="The network buffer")
