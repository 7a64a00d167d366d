"""The edge of a source: records, watermarks and statuses of its splits and of its main output, on their way downstream.

A reader emits by the outputs of its splits, by its main output, or by both. What the splits say is combined by the
multiplexer; what the main output says goes past it. The edge makes one stream of both that a valve downstream can
follow: watermarks that rise, idle once, and active before the next watermark.

Choices. Each side, the splits and the main output, counts as idle until it has said something else, so that the side
that a reader does not use never holds the source active. `flink-38454` (2.2 and later) and `flink-18934` (1.16 to 2.1)
differ only in what the multiplexer makes of splits that are all idle.

On the wire. Watermarks rise; idle is emitted once, and active before the next watermark.
"""

from itertools import pairwise, product
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, law, sometimes
from tidegate.reference.elements import MIN, Long, Status, StatusChange, Watermark, check_long, one_of
from tidegate.reference.model import Component, Order, Outcome, Rejected, Symmetry, reach, rejected
from tidegate.reference.watermarks import multiplexer, valve
from tidegate.reference.watermarks.multiplexer import Mode

SEMANTICS = ("flink-38454", "flink-18934")

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """A source without splits."""

    semantics: Annotated[
        str,
        "What splits that are all idle amount to, as in `multiplexer`. `flink-38454` is the default, Flink 2.2 and "
        "later; `flink-18934` is 1.16 to 2.1.",
    ] = attrs.field(default=SEMANTICS[0], validator=one_of(*SEMANTICS))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """The multiplexer of the splits, the last word of each side, and what was emitted last."""

    config: Config
    splits: multiplexer.State
    splits_idle: bool = True
    main_idle: bool = True
    last: Long = MIN
    idle: bool = False


# --- events ---------------------------------------------------------------------------------------------------

SplitId = Annotated[
    int,
    "The id of a split, any number: it is a name. One that has no output is a well-formed event that the "
    "component must refuse: observe `rejected`. To add one that has an output changes nothing.",
]


@attrs.frozen
class AddSplit:
    """A split is assigned: it gets an output, unless it has one."""

    type: ClassVar[str] = "add_split"
    split: SplitId


@attrs.frozen
class ReleaseSplit:
    """A split is done: its output goes."""

    type: ClassVar[str] = "release_split"
    split: SplitId


OfSplit = Annotated[int | None, "The id of the split whose output it is; left out for the main output."]


@attrs.frozen
class EmitRecord:
    """A record is emitted, by the output of a split or by the main output; its generator may make a watermark of it."""

    type: ClassVar[str] = "record"
    timestamp: Long = attrs.field(validator=check_long)
    split: OfSplit = None
    watermark: Annotated[
        Long | None,
        "What the generator emits, by the immediate door; left out for nothing.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(check_long))


Door = Annotated[
    Mode,
    "A call of a split takes effect at once if it is `immediate`; if it is `deferred`, it waits for the next "
    "combination. For the main output both are the same.",
]


@attrs.frozen
class EmitWatermark:
    """A watermark, by the output of a split or by the main output."""

    type: ClassVar[str] = "watermark"
    mode: Door
    timestamp: Long = attrs.field(validator=check_long)
    split: OfSplit = None


@attrs.frozen
class EmitStatus:
    """A split, or the main output, turns idle or is active again."""

    type: ClassVar[str] = "status"
    mode: Door
    status: Status
    split: OfSplit = None


@attrs.frozen
class PeriodicEmit:
    """All generators were asked: what the splits deferred is combined."""

    type: ClassVar[str] = "periodic_emit"


Event = AddSplit | ReleaseSplit | EmitRecord | EmitWatermark | EmitStatus | PeriodicEmit

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Record:
    """A record leaves the source."""

    type: ClassVar[str] = "record"
    timestamp: Long


Observation = Record | Watermark | StatusChange

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """SRC-7: no splits, nothing emitted yet; both sides count as idle, and the source is active."""
    (splits,) = multiplexer.start(multiplexer.Config(config.semantics))
    return (State(config, splits),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if isinstance(event, PeriodicEmit):
        return (from_splits(state, multiplexer.PeriodicEmit(), "SRC-4"),)
    known = any(one.id == event.split for one in state.splits.outputs)
    if isinstance(event, AddSplit):
        # A split that is known keeps its output: the multiplexer refuses another one.
        return (from_splits(state, multiplexer.Register(event.split), "SRC-1"),)
    if event.split is not None and not known:
        return rejected(state, "SRC-2")
    if isinstance(event, ReleaseSplit):
        return (from_splits(state, multiplexer.Unregister(event.split), "SRC-2"),)
    if isinstance(event, EmitRecord):
        return (on_record(state, event),)
    return (on_word(state, event),)


def on_record(state: State, event: EmitRecord) -> Outcome[State, Observation]:
    record = Record(event.timestamp)
    if event.watermark is None:
        return Outcome(state, (record,), ("SRC-3",))
    made = on_word(state, EmitWatermark(Mode.IMMEDIATE, event.watermark, event.split))
    return Outcome(made.state, (record, *made.observations), ("SRC-3", *made.rules))


def on_word(state: State, event: EmitWatermark | EmitStatus) -> Outcome[State, Observation]:
    if event.split is None:
        said = Watermark(event.timestamp) if isinstance(event, EmitWatermark) else StatusChange(event.status)
        return hear(state, said, main=True)
    if isinstance(event, EmitWatermark):
        return from_splits(state, multiplexer.OutputWatermark(event.split, event.mode, event.timestamp), "SRC-4")
    return from_splits(state, multiplexer.OutputStatus(event.split, event.mode, event.status), "SRC-4")


def from_splits(state: State, event: multiplexer.Event, rule: str) -> Outcome[State, Observation]:
    """SRC-4: play an event on the multiplexer, and hear what it says."""
    (combined,) = multiplexer.step(state.splits, event)
    heard: Outcome[State, Observation] = Outcome(attrs.evolve(state, splits=combined.state), (), ())
    for said in (one for one in combined.observations if not isinstance(one, Rejected)):
        then = hear(heard.state, said, main=False)
        heard = Outcome(then.state, heard.observations + then.observations, heard.rules + then.rules)
    return Outcome(heard.state, heard.observations, tuple(dict.fromkeys((*heard.rules, rule))))


def hear(state: State, said: Watermark | StatusChange, *, main: bool) -> Outcome[State, Observation]:
    """One side speaks, and is idle or not from then on."""
    is_idle = said == StatusChange(Status.IDLE)
    noted = attrs.evolve(state, main_idle=is_idle) if main else attrs.evolve(state, splits_idle=is_idle)
    because = ("SRC-9",) if main else ()
    if isinstance(said, Watermark):
        if said.timestamp <= state.last:
            return Outcome(noted, (), ("SRC-5", *because))
        after = attrs.evolve(noted, last=said.timestamp, idle=False)
        if state.idle:
            return Outcome(after, (StatusChange(Status.ACTIVE), said), ("SRC-6", *because))
        return Outcome(after, (said,), ("SRC-5", *because))
    if not is_idle:
        if not state.idle:
            return Outcome(noted, (), ("SRC-8", *because))
        return Outcome(attrs.evolve(noted, idle=False), (said,), ("SRC-8", *because))
    if state.idle or not (noted.main_idle and noted.splits_idle):
        return Outcome(noted, (), ("SRC-8" if state.idle else "SRC-7", *because))
    return Outcome(attrs.evolve(noted, idle=True), (said,), ("SRC-7", "SRC-8", *because))


# --- claims ---------------------------------------------------------------------------------------------------


def watermarks_in(outcome: Outcome[State, Observation]) -> list[Long]:
    return [seen.timestamp for seen in outcome.observations if isinstance(seen, Watermark)]


def statuses_in(outcome: Outcome[State, Observation]) -> list[bool]:
    return [seen.status is Status.IDLE for seen in outcome.observations if isinstance(seen, StatusChange)]


@always("SRC-5")
def watermarks_rise(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Each watermark is higher than all before it, whichever side it comes from."""
    emitted = watermarks_in(outcome)
    return (
        emitted == sorted({*emitted})
        and outcome.state.last == max([before.last, *emitted])
        and (not emitted or emitted[0] > before.last)
    )


@always("SRC-8")
def statuses_alternate(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Idle and active are emitted in turns, idle first."""
    told = [before.idle, *statuses_in(outcome)]
    return all(one != other for one, other in pairwise(told)) and told[-1] == outcome.state.idle


@always("SRC-6")
def no_watermark_while_idle(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Whoever follows the statuses finds the source active at each watermark."""
    idle = before.idle
    for seen in outcome.observations:
        if isinstance(seen, StatusChange):
            idle = seen.status is Status.IDLE
        elif isinstance(seen, Watermark) and idle:
            return False
    return True


@always("SRC-7")
def idle_when_both_sides_are(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Idle is emitted only while neither side has said anything else since it was idle."""
    after = outcome.state
    return before.idle or not after.idle or (after.main_idle and after.splits_idle)


@always("SRC-3")
def records_come_first(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A record is emitted at once and once, before what its generator makes of it; by itself it wakes nobody."""
    records = [index for index, seen in enumerate(outcome.observations) if isinstance(seen, Record)]
    if not isinstance(event, EmitRecord) or outcome.observations == (Rejected(),):
        return not records
    alone = event.watermark is None
    return records == [0] and (not alone or (outcome.state == before and len(outcome.observations) == 1))


@always("SRC-1", "SRC-2")
def silent_while_splits_come_and_go(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Splits that come and go change nothing that was emitted or said."""
    if not isinstance(event, AddSplit | ReleaseSplit):
        return True
    same = attrs.evolve(outcome.state, splits=before.splits) == before
    return same and outcome.observations in ((), (Rejected(),))


@sometimes("SRC-6")
def active_before_a_watermark(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A watermark ends the idleness of the source."""
    return outcome.observations[:1] == (StatusChange(Status.ACTIVE),) and len(outcome.observations) > 1


@sometimes("SRC-8")
def a_split_is_awake_and_the_source_idle(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """FLINK-40504: a split is active again without a higher watermark, and the source stays idle."""
    is_active = isinstance(event, EmitStatus) and event.status is Status.ACTIVE and event.split is not None
    return is_active and before.idle and outcome.state.idle and outcome.observations == ()


@sometimes("SRC-7")
def one_side_holds_the_source_active(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """One side is idle, and the other is not: nothing is emitted."""
    is_idle = isinstance(event, EmitStatus) and event.status is Status.IDLE
    return is_idle and outcome.state != before and not outcome.state.idle


# --- laws -----------------------------------------------------------------------------------------------------

WORDS = (Watermark(Long(1)), Watermark(Long(2)), StatusChange(Status.IDLE), StatusChange(Status.ACTIVE))


@law("SRC-10", samples=lambda: product(product((None, 0), WORDS), repeat=4))
def a_valve_loses_nothing(*words: tuple[int | None, Watermark | StatusChange]) -> bool:
    """A valve of one channel behind the edge emits exactly what the edge does."""
    (edge,), (behind,) = start(Config()), valve.start(valve.Config(1))
    edge = reach(step, edge, [AddSplit(0)])
    for split, said in words:
        if isinstance(said, Watermark):
            (outcome,) = step(edge, EmitWatermark(Mode.IMMEDIATE, said.timestamp, split))
        else:
            (outcome,) = step(edge, EmitStatus(Mode.IMMEDIATE, said.status, split))
        edge = outcome.state
        for seen in outcome.observations:
            element: valve.Event = (
                valve.ChannelWatermark(0, seen.timestamp)
                if isinstance(seen, Watermark)
                else valve.ChannelStatus(0, Status.IDLE if seen == StatusChange(Status.IDLE) else Status.ACTIVE)
            )
            (passed,) = valve.step(behind, element)
            behind = passed.state
            if passed.observations != (seen,):
                return False
    return True


# --- symmetry -------------------------------------------------------------------------------------------------


def rearrange_splits(state: State, order: Order) -> State:
    return attrs.evolve(state, splits=multiplexer.rearrange_outputs(state.splits, order))


def sort_splits(state: State) -> Order:
    return multiplexer.sort_outputs(state.splits)


SYMMETRY = Symmetry("splits", "split", rearrange_splits, sort_splits)

COMPONENT = Component.of(__name__, title="The edge of a source")
