"""What recovered channels take, show and remember."""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.elements import (
    Checkpoint,
    Index,
    Long,
    Parts,
    Position,
    at_least,
    check_checkpoint,
    one_of,
)
from tidegate.reference.input.saving import NONE, Saving

#: A checkpoint during recovery is declined; 2.3 with checkpoints during recovery; and 2.4 with them.
SEMANTICS = ("flink-2.3", "flink-39018", "flink-39521")
DECLINED, HANDED_OVER, MARKED = SEMANTICS

# --- config ---------------------------------------------------------------------------------------------------


class Location(StrEnum):
    """Where the producers run: on this machine their queue is read itself, from others things are sent."""

    LOCAL = "local"
    REMOTE = "remote"


@attrs.frozen
class Config:
    """A gate with several channels, whose producers all run here or all elsewhere."""

    channels: Parts = attrs.field(validator=at_least(1))
    location: Annotated[Location, "Where the producers run."]
    semantics: Annotated[
        str,
        "Checkpoints during recovery: declined (the default), as 2.3 takes them (`flink-39018`), as 2.4 does "
        "(`flink-39521`).",
    ] = attrs.field(default=DECLINED, validator=one_of(*SEMANTICS))


# --- state ----------------------------------------------------------------------------------------------------


class Kind(StrEnum):
    """What is read. The last two end recovered state, and mark in it where a checkpoint cuts (2.4)."""

    DATA = "data"
    EVENT = "event"
    BARRIER = "barrier"
    RECOVERY_COMPLETION = "recovery_completion"
    END_OF_STATE = "end_of_state"
    MARK = "mark"


class Next(StrEnum):
    """What a reader is told of what comes next."""

    NONE = "none"
    DATA = "data"
    EVENT = "event"
    PRIORITY = "priority"
    RECOVERY_COMPLETION = "recovery_completion"


@attrs.frozen
class Item:
    """`checkpoint` is that of a barrier or mark; `sequence` the place among what a remote producer has sent."""

    kind: Kind
    number: int
    checkpoint: Long = NONE
    sequence: int = 0


@attrs.frozen
class Channel:
    """`recovered` is the state that was not read yet; `ahead` overtakes; `queue` has come in; `unsent` has not.

    A local channel has no queue: it reads what is unsent. `given` and `written` count buffers of recovered state and
    what the producer wrote; `arrived` counts what has come in. `consumed`: all recovered state was read. `announced`:
    the producer wrote that its recovery is complete; `complete`: that was read.
    """

    recovered: tuple[Item, ...] = ()
    ahead: tuple[Item, ...] = ()
    queue: tuple[Item, ...] = ()
    unsent: tuple[Item, ...] = ()
    given: int = 0
    written: int = 0
    arrived: int = 0
    consumed: bool = False
    announced: bool = False
    complete: bool = False
    blocked: bool = False
    saving: Saving = attrs.field(factory=Saving)


@attrs.frozen
class State:
    """`finished`: all recovered state was given. `live`: the partitions were asked for. `stopped`: the checkpoint that
    was stopped last before that.
    """

    config: Config
    channels: tuple[Channel, ...]
    finished: bool = False
    live: bool = False
    stopped: Long = NONE


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Recovered:
    """A buffer of the saved state of a channel is given to it."""

    type: ClassVar[str] = "recovered"
    channel: Index


@attrs.frozen
class Finish:
    """All saved state was given to the channels."""

    type: ClassVar[str] = "finish"


@attrs.frozen
class Convert:
    """The partitions are asked for: the channels become live."""

    type: ClassVar[str] = "convert"


@attrs.frozen
class Data:
    """The producer of a channel writes a buffer."""

    type: ClassVar[str] = "data"
    channel: Index


@attrs.frozen
class PlainEvent:
    """The producer writes an event that is nothing special."""

    type: ClassVar[str] = "event"
    channel: Index


@attrs.frozen
class Complete:
    """The producer writes that what it had saved is all written."""

    type: ClassVar[str] = "complete"
    channel: Index


@attrs.frozen
class Barrier:
    """The producer writes a barrier, which overtakes."""

    type: ClassVar[str] = "barrier"
    channel: Index
    checkpoint: Checkpoint = attrs.field(validator=check_checkpoint)


@attrs.frozen
class Poll:
    """The next item of a channel is taken. If there is none, nothing is polled."""

    type: ClassVar[str] = "poll"
    channel: Index


@attrs.frozen
class Mark:
    """A checkpoint marks its place in the recovered state of every channel. Only `flink-39521`."""

    type: ClassVar[str] = "mark"
    checkpoint: Checkpoint = attrs.field(validator=check_checkpoint)


@attrs.frozen
class Start:
    """The task has begun the checkpoint: all channels start to save."""

    type: ClassVar[str] = "start"
    checkpoint: Checkpoint = attrs.field(validator=check_checkpoint)


@attrs.frozen
class Stop:
    """The checkpoint has all its barriers, or is given up: all channels stop saving."""

    type: ClassVar[str] = "stop"
    checkpoint: Checkpoint = attrs.field(validator=check_checkpoint)


Event = Recovered | Finish | Convert | Data | PlainEvent | Complete | Barrier | Poll | Mark | Start | Stop

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Polled:
    """What was taken, whether it was recovered, its number, and what is said to come next."""

    type: ClassVar[str] = "polled"
    kind: Annotated[
        Kind,
        "`recovery_completion` is the producer's end of recovery, `end_of_state` that of the channel's own saved "
        "state; the number of the latter, and of a mark, is that of the saved buffers given so far.",
    ]
    recovered: Annotated[bool, "Whether it is of the saved state."]
    number: Annotated[Position, "Its number."]
    next: Annotated[Next, "What comes next; `priority` is a barrier."]


@attrs.frozen
class Consumed:
    """All recovered state of the channel was read."""

    type: ClassVar[str] = "consumed"
    channel: Position


@attrs.frozen
class Ready:
    """The partitions may be asked for."""

    type: ClassVar[str] = "ready"


@attrs.frozen
class Resumed:
    """The producer of the channel may go on behind the end of its recovery."""

    type: ClassVar[str] = "resumed"
    channel: Position


@attrs.frozen
class Saved:
    """Data of a channel becomes part of a checkpoint: buffers of recovered state, and what was sent."""

    type: ClassVar[str] = "saved"
    channel: Position
    checkpoint: Checkpoint
    recovered: Annotated[tuple[Position, ...], "Buffers of saved state."]
    sent: Annotated[tuple[Position, ...], "What the producer sent."]


@attrs.frozen
class Declined:
    """The checkpoint fails: this channel is not ready for it. The channels behind it are not started."""

    type: ClassVar[str] = "declined"
    channel: Position


@attrs.frozen
class Subsumed:
    """The checkpoint fails: on this channel a newer one is known. The channels behind it are not started."""

    type: ClassVar[str] = "subsumed"
    channel: Position


Observation = Polled | Consumed | Ready | Resumed | Saved | Declined | Subsumed
