"""The network buffer: `BufferBuilder`, `BufferConsumer` and the slices that it builds.

The adapter is the recycler, so it sees when the memory is free. A party that released the memory does nothing more
with it: further calls are refused here.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK, buffers_of
from tidegate.conformance.engines.flink.jvm import Jvm

BUILDER = f"{NETWORK}buffer.BufferBuilder"


def declare(jvm: Jvm) -> wire.Json | None:
    """Builders are closed since 1.14; before, the last slice released the memory."""
    return {} if jvm.has(BUILDER, "close") and jvm.has(BUILDER, "commit") else None


def make(jvm: Jvm, config: wire.Json) -> "Buffer":
    return Buffer(jvm, wire.get_at_least(config, "capacity", 1))


class Consumer:
    """A consumer, and its slices that were not recycled."""

    def __init__(self, consumer: Any) -> None:
        self.consumer = consumer
        self.slices: list[Any] = []
        self.closed = False


class Buffer:
    def __init__(self, jvm: Jvm, capacity: int) -> None:
        self.jvm, self.buffers = jvm, buffers_of(jvm)
        self.freed = 0
        recycler = jvm.jpype.JProxy(f"{NETWORK}buffer.BufferRecycler", dict={"recycle": self.recycle})
        self.builder = self.buffers.builder_class(self.buffers.allocate(capacity), recycler)
        self.closed = False
        self.consumers: list[Consumer] = []
        self.writing = {
            "append": self.on_append,
            "commit": self.on_commit,
            "finish": self.on_finish,
            "close_builder": self.on_close_builder,
            "consume": self.on_consume,
        }
        self.reading = {
            "copy": self.on_copy,
            "inspect": self.on_inspect,
            "build": self.on_build,
            "recycle": self.on_recycle,
            "close": self.on_close,
        }

    def recycle(self, _segment: Any) -> None:
        self.freed += 1

    def step(self, event: wire.Json) -> wire.Observations:
        kind, before = event.get("type", ""), self.freed
        try:
            if kind in self.writing:
                seen = self.writing[kind](event)
            elif kind in self.reading:
                index = wire.get_integer(event, "consumer")
                known = 0 <= index < len(self.consumers)
                seen = self.reading[kind](self.consumers[index]) if known else wire.rejected()
            else:
                raise wire.unknown_type(event)
        except self.jvm.JavaError:
            return wire.rejected()
        return seen + [{"type": "recycled"}] * (self.freed - before)

    # The builder

    def on_append(self, event: wire.Json) -> wire.Observations:
        data = bytes.fromhex(wire.get_hex(event, "data"))
        if self.closed:
            return wire.rejected()
        taken = self.builder.append(self.buffers.wrap(self.buffers.byte_array(data)))
        return [{"type": "written", "bytes": int(taken)}]

    def on_commit(self, _event: wire.Json) -> wire.Observations:
        if self.closed:
            return wire.rejected()
        self.builder.commit()
        return []

    def on_finish(self, _event: wire.Json) -> wire.Observations:
        return wire.rejected() if self.closed else [{"type": "written", "bytes": int(self.builder.finish())}]

    def on_close_builder(self, _event: wire.Json) -> wire.Observations:
        if self.closed:
            return wire.rejected()
        self.builder.close()
        self.closed = True
        return []

    def on_consume(self, _event: wire.Json) -> wire.Observations:
        if self.closed:
            return wire.rejected()
        self.consumers.append(Consumer(self.builder.createBufferConsumerFromBeginning()))
        return []

    # The consumers

    def on_copy(self, consumer: Consumer) -> wire.Observations:
        if consumer.closed:
            return wire.rejected()
        self.consumers.append(Consumer(consumer.consumer.copy()))
        return []

    def on_inspect(self, consumer: Consumer) -> wire.Observations:
        if consumer.closed:
            return wire.rejected()
        one = consumer.consumer
        return [{"type": "knowledge", "finished": bool(one.isFinished()), "unread": bool(one.isDataAvailable())}]

    def on_build(self, consumer: Consumer) -> wire.Observations:
        if consumer.closed:
            return wire.rejected()
        built = consumer.consumer.build()
        consumer.slices.append(built)
        return [{"type": "slice", "data": self.buffers.read(built).hex()}]

    def on_recycle(self, consumer: Consumer) -> wire.Observations:
        if not consumer.slices:
            return wire.rejected()
        consumer.slices.pop(0).recycleBuffer()
        return []

    def on_close(self, consumer: Consumer) -> wire.Observations:
        if consumer.closed:
            return wire.rejected()
        consumer.consumer.close()
        consumer.closed = True
        return []
