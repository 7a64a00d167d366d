"""The pipelined subpartition: the queue between one producer and one reader, who run at the same time.

The producer adds buffers, at times open ones, and events; the reader polls. The reader is woken sparingly: by the item
that makes it possible to go on and by a flush of a single buffer, not by every item. An aligned barrier holds back
what lies behind it until the reader resumes; a priority event overtakes everything, such a hold included.

Choices. Flink 2.3: PipelinedSubpartition and its view. The producer keeps to one open buffer, which is the last thing
queued: it is finished before anything but a priority event is added. Whoever asks for the view wakes itself (SUBP-16).
"""

from tidegate.reference.model import Component
from tidegate.reference.subpartition.subpartition import claims, step, values

COMPONENT = Component.of(__name__, values, step, claims, title="The pipelined subpartition")
