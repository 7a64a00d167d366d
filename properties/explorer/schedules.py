"""Fewer schedules of a whole job: choices that do not touch each other are made in one order only.

A job has far more schedules than ways to behave: whether one task runs before another or after it makes no difference
while nothing lies between them. So from each state only some of the choices are followed, a *persistent set*: whatever
the others do for as long as none of these is made, they touch none of these. Then every complete schedule leads to the
same end as one that is followed, in which the same choices were made and each of them did and showed the same; only
the order of some is another. (That each run is finite matters: nothing is put off for ever.)

What is kept therefore: the states in which runs end, and what each single choice shows. So a job that gets stuck is
found, and an observation that must not be; a claim about other states of the whole job might be missed. The rules that
an outcome names may differ, since those of a gate say whether more is waiting there.

Such a set is made by closing over two questions, as stubborn sets are (Valmari; Godefroid). Which choices might
*touch* one that can be made? And for one that cannot be made, which must come first to *enable* it? What belongs to
one subtask only, its own turns touch. Without a wire they share

- its gate. Channels wait there in a queue, so it matters who comes first: of two channels that are not in it, or of
  such a one and the channel that is polled and put back. Who has a single channel left shares nothing: what arrives
  goes to the end of the line, and what is polled comes from its head.
- a channel that a barrier blocks. What is written there arrives when the reader goes on.

With a wire they share what is at either end of it: the senders and the buffers of the outputs, with what credit and
flushes do to them; and the gate and the buffers of the reader, with what arrives and what is announced. What is under
way shares nothing, for the same reason as above.

A failure touches everything, and yet it is only added to what is followed: it leaves nothing of the job but the parts
of a complete checkpoint. Each part is what one subtask knew and had waiting, which is the same in every order that is
not told apart; so each checkpoint that may be complete is so in a state that is looked at, and the failure is tried
there. A barrier that overtakes touches the turns of its reader, and other barriers that come there; so who reads where
barriers are still to come touches all who will send one. A source that waits for others to finish before it sends its
barrier is enabled by their turns, and by those of all who read them.
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
    """Of the sets that begin with one choice each, the smallest."""
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
    """A choice, and all that must be followed with it; some of these cannot be made yet."""
    closed, waiting = {first}, [first]
    while waiting:
        more = [one for one in find_others(waiting.pop()) if one not in closed]
        closed.update(more)
        waiting += more
    return closed


def find_together(state: State, possible: tuple[Choice, ...], choice: Choice) -> tuple[Choice, ...]:
    """What must be followed with a choice. Where timers fire, everything: nobody has asked yet what they touch."""
    if state.config.extension == EXTENSION:
        return possible
    return tuple(find_touching(state, choice) if choice in possible else find_enabling(state, choice))


# --- what touches a choice that can be made -------------------------------------------------------------------


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
    """A barrier that overtakes, and whoever reads where one may still come."""
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
    """Where a job was restored from a checkpoint, all sources are behind their barriers."""
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
    """The reader of each channel; and whoever might join the queue of its gate first."""
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
    """Whoever might join the queue before the channel that is polled is put back; all, if the turn lets all go on."""
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
    """Whether the checkpoint may be complete with what is read, so that all go on."""
    met, channels = state.subtasks[subtask].aligned, state.layout.places[subtask].channels
    if state.layout.unreached and state.config.extension == FINISHED:
        return isinstance(item, Barrier | EndOfPartition)
    return isinstance(item, Barrier) and len(met) + 1 == len(channels)


# --- what enables a choice that cannot be made ----------------------------------------------------------------


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
    """Something must arrive, or buffers must become free; but who is done is done."""
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
    """Whatever no barrier comes to must finish, and be read."""
    unreached = state.layout.unreached
    yield from (turn_of(state, subtask) for subtask in unreached)
    yield from (turn_of(state, route.target) for route in state.layout.routes if route.source in unreached)


# --- choices by place -----------------------------------------------------------------------------------------


def turn_of(state: State, subtask: int) -> Choice:
    return Choice(Action.EMIT if state.subtasks[subtask].gate is None else Action.POLL, subtask)


def writers_of(state: State, channels: Iterable[int]) -> Iterator[Choice]:
    return (turn_of(state, state.layout.routes[channel].source) for channel in channels)


def at_outputs(state: State, subtask: int) -> Iterator[Choice]:
    """What happens to the outputs of a subtask besides its own turns."""
    channels = (channel for output in state.layout.places[subtask].outputs for channel in output.channels)
    return (Choice(action, channel) for channel in channels for action in AT_THE_PRODUCER)


def at_gate(state: State, subtask: int) -> Iterator[Choice]:
    """What happens to the gate and the buffers of a subtask besides its own turns."""
    channels = state.layout.places[subtask].channels
    return (Choice(action, channel) for channel in channels for action in AT_THE_CONSUMER)


# --- channels without a wire ----------------------------------------------------------------------------------


def has_ended(state: State, channel: int) -> bool:
    """Nothing more is written there."""
    return at_reader(state, channel).ended


def is_over(state: State, channel: int) -> bool:
    """And everything was read."""
    return has_ended(state, channel) and not at_reader(state, channel).waiting


def may_arrive(state: State, channel: int) -> bool:
    """What is written next arrives, unless a barrier holds it back."""
    return not has_ended(state, channel) and not state.channels[channel].blocked


def may_join(state: State, channel: int) -> bool:
    """What is written next puts the channel into the queue."""
    return may_arrive(state, channel) and not at_reader(state, channel).waiting


def at_reader(state: State, channel: int) -> gate.Channel:
    route = state.layout.routes[channel]
    gate_state = state.subtasks[route.target].gate
    assert gate_state is not None
    return gate_state.channels[route.place]
