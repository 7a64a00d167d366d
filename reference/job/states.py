"""What a running job remembers, and what is seen of it.

The state is that of the machines it is made of: a gate, valves and a combiner for each subtask that reads, a
partitioner for each output, and for each channel either a queue or, on a wire, both ends of the credit loop with a
serializer before and a deserializer behind. What is seen are the rows of a run log, without their numbers.
"""

from typing import Annotated, Any, ClassVar

import attrs

from tidegate.reference.credit.credit_receiver import Credit, ResumeMessage
from tidegate.reference.credit.credit_receiver import State as Receiver
from tidegate.reference.credit.credit_sender import State as Sender
from tidegate.reference.credit.readers import Backlog, BufferSent
from tidegate.reference.elements import (
    CHANNEL_KINDS,
    Count,
    Direction,
    LogKind,
    Long,
    Position,
    Status,
    StatusChange,
    Text,
    Watermark,
    one_of,
)
from tidegate.reference.gate.gate import State as Gate
from tidegate.reference.job.event_time import Timed
from tidegate.reference.job.functions import Totals
from tidegate.reference.job.layout import Layout, Route, compute_layout, compute_restored_layout
from tidegate.reference.job.programs import Barrier, Config, Element, EndOfData, EndOfPartition, Record
from tidegate.reference.partitioning.partitioner import Partitioner
from tidegate.reference.partitioning.partitioner import State as Output
from tidegate.reference.spanning.deserializer.step import State as Deserializer
from tidegate.reference.spanning.serializer import State as Serializer
from tidegate.reference.tuples import replace
from tidegate.reference.watermarks.combiner import State as Combiner
from tidegate.reference.watermarks.valve import State as Valve

#: What lies in a channel: a buffer with bytes, or something that no buffer holds.
Payload = bytes | Element

# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen(cache_hash=True)
class Remote:
    """A channel between machines: both ends, and what is on the wire, both ways."""

    serializer: Serializer
    sender: Sender
    reader: Deserializer
    down: tuple[tuple[BufferSent | Backlog, Payload | None], ...] = ()
    up: tuple[Credit | ResumeMessage, ...] = ()


@attrs.frozen(cache_hash=True)
class Channel:
    """`unsent` is written and has not left the producer, `waiting` has arrived and was not polled.

    `blocked`: a barrier has left, and nothing follows until the consumer resumes (only without a wire, where there is
    no sender to know it). `overtaken` counts what waits behind a barrier that has overtaken it.
    """

    unsent: tuple[Payload, ...] = ()
    waiting: tuple[Payload, ...] = ()
    blocked: bool = False
    remote: Remote | None = None
    overtaken: int = 0


@attrs.frozen(cache_hash=True)
class Subtask:
    """`cursor` counts the script items done, `aligned` are the places in the gate where a barrier was met, `drained`
    counts the channels without more data, `made` the records that left the task. `timed` is what its first operator
    knows of event time, if it does.
    """

    outputs: tuple[Output, ...]
    gate: Gate | None = None
    receiver: Receiver | None = None
    valves: tuple[Valve, ...] = ()
    combiner: Combiner | None = None
    cursor: int = 0
    aligned: tuple[int, ...] = ()
    drained: int = 0
    made: int = 0
    totals: Totals = ()
    collected: tuple[tuple[str, Long], ...] = ()
    timed: Timed | None = None


@attrs.frozen(cache_hash=True)
class Snapshot:
    """The part of a subtask in a checkpoint. `in_flight` is what is saved of each channel of its gate.

    `open` are the places in the gate whose barrier is still to come; the part is taken when there are none, and all
    barriers were read: `done`.
    """

    cursor: int
    made: int
    totals: Totals
    collected: tuple[tuple[str, Long], ...]
    in_flight: tuple[tuple[Record, ...], ...] = ()
    open: tuple[int, ...] = ()
    done: bool = False


@attrs.frozen(cache_hash=True)
class Progress:
    """`parts` are those of the checkpoint under way, `complete` those of the one that can be restored."""

    parts: tuple[Snapshot | None, ...]
    complete: tuple[Snapshot, ...] | None = None
    restored: bool = False


@attrs.frozen
class State:
    """`progress` is that of a job that can be restored."""

    config: Config
    subtasks: tuple[Subtask, ...]
    channels: tuple[Channel, ...]
    progress: Progress | None = None

    @property
    def layout(self) -> Layout:
        is_restored = self.progress is not None and self.progress.restored
        return compute_restored_layout(self.config) if is_restored else compute_layout(self.config)


# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Logged:
    """A row of the run log: something was received or handed out, on a channel of the job. Where a column does not
    belong to a kind it is absent.
    """

    type: ClassVar[str] = "log"
    task: Annotated[str, "The name of the task: that of its vertex."]
    subtask: Annotated[Position, "The subtask of the task, from 0."]
    dir: Annotated[Direction, "Received by the subtask, or handed to an output."]
    edge: Annotated[Position, "The number of the edge, counting from 0 those between tasks."]
    producer: Annotated[Position, "The subtask of the task that writes the channel."]
    consumer: Annotated[Position, "The subtask of the task that reads it."]
    kind: Annotated[LogKind, "What the row is about. This component shows no latency markers.", one_of(*CHANNEL_KINDS)]
    timestamp: Annotated[Long | None, "Of a record or a watermark."] = None
    key: Annotated[str | None, "Of a record on a `hash` edge."] = None
    id: Annotated[
        Long | None,
        "Of a record: the number of records that left the subtask before, times the number of subtasks of the job, "
        "plus the number of the subtask in the job.",
    ] = None
    value: Annotated[
        Long | None,
        "Of a status: 1 active, 0 idle. Of a barrier: its checkpoint. Of a buffer: its bytes. Of credit: the amount.",
    ] = None


@attrs.frozen
class Overrun:
    """Data has arrived for which there is no buffer. A right engine never shows it."""

    type: ClassVar[str] = "overrun"
    channel: Annotated[Position, "The number of the channel in the whole job."]


@attrs.frozen
class Completed:
    """Every subtask has taken its part of the checkpoint."""

    type: ClassVar[str] = "completed"
    checkpoint: Annotated[Count, "The checkpoint."]


@attrs.frozen
class Total:
    """What a subtask knows of a key."""

    subtask: Position
    operator: Annotated[int, "The operator."]
    key: Annotated[Text, "The key."]
    value: Annotated[Long, "The total."]


@attrs.frozen
class Collected:
    """A record that the sink of a subtask has collected."""

    subtask: Position
    key: Annotated[Text, "Its key."]
    value: Annotated[Long, "Its value."]


@attrs.frozen
class Restored:
    """The job has failed, and begins again from its checkpoint; without one, from the beginning.

    What its subtasks know then is shown by their numbers in the whole job, in ascending order.
    """

    type: ClassVar[str] = "restored"
    totals: Annotated[
        tuple[Total, ...],
        "What the subtasks know of keys, by their numbers in the whole job, then by operator and key.",
    ]
    collected: Annotated[
        tuple[Collected, ...],
        "What sinks have collected, by the numbers of subtasks in the whole job, then by key and value.",
    ]
    checkpoint: Annotated[Count | None, "The checkpoint."] = None


Observation = Logged | Overrun | Completed | Restored

# --- a turn ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Turn:
    """A job in the midst of a choice: its state, what has been seen of it, the rules that were at work."""

    state: State
    seen: tuple[Observation, ...] = ()
    rules: tuple[str, ...] = ()

    @property
    def layout(self) -> Layout:
        return self.state.layout

    def subtask(self, number: int) -> Subtask:
        return self.state.subtasks[number]

    def channel(self, number: int) -> Channel:
        return self.state.channels[number]

    def with_subtask(self, number: int, **changes: Any) -> "Turn":
        changed = attrs.evolve(self.subtask(number), **changes)
        after = replace(self.state.subtasks, number, changed)
        state = State(self.state.config, after, self.state.channels, self.state.progress)
        return Turn(state, self.seen, self.rules)

    def with_channel(self, number: int, **changes: Any) -> "Turn":
        changed = attrs.evolve(self.channel(number), **changes)
        after = replace(self.state.channels, number, changed)
        state = State(self.state.config, self.state.subtasks, after, self.state.progress)
        return Turn(state, self.seen, self.rules)

    def with_progress(self, progress: Progress) -> "Turn":
        return Turn(attrs.evolve(self.state, progress=progress), self.seen, self.rules)

    def with_remote(self, number: int, remote: Remote, **changes: Any) -> "Turn":
        return self.with_channel(number, remote=attrs.evolve(remote, **changes))

    def because(self, *rules: str) -> "Turn":
        return Turn(self.state, self.seen, tuple(dict.fromkeys((*self.rules, *rules))))

    def observe(self, *seen: Observation) -> "Turn":
        return Turn(self.state, (*self.seen, *seen), self.rules)

    def log_element(self, number: int, direction: Direction, element: Element) -> "Turn":
        route = self.layout.routes[number]
        return self.observe(make_row(self.layout, route, direction, element))

    def log_amount(self, number: int, direction: Direction, kind: LogKind, amount: int) -> "Turn":
        """A buffer, which the producer sends and the consumer receives; credit goes the other way."""
        route = self.layout.routes[number]
        at_producer = (direction is Direction.OUT) == (kind is LogKind.BUFFER)
        place = place_of(self.layout, route, at_producer=at_producer)
        return self.observe(Logged(*place, direction, *channel_of(route), kind, value=Long(amount)))


def place_of(layout: Layout, route: Route, *, at_producer: bool) -> tuple[str, int]:
    place = layout.places[route.source if at_producer else route.target]
    return place.task.name, place.number


def channel_of(route: Route) -> tuple[int, int, int]:
    return route.edge.number, route.producer, route.consumer


def make_row(layout: Layout, route: Route, direction: Direction, element: Element) -> Logged:
    place = place_of(layout, route, at_producer=direction is Direction.OUT)
    where = (*place, direction, *channel_of(route))
    match element:
        case Record(key, _value, timestamp, number):
            is_keyed = route.edge.kind is Partitioner.HASH
            return Logged(*where, LogKind.RECORD, timestamp, key if is_keyed else None, number)
        case Watermark(timestamp):
            return Logged(*where, LogKind.WATERMARK, timestamp)
        case StatusChange(status):
            return Logged(*where, LogKind.STATUS, value=Long(int(status is Status.ACTIVE)))
        case Barrier(checkpoint):
            return Logged(*where, LogKind.BARRIER, value=Long(checkpoint))
        case EndOfData():
            return Logged(*where, LogKind.END_OF_DATA)
        case EndOfPartition():
            return Logged(*where, LogKind.END_OF_PARTITION)
