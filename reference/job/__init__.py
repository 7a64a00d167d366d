"""A whole job under a scheduler that may do anything at any time.

A program becomes a job graph, its chains become tasks, tasks become subtasks, edges become channels, and elements
travel through all of it. Every machine on the way is one of the other components; nothing here decides what a
watermark does or where a record goes. Each event is one choice of the scheduler: which source goes on, which task
polls, which message arrives. So a run can be replayed from its choices, and the choices of a small job can be
enumerated. Every run is finite, since each choice uses something up.

Choices. A job runs at one of two levels of detail. Without a wire its tasks share a machine, and what is written can
be polled at once; the order in which tasks get to run is all that is left to choose. With a wire there are bytes,
buffers, credit and backpressure too. Rebalance begins at its first channel. A task stops only between two turns: what
it writes in one turn finds room, even beyond its share of buffers. Timers fire one by one, each a choice of its own, so
that anything may happen in between. In a job that is restored, a source whose script has no barrier ends before the
checkpoint; who triggers checkpoints waits for that.

On the wire. The program becomes a job graph, its chains become tasks, tasks become subtasks, edges become channels.
Each event is one choice of the scheduler; one that is not possible now is rejected. What is seen are the rows of
the run log, in order. The protocol page says how subtasks and channels are numbered, and what a record is on the
wire.
"""

from tidegate.reference.job import exactly_once, programs, states, step
from tidegate.reference.model import Component

COMPONENT = Component.of(__name__, programs, states, step, exactly_once, title="A whole job")
