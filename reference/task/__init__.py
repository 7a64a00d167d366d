"""A task: the states it passes through, who may change them, and how it ends.

One thread takes the task through its steps, from loading its code to the end of its output. Others may cancel it or
let it fail at any time. Nobody holds a lock: whoever wants to change the state says which state it saw, and loses if
it is no longer that one. So the thread notices at its next step that it is not wanted any more.

Where checkpoints go on when tasks have finished, a task does not end before a checkpoint has all that it did (the
extension `final_checkpoint`).

Choices. Task of Flink 1.14 and later (the task manager's copy of the state), StreamTask for the end of the input. Each
step of the thread is one event. What another thread saw before it acts is part of its event, so that lost races are
seen. The task waits for its consumers before it ends its output (it may be told not to; this one is not).
"""

from tidegate.reference.model import Component
from tidegate.reference.task import execution_states, step, submission, values

COMPONENT = Component.of(__name__, values, step, execution_states, submission, title="The task")
