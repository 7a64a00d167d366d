"""The saved state of an output: `PipelinedSubpartition`, its view, and a writer of channel state that shows its input.

The writer gets a future, which is checked after each step. Buffers differ by their size.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters import buffer_parts
from tidegate.conformance.engines.flink.adapters.subpartition import REFUSED, parent_of
from tidegate.conformance.engines.flink.jvm import Jvm

SUBPARTITION = f"{buffer_parts.NETWORK}partition.PipelinedSubpartition"
WRITER = "org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter"


def declare(jvm: Jvm) -> wire.Json | None:
    """Barriers time out in outputs since 1.17."""
    return {} if jvm.has(SUBPARTITION, "alignedBarrierTimeout") and jvm.has(WRITER, "addOutputDataFuture") else None


class OutputState:
    def __init__(self, jvm: Jvm) -> None:
        self._jvm = jvm
        self._buffers, self._events = buffer_parts.buffers_of(jvm), buffer_parts.events_of(jvm)
        self._queue = buffer_parts.make_subpartition(jvm, 0, 2, 2**31 - 1, parent_of(jvm))
        handlers = {"addOutputData": self._on_data, "addOutputDataFuture": self._on_promise}
        self._queue.setChannelStateWriter(jvm.implement(WRITER, handlers))
        deaf = {"notifyDataAvailable": lambda *_view: None, "notifyPriorityEvent": lambda _sequence: None}
        listener = jvm.implement(f"{buffer_parts.NETWORK}partition.BufferAvailabilityListener", deaf)
        self._view = self._queue.createReadView(listener)
        self._promises: list[tuple[int, Any]] = []
        self._shown: wire.Observations = []
        self._written = 0
        self._serializer = jvm.cls(f"{buffer_parts.NETWORK}api.serialization.EventSerializer")
        self._options = jvm.cls("org.apache.flink.runtime.checkpoint.CheckpointOptions")
        self._reason = jvm.cls("org.apache.flink.runtime.checkpoint.CheckpointFailureReason").CHECKPOINT_DECLINED
        self._loader = jvm.cls("java.lang.ClassLoader").getSystemClassLoader()

    def _on_data(self, checkpoint: Any, _info: Any, _sequence: Any, buffers: Any) -> None:
        self._save(int(checkpoint), list(buffers))

    def _on_promise(self, checkpoint: Any, _info: Any, _sequence: Any, future: Any) -> None:
        self._promises.append((int(checkpoint), future))

    def _save(self, checkpoint: int, buffers: list[Any]) -> None:
        numbers = [int(buffer.getSize()) - 1 for buffer in buffers]
        for buffer in buffers:
            buffer.recycleBuffer()
        self._shown.append({"type": "saved", "checkpoint": str(checkpoint), "data": numbers})

    def _settle(self) -> None:
        """Show the futures that were completed or failed."""
        for promise in list(self._promises):
            checkpoint, future = promise
            if future.isDone():
                self._promises.remove(promise)
                if future.isCompletedExceptionally():
                    self._shown.append({"type": "saving_failed", "checkpoint": str(checkpoint)})
                else:
                    self._save(checkpoint, list(future.get()))

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        self._shown = []
        checkpoint = get_checkpoint(event) if kind in ("barrier", "timeout", "abort") else 0
        if kind in ("data", "event", "barrier"):
            if int(self._queue.add(self._make(kind, event, checkpoint), 0)) == REFUSED:
                return wire.rejected()
            self._written += kind == "data"
        elif kind == "timeout":
            self._queue.alignedBarrierTimeout(checkpoint)
        elif kind == "abort":
            cause = self._jvm.cls("org.apache.flink.runtime.checkpoint.CheckpointException")(self._reason)
            self._queue.abortCheckpoint(checkpoint, cause)
        elif kind == "resume":
            try:
                self._view.resumeConsumption()
            except self._jvm.jpype.JException:
                return wire.rejected()
        elif kind == "release":
            self._queue.release()
        elif kind == "measure":
            return [{"type": "queued", "count": int(self._queue.getNumberOfQueuedBuffers())}]
        elif kind != "poll":
            raise wire.unknown_type(event)
        found = self._poll() if kind == "poll" else []
        self._settle()
        return [*self._shown, *found]

    def _make(self, kind: str, event: wire.Json, checkpoint: int) -> Any:
        if kind == "data":
            builder = self._buffers.open(bytes(self._written + 1))
            builder.finish()
            return builder.createBufferConsumerFromBeginning()
        if kind == "event":
            superstep = self._jvm.cls(f"{buffer_parts.NETWORK}api.EndOfSuperstepEvent").INSTANCE
            return self._serializer.toBufferConsumer(superstep, False)
        unaligned = wire.get_boolean(event, "unaligned")
        place = (self._events.checkpoint, self._events.location)
        options = self._events.unaligned if unaligned else self._options.alignedWithTimeout(*place, 1)
        return self._serializer.toBufferConsumer(self._events.barrier_class(checkpoint, 0, options), unaligned)

    def _poll(self) -> wire.Observations:
        found = self._view.getNextBuffer()
        if found is None:
            return [{"type": "none"}]
        buffer = found.buffer()
        if buffer.isBuffer():
            seen: wire.Json = {"type": "data", "number": int(buffer.getSize()) - 1}
        else:
            read = self._serializer.fromBuffer(buffer, self._loader)
            seen = {"type": "event"}
            if hasattr(read, "getCheckpointOptions"):
                unaligned = bool(read.getCheckpointOptions().isUnalignedCheckpoint())
                seen = {"type": "barrier", "checkpoint": str(read.getId()), "unaligned": unaligned}
        buffer.recycleBuffer()
        return [seen]

    def close(self) -> None:
        self._queue.release()


def get_checkpoint(event: wire.Json) -> int:
    checkpoint = wire.get_long(event, "checkpoint")
    if checkpoint < 0:
        raise wire.BadRequestError(f"checkpoint must not be negative: {checkpoint}")
    return checkpoint


def make(jvm: Jvm, _config: wire.Json) -> OutputState:
    return OutputState(jvm)
