"""The sending end of credit: `PartitionRequestQueue` on an embedded channel of Netty, over a real subpartition.

The channel runs its tasks on demand, so that the effects of one event show before the next one.
"""

from collections.abc import Callable
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.partitions import NETWORK, Partition, has_partitions
from tidegate.conformance.engines.flink.jvm import Jvm

_NETTY = NETWORK + "netty."
_READER = _NETTY + "CreditBasedSequenceNumberingViewReader"
_QUEUE = _NETTY + "PartitionRequestQueue"
_SHADED = "org.apache.flink.shaded.netty4.io.netty.channel."
_ADDITIONS = ("data", "event", "barrier", "finish")


def declare(jvm: Jvm) -> wire.Json | None:
    """Backlogs are announced since 1.14."""
    known = has_partitions(jvm) and jvm.has(_QUEUE, "addCreditOrResumeConsumption")
    return {} if known and jvm.has(_NETTY + "NettyMessage$BacklogAnnouncement") else None


class CreditSender:
    def __init__(self, jvm: Jvm, initial_credit: int) -> None:
        self._jvm = jvm
        owner = Partition(jvm, buffer_size=8, buffers_per_channel=initial_credit)
        self._subpartition = owner.subpartition
        self._queue = jvm.new(_QUEUE)
        handlers = jvm.jpype.JArray(jvm.cls(_SHADED + "ChannelHandler"))([self._queue])
        self._channel = jvm.cls(_SHADED + "embedded.EmbeddedChannel")(handlers)
        self._id = jvm.cls(NETWORK + "partition.consumer.InputChannelID")()
        self._reader = jvm.new(_READER, self._id, jvm.integer(initial_credit), self._queue)
        self._request(owner.partition)
        self._is_writable = True
        self._events = jvm.cls(NETWORK + "api.serialization.EventSerializer")
        self._event = jvm.cls(NETWORK + "api.EndOfSuperstepEvent").INSTANCE
        options = jvm.cls("org.apache.flink.runtime.checkpoint.CheckpointOptions").forCheckpointWithDefaultLocation()
        self._barrier = jvm.cls(NETWORK + "api.CheckpointBarrier")(1, 0, options)
        self._take()

    def _request(self, partition: Any) -> None:
        """Let the reader find the subpartition, with the API of the version."""
        jvm = self._jvm
        view = {"createSubpartitionView": lambda _partition, _index, listener: self._view(listener)}
        if jvm.has(_READER, "notifySubpartitionsCreated"):
            indices = jvm.cls(NETWORK + "partition.ResultSubpartitionIndexSet")(0)
            jvm.call(self._reader, "notifySubpartitionsCreated", partition, indices)
        elif jvm.has(_READER, "notifySubpartitionCreated"):
            jvm.call(self._reader, "notifySubpartitionCreated", partition, jvm.integer(0))
        else:
            provider = jvm.implement(NETWORK + "partition.ResultPartitionProvider", view)
            identity = partition.getPartitionId()
            jvm.call(self._reader, "requestSubpartitionView", provider, identity, jvm.integer(0))
            jvm.call(self._queue, "notifyReaderCreated", self._reader)

    def _view(self, listener: Any) -> Any:
        return self._subpartition.createReadView(listener)

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind in _ADDITIONS:
            return self._add(str(kind))
        if kind == "flush":
            self._subpartition.flush()
        elif kind == "credit":
            amount = wire.get_integer(event, "amount")
            if amount < 1:
                return wire.rejected()
            self._tell(lambda reader: self._jvm.call(reader, "addCredit", self._jvm.integer(amount)))
        elif kind == "resume":
            if not self._jvm.field(self._subpartition, "isBlocked"):
                return wire.rejected()
            self._tell(lambda reader: self._jvm.call(reader, "resumeConsumption"))
        elif kind == "writable":
            self._set_writable(is_writable=wire.get_boolean(event, "value"))
        else:
            raise wire.unknown_type(event)
        return self._take()

    def _add(self, kind: str) -> wire.Observations:
        if self._jvm.field(self._subpartition, "isFinished"):
            return wire.rejected()
        if kind == "data":
            self._subpartition.add(self._make_data(), 0)
        elif kind == "event":
            self._subpartition.add(self._events.toBufferConsumer(self._event, False), 0)
        elif kind == "barrier":
            self._subpartition.add(self._events.toBufferConsumer(self._barrier, False), 0)
        else:
            self._subpartition.finish()
        return self._take()

    def _make_data(self) -> Any:
        """A buffer that was finished before it was read."""
        jvm = self._jvm
        segment = jvm.cls("org.apache.flink.core.memory.MemorySegmentFactory").allocateUnpooledSegment(8)
        recycler = jvm.cls(NETWORK + "buffer.FreeingBufferRecycler").INSTANCE
        builder = jvm.cls(NETWORK + "buffer.BufferBuilder")(segment, recycler)
        builder.appendAndCommit(jvm.cls("java.nio.ByteBuffer").allocate(4))
        builder.finish()
        return builder.createBufferConsumerFromBeginning()

    def _tell(self, operation: Callable[[Any], Any]) -> None:
        consumer = self._jvm.implement("java.util.function.Consumer", {"accept": operation})
        self._jvm.call(self._queue, "addCreditOrResumeConsumption", self._id, consumer)

    def _set_writable(self, *, is_writable: bool) -> None:
        if is_writable != self._is_writable:
            self._is_writable = is_writable
            self._channel.unsafe().outboundBuffer().setUserDefinedWritability(1, is_writable)

    def _take(self) -> wire.Observations:
        """The messages sent."""
        self._channel.runPendingTasks()
        shown: wire.Observations = []
        while (message := self._channel.readOutbound()) is not None:
            name = str(message.getClass().getSimpleName())
            if name not in ("BufferResponse", "BacklogAnnouncement"):
                raise RuntimeError(f"the queue sent {name}: {message}")
            backlog = int(self._jvm.field(message, "backlog"))
            if name == "BacklogAnnouncement":
                shown.append({"type": "backlog", "backlog": backlog})
                continue
            buffer = self._jvm.field(message, "buffer")
            kind = "data" if buffer.isBuffer() else "event"
            sequence = int(self._jvm.field(message, "sequenceNumber"))
            shown.append({"type": "send", "kind": kind, "sequence": sequence, "backlog": backlog})
            buffer.recycleBuffer()
        return shown

    def close(self) -> None:
        self._jvm.call(self._reader, "releaseAllResources")
        self._channel.close()


def make(jvm: Jvm, config: wire.Json) -> CreditSender:
    return CreditSender(jvm, wire.get_at_least(config, "initial_credit", 0))
