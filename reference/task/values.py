"""The values of a task: its config, state, events and observations."""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.elements import (
    Counted,
    Index,
    Long,
    Parts,
    Position,
    Watermark,
    at_least,
    check_long,
    one_of,
)
from tidegate.reference.task.execution_states import TaskState

INVOKABLE = "invokable"
FINAL = "final_checkpoint"
EXTENSIONS = (INVOKABLE, FINAL)
#: Before every checkpoint.
NO_CHECKPOINT = Long(-1)

#: What the thread does, in order; the state that is entered before a step, where one is.
STEPS = (
    "load_code",
    "register_network",
    "copy_files",
    "build_environment",
    "instantiate",
    "restore",
    "invoke",
    "finish_partitions",
)
CLEAN_UP = "clean_up"
# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """With the extension `invokable` the code of the task cleans up, and is asked for checkpoints and for room.

    With `final_checkpoint` checkpoints go on when tasks have finished, and the task waits for its last one.
    """

    operators: Annotated[Parts, "How many operators the chain has."] = attrs.field(validator=at_least(1))
    outputs: Annotated[Position, "How many outputs the task has.", Counted.PARTS] = attrs.field(validator=at_least(0))
    extension: Annotated[
        str | None,
        "With `invokable` the code of the task cleans up in steps of its own, and there are events `trigger` and "
        "`ask_for_room`. With `final_checkpoint` the task waits for its last checkpoint, and there are events "
        "`begin_checkpoint`, `complete_checkpoint` and `abort_checkpoint`. Only for engines that declare it.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*EXTENSIONS)))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Checkpoints:
    """What a task knows of checkpoints. `first` is the first that it began behind the end of its data.

    `savepoint` is the one with which the job is to stop, `completed` the last of which it was told that it is complete,
    and `is_final` says that this was the one for which the task waits.
    """

    first: Long | None = None
    savepoint: Long | None = None
    completed: Long = NO_CHECKPOINT
    is_final: bool = False


@attrs.frozen
class State:
    """`steps` is how many steps the thread has taken, None before it starts; `over` is set when it has ended.

    `cleaning` is set while the code of a task that has come to a bad end cleans up; `untold` if it is told to stop
    then.
    """

    config: Config
    state: TaskState = TaskState.CREATED
    steps: int | None = None
    over: bool = False
    cleaning: bool = False
    untold: bool = False
    data_ended: bool = False
    acknowledged: frozenset[int] = frozenset()
    checkpoints: Checkpoints = Checkpoints()


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Start:
    """The thread of the task starts."""

    type: ClassVar[str] = "start"


@attrs.frozen
class Proceed:
    """The thread takes its next step, or comes to its end."""

    type: ClassVar[str] = "proceed"


@attrs.frozen
class Throw:
    """The thread's present step ends with an exception: one that says it was cancelled, or any other."""

    type: ClassVar[str] = "throw"
    cancelled: Annotated[bool, "Whether the exception says that the task was cancelled."]


SeenState = Annotated[
    TaskState,
    "The state that the other thread saw before it acts. `scheduled` and `reconciling` are refused.",
]


@attrs.frozen
class Cancel:
    """Another thread, which saw the state `seen`, cancels the task."""

    type: ClassVar[str] = "cancel"
    seen: SeenState


@attrs.frozen
class FailExternally:
    """Another thread, which saw the state `seen`, lets the task fail."""

    type: ClassVar[str] = "fail"
    seen: SeenState


@attrs.frozen
class EndOfData:
    """All channels of the input have ended their data, with drain or without."""

    type: ClassVar[str] = "end_of_data"
    drain: Annotated[bool, "Whether it comes with drain."]


@attrs.frozen
class Acknowledge:
    """The consumers of an output have processed everything up to its end of data."""

    type: ClassVar[str] = "acknowledge"
    output: Annotated[Index, "The number of the output, from 0. One out of range is rejected."]


class Reply(StrEnum):
    """What the code of a task makes of a checkpoint: it is taken, refused, fails; or nobody listens any more."""

    TAKEN = "taken"
    REFUSED = "refused"
    FAILED = "failed"
    CLOSING = "closing"


@attrs.frozen
class TriggerCheckpoint:
    """A checkpoint is asked for. With the extension `invokable`."""

    type: ClassVar[str] = "trigger"
    reply: Annotated[
        Reply,
        "What the code of the task would make of it: it is taken, refused, fails; or nobody listens any more.",
    ]


@attrs.frozen
class AskForRoom:
    """The task is asked whether it is held up. With the extension `invokable`."""

    type: ClassVar[str] = "ask_for_room"
    has_room: Annotated[bool, "Whether its outputs have room."]


@attrs.frozen
class BeginCheckpoint:
    """The task takes its part of a checkpoint. Extension `final_checkpoint`."""

    type: ClassVar[str] = "begin_checkpoint"
    checkpoint: Annotated[Long, "Its number."] = attrs.field(validator=check_long)
    stops: Annotated[bool, "Whether it is a savepoint with which the job is to stop."]


@attrs.frozen
class CompleteCheckpoint:
    """The task is told that a checkpoint is complete. Extension `final_checkpoint`."""

    type: ClassVar[str] = "complete_checkpoint"
    checkpoint: Annotated[Long, "Its number."] = attrs.field(validator=check_long)


@attrs.frozen
class AbortCheckpoint:
    """The task is told that a checkpoint was given up. Extension `final_checkpoint`."""

    type: ClassVar[str] = "abort_checkpoint"
    checkpoint: Annotated[Long, "Its number."] = attrs.field(validator=check_long)
    completed: Annotated[Long, "The last checkpoint that is complete; 0 if there is none."] = attrs.field(
        validator=check_long
    )


OfInvokable = TriggerCheckpoint | AskForRoom
OfFinal = BeginCheckpoint | CompleteCheckpoint | AbortCheckpoint
Event = Start | Proceed | Throw | Cancel | FailExternally | EndOfData | Acknowledge | OfInvokable | OfFinal

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Changed:
    """The state is another one now."""

    type: ClassVar[str] = "state"
    state: Annotated[TaskState, "The new state."]


@attrs.frozen
class Lost:
    """A race was lost: the state was not the one seen, but this one."""

    type: ClassVar[str] = "lost"
    state: Annotated[TaskState, "The state that it was."]


@attrs.frozen
class StepTaken:
    """The thread takes a step."""

    type: ClassVar[str] = "step"
    name: Annotated[str, "What the thread does.", one_of(*STEPS, CLEAN_UP)]


@attrs.frozen
class InvokableCancelled:
    """The code of the task is told to stop."""

    type: ClassVar[str] = "cancel_invokable"


@attrs.frozen
class OperatorFinished:
    """An operator is finished, by its place in the chain."""

    type: ClassVar[str] = "finish"
    operator: Position


@attrs.frozen
class DataEnded:
    """End of data is sent on an output."""

    type: ClassVar[str] = "end_of_data"
    output: Position
    drain: Annotated[bool, "Whether it comes with drain."]


@attrs.frozen
class PartitionEnded:
    """End of partition is sent on an output."""

    type: ClassVar[str] = "end_of_partition"
    output: Position


@attrs.frozen
class Released:
    """Everything the task held is given back."""

    type: ClassVar[str] = "released"


@attrs.frozen
class Reported:
    """The final state is reported."""

    type: ClassVar[str] = "final"
    state: Annotated[TaskState, "The final state."]


class Reason(StrEnum):
    NOT_READY = "not_ready"
    CLOSING = "closing"
    FAILURE = "failure"


@attrs.frozen
class CheckpointDeclined:
    """The checkpoint is declined, and why."""

    type: ClassVar[str] = "declined"
    reason: Annotated[Reason, "Why the checkpoint is declined."]


@attrs.frozen
class BackPressured:
    """Whether the task is held up by its outputs."""

    type: ClassVar[str] = "back_pressured"
    value: Annotated[bool, "The task is held up by its output."]


@attrs.frozen
class WriterClosed:
    """The writer of channel state is closed."""

    type: ClassVar[str] = "writer_closed"


Observation = (
    Changed
    | Lost
    | StepTaken
    | InvokableCancelled
    | Watermark
    | OperatorFinished
    | DataEnded
    | PartitionEnded
    | Released
    | Reported
    | CheckpointDeclined
    | BackPressured
    | WriterClosed
)
