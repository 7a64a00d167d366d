"""What is shown of the inputs of an operator: watermarks, records, and attributes of records.

Each input has a gauge of its own, whatever becomes of its watermarks; the operator shows the lowest, and hands on what
its inputs have in common. Records are counted where they come in: those of a source in the same task come from nowhere.

Choices. WatermarkGauge, MinWatermarkGauge, StreamTaskNetworkOutput, AbstractStreamOperator.processRecordAttributes of
Flink 2.3. No input is ever idle here; what idle inputs change is `combiner`. Counting records is the extension
`records`.
"""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.elements import MIN, Index, Length, Long, Position, check_long, one_of
from tidegate.reference.model import Component, InvalidInputError, Outcome, rejected
from tidegate.reference.tuples import replace

RECORDS = "records"
EXTENSIONS = (RECORDS,)

# --- config ---------------------------------------------------------------------------------------------------


class InputKind(StrEnum):
    """Where an input comes from: the network, or a source that runs in the same task."""

    NETWORK = "network"
    SOURCE = "source"


@attrs.frozen
class Config:
    """The inputs of the operator. With the extension `records` records are counted."""

    inputs: Annotated[
        tuple[InputKind, ...],
        "Where each input comes from: the network, or a source in the same task.",
    ] = attrs.field(validator=Length(1))
    extension: Annotated[
        str | None,
        "With `records` there are events `record`, and counters. Only for engines that declare it.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*EXTENSIONS)))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """By input: the watermark that came last, how many records came, and whether it has a backlog, if that was said."""

    config: Config
    watermarks: tuple[Long, ...]
    records: tuple[int, ...]
    backlogs: tuple[bool | None, ...]
    highest: tuple[Long, ...]
    emitted: Long = MIN


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class WatermarkArrives:
    """A watermark comes on an input."""

    type: ClassVar[str] = "watermark"
    input: Index
    timestamp: Long = attrs.field(validator=check_long)


@attrs.frozen
class RecordArrives:
    """A record comes on an input."""

    type: ClassVar[str] = "record"
    input: Index


@attrs.frozen
class AttributesArrive:
    """It is said whether the records that follow on an input are a backlog."""

    type: ClassVar[str] = "attributes"
    input: Index
    backlog: Annotated[bool, "What follows on this input is backlog."]


@attrs.frozen
class ShowGauges:
    """Somebody looks at the gauges."""

    type: ClassVar[str] = "measure"


Event = WatermarkArrives | RecordArrives | AttributesArrive | ShowGauges

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Emitted:
    """The operator hands on a watermark, which is then that of the input of the operator chained to it."""

    type: ClassVar[str] = "emitted"
    timestamp: Long


@attrs.frozen
class Attributes:
    """The operator says whether the records that follow are a backlog."""

    type: ClassVar[str] = "attributes"
    backlog: Annotated[bool, "Whether all inputs together are a backlog."]


@attrs.frozen
class Gauges:
    """`inputs` are those of the inputs, `input` is that of the operator, and of its task; `records` are those that came
    to the operator, `task_records` those that came to its task.
    """

    type: ClassVar[str] = "gauges"
    inputs: Annotated[tuple[Long, ...], "The watermark of each input.", Length(1)]
    input: Long
    records: Annotated[Position | None, "With the extension `records`."] = None
    task_records: Annotated[Position | None, "With the extension `records`."] = None


Observation = Emitted | Attributes | Gauges

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """GAUGE-1: nothing came yet."""
    count = len(config.inputs)
    lowest = (MIN,) * count
    return (State(config, lowest, (0,) * count, (None,) * count, lowest),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if isinstance(event, RecordArrives) and state.config.extension != RECORDS:
        raise InvalidInputError("record belongs to the extension records")
    if isinstance(event, ShowGauges):
        rules = ("GAUGE-1", "GAUGE-2") if state.config.extension is None else ("GAUGE-1", "GAUGE-2", "GAUGE-3")
        return (Outcome(state, (compute_gauges(state),), rules),)
    if not 0 <= event.input < len(state.config.inputs):
        return rejected(state, "GAUGE-1")
    if isinstance(event, RecordArrives):
        records = replace(state.records, event.input, state.records[event.input] + 1)
        return (Outcome(attrs.evolve(state, records=records), (), ("GAUGE-3",)),)
    if isinstance(event, AttributesArrive):
        backlogs = replace(state.backlogs, event.input, event.backlog)
        told = Attributes(any(backlogs))
        return (Outcome(attrs.evolve(state, backlogs=backlogs), (told,), ("GAUGE-4",)),)
    return (on_watermark(state, event),)


def on_watermark(state: State, event: WatermarkArrives) -> Outcome[State, Observation]:
    """The gauge shows what came; what is handed on is the lowest of what each input has reached."""
    highest = replace(state.highest, event.input, max(state.highest[event.input], event.timestamp))
    lowest = min(highest)
    after = attrs.evolve(
        state, watermarks=replace(state.watermarks, event.input, event.timestamp), highest=highest, emitted=lowest
    )
    return Outcome(after, (Emitted(lowest),) if lowest > state.emitted else (), ("GAUGE-2", "GAUGE-1"))


def compute_gauges(state: State) -> Gauges:
    if state.config.extension is None:
        return Gauges(state.watermarks, min(state.watermarks))
    pairs = zip(state.config.inputs, state.records, strict=True)
    networked = sum(count for kind, count in pairs if kind is InputKind.NETWORK)
    return Gauges(state.watermarks, min(state.watermarks), sum(state.records), networked)


# --- claims ---------------------------------------------------------------------------------------------------


@invariant("GAUGE-2")
def nothing_is_emitted_that_an_input_has_not_reached(state: State) -> bool:
    """What was handed on is not above what any input has reached."""
    return state.emitted <= min(state.highest)


@always("GAUGE-4")
def attributes_are_always_handed_on(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Whatever is said of an input, the operator says something, even what it said before."""
    told = any(isinstance(seen, Attributes) for seen in outcome.observations)
    return told == (isinstance(event, AttributesArrive) and 0 <= event.input < len(outcome.state.config.inputs))


@always("GAUGE-3")
def a_task_counts_no_more_than_its_operator(
    _before: State, _event: Event, outcome: Outcome[State, Observation]
) -> bool:
    """Records of sources in the task came to the operator, but not to the task."""
    for seen in outcome.observations:
        if isinstance(seen, Gauges) and seen.task_records is not None:
            assert seen.records is not None
            if seen.task_records > seen.records:
                return False
    return True


@sometimes("GAUGE-2")
def a_gauge_is_ahead(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """An input is ahead of what the operator shows."""
    return any(isinstance(seen, Gauges) and max(seen.inputs) > seen.input for seen in outcome.observations)


COMPONENT = Component.of(__name__, title="The gauges of inputs")
