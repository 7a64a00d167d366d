"""The watermark multiplexer: one watermark, and idleness, from those of the splits of a source.

Each split has an output of its own, registered when the split is assigned and unregistered when it is done. An output
has two doors: what comes by the immediate one, at a record, is combined at once; what comes by the deferred one, when
generators are asked in turns, is only noted until the periodic emit or an immediate call of any output.

Choices. What the outputs amount to is computed as in the combiner, whose class Flink shares; what is said of it
differs. Idle is said again each time that it is found, active never; and idleness is known only as of the last time
that it was derived. `flink-38454` (2.2 and later), `flink-18934` (1.14 to 2.1), `flink-17653` (1.11 to 1.13).

On the wire. Observations come watermark first, then idle, which is told at each derivation that finds every output
idle; active is never told.
"""

from enum import StrEnum
from itertools import product
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, law, sometimes
from tidegate.reference.elements import MIN, Long, Status, StatusChange, Watermark, check_long, one_of
from tidegate.reference.model import Component, Order, Outcome, Rejected, Symmetry, rejected
from tidegate.reference.watermarks import combiner
from tidegate.reference.watermarks.combiner import Input, compute_combined

SEMANTICS = ("flink-38454", "flink-18934", "flink-17653")

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """A multiplexer without outputs."""

    semantics: Annotated[
        str,
        "`flink-38454` is the default, Flink 2.2 and later. `flink-18934` is 1.14 to 2.1: when all are idle nothing "
        "is combined. `flink-17653` is 1.11 to 1.13: the same, an active status is refused, and without outputs "
        "nothing is told.",
    ] = attrs.field(default=SEMANTICS[0], validator=one_of(*SEMANTICS))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Output(Input):
    """What was last heard of a split."""

    id: int = attrs.field(kw_only=True)


@attrs.frozen
class State:
    """The registered outputs by their ids; and the combination, as it was when it was last derived."""

    config: Config
    outputs: tuple[Output, ...] = ()
    combined: Long = MIN
    idle: bool = False


# --- events ---------------------------------------------------------------------------------------------------


class Mode(StrEnum):
    IMMEDIATE = "immediate"
    DEFERRED = "deferred"


OutputId = Annotated[
    int,
    "The id of an output, any number: it is a name. A watermark or a status of one that is not registered is a "
    "well-formed event that the component must refuse, and so is a second registration: observe `rejected`. "
    "Unregistering one that is not registered does nothing.",
]


@attrs.frozen
class Register:
    """A split is assigned: it gets an output."""

    type: ClassVar[str] = "register"
    output: OutputId


@attrs.frozen
class Unregister:
    """A split is done: its output goes."""

    type: ClassVar[str] = "unregister"
    output: OutputId


Door = Annotated[Mode, "An `immediate` call takes effect at once; a `deferred` one waits for the next derivation."]


@attrs.frozen
class OutputWatermark:
    """A split has a watermark."""

    type: ClassVar[str] = "watermark"
    output: OutputId
    mode: Door
    timestamp: Long = attrs.field(validator=check_long)


@attrs.frozen
class OutputStatus:
    """A split turns idle, or is active again."""

    type: ClassVar[str] = "status"
    output: OutputId
    mode: Door
    status: Status


@attrs.frozen
class PeriodicEmit:
    """The time has come to combine what was deferred."""

    type: ClassVar[str] = "periodic_emit"


Event = Register | Unregister | OutputWatermark | OutputStatus | PeriodicEmit

# --- observations ---------------------------------------------------------------------------------------------

Observation = Watermark | StatusChange

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """No outputs, nothing emitted yet, and not idle."""
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if isinstance(event, PeriodicEmit):
        return (derive(state, "MUX-5"),)
    output = next((one for one in state.outputs if one.id == event.output), None)
    if isinstance(event, Register):
        if output is not None:
            return rejected(state, "MUX-1")
        return (Outcome(put_output(state, Output(id=event.output)), (), ("MUX-1",)),)
    if isinstance(event, Unregister):
        others = tuple(one for one in state.outputs if one is not output)
        return (Outcome(attrs.evolve(state, outputs=others), (), ("MUX-9",)),)
    if output is None:
        return rejected(state, "MUX-2")
    if isinstance(event, OutputWatermark):
        return (on_watermark(state, output, event),)
    return on_status(state, output, event)


def on_watermark(state: State, output: Output, event: OutputWatermark) -> Outcome[State, Observation]:
    after = put_output(state, Output(max(output.watermark, event.timestamp), idle=False, id=output.id))
    if event.mode is Mode.DEFERRED:
        return Outcome(after, (), ("MUX-4", "MUX-2"))
    if event.timestamp <= output.watermark or event.timestamp <= state.combined:
        return Outcome(after, (), ("MUX-3", "MUX-2"))
    return derive(after, "MUX-3", "MUX-2")


def on_status(state: State, output: Output, event: OutputStatus) -> tuple[Outcome[State, Observation], ...]:
    if event.status is Status.ACTIVE and state.config.semantics == "flink-17653":
        return rejected(state, "MUX-11")
    after = put_output(state, Output(output.watermark, event.status is Status.IDLE, id=output.id))
    if event.mode is Mode.DEFERRED:
        return (Outcome(after, (), ("MUX-4",)),)
    return (derive(after, "MUX-3"),)


def derive(state: State, *cause: str) -> Outcome[State, Observation]:
    """Derive the combination anew, and emit what there is to say."""
    if not state.outputs:
        # Nothing is derived: what was found last time stands, and is said again.
        repeated = state.idle and state.config.semantics != "flink-17653"
        return Outcome(state, (StatusChange(Status.IDLE),) if repeated else (), ("MUX-10", *cause))
    # The combiner knows no older semantics than this one.
    semantics = min(state.config.semantics, "flink-18934", key=SEMANTICS.index)
    value, _rule = compute_combined(combiner.Config(1, semantics), state.outputs, state.combined)
    idle = all(one.idle for one in state.outputs)
    observations: tuple[Observation, ...] = (Watermark(value),) if value > state.combined else ()
    if idle:
        observations = (*observations, StatusChange(Status.IDLE))
    after = attrs.evolve(state, combined=max(value, state.combined), idle=idle)
    return Outcome(after, observations, ("MUX-7", "MUX-8", *cause) if idle else ("MUX-6", *cause))


def put_output(state: State, output: Output) -> State:
    others = (one for one in state.outputs if one.id != output.id)
    return attrs.evolve(state, outputs=tuple(sorted((*others, output), key=lambda one: one.id)))


# --- claims ---------------------------------------------------------------------------------------------------


def is_told_idle(outcome: Outcome[State, Observation]) -> bool:
    return StatusChange(Status.IDLE) in outcome.observations


@always("MUX-6")
def combined_never_falls(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Each watermark emitted is higher than all before, and is the combined one from then on."""
    emitted = [seen.timestamp for seen in outcome.observations if isinstance(seen, Watermark)]
    rising = all(timestamp > before.combined for timestamp in emitted)
    return rising and outcome.state.combined == max([before.combined, *emitted])


@always("MUX-8")
def watermark_then_idle(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A derivation emits a watermark or none, then idle or nothing, and never active."""
    told = ["watermark" if isinstance(seen, Watermark) else seen for seen in outcome.observations]
    idle = StatusChange(Status.IDLE)
    return told in ([], ["watermark"], [idle], ["watermark", idle], [Rejected()])


@always("MUX-1", "MUX-4", "MUX-9")
def noted_without_a_word(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Who comes, goes or speaks by the deferred door changes nothing that was derived."""
    deferred = isinstance(event, OutputWatermark | OutputStatus) and event.mode is Mode.DEFERRED
    if not deferred and not isinstance(event, Register | Unregister):
        return True
    derived = (outcome.state.combined, outcome.state.idle)
    return derived == (before.combined, before.idle) and outcome.observations in ((), (Rejected(),))


@always("MUX-7")
def idle_has_put_out_the_maximum(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """When idle is emitted, no output is left with a higher watermark."""
    highest = max((one.watermark for one in outcome.state.outputs), default=MIN)
    return not is_told_idle(outcome) or outcome.state.combined >= highest


@always("MUX-10")
def idle_only_with_outputs(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Idle is emitted only while there are outputs, and all of them are idle."""
    outputs = outcome.state.outputs
    return not is_told_idle(outcome) or (bool(outputs) and all(one.idle for one in outputs))


@invariant("MUX-1")
def ids_are_unique(state: State) -> bool:
    """An id is registered once at most."""
    ids = [one.id for one in state.outputs]
    return ids == sorted(set(ids))


@sometimes("MUX-8")
def a_watermark_and_then_idle(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A derivation finds every output idle, and a higher watermark."""
    return len(outcome.observations) > 1 and is_told_idle(outcome)


@sometimes("MUX-4")
def deferred_until_an_emit(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A periodic emit shows a watermark that came by the deferred door."""
    return isinstance(event, PeriodicEmit) and any(isinstance(seen, Watermark) for seen in outcome.observations)


# --- laws -----------------------------------------------------------------------------------------------------


@law("MUX-12", samples=lambda: product(product(range(2), (Long(1), Long(2), *Status)), repeat=4))
def puts_out_the_watermarks_of_a_combiner(*calls: tuple[int, Long | Status]) -> bool:
    """Outputs that stay and use the immediate door make the watermarks that a combiner makes of its inputs.

    Two outputs that use the immediate door, and two inputs of a combiner.
    """
    (split,), (joined,) = start(Config()), combiner.start(combiner.Config(2))
    split = put_output(put_output(split, Output(id=0)), Output(id=1))
    for output, said in calls:
        if isinstance(said, Status):
            (here,) = step(split, OutputStatus(output, Mode.IMMEDIATE, said))
            (there,) = combiner.step(joined, combiner.InputStatus(output, said))
        else:
            (here,) = step(split, OutputWatermark(output, Mode.IMMEDIATE, said))
            (there,) = combiner.step(joined, combiner.InputWatermark(output, said))
        split, joined = here.state, there.state
        seen = [[one for one in each.observations if isinstance(one, Watermark)] for each in (here, there)]
        if seen[0] != seen[1]:
            return False
    return True


# --- symmetry -------------------------------------------------------------------------------------------------


def rearrange_outputs(state: State, order: Order) -> State:
    """Outputs have ids, not places: the one with the id `order[n]` gets the id `n`."""
    renamed = [attrs.evolve(one, id=order.index(one.id)) for one in state.outputs]
    return attrs.evolve(state, outputs=tuple(sorted(renamed, key=lambda one: one.id)))


def sort_outputs(state: State) -> Order:
    """Those that are registered; they get the first ids."""
    return tuple(one.id for one in sorted(state.outputs, key=lambda one: (one.watermark, one.idle)))


SYMMETRY = Symmetry("outputs", "output", rearrange_outputs, sort_outputs)

COMPONENT = Component.of(__name__, title="The watermark multiplexer")
