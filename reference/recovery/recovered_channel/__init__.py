"""Channels that come back from a checkpoint: what was saved of them is read before anything that is sent anew.

While recovered state is given and read, the producers have restored their own: what they saved goes ahead of new data,
and behind it an event says that this is complete. It blocks their end of the channel, until the consumer has that event
of every channel. So nobody is far ahead of somebody who is still recovering.

Choices. RecoveredInputChannel, LocalInputChannel, RemoteInputChannel, PipelinedSubpartition and UpstreamRecoveryTracker
of Flink 2.3. What a producer writes can be read at once, or is in the remote channel at once. Recovered buffers of a
channel are numbered from 0, and so is what its producer writes. What the producer itself saves is not looked at. A
checkpoint is triggered when all tasks run, so that no barrier comes before the partitions were asked for.

On the wire. Buffers of saved state are numbered from 0 for each channel, and so is all that its producer writes.
"""

from tidegate.reference.model import Component
from tidegate.reference.recovery.recovered_channel import claims, step, values

COMPONENT = Component.of(__name__, values, step, claims, title="Recovered channels")
