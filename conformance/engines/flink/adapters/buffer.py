"""The network buffer: `BufferBuilder`, `BufferConsumer` and the slices that it builds.

The adapter is the recycler, so it sees when the memory is free. Whoever has let go of the memory does nothing more
with it: that is refused here.
"""

from typing import Any

from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK, buffers_of
from tidegate.conformance.engines.flink.jvm import Jvm
from tidegate.conformance.engines.wire import (
    Json,
    Observations,
    get_at_least,
    get_hex,
    get_integer,
    rejected,
    unknown_type,
)

BUILDER = f"{NETWORK}buffer.BufferBuilder"


def declare(jvm: Jvm) -> Json | None:
    """Builders are closed since 1.14; before, the memory went with the last slice."""
    return {} if jvm.has(BUILDER, "close") and jvm.has(BUILDER, "commit") else None


def make(jvm: Jvm, config: Json) -> "Buffer":
    return Buffer(jvm, get_at_least(config, "capacity", 1))


class Consumer:
    """A consumer, and the slices that it gave and that were not recycled."""

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

    def step(self, event: Json) -> Observations:
        kind, before = event.get("type", ""), self.freed
        try:
            if kind in self.writing:
                seen = self.writing[kind](event)
            elif kind in self.reading:
                index = get_integer(event, "consumer")
                known = 0 <= index < len(self.consumers)
                seen = self.reading[kind](self.consumers[index]) if known else rejected()
            else:
                raise unknown_type(event)
        except self.jvm.JavaError:
            return rejected()
        return seen + [{"type": "recycled"}] * (self.freed - before)

    # The builder

    def on_append(self, event: Json) -> Observations:
        data = bytes.fromhex(get_hex(event, "data"))
        if self.closed:
            return rejected()
        taken = self.builder.append(self.buffers.wrap(self.buffers.byte_array(data)))
        return [{"type": "written", "bytes": int(taken)}]

    def on_commit(self, _event: Json) -> Observations:
        if self.closed:
            return rejected()
        self.builder.commit()
        return []

    def on_finish(self, _event: Json) -> Observations:
        return rejected() if self.closed else [{"type": "written", "bytes": int(self.builder.finish())}]

    def on_close_builder(self, _event: Json) -> Observations:
        if self.closed:
            return rejected()
        self.builder.close()
        self.closed = True
        return []

    def on_consume(self, _event: Json) -> Observations:
        if self.closed:
            return rejected()
        self.consumers.append(Consumer(self.builder.createBufferConsumerFromBeginning()))
        return []

    # The consumers

    def on_copy(self, consumer: Consumer) -> Observations:
        if consumer.closed:
            return rejected()
        self.consumers.append(Consumer(consumer.consumer.copy()))
        return []

    def on_inspect(self, consumer: Consumer) -> Observations:
        if consumer.closed:
            return rejected()
        one = consumer.consumer
        return [{"type": "knowledge", "finished": bool(one.isFinished()), "unread": bool(one.isDataAvailable())}]

    def on_build(self, consumer: Consumer) -> Observations:
        if consumer.closed:
            return rejected()
        built = consumer.consumer.build()
        consumer.slices.append(built)
        return [{"type": "slice", "data": self.buffers.read(built).hex()}]

    def on_recycle(self, consumer: Consumer) -> Observations:
        if not consumer.slices:
            return rejected()
        consumer.slices.pop(0).recycleBuffer()
        return []

    def on_close(self, consumer: Consumer) -> Observations:
        if consumer.closed:
            return rejected()
        consumer.consumer.close()
        consumer.closed = True
        return []
