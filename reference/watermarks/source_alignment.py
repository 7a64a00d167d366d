"""Watermark alignment in a subtask of a source: who is ahead of the limit waits, the whole subtask or one split alone.

Sources of a group tell their coordinator how far they are, and learn how far anybody may be: the limit. A subtask that
is ahead of it reads nothing until the limit has caught up, and a split that is ahead is paused while others are read.
Watermarks are sampled at regular times, and what is held against the limit is a sample some time old, so that reports
of others can come first.

Choices. A reader that cannot pause its splits is left out. `flink-39073` is Flink 2.3: a split that is idle is left
alone by the alignment, also one that is paused, which then never goes on. `flink-40093` (2.3.1 and 2.4) resumes it.
"""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.elements import MAX, MIN, Counted, Long, Status, at_least, check_long, one_of
from tidegate.reference.model import Component, Outcome, Rejected, rejected

SEMANTICS = ("flink-39073", "flink-40093")

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """`samples` is how many samples are kept."""

    samples: Annotated[int, "How many samples of each watermark are kept.", Counted.PARTS] = attrs.field(
        default=3, validator=at_least(0)
    )
    semantics: Annotated[
        str,
        "`flink-39073` is the default, Flink 2.3: a split that is idle is neither paused nor resumed. In "
        "`flink-40093`, its correction, one that is paused is resumed.",
    ] = attrs.field(default=SEMANTICS[0], validator=one_of(*SEMANTICS))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Samples:
    """The latest watermark, and the samples of it, the oldest first."""

    latest: Long
    kept: tuple[Long, ...]

    @property
    def oldest(self) -> Long:
        return self.kept[0] if self.kept else self.latest


@attrs.frozen
class Split:
    id: int
    samples: Samples
    idle: bool = False


class Mode(StrEnum):
    READING = "reading"
    WAITING = "waiting"
    ENDED = "ended"


@attrs.frozen
class State:
    """`paused` are the ids of splits that were paused and not resumed, also of some that are gone."""

    config: Config
    source: Samples
    splits: tuple[Split, ...] = ()
    paused: frozenset[int] = frozenset()
    limit: Long = MAX
    idle: bool = False
    mode: Mode = Mode.READING


# --- events ---------------------------------------------------------------------------------------------------

SplitId = Annotated[
    int,
    "The id of a split, any number: it is a name. A watermark or status of one that was not added is a well- "
    "formed event that the component must refuse: observe `rejected`.",
]


@attrs.frozen
class AddSplit:
    """A split is assigned."""

    type: ClassVar[str] = "add_split"
    split: SplitId


@attrs.frozen
class FinishSplit:
    """A split is done."""

    type: ClassVar[str] = "finish_split"
    split: SplitId


@attrs.frozen
class SplitWatermark:
    """The watermark of a split rises."""

    type: ClassVar[str] = "split_watermark"
    split: SplitId
    timestamp: Long = attrs.field(validator=check_long)


@attrs.frozen
class SplitStatus:
    """A split turns idle, or is active again."""

    type: ClassVar[str] = "split_status"
    split: SplitId
    status: Status


@attrs.frozen
class SourceWatermark:
    """The source emits a watermark."""

    type: ClassVar[str] = "watermark"
    timestamp: Long = attrs.field(validator=check_long)


@attrs.frozen
class SourceStatus:
    """The source emits a status."""

    type: ClassVar[str] = "status"
    status: Status


@attrs.frozen
class Sample:
    """The time has come for a sample, and for a report."""

    type: ClassVar[str] = "sample"


@attrs.frozen
class Announce:
    """The coordinator announces the limit."""

    type: ClassVar[str] = "announce"
    timestamp: Long = attrs.field(validator=check_long)


@attrs.frozen
class End:
    """There is nothing more to read."""

    type: ClassVar[str] = "end"


Event = AddSplit | FinishSplit | SplitWatermark | SplitStatus | SourceWatermark | SourceStatus | Sample | Announce | End

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Wait:
    """The subtask reads nothing from now on."""

    type: ClassVar[str] = "wait"


@attrs.frozen
class GoOn:
    """The subtask does not wait any more."""

    type: ClassVar[str] = "go_on"


@attrs.frozen
class PauseSplit:
    """A split is paused. If several are at a time, the lowest id comes first."""

    type: ClassVar[str] = "pause"
    split: int


@attrs.frozen
class ResumeSplit:
    """A split is resumed. If several are at a time, the lowest id comes first."""

    type: ClassVar[str] = "resume"
    split: int


@attrs.frozen
class Report:
    """The coordinator is told how far the subtask is."""

    type: ClassVar[str] = "report"
    timestamp: Long


Observation = Wait | GoOn | PauseSplit | ResumeSplit | Report

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """ALIGN-1: no splits, no watermark, no limit."""
    return (State(config, no_samples(config)),)


def no_samples(config: Config) -> Samples:
    return Samples(MIN, (MIN,) * config.samples)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    match event:
        case AddSplit(split=split):
            known = any(one.id == split for one in state.splits)
            added = state if known else put_split(state, Split(split, no_samples(state.config)))
            return (Outcome(added, (), ("ALIGN-1",)),)
        case FinishSplit(split=split):
            left = tuple(one for one in state.splits if one.id != split)
            return (Outcome(attrs.evolve(state, splits=left), (), ("ALIGN-8",)),)
        case SplitWatermark() | SplitStatus():
            known_split = next((one for one in state.splits if one.id == event.split), None)
            if known_split is None:
                return rejected(state, "ALIGN-1")
            if isinstance(event, SplitWatermark):
                return (on_split_watermark(state, known_split, event.timestamp),)
            return (on_split_status(state, known_split, idle=event.status is Status.IDLE),)
        case SourceWatermark(timestamp=timestamp):
            heard = attrs.evolve(state, source=attrs.evolve(state.source, latest=timestamp))
            return (check_source(heard, "ALIGN-3"),)
        case SourceStatus(status=status):
            return (Outcome(attrs.evolve(state, idle=status is Status.IDLE), (), ("ALIGN-9",)),)
        case Sample():
            return (on_sample(state, "ALIGN-2"),)
        case Announce(timestamp=timestamp):
            return (check_all(attrs.evolve(state, limit=timestamp), "ALIGN-3"),)
        case End():
            over = attrs.evolve(state, mode=Mode.ENDED, source=attrs.evolve(state.source, latest=MAX))
            ended = on_sample(over, "ALIGN-2")
            return (Outcome(ended.state, ended.observations, ("ALIGN-10", *ended.rules)),)


def on_split_watermark(state: State, split: Split, timestamp: Long) -> Outcome[State, Observation]:
    split = attrs.evolve(split, samples=attrs.evolve(split.samples, latest=timestamp))
    if split.idle:
        return Outcome(put_split(state, split), (), ("ALIGN-6",))
    return pause_if_ahead(put_split(state, split), split, "ALIGN-4")


def on_split_status(state: State, split: Split, *, idle: bool) -> Outcome[State, Observation]:
    split = attrs.evolve(split, idle=idle)
    if idle:
        return Outcome(put_split(state, split), (), ("ALIGN-6",))
    return pause_if_ahead(put_split(state, split), split, "ALIGN-6")


def pause_if_ahead(state: State, split: Split, rule: str) -> Outcome[State, Observation]:
    if split.samples.oldest <= state.limit or split.id in state.paused:
        return Outcome(state, (), (rule,))
    paused = attrs.evolve(state, paused=state.paused | {split.id})
    return Outcome(paused, (PauseSplit(split.id),), (rule,))


def on_sample(state: State, rule: str) -> Outcome[State, Observation]:
    """Take a sample of each watermark, look at everybody, and report."""
    splits = tuple(attrs.evolve(one, samples=take(one.samples)) for one in state.splits)
    checked = check_all(attrs.evolve(state, source=take(state.source), splits=splits), rule)
    rules = (*checked.rules[:-1], "ALIGN-9", *checked.rules[-1:])
    if state.source.latest == MIN:
        return Outcome(checked.state, checked.observations, rules)
    report = Report(MAX if state.idle else state.source.latest)
    return Outcome(checked.state, (*checked.observations, report), (*rules, "ALIGN-11"))


def take(samples: Samples) -> Samples:
    return attrs.evolve(samples, kept=(*samples.kept, samples.latest)[1:])


def check_all(state: State, rule: str) -> Outcome[State, Observation]:
    """The subtask first, then its splits."""
    whole = check_source(state, rule)
    each = check_splits(whole.state)
    rules = (*whole.rules[:-1], *each.rules, rule)
    return Outcome(each.state, whole.observations + each.observations, tuple(dict.fromkeys(rules)))


def check_source(state: State, rule: str) -> Outcome[State, Observation]:
    is_ahead = state.source.oldest > state.limit
    if state.mode is Mode.READING and is_ahead:
        return Outcome(attrs.evolve(state, mode=Mode.WAITING), (Wait(),), ("ALIGN-3", rule))
    if state.mode is Mode.WAITING and not is_ahead:
        return Outcome(attrs.evolve(state, mode=Mode.READING), (GoOn(),), ("ALIGN-3", rule))
    return Outcome(state, (), (rule,))


def check_splits(state: State) -> Outcome[State, Observation]:
    ahead = [one for one in state.splits if one.samples.oldest > state.limit]
    pausing = [one.id for one in ahead if not one.idle and one.id not in state.paused]
    waiting = [one for one in state.splits if one not in ahead and one.id in state.paused]
    skips = state.config.semantics == "flink-39073"
    resuming = [one.id for one in waiting if not (one.idle and skips)]
    paused = state.paused.union(pausing).difference(resuming)
    rules = (
        *(("ALIGN-4",) if pausing else ()),
        *(("ALIGN-5",) if resuming else ()),
        *(("ALIGN-6",) if any(one.idle and one.id not in state.paused for one in ahead) else ()),
        *(("ALIGN-7",) if any(one.idle for one in waiting) else ()),
    )
    shown: tuple[Observation, ...] = (*map(PauseSplit, sorted(pausing)), *map(ResumeSplit, sorted(resuming)))
    return Outcome(attrs.evolve(state, paused=paused), shown, rules)


def put_split(state: State, split: Split) -> State:
    others = (one for one in state.splits if one.id != split.id)
    return attrs.evolve(state, splits=tuple(sorted((*others, split), key=lambda one: one.id)))


# --- claims ---------------------------------------------------------------------------------------------------


def is_check(event: Event) -> bool:
    return isinstance(event, Sample | Announce | End)


@invariant("ALIGN-3")
def waits_while_ahead(state: State) -> bool:
    """A subtask that has not ended waits exactly while it is ahead of the limit."""
    return state.mode is Mode.ENDED or (state.mode is Mode.WAITING) == (state.source.oldest > state.limit)


@invariant("ALIGN-4", "ALIGN-6")
def whoever_is_ahead_is_paused(state: State) -> bool:
    """A split that is ahead of the limit is paused, or idle."""
    return all(one.idle or one.id in state.paused for one in state.splits if one.samples.oldest > state.limit)


@always("ALIGN-5", "ALIGN-7")
def nobody_is_forgotten(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """After a sample or an announcement, a split that is paused is ahead of the limit."""
    after = outcome.state
    behind = [one for one in after.splits if one.samples.oldest <= after.limit]
    return not is_check(event) or not any(one.id in after.paused for one in behind)


@always("ALIGN-6")
def idle_splits_are_not_paused(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A split that is idle is not paused."""
    idle = {one.id for one in outcome.state.splits if one.idle}
    return not any(isinstance(seen, PauseSplit) and seen.split in idle for seen in outcome.observations)


@always("ALIGN-5")
def pauses_and_resumes_alternate(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A split is paused if it is not, and resumed if it is."""
    paused = {*before.paused}
    for seen in outcome.observations:
        if isinstance(seen, PauseSplit):
            if seen.split in paused:
                return False
            paused.add(seen.split)
        elif isinstance(seen, ResumeSplit):
            if seen.split not in paused:
                return False
            paused.remove(seen.split)
    return paused == outcome.state.paused


@always("ALIGN-9", "ALIGN-10", "ALIGN-11")
def one_report_at_the_end(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A sample ends with a report once there is a watermark: of the highest timestamp if nobody need wait for us."""
    reports = [seen for seen in outcome.observations if isinstance(seen, Report)]
    latest = outcome.state.source.latest
    if outcome.observations == (Rejected(),) or not isinstance(event, Sample | End) or latest == MIN:
        return not reports
    return outcome.observations[-1:] == (Report(MAX if before.idle else latest),) and len(reports) == 1


@always("ALIGN-2")
def samples_age(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """As many samples are kept as the config says, and only a sample moves them."""
    kept = outcome.state.source.kept
    moved = isinstance(event, Sample | End)
    expected = (*before.source.kept, outcome.state.source.latest)[1:] if moved else before.source.kept
    return kept == expected


@sometimes("ALIGN-7")
def an_idle_split_stays_paused(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """FLINK-40093: in flink-39073 a split that turned idle while it was paused is not resumed."""
    after = outcome.state
    return is_check(event) and any(
        one.idle and one.id in after.paused and one.samples.oldest <= after.limit for one in after.splits
    )


@sometimes("ALIGN-6")
def paused_when_active_again(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A split was ahead while it was idle, and is paused when it is active again."""
    return isinstance(event, SplitStatus) and any(isinstance(seen, PauseSplit) for seen in outcome.observations)


@sometimes("ALIGN-3")
def a_subtask_goes_on(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The limit has caught up with a subtask that waited."""
    return GoOn() in outcome.observations


COMPONENT = Component.of(__name__, title="Watermark alignment in a source")
