"""The result partition and the manager that knows it: who may write, who may read, and when it goes away.

A producer sets its partition up under an id; consumers ask the manager for views by that id, and whoever comes too
early is refused, or told later (by a manager that has not shut down: that one tells nobody). A pipelined partition
lives as long as somebody uses it: every one of its readers, and the writer. A blocking one lives until its owner
releases it.

Choices. One id and one manager; after a release another attempt may be set up under the same id. Buffers are large
enough for whatever is emitted. A writer that is closed or has failed writes nothing more. Blocking subpartitions use
the mapped file. Flink: ResultPartitionManager, PipelinedResultPartition, BoundedBlockingResultPartition.

On the wire. Subpartitions of a `blocking` partition use a mapped file. Views are numbered from 0 in the order in
which they were given.
"""

from tidegate.reference.model import Component
from tidegate.reference.subpartition.result_partition import claims, step, union, values

COMPONENT = Component.of(__name__, values, step, claims, union, title="The result partition and its manager")
