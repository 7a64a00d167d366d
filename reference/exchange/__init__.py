"""Push and pull: when the result of one task may be read by another, how often, and who throws it away.

A pushed (pipelined) result is read while it is produced, by one consumer, and is used up by reading. A pulled
(blocking) result is read when it is complete, as often as is wanted. In between there are results that are written
down and may be read early. "Push" means only that the consumer is told: each item moves because the consumer pulls it
and has credit for it.

Choices. One subpartition, of which every buffer is finished when it is added. The table of types is that of Flink 2.3
(ResultPartitionType); a hybrid result is read from where it is kept, whichever tier that is.

On the wire. There is one subpartition, and every buffer is finished when it is added.
"""

from tidegate.reference.exchange import claims, step, values
from tidegate.reference.model import Component

COMPONENT = Component.of(__name__, values, claims, step, title="Push and pull exchange")
