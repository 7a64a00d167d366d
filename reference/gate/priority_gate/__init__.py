"""The gate with priorities: what overtakes, and notifications that come late or for nothing.

A barrier of an unaligned checkpoint must not wait behind data. Within its channel it stands before all that has no
priority, and its channel is moved to the front of the gate's queue; both keep the order among those with priority. An
aligned barrier that may time out is announced that way and keeps its own place. Threads race, so a notification may
come when its item was polled already; it carries the sequence number of the item, by which the gate sees that.

Choices. `SingleInputGate` and `RemoteInputChannel`; without priorities it is `gate`, which a law checks. Notifications
of their own are events here, as another thread may send them at any time. Sequence numbers are 32 bits and wrap around;
`first` is that of the first item, so that a short trace can get there. What would arrive at a gate that is closed is
refused: its channels are released (GATE-24). Notifications may still come.

On the wire. An item with priority stands before all items without in its channel, and its channel before all others
in the queue of the gate. An aligned barrier is announced with priority and keeps its own place. Notifications come
from other threads: they may be late, or for nothing.
"""

from tidegate.reference.gate import sequence_numbers
from tidegate.reference.gate.priority_gate import step, values
from tidegate.reference.model import Component

COMPONENT = Component.of(__name__, values, step, sequence_numbers, title="The gate with priorities")
