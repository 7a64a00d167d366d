"""Fewer schedules of a whole job: independent choices are made in one order only (partial-order reduction).

A job has far more schedules than behaviours: the order of two tasks makes no difference while nothing lies between
them. So from each state the explorer follows only some of the choices, a *persistent set*: until one of these is made,
no other choice can touch them. Then every complete schedule leads to the same end as a followed one, with the same
choices and the same observations of each; only the order of some differs. (Runs must be finite for this: no choice is
postponed for ever.)

The reduction keeps the end states of runs, and the observations of each choice. So it finds a stuck job and a forbidden
observation; it may miss a broken claim about other states of the whole job. The rules of an outcome may differ, since
those of a gate depend on whether more is waiting there.

Such a set is made by closing over two questions, as stubborn sets are (Valmari; Godefroid). Which choices might
*touch* an enabled one? And for a disabled one, which must come first to *enable* it? State of a single subtask is
touched only by its own turns. Without a wire subtasks share

- the gate. Channels wait there in a queue, so the order matters between two channels that are not in it, or between
  such a channel and the polled one that is put back. A gate with a single open channel shares nothing: items arrive at
  the end of the queue, and are polled from its head.
- a channel that is blocked by a barrier. Items written there arrive when the reader resumes.

With a wire they share both ends of it: the senders and output buffers, with credit and flushes; and the gate and the
buffers of the reader, with arrivals and announcements. Items in flight share nothing, for the same reason as above.

A failure touches everything, and yet it is only added to the followed choices: it leaves nothing of the job but the
parts of a complete checkpoint. Each part is the state and the waiting items of one subtask, which are the same in all
equivalent orders. So each possible complete checkpoint is complete in a visited state, and the failure is tried there.
An overtaking barrier touches the turns of its reader, and other barriers that arrive there; so a reader that expects
barriers touches all subtasks that will send one. A source that sends its barrier after others have finished is enabled
by their turns, and by those of all their readers.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial

from tidegate.reference.elements import Direction, LogKind
from tidegate.reference.gate import gate
from tidegate.reference.job.checkpoints import is_unaligned
from tidegate.reference.job.programs import EXTENSION, FINISHED, Barrier, EndOfPartition
from tidegate.reference.job.states import Logged, State
from tidegate.reference.job.step import (
    OF_SUBTASKS,
    Action,
    Choice,
    enabled,
    enabled_turns,
    is_source_done,
    step,
    waits_to_begin,
)

AT_THE_PRODUCER = (Action.FLUSH, Action.DELIVER_CREDIT)
AT_THE_CONSUMER = (Action.DELIVER, Action.ANNOUNCE)


def choose(state: State) -> tuple[Choice, ...]:
    """The choices to follow."""
    turns = enabled_turns(state)
    return (*choose_among(state, turns), *(one for one in enabled(state) if one not in turns))


def choose_among(state: State, possible: tuple[Choice, ...]) -> tuple[Choice, ...]:
    """The smallest of the sets that start from one choice each."""
    smallest = possible
    find_others = cache(partial(find_together, state, possible))
    for first in possible:
        if len(smallest) == 1:
            break
        closed = close(first, find_others)
        followed = tuple(one for one in possible if one in closed)
        smallest = min(smallest, followed, key=len)
    return smallest


def close(first: Choice, find_others: Callable[[Choice], Iterable[Choice]]) -> set[Choice]:
    """A choice with all choices that must be followed with it; some of these are not enabled yet."""
    closed, waiting = {first}, [first]
    while waiting:
        more = [one for one in find_others(waiting.pop()) if one not in closed]
        closed.update(more)
        waiting += more
    return closed


def find_together(state: State, possible: tuple[Choice, ...], choice: Choice) -> tuple[Choice, ...]:
    """The choices to follow with a choice. With timers, everything: their independence is not analysed."""
    if state.config.extension == EXTENSION:
        return possible
    return tuple(find_touching(state, choice) if choice in possible else find_enabling(state, choice))


# --- choices that touch an enabled one ------------------------------------------------------------------------


def find_touching(state: State, choice: Choice) -> Iterator[Choice]:
    if choice.action in OF_SUBTASKS:
        yield from touching_what_overtakes(state, choice)
        if state.config.wire is None:
            yield from touching_what_is_written(state, choice)
            yield from touching_what_is_polled(state, choice.at)
        else:
            yield from at_outputs(state, choice.at)
            yield from at_gate(state, choice.at)
    elif choice.action in AT_THE_PRODUCER:
        yield turn_of(state, state.layout.routes[choice.at].source)
        yield from (Choice(action, choice.at) for action in AT_THE_PRODUCER)
    else:
        reader = state.layout.routes[choice.at].target
        yield turn_of(state, reader)
        yield from at_gate(state, reader)


def touching_what_overtakes(state: State, choice: Choice) -> Iterator[Choice]:
    """An overtaking barrier, and readers that may still receive one."""
    if not is_unaligned(state):
        return
    if awaits_barrier(state, choice.at):
        readers = {state.layout.routes[channel].target for channel in find_written_barriers(state, choice)}
        yield from (turn_of(state, reader) for reader in readers)
    else:
        readers = set()
    for reader in (*readers, choice.at):
        channels = state.layout.places[reader].channels
        yield from writers_of(
            state, [one for one in channels if awaits_barrier(state, state.layout.routes[one].source)]
        )


def awaits_barrier(state: State, subtask: int) -> bool:
    """The subtask has not sent its barrier yet."""
    progress = state.progress
    assert progress is not None
    came_back = progress.restored and is_past_barriers(state)
    return progress.complete is None and progress.parts[subtask] is None and not came_back


def is_past_barriers(state: State) -> bool:
    """After a restore from a checkpoint, all sources are behind their barriers."""
    return all(is_source_past(state, at) for at in range(len(state.subtasks)))


def is_source_past(state: State, subtask: int) -> bool:
    place = state.layout.places[subtask]
    scripts = state.layout.operators[place.task.head].scripts
    left = scripts[place.number][state.subtasks[subtask].cursor :] if scripts else ()
    return not any(isinstance(item, Barrier) for item in left)


def find_written_barriers(state: State, choice: Choice) -> set[int]:
    (outcome,) = step(state, choice)
    return find_channels(state, outcome.observations, lambda row: row.kind is LogKind.BARRIER)


def touching_what_is_written(state: State, choice: Choice) -> Iterator[Choice]:
    """The reader of each channel, and turns that might join the queue of its gate first."""
    for channel in find_written(state, choice):
        reader = state.layout.routes[channel].target
        others = [one for one in state.layout.places[reader].channels if one != channel]
        if all(is_over(state, one) for one in others):
            continue
        yield turn_of(state, reader)
        if may_join(state, channel):
            yield from writers_of(state, [one for one in others if may_join(state, one)])


def find_written(state: State, choice: Choice) -> set[int]:
    """The channels that a turn writes to."""
    (outcome,) = step(state, choice)
    return find_channels(state, outcome.observations, lambda _row: True)


def find_channels(state: State, seen: tuple[object, ...], wanted: Callable[[Logged], bool]) -> set[int]:
    rows = [row for row in seen if isinstance(row, Logged) and row.dir is Direction.OUT and wanted(row)]
    names = {(row.edge, row.producer, row.consumer) for row in rows}
    routes = enumerate(state.layout.routes)
    return {number for number, one in routes if (one.edge.number, one.producer, one.consumer) in names}


def touching_what_is_polled(state: State, subtask: int) -> Iterator[Choice]:
    """Turns that might join the queue before the polled channel is put back; all, if the turn resumes all channels."""
    gate_state = state.subtasks[subtask].gate
    if gate_state is None:
        return
    channels = state.layout.places[subtask].channels
    polled = channels[gate_state.queue[0]]
    others = [one for one in channels if one != polled]
    item, *rest = state.channels[polled].waiting
    if is_last_met(state, subtask, item) and others:
        yield from writers_of(state, [one for one in channels if not has_ended(state, one)])
    elif rest or may_arrive(state, polled):
        yield from writers_of(state, [one for one in others if may_join(state, one)])


def is_last_met(state: State, subtask: int, item: object) -> bool:
    """Whether this item may complete the checkpoint, so that all channels resume."""
    met, channels = state.subtasks[subtask].aligned, state.layout.places[subtask].channels
    if state.layout.unreached and state.config.extension == FINISHED:
        return isinstance(item, Barrier | EndOfPartition)
    return isinstance(item, Barrier) and len(met) + 1 == len(channels)


# --- choices that enable a disabled one -----------------------------------------------------------------------


def find_enabling(state: State, choice: Choice) -> Iterator[Choice]:
    if choice.action in OF_SUBTASKS:
        yield from enabling_a_turn(state, choice.at)
        return
    route = state.layout.routes[choice.at]
    if choice.action in (Action.FLUSH, Action.DELIVER):
        yield turn_of(state, route.source)
        yield from (Choice(action, choice.at) for action in AT_THE_PRODUCER)
    elif choice.action is Action.DELIVER_CREDIT:
        yield turn_of(state, route.target)
        yield Choice(Action.ANNOUNCE, choice.at)
    else:
        yield turn_of(state, route.target)
        yield from at_gate(state, route.target)


def enabling_a_turn(state: State, subtask: int) -> Iterator[Choice]:
    """An item must arrive, or buffers must become free; a finished subtask stays finished."""
    gate_state = state.subtasks[subtask].gate
    if is_source_done(state, subtask) if gate_state is None else gate.is_finished(gate_state):
        return
    if gate_state is None and waits_to_begin(state, subtask):
        yield from enabling_a_checkpoint(state)
    elif gate_state is None or gate_state.queue:
        yield from at_outputs(state, subtask)
    elif state.config.wire is None:
        channels = state.layout.places[subtask].channels
        yield from writers_of(state, [one for one in channels if may_arrive(state, one)])
    else:
        yield from (Choice(Action.DELIVER, channel) for channel in state.layout.places[subtask].channels)


def enabling_a_checkpoint(state: State) -> Iterator[Choice]:
    """Sources without a barrier must finish, and be read."""
    unreached = state.layout.unreached
    yield from (turn_of(state, subtask) for subtask in unreached)
    yield from (turn_of(state, route.target) for route in state.layout.routes if route.source in unreached)


# --- choices by place -----------------------------------------------------------------------------------------


def turn_of(state: State, subtask: int) -> Choice:
    return Choice(Action.EMIT if state.subtasks[subtask].gate is None else Action.POLL, subtask)


def writers_of(state: State, channels: Iterable[int]) -> Iterator[Choice]:
    return (turn_of(state, state.layout.routes[channel].source) for channel in channels)


def at_outputs(state: State, subtask: int) -> Iterator[Choice]:
    """Choices that affect the outputs of a subtask, except its own turns."""
    channels = (channel for output in state.layout.places[subtask].outputs for channel in output.channels)
    return (Choice(action, channel) for channel in channels for action in AT_THE_PRODUCER)


def at_gate(state: State, subtask: int) -> Iterator[Choice]:
    """Choices that affect the gate and the buffers of a subtask, except its own turns."""
    channels = state.layout.places[subtask].channels
    return (Choice(action, channel) for channel in channels for action in AT_THE_CONSUMER)


# --- channels without a wire ----------------------------------------------------------------------------------


def has_ended(state: State, channel: int) -> bool:
    """Nothing more is written there."""
    return at_reader(state, channel).ended


def is_over(state: State, channel: int) -> bool:
    """The same, and everything was read."""
    return has_ended(state, channel) and not at_reader(state, channel).waiting


def may_arrive(state: State, channel: int) -> bool:
    """The next item arrives at once, unless a barrier blocks the channel."""
    return not has_ended(state, channel) and not state.channels[channel].blocked


def may_join(state: State, channel: int) -> bool:
    """The next item puts the channel into the queue."""
    return may_arrive(state, channel) and not at_reader(state, channel).waiting


def at_reader(state: State, channel: int) -> gate.Channel:
    route = state.layout.routes[channel]
    gate_state = state.subtasks[route.target].gate
    assert gate_state is not None
    return gate_state.channels[route.place]
