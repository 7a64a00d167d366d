"""A real pipelined partition with one subpartition, whose memory comes from no pool.

Flink's own pools allocate all their memory at once and let writers wait when it is used up. Here a buffer is made when
it is asked for, of exactly the size that a case wants, so that a record may span as many as it likes.
"""

from typing import Any

from conformance.flink.jvm import Jvm

NETWORK = "org.apache.flink.runtime.io.network."
PARTITION = NETWORK + "partition."
PIPELINED = PARTITION + "PipelinedResultPartition"
SUBPARTITION = PARTITION + "PipelinedSubpartition"
_MOST = 2**31 - 1


def has_partitions(jvm: Jvm) -> bool:
    return jvm.has(PIPELINED, "emitRecord") and jvm.has(SUBPARTITION, "pollBuffer")


class Partition:
    """The partition, set up, with its only subpartition."""

    def __init__(self, jvm: Jvm, buffer_size: int, buffers_per_channel: int = 2) -> None:
        self._jvm = jvm
        self._buffer_size = buffer_size
        subpartitions = jvm.jpype.JArray(jvm.cls(PARTITION + "ResultSubpartition"))(1)
        supplier = {"get": self._make_pool}
        self.partition = jvm.assemble(
            PIPELINED,
            {
                "String": ["producer"],
                "int": [jvm.integer(0), jvm.integer(1)],
                "ResultPartitionID": [jvm.cls(PARTITION + "ResultPartitionID")()],
                "ResultPartitionType": [jvm.cls(PARTITION + "ResultPartitionType").PIPELINED_BOUNDED],
                "ResultSubpartition[]": [subpartitions],
                "ResultPartitionManager": [jvm.cls(PARTITION + "ResultPartitionManager")()],
                "SupplierWithException": [
                    jvm.implement("org.apache.flink.util.function.SupplierWithException", supplier)
                ],
            },
        )
        sizes = [jvm.integer(0), jvm.integer(buffers_per_channel), jvm.integer(_MOST)]
        self.subpartition = jvm.assemble(SUBPARTITION, {"int": sizes, "ResultPartition": [self.partition]})
        subpartitions[0] = self.subpartition
        self.partition.setup()

    def _make_pool(self) -> Any:
        jvm = self._jvm
        allocate = jvm.cls("org.apache.flink.core.memory.MemorySegmentFactory").allocateUnpooledSegment
        recycler = jvm.cls(NETWORK + "buffer.FreeingBufferRecycler").INSTANCE
        builder = jvm.cls(NETWORK + "buffer.BufferBuilder")

        def make_buffer(*_channel: Any) -> Any:
            return builder(allocate(self._buffer_size), recycler)

        handlers = {
            "requestBufferBuilder": make_buffer,
            "requestBufferBuilderBlocking": make_buffer,
            "getNumberOfRequiredMemorySegments": lambda: 1,
            "isDestroyed": lambda: False,
            "getAvailableFuture": lambda: jvm.cls("org.apache.flink.runtime.io.AvailabilityProvider").AVAILABLE,
        }
        return jvm.implement(NETWORK + "buffer.BufferPool", handlers)
