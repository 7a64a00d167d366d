"""The coordinators of sources whose watermarks are aligned: from what subtasks report to the limits that they are told.

Each source has a coordinator. Subtasks report to it how far they are, and from time to time it tells them how far they
may be: the watermark of the slowest in the whole group, of all its sources, and the drift that the source allows.

Choices. Sources differ by name. A drift is not negative, and the highest one means that nothing is aligned. Time is
left out: whoever drives says when to announce.
"""

from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import MAX, MIN, Index, Length, Long, Subtasks, at_least, between, check_long
from tidegate.reference.model import Component, Outcome, Rejected, rejected
from tidegate.reference.tuples import replace

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Source:
    """The group of a source, and how far its subtasks may be ahead of the slowest in the group."""

    group: Annotated[int, "The group of the source, any number: it is a name."]
    drift: Annotated[
        Long,
        "How far a subtask may be ahead of the slowest in the group; from 0 to 9223372036854775806.",
    ] = attrs.field(validator=between(0, MAX - 1))


@attrs.frozen
class Config:
    """Some sources. Nobody has reported, and all subtasks run."""

    sources: Annotated[tuple[Source, ...], "The sources, at least one."] = attrs.field(validator=Length(1))
    subtasks: Annotated[Subtasks, "How many subtasks each source has."] = attrs.field(validator=at_least(1))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Subtask:
    """The last report, if there was one; and whether the subtask can be told anything."""

    report: Long | None = None
    ready: bool = True


@attrs.frozen
class State:
    config: Config
    sources: tuple[tuple[Subtask, ...], ...]


# --- events ---------------------------------------------------------------------------------------------------


SubtaskIndex = Annotated[Index, "The number of a subtask of the source. One that does not exist: observe `rejected`."]


@attrs.frozen
class ReportWatermark:
    """A subtask reports a watermark. The lowest timestamp stands for none: observe `rejected`."""

    type: ClassVar[str] = "report"
    source: Index
    subtask: SubtaskIndex
    timestamp: Long = attrs.field(validator=check_long)


@attrs.frozen
class TaskFailed:
    """A subtask has failed, and cannot be told anything."""

    type: ClassVar[str] = "task_failed"
    source: Index
    subtask: SubtaskIndex


@attrs.frozen
class TaskReady:
    """A subtask runs, again."""

    type: ClassVar[str] = "task_ready"
    source: Index
    subtask: SubtaskIndex


@attrs.frozen
class AnnounceLimits:
    """The time has come for a source to tell its subtasks."""

    type: ClassVar[str] = "announce"
    source: Index


Event = ReportWatermark | TaskFailed | TaskReady | AnnounceLimits

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Limit:
    """A subtask is told its limit; those of one announcement in the order of their numbers."""

    type: ClassVar[str] = "limit"
    subtask: int
    timestamp: Long


Observation = Limit

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """GROUP-1: nobody has reported, and everybody runs."""
    return (State(config, ((Subtask(),) * config.subtasks,) * len(config.sources)),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if not 0 <= event.source < len(state.sources):
        return rejected(state, "GROUP-1")
    if isinstance(event, AnnounceLimits):
        return (announce(state, event.source),)
    if not 0 <= event.subtask < state.config.subtasks:
        return rejected(state, "GROUP-1")
    subtask = state.sources[event.source][event.subtask]
    if isinstance(event, ReportWatermark):
        if event.timestamp == MIN:
            return rejected(state, "GROUP-1")
        reported = attrs.evolve(subtask, report=event.timestamp)
        return (Outcome(put_subtask(state, event.source, event.subtask, reported), (), ("GROUP-1",)),)
    changed = attrs.evolve(subtask, ready=isinstance(event, TaskReady))
    return (Outcome(put_subtask(state, event.source, event.subtask, changed), (), ("GROUP-5",)),)


def announce(state: State, source: int) -> Outcome[State, Observation]:
    told = [index for index, one in enumerate(state.sources[source]) if one.report is not None]
    slowest = group_watermark(state, source)
    if not told or slowest is None:
        return Outcome(state, (), ("GROUP-3",))
    limit = slowest + state.config.sources[source].drift
    ready = [index for index in told if state.sources[source][index].ready]
    rules = (
        *(("GROUP-4",) if limit > MAX else ("GROUP-2",)),
        "GROUP-3",
        *(("GROUP-5",) if ready != told else ()),
    )
    return Outcome(state, tuple(Limit(index, Long(min(limit, MAX))) for index in ready), rules)


def group_watermark(state: State, source: int) -> Long | None:
    group = state.config.sources[source].group
    reports = [
        subtask.report
        for member, subtasks in zip(state.config.sources, state.sources, strict=True)
        for subtask in subtasks
        if member.group == group and subtask.report is not None
    ]
    return min(reports, default=None)


def put_subtask(state: State, source: int, index: int, subtask: Subtask) -> State:
    subtasks = replace(state.sources[source], index, subtask)
    return attrs.evolve(state, sources=replace(state.sources, source, subtasks))


# --- claims ---------------------------------------------------------------------------------------------------


@always("GROUP-6")
def the_slowest_never_waits(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No limit is below the watermark of the slowest in the group, so somebody can always go on."""
    slowest = group_watermark(before, event.source) if outcome.observations != (Rejected(),) else None
    limits = [seen.timestamp for seen in outcome.observations if isinstance(seen, Limit)]
    return not limits or (slowest is not None and min(limits) >= slowest)


@always("GROUP-3", "GROUP-4")
def one_limit_for_all(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """All subtasks of a source are told the same limit, each once, those that run and have reported."""
    limits = [seen for seen in outcome.observations if isinstance(seen, Limit)]
    if not isinstance(event, AnnounceLimits) or outcome.observations == (Rejected(),):
        return not limits
    told = [n for n, one in enumerate(before.sources[event.source]) if one.ready and one.report is not None]
    return [one.subtask for one in limits] == told and len({one.timestamp for one in limits}) <= 1


@always("GROUP-2")
def groups_are_apart(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What sources of other groups report makes no difference."""
    if not isinstance(event, AnnounceLimits) or outcome.observations == (Rejected(),):
        return True
    group = before.config.sources[event.source].group
    silent = tuple(
        subtasks if member.group == group else (Subtask(),) * before.config.subtasks
        for member, subtasks in zip(before.config.sources, before.sources, strict=True)
    )
    return announce(attrs.evolve(before, sources=silent), event.source).observations == outcome.observations


@sometimes("GROUP-2")
def held_back_by_another_source(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The slowest subtask belongs to another source of the group."""
    if not any(isinstance(seen, Limit) for seen in outcome.observations):
        return False
    own = [one.report for one in before.sources[event.source] if one.report is not None]
    return group_watermark(before, event.source) != min(own)


@sometimes("GROUP-4")
def an_idle_group_has_no_limit(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Everybody is idle, and nobody has to wait."""
    return any(isinstance(seen, Limit) and seen.timestamp == MAX for seen in outcome.observations)


COMPONENT = Component.of(__name__, title="Groups of sources that are aligned")
