"""The bounded blocking subpartition: first all of it is written, then it is read, as often as anybody likes.

The producer's last buffer is kept until the next one comes, since more may be written into it; then it goes to the
store. After the end every reader gets a view of its own, which starts at the first buffer and ends with the end of the
partition, however many others there are. Reading uses nothing up: the data goes when the owner releases it and the
last view is gone.

Choices. Views are numbered from 0 in the order of requests; buffers of a view are recycled one at a time. A flush
writes even an open buffer, whose later bytes would be lost: the partition finishes it before (SUBP-26). The stores are
those of `stores`. With the extension `failures` the disk may fail, once and for all: an attempt to write is told to
have failed, and a buffer that was to be added then is still the producer's. Flink:
BoundedBlockingSubpartition and its two readers.

On the wire. Views are numbered from 0 in the order of requests; buffers of a view are recycled one at a time.
"""

from tidegate.reference.model import Component
from tidegate.reference.subpartition.blocking_subpartition import claims, step, stores, values

COMPONENT = Component.of(__name__, values, step, claims, stores, title="The bounded blocking subpartition")
