"""Events on their way: what becomes of each kind when it is put into a buffer, and that it comes out as it went in.

A queue does not look into buffers. What it must know of an event is written on the buffer: whether it has priority,
whether the sender has to stop behind it, whether it is to be announced.

Choices. EventSerializer and Buffer.DataType of Flink 2.3. The bytes are the engine's own (CREDIT-31).
"""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, sometimes
from tidegate.reference.model import Component, Outcome

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """There is nothing to be said."""


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """Nothing is remembered."""

    config: Config


# --- events ---------------------------------------------------------------------------------------------------


class Kind(StrEnum):
    END_OF_PARTITION = "end_of_partition"
    END_OF_SUPERSTEP = "end_of_superstep"
    DRAIN = "drain"
    STOP = "stop"
    ALIGNED_BARRIER = "aligned_barrier"
    TIMEOUT_BARRIER = "timeout_barrier"
    UNALIGNED_BARRIER = "unaligned_barrier"
    SAVEPOINT_BARRIER = "savepoint_barrier"
    CANCELLATION = "cancellation"
    ANNOUNCEMENT = "announcement"
    RECOVERY_COMPLETION = "recovery_completion"
    SUBTASK_CONNECTION = "subtask_connection"
    ALIGNED_WATERMARK = "aligned_watermark"
    UNALIGNED_WATERMARK = "unaligned_watermark"


@attrs.frozen
class PutIntoBuffer:
    """An event is put into a buffer, with priority or without."""

    type: ClassVar[str] = "put"
    kind: Annotated[Kind, "Which event."]
    urgent: Annotated[bool, "With priority."]


Event = PutIntoBuffer

# --- observations ---------------------------------------------------------------------------------------------


class Label(StrEnum):
    """What is written on a buffer."""

    EVENT = "event"
    URGENT = "urgent"
    ALIGNED_BARRIER = "aligned_barrier"
    TIMEOUT_BARRIER = "timeout_barrier"
    RECOVERY_COMPLETION = "recovery_completion"
    END_OF_DATA = "end_of_data"
    END_OF_PARTITION = "end_of_partition"
    ALIGNED_WATERMARK = "aligned_watermark"
    UNALIGNED_WATERMARK = "unaligned_watermark"


@attrs.frozen
class Labelled:
    """What is written on the buffer: `blocks` whether the sender stops behind it, `urgent` whether it overtakes,
    `announced` whether it is announced; `same` whether it is read as it was written.
    """

    type: ClassVar[str] = "labelled"
    label: Annotated[Label, "What it travels as."]
    blocks: Annotated[bool, "Nothing behind it is read until the channel is resumed."]
    urgent: Annotated[bool, "It overtakes data."]
    announced: Annotated[bool, "Its reader is notified ahead of its turn."]
    same: Annotated[bool, "What is read back is what was put."]


Observation = Labelled

# --- start ----------------------------------------------------------------------------------------------------

LABELS = {
    Kind.END_OF_PARTITION: Label.END_OF_PARTITION,
    Kind.DRAIN: Label.END_OF_DATA,
    Kind.STOP: Label.END_OF_DATA,
    Kind.ALIGNED_BARRIER: Label.ALIGNED_BARRIER,
    Kind.SAVEPOINT_BARRIER: Label.ALIGNED_BARRIER,
    Kind.TIMEOUT_BARRIER: Label.TIMEOUT_BARRIER,
    Kind.RECOVERY_COMPLETION: Label.RECOVERY_COMPLETION,
    Kind.ALIGNED_WATERMARK: Label.ALIGNED_WATERMARK,
    Kind.UNALIGNED_WATERMARK: Label.UNALIGNED_WATERMARK,
}
BLOCKING = (Label.ALIGNED_BARRIER, Label.TIMEOUT_BARRIER, Label.RECOVERY_COMPLETION, Label.ALIGNED_WATERMARK)


def start(config: Config) -> tuple[State, ...]:
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    label = Label.URGENT if event.urgent else LABELS.get(event.kind, Label.EVENT)
    told = Labelled(
        label,
        blocks=label in BLOCKING,
        urgent=event.urgent,
        announced=label is Label.TIMEOUT_BARRIER,
        same=True,
    )
    rules = ("EVENT-2", "EVENT-3") if event.urgent else ("EVENT-1", "EVENT-3")
    return (Outcome(state, (told,), rules),)


# --- claims ---------------------------------------------------------------------------------------------------


@always("EVENT-2")
def what_overtakes_stops_nobody(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """An event with priority neither blocks nor is announced."""
    told = [seen for seen in outcome.observations if isinstance(seen, Labelled) and seen.urgent]
    return not any(seen.blocks or seen.announced for seen in told)


@always("EVENT-3")
def every_event_survives(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Every event is read as it was written."""
    return all(seen.same for seen in outcome.observations if isinstance(seen, Labelled))


@sometimes("EVENT-1")
def a_barrier_is_announced(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A barrier that may time out stops the sender, and is announced."""
    told = [seen for seen in outcome.observations if isinstance(seen, Labelled)]
    return any(seen.blocks and seen.announced for seen in told)


COMPONENT = Component.of(__name__, title="Events on their way")
