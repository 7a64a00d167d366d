"""The pipelined subpartition: `PipelinedSubpartition`, its view, and buffers that a `BufferBuilder` fills.

The adapter is the producer that keeps the contract: it has at most one open buffer and finishes it before it adds
anything but a priority event. Flink decides whether an item is accepted, who is notified and what a poll gives.
"""

from functools import cache
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters import buffer_parts
from tidegate.conformance.engines.flink.jvm import Jvm

#: The name of the end of recovered state: since 2.2, and before.
RECOVERY = tuple(
    f"{buffer_parts.NETWORK}partition.consumer.EndOf{name}StateEvent" for name in ("OutputChannel", "Channel")
)
#: The result of `add` when it refuses.
REFUSED = -1


def declare(jvm: Jvm) -> wire.Json | None:
    knows_sizes = jvm.has(f"{buffer_parts.NETWORK}partition.ResultSubpartitionView", "notifyNewBufferSize")
    known = {str(one.name()) for one in jvm.cls(f"{buffer_parts.NETWORK}buffer.Buffer$DataType").values()}
    return {} if knows_sizes and known >= set(buffer_parts.KINDS) else None


def make(jvm: Jvm, config: wire.Json) -> "Subpartition":
    config = {"exclusive": 2, "size_hint": 2**31 - 1, **config}
    return Subpartition(jvm, wire.get_at_least(config, "exclusive", 0), wire.get_at_least(config, "size_hint", 0))


@cache
def parent_of(jvm: Jvm) -> Any:
    return buffer_parts.make_parent(
        jvm, jvm.jpype.JArray(jvm.cls(f"{buffer_parts.NETWORK}partition.ResultSubpartition"))(1)
    )


class Listener:
    """The reader as the subpartition knows it: a listener to notify."""

    def __init__(self) -> None:
        self.seen: wire.Observations = []

    def notifyDataAvailable(self, *_view: Any) -> None:  # noqa: N802 - Java's name
        self.seen.append({"type": "data_available"})

    def notifyPriorityEvent(self, sequence: Any) -> None:  # noqa: N802
        self.seen.append({"type": "priority_available", "sequence": int(sequence)})


class Subpartition:
    def __init__(self, jvm: Jvm, exclusive: int, size_hint: int) -> None:
        self.jvm, self.buffers, self.events = jvm, buffer_parts.buffers_of(jvm), buffer_parts.events_of(jvm)
        self.queue = buffer_parts.make_subpartition(jvm, 0, exclusive, size_hint, parent_of(jvm))
        self.listener = Listener()
        self.java_listener = jvm.jpype.JProxy(
            f"{buffer_parts.NETWORK}partition.BufferAvailabilityListener", inst=self.listener
        )
        self.view: Any = None
        self.open: Any = None
        self.handlers = {
            "buffer": self.on_buffer,
            "append": self.on_append,
            "finish_buffer": self.on_finish_buffer,
            "event": self.on_event,
            "flush": self.on_flush,
            "finish": self.on_finish,
            "release": self.on_release,
            "view": self.on_view,
            "poll": self.on_poll,
            "query": self.on_query,
            "resume": self.on_resume,
            "size": self.on_size,
        }

    def step(self, event: wire.Json) -> wire.Observations:
        handler = self.handlers.get(event.get("type", ""))
        if handler is None:
            raise wire.unknown_type(event)
        self.listener.seen = []
        return handler(event)

    def close(self) -> None:
        self.queue.release()

    # The producer

    def on_buffer(self, event: wire.Json) -> wire.Observations:
        data, finished = bytes.fromhex(wire.get_hex(event, "data")), wire.get_boolean(event, "finished")
        if self.open is not None:
            return wire.rejected()
        builder = self.buffers.open(data)
        if finished:
            builder.finish()
        seen = self.add(builder.createBufferConsumerFromBeginning())
        if not finished and seen != wire.rejected():
            self.open = builder
        return seen

    def on_append(self, event: wire.Json) -> wire.Observations:
        data = bytes.fromhex(wire.get_hex(event, "data"))
        if self.open is None:
            return wire.rejected()
        self.buffers.append(self.open, data)
        return self.listener.seen

    def on_finish_buffer(self, _event: wire.Json) -> wire.Observations:
        if self.open is None:
            return wire.rejected()
        self.open.finish()
        self.open = None
        return self.listener.seen

    def on_event(self, event: wire.Json) -> wire.Observations:
        kinds = ("event", "end_of_data", "barrier", "recovery_completion", "aligned_watermark", "priority")
        kind = wire.get_choice(event, "kind", kinds)
        if self.open is not None and kind != "priority":
            return wire.rejected()
        return self.add(self.make_event(kind))

    def make_event(self, kind: str) -> Any:
        events = self.events
        if kind == "aligned_watermark":
            consumer = self.jvm.cls(f"{buffer_parts.NETWORK}buffer.BufferConsumer")
            return consumer(self.buffers.network_buffer(bytes(8), "ALIGNED_WATERMARK_EVENT"), 8)
        if kind == "priority":
            announcement = self.jvm.cls(f"{buffer_parts.NETWORK}api.EventAnnouncement")(events.barrier(), 3)
            return self.buffers.to_consumer(announcement, True)
        made = {
            "event": events.cancel_class(3),
            "end_of_data": events.end_of_data,
            "barrier": events.barrier(),
            "recovery_completion": self.jvm.cls(next(filter(self.jvm.has, RECOVERY))).INSTANCE,
        }
        return self.buffers.to_consumer(made[kind], False)

    def add(self, consumer: Any) -> wire.Observations:
        size_hint = int(self.queue.add(consumer, 0))
        if size_hint == REFUSED:
            return wire.rejected()
        return [{"type": "added", "size_hint": size_hint}, *self.listener.seen]

    def on_flush(self, _event: wire.Json) -> wire.Observations:
        self.queue.flush()
        return self.listener.seen

    def on_finish(self, _event: wire.Json) -> wire.Observations:
        if self.open is not None:
            return wire.rejected()
        before = int(self.queue.unsynchronizedGetNumberOfQueuedBuffers())
        self.queue.finish()
        added = int(self.queue.unsynchronizedGetNumberOfQueuedBuffers()) - before
        return self.listener.seen if added else wire.rejected()

    def on_release(self, _event: wire.Json) -> wire.Observations:
        self.queue.release()
        self.open = None
        return self.listener.seen

    # The reader

    def on_view(self, _event: wire.Json) -> wire.Observations:
        try:
            self.view = self.queue.createReadView(self.java_listener)
        except self.jvm.JavaError:
            return wire.rejected()
        return self.listener.seen

    def on_poll(self, _event: wire.Json) -> wire.Observations:
        if self.view is None:
            return wire.rejected()
        found = self.view.getNextBuffer()
        if found is None:
            return [{"type": "none"}]
        buffer = found.buffer()
        kind = self.buffers.kind_of(buffer.getDataType())
        item: wire.Json = {
            "type": "item",
            "kind": kind,
            "data": self.buffers.read(buffer).hex() if kind == "data" else "",
        }
        item["backlog"] = int(found.buffersInBacklog())
        item["next"] = self.buffers.kind_of(found.getNextDataType())
        item["sequence"] = int(found.getSequenceNumber())
        buffer.recycleBuffer()
        return [item]

    def on_query(self, event: wire.Json) -> wire.Observations:
        credit = wire.get_boolean(event, "credit")
        if self.view is None:
            return wire.rejected()
        found = self.view.getAvailabilityAndBacklog(credit)
        return [{"type": "availability", "available": bool(found.isAvailable()), "backlog": int(found.getBacklog())}]

    def on_resume(self, _event: wire.Json) -> wire.Observations:
        return self.ask("resumeConsumption")

    def on_size(self, event: wire.Json) -> wire.Observations:
        return self.ask("notifyNewBufferSize", wire.get_integer(event, "size"))

    def ask(self, method: str, *arguments: Any) -> wire.Observations:
        if self.view is None:
            return wire.rejected()
        try:
            getattr(self.view, method)(*arguments)
        except self.jvm.JavaError:
            return wire.rejected()
        return self.listener.seen
