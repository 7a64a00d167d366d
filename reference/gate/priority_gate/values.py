"""What the gate with priorities takes, shows and remembers."""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.elements import Index, Nothing, Parts, Position, at_least, between, one_of
from tidegate.reference.gate.gate import Available, Finished, Poll
from tidegate.reference.gate.sequence_numbers import GREATEST_INT, LEAST_INT

CLOSING = "closing"
EXTENSIONS = (CLOSING,)

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """`subpartitions` share each channel; `first` is the sequence number of the first item of each channel.

    With the extension `closing` the gate may be closed, and is asked which channels have not ended.
    """

    channels: Parts = attrs.field(validator=at_least(1))
    subpartitions: Annotated[
        Parts,
        "How many subpartitions share each channel: a channel is over when the end of the partition has come for "
        "each of them.",
    ] = attrs.field(default=1, validator=at_least(1))
    first: Annotated[
        int,
        "The sequence number of the first item of each channel. Numbers have 32 bits and wrap around.",
    ] = attrs.field(default=0, validator=between(LEAST_INT, GREATEST_INT))
    extension: Annotated[
        str | None,
        "With `closing` there are events `close` and `ask_unfinished`. Only for engines that declare it.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*EXTENSIONS)))


# --- state ----------------------------------------------------------------------------------------------------


class Item(StrEnum):
    DATA = "data"
    END_OF_DATA = "end_of_data"
    END_OF_PARTITION = "end_of_partition"
    PRIORITY = "priority"  # the barrier of an unaligned checkpoint
    BARRIER = "barrier"  # an aligned barrier that may time out
    ANNOUNCEMENT = "announcement"  # of such a barrier


#: What overtakes.
OVERTAKING = (Item.PRIORITY, Item.ANNOUNCEMENT)
#: What arrives: an announcement is made by the channel.
ARRIVING = tuple(item for item in Item if item is not Item.ANNOUNCEMENT)


@attrs.frozen
class Received:
    item: Item
    sequence: int


@attrs.frozen
class Channel:
    """What waits, that with priority first; the next number; how many endings have arrived, polled or not.

    `polled` is the number of the last item with priority that was polled; before that the least there is.
    """

    expected: int
    waiting: tuple[Received, ...] = ()
    polled: int = LEAST_INT
    data_ends: int = 0
    ends: int = 0


@attrs.frozen
class State:
    """The queue of channels in its two parts, and whether each of the two futures is completed."""

    config: Config
    channels: tuple[Channel, ...]
    urgent: tuple[int, ...] = ()
    queue: tuple[int, ...] = ()
    available: bool = False
    priority_available: bool = False
    closed: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Arrive:
    """An item arrives on a channel."""

    type: ClassVar[str] = "arrive"
    channel: Index
    item: Annotated[
        Item,
        "`priority` is the barrier of an unaligned checkpoint, `barrier` an aligned barrier that may time out. "
        "Announcements do not arrive: the channel makes them.",
    ] = attrs.field(validator=one_of(*ARRIVING))


@attrs.frozen
class Notify:
    """A channel says that it has something, whether or not it has."""

    type: ClassVar[str] = "notify"
    channel: Index


@attrs.frozen
class NotifyPriority:
    """A channel says that its item with this sequence number has priority."""

    type: ClassVar[str] = "notify_priority"
    channel: Index
    sequence: Annotated[int, "The sequence number of the item."] = attrs.field(
        validator=between(LEAST_INT, GREATEST_INT)
    )


@attrs.frozen
class Force:
    """A channel wants to be first, whatever was polled before."""

    type: ClassVar[str] = "force"
    channel: Index


@attrs.frozen
class Close:
    """Another thread closes the gate; a second time nothing happens. With the extension `closing`."""

    type: ClassVar[str] = "close"


@attrs.frozen
class AskUnfinished:
    """Somebody asks which channels have not come to their end. With the extension `closing`."""

    type: ClassVar[str] = "ask_unfinished"


OfClosing = Close | AskUnfinished
Event = Arrive | Notify | NotifyPriority | Force | Poll | OfClosing

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Polled:
    """An item is handed out; whether another poll would give one, and whether a channel with priority waits."""

    type: ClassVar[str] = "item"
    channel: Position
    item: Annotated[Item, "What it is."]
    more: Annotated[bool, "Whether another poll would give an item."]
    more_priority: Annotated[bool, "Whether a channel with priority waits."]


@attrs.frozen
class PriorityAvailable:
    """Something with priority waits, after nothing did."""

    type: ClassVar[str] = "priority_available"


@attrs.frozen
class Cancelled:
    """Who polls is told that the gate is closed. With the extension `closing`."""

    type: ClassVar[str] = "cancelled"


@attrs.frozen
class Unfinished:
    """These channels have not ended. With the extension `closing`."""

    type: ClassVar[str] = "unfinished"
    channels: Annotated[tuple[Position, ...], "In ascending order."]


Observation = Available | PriorityAvailable | Polled | Nothing | Finished | Cancelled | Unfinished
