"""A real pipelined partition with one or more subpartitions, whose memory comes from no pool.

Flink's own pools allocate all their memory at once and block writers when it is used up. Here a buffer is made on
request, of exactly the size in the case, so that a record may span any number of them.
"""

from collections.abc import Callable
from typing import Any

from tidegate.conformance.engines.flink.jvm import Jvm

NETWORK = "org.apache.flink.runtime.io.network."
PARTITION = NETWORK + "partition."
PIPELINED = PARTITION + "PipelinedResultPartition"
SUBPARTITION = PARTITION + "PipelinedSubpartition"
_MOST = 2**31 - 1


def has_partitions(jvm: Jvm) -> bool:
    return jvm.has(PIPELINED, "emitRecord") and jvm.has(SUBPARTITION, "pollBuffer")


class Partition:
    """The partition with its subpartitions; `subpartition` is the first. Requests for buffers can be observed.

    Its id and its manager are new ones, unless they are given. It is set up here, unless the caller
    does that.
    """

    def __init__(
        self,
        jvm: Jvm,
        buffer_size: int,
        buffers_per_channel: int = 2,
        channels: int = 1,
        on_request: Callable[[], None] = lambda: None,
        identity: Any = None,
        manager: Any = None,
        *,
        is_set_up: bool = True,
    ) -> None:
        self._jvm = jvm
        self._buffer_size = buffer_size
        self._channels = channels
        self._on_request = on_request
        #: what the pool reports; it gives buffers all the same
        self.has_buffers = True
        subpartitions = jvm.jpype.JArray(jvm.cls(PARTITION + "ResultSubpartition"))(channels)
        supplier = {"get": self._make_pool}
        self.partition = jvm.assemble(
            PIPELINED,
            {
                "String": ["producer"],
                "int": [jvm.integer(0), jvm.integer(1)],
                "ResultPartitionID": [identity or jvm.cls(PARTITION + "ResultPartitionID")()],
                "ResultPartitionType": [jvm.cls(PARTITION + "ResultPartitionType").PIPELINED_BOUNDED],
                "ResultSubpartition[]": [subpartitions],
                "ResultPartitionManager": [manager or jvm.cls(PARTITION + "ResultPartitionManager")()],
                "SupplierWithException": [
                    jvm.implement("org.apache.flink.util.function.SupplierWithException", supplier)
                ],
            },
        )
        for index in range(channels):
            sizes = [jvm.integer(index), jvm.integer(buffers_per_channel), jvm.integer(_MOST)]
            subpartitions[index] = jvm.assemble(SUBPARTITION, {"int": sizes, "ResultPartition": [self.partition]})
        self.subpartitions = list(subpartitions)
        self.subpartition = self.subpartitions[0]
        if is_set_up:
            self.partition.setup()

    def _make_pool(self) -> Any:
        jvm = self._jvm
        allocate = jvm.cls("org.apache.flink.core.memory.MemorySegmentFactory").allocateUnpooledSegment
        recycler = jvm.cls(NETWORK + "buffer.FreeingBufferRecycler").INSTANCE
        builder = jvm.cls(NETWORK + "buffer.BufferBuilder")

        def make_buffer(*_channel: Any) -> Any:
            self._on_request()
            return builder(allocate(self._buffer_size), recycler)

        exhausted = jvm.cls("java.util.concurrent.CompletableFuture")()
        available = jvm.cls("org.apache.flink.runtime.io.AvailabilityProvider").AVAILABLE

        handlers = {
            "requestBufferBuilder": make_buffer,
            "requestBufferBuilderBlocking": make_buffer,
            "getNumberOfRequiredMemorySegments": lambda: self._channels,
            "isDestroyed": lambda: False,
            "getAvailableFuture": lambda: available if self.has_buffers else exhausted,
        }
        return jvm.implement(NETWORK + "buffer.BufferPool", handlers)
