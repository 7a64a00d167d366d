"""What holds of a job across a failure."""

from collections import Counter
from functools import cache

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.elements import LogKind
from tidegate.reference.job.programs import Barrier, Config, EndOfPartition, Function, Record, ScriptItem
from tidegate.reference.job.states import Completed, Logged, Observation, Restored, State
from tidegate.reference.job.step import (
    Action,
    Choice,
    Results,
    compute_results,
    enabled_turns,
    is_done,
    is_enabled,
    start,
    step,
)
from tidegate.reference.job.tasks import count_numbering
from tidegate.reference.model import Outcome


@cache
def expect_results(config: Config) -> Results:
    """The results of the program, if nothing fails and no checkpoint is taken."""
    operators = tuple(attrs.evolve(one, scripts=tuple(map(drop_barriers, one.scripts))) for one in config.operators)
    (state,) = start(attrs.evolve(config, operators=operators, extension=None, recovery=None))
    while turns := enabled_turns(state):
        (outcome,) = step(state, turns[0])
        state = outcome.state
    return compute_results(state)


def drop_barriers(script: tuple[ScriptItem, ...]) -> tuple[ScriptItem, ...]:
    return tuple(item for item in script if not isinstance(item, Barrier))


def is_as_expected(results: Results, expected: Results, config: Config) -> bool:
    """Totals are the same whatever comes first; what a sum emits on the way is not, but for how often it does."""
    if results.totals != expected.totals:
        return False
    if any(one.function is Function.SUM for one in config.operators):
        return Counter(key for key, _ in results.collected) == Counter(key for key, _ in expected.collected)
    return results.collected == expected.collected


@invariant("RST-8", "RST-1", "RST-2", "RST-3", "RST-4", "RST-5", "RST-6", "RST-9", "RST-10", "RST-11")
def results_are_exact(state: State) -> bool:
    """A job that is done has the results that it has without a failure."""
    if state.progress is None or not is_done(state):
        return True
    return is_as_expected(compute_results(state), expect_results(state.config), state.config)


@invariant("RST-3", "RST-6")
def totals_are_known_once(state: State) -> bool:
    """No two subtasks know a total of the same key."""
    if state.progress is None:
        return True
    keys = [(operator, key) for one in state.subtasks for operator, key, _total in one.totals]
    return len(keys) == len(set(keys))


@invariant("RST-1")
def ids_are_unique(state: State) -> bool:
    """No two records that wait for a subtask on one edge have the same id."""
    routes = zip(state.layout.routes, state.channels, strict=True)
    waiting = [
        (route.target, route.edge.number, one.id)
        for route, channel in routes
        for one in channel.waiting
        if isinstance(one, Record)
    ]
    return len(waiting) == len(set(waiting))


@always("RST-5")
def records_keep_their_order(before: State, event: Choice, _outcome: Outcome[State, Observation]) -> bool:
    """Of the records of a key that come from one subtask, the oldest is read first, saved ones before new ones."""
    if before.progress is None or event.action is not Action.POLL or not is_enabled(before, event):
        return True
    gate = before.subtasks[event.at].gate
    assert gate is not None
    channels = before.layout.places[event.at].channels
    read = before.channels[channels[gate.queue[0]]].waiting[0]
    if not isinstance(read, Record):
        return True
    waiting = [one for channel in channels for one in before.channels[channel].waiting if isinstance(one, Record)]
    return not any(is_older(before, one, read) for one in waiting)


def is_older(state: State, one: Record, read: Record) -> bool:
    assert one.id is not None
    assert read.id is not None
    count = count_numbering(state)
    return one.key == read.key and one.id % count == read.id % count and one.id < read.id


@always("RST-7")
def restored_from_what_is_complete(before: State, event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """A restore begins with a checkpoint exactly if one is complete."""
    if event.action is not Action.FAIL or not is_enabled(before, event):
        return True
    assert before.progress is not None
    (seen,) = outcome.observations
    return isinstance(seen, Restored) and (seen.checkpoint is None) == (before.progress.complete is None)


@always("RST-7", "RST-4")
def complete_parts_are_closed(_before: State, _event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """A complete checkpoint has the part of every subtask, and none of them waits for a barrier."""
    if not any(isinstance(seen, Completed) for seen in outcome.observations):
        return True
    progress = outcome.state.progress
    assert progress is not None
    assert progress.complete is not None
    return len(progress.complete) == len(outcome.state.subtasks) and not any(one.open for one in progress.complete)


@sometimes("RST-5")
def a_failure_finds_data_in_flight(before: State, event: Choice, _outcome: Outcome[State, Observation]) -> bool:
    """A job fails whose checkpoint has data of channels."""
    parts = before.progress.complete if before.progress is not None else None
    return event.action is Action.FAIL and any(any(one.in_flight) for one in parts or ())


@sometimes("RST-7")
def a_failure_comes_before_the_checkpoint(_before: State, event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """A job fails before its checkpoint is complete."""
    return event.action is Action.FAIL and Restored((), ()) in outcome.observations


@sometimes("RST-8")
def a_restored_job_comes_to_its_end(_before: State, _event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """A job that was restored is done."""
    progress = outcome.state.progress
    return progress is not None and progress.restored and is_done(outcome.state)


@always("RST-9")
def begins_when_the_others_have_finished(before: State, event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """A source sends its barrier when nothing is left to read of those that have none, but for ends of channels."""
    sent = any(isinstance(seen, Logged) and seen.kind is LogKind.BARRIER for seen in outcome.observations)
    if before.progress is None or event.action is not Action.EMIT or not sent:
        return True
    left = [
        one
        for route, channel in zip(before.layout.routes, before.channels, strict=True)
        if route.source in before.layout.unreached
        for one in channel.waiting
    ]
    return all(isinstance(one, EndOfPartition) for one in left)


@always("RST-11")
def what_had_finished_stays_so(before: State, event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """After a restore from a checkpoint, a source that has no barrier has nothing left but its end."""
    if event.action is not Action.FAIL or not is_enabled(before, event):
        return True
    assert before.progress is not None
    layout, subtasks = outcome.state.layout, outcome.state.subtasks
    sources = [at for at in layout.unreached if subtasks[at].gate is None]
    scripts = {at: layout.operators[layout.places[at].task.head].scripts[layout.places[at].number] for at in sources}
    complete = before.progress.complete is not None
    return all(subtasks[at].cursor == (len(scripts[at]) if complete else 0) for at in sources)


@sometimes("RST-11")
def a_failure_finds_what_has_finished(before: State, event: Choice, _outcome: Outcome[State, Observation]) -> bool:
    """A job fails whose checkpoint counts subtasks that had finished."""
    complete = before.progress is not None and before.progress.complete is not None
    return event.action is Action.FAIL and complete and bool(before.layout.unreached)


@invariant("RST-7", "RST-10")
def no_checkpoint_waits_for_nobody(state: State) -> bool:
    """A checkpoint is complete when every subtask that a barrier comes to has taken its part, or the job is done."""
    if state.progress is None:
        return True
    if is_done(state):
        return not any(state.progress.parts)
    parts = [part for at, part in enumerate(state.progress.parts) if at not in state.layout.unreached]
    return not all(part is not None and part.done for part in parts)
