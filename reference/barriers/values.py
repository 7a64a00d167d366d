"""The values of the barrier handler: its config, state, events and observations."""

from enum import StrEnum
from typing import Annotated, Any, ClassVar

import attrs

from tidegate.reference import elements
from tidegate.reference.elements import (
    Checkpoint,
    Index,
    Long,
    Position,
    at_least,
    check_checkpoint,
    check_long,
    one_of,
)
from tidegate.reference.model import InvalidInputError

#: Before any checkpoint.
NONE = Long(-1)
LATE_TIMERS = "late_timers"
MEASURES = "measures"
CLOSING = "closing"
EXTENSIONS = (LATE_TIMERS, MEASURES, CLOSING)

# --- config ---------------------------------------------------------------------------------------------------


class Kind(StrEnum):
    ALIGNED = "aligned"
    AT_LEAST_ONCE = "at_least_once"
    UNALIGNED = "unaligned"
    ALTERNATING = "alternating"


def check_timeout(config: "Config", _attribute: "attrs.Attribute[Any]", value: int | None) -> None:
    if (value is None) == (config.kind is Kind.ALTERNATING):
        raise InvalidInputError("timeout belongs to kind alternating, and to no other")
    if value is not None and value < 1:
        raise InvalidInputError(f"timeout must be at least 1, not {value}")


@attrs.frozen
class Config:
    """`finished_channels`: a channel that has ended counts as aligned. `timeout` is that of the alignment, in ms.

    With the extension `late_timers` time may pass by `delay`; with `measures` it is told what an alignment took; with
    `closing` the handler may be closed.
    """

    kind: Annotated[Kind, "What the handler does about channels that are ahead."]
    channels: elements.Parts = attrs.field(validator=at_least(1))
    finished_channels: Annotated[
        bool,
        "Whether a channel that has ended counts as aligned; otherwise its end gives up what is pending.",
    ]
    timeout: Annotated[
        elements.Count | None,
        "Of the alignment, in ms. Always there with kind `alternating`, and only then.",
    ] = attrs.field(default=None, validator=check_timeout)
    extension: Annotated[
        str | None,
        "With `late_timers` there are events `delay`; with `measures` there are events `processed` and `measure`; "
        "with `closing` there is `close`. Only for engines that declare it.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*EXTENSIONS)))


# --- events ---------------------------------------------------------------------------------------------------


class Mode(StrEnum):
    """How a barrier wants to be treated: aligned, aligned until a time-out, unaligned."""

    ALIGNED = "aligned"
    TIMEOUT = "timeout"
    UNALIGNED = "unaligned"


@attrs.frozen
class Barrier:
    """A barrier is read on a channel. `created` is when its checkpoint was begun, in ms."""

    type: ClassVar[str] = "barrier"
    channel: Index
    checkpoint: Checkpoint = attrs.field(validator=check_checkpoint)
    mode: Annotated[
        Mode,
        "How the barrier is to be treated. `unaligned` only where the kind is `unaligned` or `alternating`; "
        "elsewhere it is a `bad_request` error.",
    ]
    created: Annotated[Long, "When its checkpoint was begun, in ms."] = attrs.field(validator=check_long)


@attrs.frozen
class Announcement:
    """A barrier that may time out has arrived on a channel, with this sequence number, and waits there in its place."""

    type: ClassVar[str] = "announcement"
    channel: Index
    checkpoint: Checkpoint = attrs.field(validator=check_checkpoint)
    sequence: Annotated[int, "The sequence number of the barrier in its channel."]
    created: Annotated[Long, "When its checkpoint was begun, in ms."] = attrs.field(validator=check_long)


@attrs.frozen
class Cancel:
    """A checkpoint is said to be cancelled."""

    type: ClassVar[str] = "cancel"
    channel: Index
    checkpoint: Checkpoint = attrs.field(validator=check_checkpoint)


@attrs.frozen
class EndOfPartition:
    """A channel ends."""

    type: ClassVar[str] = "end_of_partition"
    channel: Index


@attrs.frozen
class Advance:
    """Time passes; a timer that is due then fires. The clock starts at 0."""

    type: ClassVar[str] = "advance"
    milliseconds: Annotated[Position, "How much."] = attrs.field(validator=at_least(0))


@attrs.frozen
class Delay:
    """Extension `late_timers`. Time passes while the task is busy: no timer fires. One that is due then fires with the
    next `advance`, if there is still a reason.
    """

    type: ClassVar[str] = "delay"
    milliseconds: Annotated[Position, "How much."] = attrs.field(validator=at_least(0))


@attrs.frozen
class Processed:
    """Extension `measures`. Bytes were processed."""

    type: ClassVar[str] = "processed"
    bytes: Annotated[Position, "How many."] = attrs.field(validator=at_least(0))


@attrs.frozen
class Measure:
    """Extension `measures`. Somebody asks what was measured."""

    type: ClassVar[str] = "measure"


@attrs.frozen
class Close:
    """The task closes the handler. A timer that is on its way comes all the same. With the extension `closing`."""

    type: ClassVar[str] = "close"


Event = Barrier | Announcement | Cancel | EndOfPartition | Advance | Delay | Processed | Measure | Close

# --- observations ---------------------------------------------------------------------------------------------


class Reason(StrEnum):
    SUBSUMED = "subsumed"
    CANCELLED = "cancelled"
    END_OF_PARTITION = "end_of_partition"


@attrs.frozen
class Block:
    """Nothing more is read of the channel."""

    type: ClassVar[str] = "block"
    channel: Index


@attrs.frozen
class Resume:
    """The channel may go on. Several in one step are a set, shown in ascending order."""

    type: ClassVar[str] = "resume"
    channel: Index


@attrs.frozen
class Trigger:
    """The task takes its part of the checkpoint now."""

    type: ClassVar[str] = "trigger"
    checkpoint: Checkpoint
    aligned: Annotated[bool, "Whether all channels were aligned."]


@attrs.frozen
class Abort:
    """The checkpoint is given up."""

    type: ClassVar[str] = "abort"
    checkpoint: Checkpoint
    reason: Annotated[Reason, "Why."]


@attrs.frozen
class StartPersisting:
    """From now on all channels keep what belongs to the checkpoint."""

    type: ClassVar[str] = "start_persisting"
    checkpoint: Checkpoint


@attrs.frozen
class StopPersisting:
    """Saving for the checkpoint ends."""

    type: ClassVar[str] = "stop_persisting"
    checkpoint: Checkpoint


@attrs.frozen
class Prioritize:
    """The announced barrier is made to overtake. Several in one step are a set, shown by ascending channel."""

    type: ClassVar[str] = "prioritize"
    channel: Index
    sequence: Annotated[int, "The sequence number of the barrier in its channel."]


@attrs.frozen
class Measured:
    """Extension `measures`. What was measured, in ms and bytes."""

    type: ClassVar[str] = "measured"
    alignment: Annotated[Position, "Of the alignment that is under way, or of the latest."]
    start_delay: Annotated[Long, "From the creation of the checkpoint to the beginning of its alignment."]
    duration: Annotated[
        Position | None,
        "Of the alignment of the checkpoint that was triggered last; not there before it is known.",
    ] = None
    bytes: Annotated[Position | None, "What was processed during that alignment; not there before it is known."] = None


Observation = Block | Resume | Trigger | Abort | StartPersisting | StopPersisting | Prioritize | Measured

# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Timer:
    """When the alignment of the present checkpoint times out."""

    due: int


@attrs.frozen
class Settled:
    duration: int
    bytes: int


@attrs.frozen
class Measures:
    """`since` is when the alignment that is under way began, that of `checkpoint`. `latest` is what is known of it or
    of the one before; the checkpoint that was triggered last `shares` that, or has its own.
    """

    since: int | None = None
    checkpoint: int = NONE
    start_delay: int = 0
    processed: int = 0
    latest: Settled | None = None
    shares: bool = False
    triggered: Settled | None = None


@attrs.frozen
class Alignment:
    """The state of the handlers that know one checkpoint at a time: all but at least once.

    `done` is the last checkpoint that was completed or given up, `aligned` are the channels that count as aligned,
    `target` is how many must. `blocked` are the channels that go on when it ends. `unaligned` is whether the
    checkpoint overtakes, `collecting` whether a barrier was read. `first` is the barrier or announcement that began
    the checkpoint. `announced` pairs channels with sequence numbers.
    """

    config: Config
    now: int = 0
    ended: frozenset[int] = frozenset()
    current: Long = NONE
    done: Long = NONE
    aligned: frozenset[int] = frozenset()
    target: int = 0
    blocked: frozenset[int] = frozenset()
    announced: tuple[tuple[int, int], ...] = ()
    unaligned: bool = False
    collecting: bool = False
    first: Barrier | None = None
    timer: Timer | None = None
    measures: Measures = Measures()
    closed: bool = False


@attrs.frozen
class Count:
    """The channels on which the barrier of a checkpoint was read, and how many there must be."""

    checkpoint: Long
    channels: frozenset[int]
    target: int
    aborted: bool = False


@attrs.frozen
class Tracking:
    """The state of at least once: the checkpoints that are not complete, oldest first, and the latest one begun.

    Only what is measured needs the clock.
    """

    config: Config
    ended: frozenset[int] = frozenset()
    pending: tuple[Count, ...] = ()
    latest: Long = NONE
    now: int = 0
    measures: Measures = Measures()
    closed: bool = False


State = Alignment | Tracking
