"""Virtual channels: several old connections that are read from one channel, each as if it were alone.

After a restore with other subtasks a channel carries what was saved of several old connections. Before each buffer
comes the name of its connection, so that a record that was cut into buffers finds its other half. Where an old
consumer has several heirs, each gets everything and keeps the records of its own keys. The reader behind sees one
channel: its watermark is the lowest of all, and it is idle when all are.

Choices. DemultiplexingRecordDeserializer and VirtualChannel of Flink 2.3, each buffer read to its end. Records are
their keys, and those of other partitioners than hash are left out. So are latency markers and attributes of records:
2.3.0 drops them here, which changes no result.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import (
    MIN,
    MOST_CONSUMERS,
    Counted,
    Index,
    Length,
    Long,
    Position,
    Status,
    StatusChange,
    Text,
    Watermark,
    at_least,
    between,
)
from tidegate.reference.model import Component, Outcome, rejected
from tidegate.reference.partitioning.keygroups import compute_key_group, compute_owner
from tidegate.reference.partitioning.keys import check_text, compute_string_hash
from tidegate.reference.recovery.rescaling import MOST_SUBTASKS
from tidegate.reference.tuples import replace

#: More subtasks than this no case is about.
MOST_PARALLELISM = 1024

#: The numbers of different subtasks.
NUMBERS = attrs.validators.deep_iterable(at_least(0), Length(most=MOST_SUBTASKS, distinct=True))

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """The old consumers that a subtask restores, the old producers behind its channel, the old consumers that others
    restore, too; its own number, and how keys are dealt out now.
    """

    old_consumers: Annotated[tuple[Position, ...], "The old consumers that the task restores."] = attrs.field(
        validator=NUMBERS
    )
    old_producers: Annotated[tuple[Position, ...], "The old producers behind the channel."] = attrs.field(
        validator=NUMBERS
    )
    filtered: Annotated[tuple[Position, ...], "The old consumers that other tasks restore, too."] = attrs.field(
        validator=NUMBERS
    )
    subtask: Annotated[
        Position,
        "The number of the task among the consumers. If there are fewer, no key belongs to it.",
    ] = attrs.field(validator=at_least(0))
    parallelism: Annotated[int, "How many consumers there are.", Counted.SUBTASKS] = attrs.field(
        validator=between(1, MOST_PARALLELISM)
    )
    max_parallelism: Annotated[int, "The number of key groups."] = attrs.field(validator=between(1, MOST_CONSUMERS))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Channel:
    """A virtual channel: its last watermark, its status, and the record of which a half was read."""

    subtask: int
    channel: int
    watermark: Long = MIN
    status: Status = Status.ACTIVE
    begun: str | None = None


@attrs.frozen
class State:
    config: Config
    channels: tuple[Channel, ...]
    selected: int | None = None


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Record:
    """A record of this key."""

    type: ClassVar[str] = "record"
    key: Annotated[Text, "Its key, a string."] = attrs.field(validator=check_text)


Element = Record | Watermark | StatusChange


@attrs.frozen
class SelectChannel:
    """What follows was saved of the connection of this old consumer and this old producer."""

    type: ClassVar[str] = "select"
    subtask: Annotated[Index, "The old consumer."]
    channel: Annotated[Index, "The old producer."]


@attrs.frozen
class ReadBuffer:
    """A buffer comes and is read to its end: the rest of a record, if it begins with one; whole elements; and the first
    half of a record, if it ends with one.
    """

    type: ClassVar[str] = "buffer"
    rest: Annotated[bool, "Whether it begins with the rest of the record that the last buffer of its connection began."]
    elements: Annotated[tuple[Element, ...], "The whole elements in it."]
    begun: Annotated[
        Text | None,
        "The key of a record of which the first half is at the end of the buffer, if there is one. Where a half "
        "ends is up to the engine.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(check_text))


Event = SelectChannel | ReadBuffer
Observation = Record | Watermark | StatusChange
Seen = Outcome[State, Observation]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """VIRT-1: one for each old consumer with each old producer."""
    pairs = ((subtask, channel) for subtask in config.old_consumers for channel in config.old_producers)
    return (State(config, tuple(Channel(*pair) for pair in pairs)),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Seen, ...]:
    if isinstance(event, SelectChannel):
        return select(state, event)
    if state.selected is None:
        return rejected(state, "VIRT-1")
    channel = state.channels[state.selected]
    if event.rest != (channel.begun is not None):
        return rejected(state, "VIRT-2")
    elements = event.elements if channel.begun is None else (Record(channel.begun), *event.elements)
    rules = ["VIRT-1"] if channel.begun is None else ["VIRT-2"]
    seen: list[Observation] = []
    for element in elements:
        state, shown, rule = take(state, element)
        seen += shown
        rules.append(rule)
    channel = attrs.evolve(state.channels[event_channel(state)], begun=event.begun)
    return (Outcome(with_channel(state, channel), tuple(seen), tuple(dict.fromkeys(reversed(rules)))),)


def select(state: State, event: SelectChannel) -> tuple[Seen, ...]:
    names = [(one.subtask, one.channel) for one in state.channels]
    if (event.subtask, event.channel) not in names:
        return rejected(state, "VIRT-1")
    at = names.index((event.subtask, event.channel))
    return (Outcome(attrs.evolve(state, selected=at), (), ("VIRT-1",)),)


def take(state: State, element: Element) -> tuple[State, Iterator[Observation], str]:
    """The state afterwards, what the reader behind sees of the element, and the rule that says so."""
    channel = state.channels[event_channel(state)]
    match element:
        case Record():
            is_kept = channel.subtask not in state.config.filtered or is_own(state.config, element.key)
            return state, iter((element,) * is_kept), "VIRT-3"
        case Watermark():
            state = with_channel(state, attrs.evolve(channel, watermark=element.timestamp))
            lowest = min(one.watermark for one in state.channels)
            return state, iter((Watermark(lowest),) * (lowest != MIN)), "VIRT-4"
        case StatusChange():
            state = with_channel(state, attrs.evolve(channel, status=element.status))
            is_active = any(one.status is Status.ACTIVE for one in state.channels)
            return state, iter((StatusChange(Status.ACTIVE if is_active else Status.IDLE),)), "VIRT-5"


def is_own(config: Config, key: str) -> bool:
    """VIRT-3: the record would be sent to this subtask now."""
    group = compute_key_group(compute_string_hash(key), config.max_parallelism)
    return compute_owner(group, config.parallelism, config.max_parallelism) == config.subtask


def event_channel(state: State) -> int:
    assert state.selected is not None
    return state.selected


def with_channel(state: State, channel: Channel) -> State:
    return attrs.evolve(state, channels=replace(state.channels, event_channel(state), channel))


# --- claims ---------------------------------------------------------------------------------------------------


@always("VIRT-4")
def no_watermark_beyond_any_channel(_before: State, _event: Event, outcome: Seen) -> bool:
    """Once all was read, no virtual channel is behind the last watermark that was shown."""
    shown = [one.timestamp for one in outcome.observations if isinstance(one, Watermark)]
    return not shown or min(one.watermark for one in outcome.state.channels) >= shown[-1]


@always("VIRT-5")
def idle_when_all_are(_before: State, _event: Event, outcome: Seen) -> bool:
    """The last status that was shown is idle only if no virtual channel is active."""
    shown = [one.status for one in outcome.observations if isinstance(one, StatusChange)]
    some_active = any(one.status is Status.ACTIVE for one in outcome.state.channels)
    return not shown or (shown[-1] is Status.ACTIVE) == some_active


@always("VIRT-3")
def records_keep_their_order(before: State, event: Event, outcome: Seen) -> bool:
    """What is shown of the records of a buffer are some of them, in their order; all, where nothing is filtered."""
    if not isinstance(event, ReadBuffer) or before.selected is None:
        return True
    channel = before.channels[before.selected]
    given = [*([channel.begun] if event.rest else []), *(one.key for one in event.elements if isinstance(one, Record))]
    shown = [one.key for one in outcome.observations if isinstance(one, Record)]
    left = iter(given)
    is_filtered = channel.subtask in before.config.filtered or (event.rest != (channel.begun is not None))
    return all(key in left for key in shown) and (is_filtered or len(shown) == len(given))


@always("VIRT-2")
def others_are_left_alone(before: State, _event: Event, outcome: Seen) -> bool:
    """No event changes a virtual channel that is not selected."""
    pairs = zip(before.channels, outcome.state.channels, strict=True)
    return all(one == other for at, (one, other) in enumerate(pairs) if at != before.selected)


@sometimes("VIRT-2")
def a_record_is_cut_by_another_connection(before: State, event: Event, _outcome: Seen) -> bool:
    """A virtual channel is read while a record of another one waits for its rest."""
    if not isinstance(event, ReadBuffer):
        return False
    return any(one.begun is not None for at, one in enumerate(before.channels) if at != before.selected)


@sometimes("VIRT-3")
def a_record_is_left_to_another_heir(_before: State, event: Event, outcome: Seen) -> bool:
    """A whole record is read, and not shown."""
    return (
        isinstance(event, ReadBuffer)
        and any(isinstance(one, Record) for one in event.elements)
        and not (outcome.observations)
    )


@sometimes("VIRT-4")
def a_watermark_waits_for_others(_before: State, event: Event, outcome: Seen) -> bool:
    """A watermark is read while another virtual channel has none."""
    is_read = isinstance(event, ReadBuffer) and any(isinstance(one, Watermark) for one in event.elements)
    return is_read and any(one.watermark == MIN for one in outcome.state.channels)


COMPONENT = Component.of(__name__, title="Virtual channels")
