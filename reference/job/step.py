"""What a whole job does: where it starts, and what each event leads to."""

from enum import StrEnum
from itertools import starmap
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.credit import credit_receiver as receiver
from tidegate.reference.credit import credit_sender as sender
from tidegate.reference.credit.backpressure import is_writer_blocked
from tidegate.reference.elements import Direction, LogKind, Long
from tidegate.reference.gate import gate
from tidegate.reference.job.channels import announce, deliver, deliver_credit, flush
from tidegate.reference.job.checkpoints import may_begin
from tidegate.reference.job.event_time import Timed
from tidegate.reference.job.layout import Layout, Output, Place, compute_layout, compute_restored_layout
from tidegate.reference.job.programs import EVENT_TIME, EXTENSION, FINISHED, RECOVERY, Barrier, Config
from tidegate.reference.job.restoring import restore
from tidegate.reference.job.states import Channel, Logged, Observation, Overrun, Progress, Remote, State, Subtask, Turn
from tidegate.reference.job.tasks import emit_next, fire_next, poll
from tidegate.reference.model import InvalidInputError, Outcome, rejected
from tidegate.reference.partitioning import partitioner as partitioning
from tidegate.reference.spanning import serializer
from tidegate.reference.spanning.deserializer import step as deserializer
from tidegate.reference.subpartition import queue as queues
from tidegate.reference.watermarks import combiner, valve

# --- events ---------------------------------------------------------------------------------------------------


class Action(StrEnum):
    """What the scheduler can let happen: to a subtask (the first two and the last), or to a channel with a wire."""

    EMIT = "emit"  # a source does what its script says next
    POLL = "poll"  # a task takes one item from its gate
    FLUSH = "flush"  # the producer's flusher comes round
    DELIVER = "deliver"  # the next message of the sender arrives
    ANNOUNCE = "announce"  # the receiver's network thread builds the credit message
    DELIVER_CREDIT = "deliver_credit"  # the next message of the receiver arrives
    FIRE = "fire"  # a task fires one timer that is due: only with the extension event_time
    FAIL = "fail"  # the whole job fails, and is restored: only with the extension recovery


OF_SUBTASKS = (Action.EMIT, Action.POLL, Action.FIRE)
#: Those of an extension.
EXTENDED = {Action.FIRE: (EXTENSION,), Action.FAIL: (RECOVERY, FINISHED)}
#: Those that every job knows.
PLAIN = tuple(action for action in Action if action not in EXTENDED)


@attrs.frozen
class Choice:
    """The scheduler lets this happen; `at` is the number of a subtask or of a channel in the whole job."""

    type: ClassVar[str] = "choice"
    action: Annotated[
        Action,
        "`emit`: a source does what its script says next, or ends. `poll`: a task takes one item from its gate. "
        "`fire`: a task fires the first of its timers that are due, by time, then by key; only with the extension "
        "`event_time`. These are of subtasks. `fail`: the whole job fails and is restored, at 0; only with the "
        "extensions `recovery` and `finished`. The others are of channels, and only where there is a wire. `flush`: "
        "the flusher of the producer comes round. `deliver`: the next message of the sender arrives. `announce`: "
        "the network thread of the receiver builds the credit message. `deliver_credit`: the next message of the "
        "receiver arrives.",
    ]
    at: Annotated[int, "The number of a subtask or of a channel in the whole job, from 0."]


Event = Choice

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Nothing is written yet."""
    return (begin(config, restored=False),)


def begin(config: Config, *, restored: bool) -> State:
    layout = compute_restored_layout(config) if restored else compute_layout(config)
    subtasks = tuple(start_subtask(config, layout, place) for place in layout.places)
    progress = Progress((None,) * len(subtasks), restored=restored) if config.recovery is not None else None
    return State(config, subtasks, (start_channel(config),) * len(layout.routes), progress)


def start_subtask(config: Config, layout: Layout, place: Place) -> Subtask:
    outputs = tuple(start_output(output) for output in place.outputs)
    routes = [layout.routes[channel] for channel in place.channels]
    if not routes:
        return Subtask(outputs)
    inputs = sorted({route.edge.input for route in routes})
    per_input = [sum(route.edge.input == index for route in routes) for index in inputs]
    (gate_state,) = gate.start(gate.Config(len(routes)))
    valves = tuple(valve.start(valve.Config(count, config.semantics))[0] for count in per_input)
    combined = combiner.start(combiner.Config(len(inputs)))[0] if len(inputs) > 1 else None
    buffers = None
    if config.wire is not None:
        (buffers,) = receiver.start(receiver.Config(len(routes), config.wire.exclusive, config.wire.floating))
    timed = Timed() if layout.operators[place.task.head].function in EVENT_TIME else None
    return Subtask(outputs, gate_state, buffers, valves, combined, timed=timed)


def start_output(output: Output) -> partitioning.State:
    edge = output.edge
    return partitioning.start(partitioning.Config(edge.kind, len(output.channels), edge.max_parallelism))[0]


def start_channel(config: Config) -> Channel:
    if config.wire is None:
        return Channel()
    (writing,) = serializer.start(serializer.Config(config.wire.buffer_size))
    (sending,) = sender.start(sender.Config(config.wire.exclusive))
    (reading,) = deserializer.start(deserializer.Config())
    return Channel(remote=Remote(writing, sending, reading))


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Choice) -> tuple[Outcome[State, Observation], ...]:
    extensions = EXTENDED.get(event.action)
    if extensions is not None and state.config.extension not in extensions:
        raise InvalidInputError(f"{event.action} belongs to the extension {' or '.join(extensions)}")
    if not is_enabled(state, event):
        return rejected(state, name_refusal(state, event))
    turn = Turn(state)
    match event.action:
        case Action.EMIT:
            turn = emit_next(turn, event.at)
        case Action.POLL:
            turn = poll(turn, event.at)
        case Action.FIRE:
            turn = fire_next(turn, event.at)
        case Action.FAIL:
            turn = fail(state)
        case Action.FLUSH:
            turn = flush(turn, event.at)
        case Action.DELIVER:
            turn = deliver(turn, event.at)
        case Action.ANNOUNCE:
            turn = announce(turn, event.at)
        case Action.DELIVER_CREDIT:
            turn = deliver_credit(turn, event.at)
    return (Outcome(turn.state, turn.seen, turn.rules),)


def name_refusal(state: State, event: Choice) -> str:
    action = event.action
    if action is Action.FAIL:
        return "RST-7"
    if action is Action.EMIT and 0 <= event.at < len(state.subtasks) and waits_to_begin(state, event.at):
        return "RST-9"
    return "CREDIT-30" if action in OF_SUBTASKS else "CREDIT-20"


def fail(state: State) -> Turn:
    """Nothing is left of the job but its complete checkpoint."""
    assert state.progress is not None
    scripts = [script for one in state.config.operators for script in one.scripts]
    (checkpoint,) = {item.checkpoint for script in scripts for item in script if isinstance(item, Barrier)}
    return restore(begin(state.config, restored=True), state.layout, state.progress.complete, checkpoint)


# --- what the scheduler may choose ----------------------------------------------------------------------------


def enabled(state: State) -> tuple[Choice, ...]:
    """Every choice that leads on, and the failure if it may come."""
    return (*enabled_turns(state), *(Choice(Action.FAIL, 0) for _ in range(may_fail(state))))


def may_fail(state: State) -> bool:
    """RST-7: a job that can be restored fails once, before it is done."""
    return state.progress is not None and not state.progress.restored and not is_done(state)


def enabled_turns(state: State) -> tuple[Choice, ...]:
    actions = [(action, at) for at in range(len(state.subtasks)) for action in actions_of_subtask(state, at)]
    actions += [(action, at) for at in range(len(state.channels)) for action in actions_of_channel(state, at)]
    return tuple(starmap(Choice, actions))


def is_enabled(state: State, choice: Choice) -> bool:
    if choice.action is Action.FAIL:
        return choice.at == 0 and may_fail(state)
    if choice.action in OF_SUBTASKS:
        return 0 <= choice.at < len(state.subtasks) and choice.action in actions_of_subtask(state, choice.at)
    return 0 <= choice.at < len(state.channels) and choice.action in actions_of_channel(state, choice.at)


def actions_of_subtask(state: State, number: int) -> list[Action]:
    subtask = state.subtasks[number]
    if is_backpressured(state, number):
        return []
    if subtask.gate is None:
        return [] if is_source_done(state, number) or waits_to_begin(state, number) else [Action.EMIT]
    return [Action.POLL] * bool(subtask.gate.queue) + [Action.FIRE] * has_due(subtask)


def waits_to_begin(state: State, number: int) -> bool:
    """RST-9: a source whose barrier is next, while others that have no barrier have not finished."""
    if state.config.extension != FINISHED or state.subtasks[number].gate is not None:
        return False
    place = state.layout.places[number]
    left = state.layout.operators[place.task.head].scripts[place.number][state.subtasks[number].cursor :]
    return bool(left) and isinstance(left[0], Barrier) and not may_begin(state)


def has_due(subtask: Subtask) -> bool:
    return subtask.timed is not None and bool(subtask.timed.due)


def actions_of_channel(state: State, number: int) -> list[Action]:
    remote = state.channels[number].remote
    if remote is None:
        return []
    route = state.layout.routes[number]
    buffers = state.subtasks[route.target].receiver
    assert buffers is not None
    subpartition = remote.sender.reader.subpartition
    possible = {
        Action.FLUSH: bool(remote.serializer.pending)
        or (bool(subpartition.items) and not subpartition.flush_requested),
        Action.DELIVER: bool(remote.down),
        Action.ANNOUNCE: buffers.gate.channels[route.place].unannounced > 0,
        Action.DELIVER_CREDIT: bool(remote.up),
    }
    return [action for action, is_possible in possible.items() if is_possible]


def is_backpressured(state: State, number: int) -> bool:
    """CREDIT-30: some output of the task has no buffer left."""
    wire = state.config.wire
    if wire is None:
        return False
    for output in state.layout.places[number].outputs:
        queued = tuple(count_queued(state.channels[channel]) for channel in output.channels)
        if is_writer_blocked(wire.output - sum(queued), queued, wire.output):
            return True
    return False


def count_queued(channel: Channel) -> int:
    return queues.count_data(channel.remote.sender.reader.subpartition) if channel.remote else 0


def is_source_done(state: State, number: int) -> bool:
    place = state.layout.places[number]
    return state.subtasks[number].cursor > len(state.layout.operators[place.task.head].scripts[place.number])


def is_done(state: State) -> bool:
    """Every source is at its end, and every task has read the end of all its channels and fired its timers."""
    return all(
        is_source_done(state, number)
        if subtask.gate is None
        else gate.is_finished(subtask.gate) and not has_due(subtask)
        for number, subtask in enumerate(state.subtasks)
    )


def is_stuck(state: State) -> bool:
    return not is_done(state) and not enabled_turns(state)


# --- results --------------------------------------------------------------------------------------------------


@attrs.frozen
class Results:
    """What all the sinks have collected, and what all the sums know, wherever it is."""

    collected: tuple[tuple[str, Long], ...]
    totals: tuple[tuple[int, str, Long], ...]


def compute_results(state: State) -> Results:
    collected = sorted(pair for subtask in state.subtasks for pair in subtask.collected)
    totals = sorted(entry for subtask in state.subtasks for entry in subtask.totals)
    return Results(tuple(collected), tuple(totals))


# --- claims ---------------------------------------------------------------------------------------------------


@always("CREDIT-18")
def data_finds_a_buffer(_before: State, _event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """A sender that sends data only against credit never meets a receiver without a buffer."""
    return not any(isinstance(seen, Overrun) for seen in outcome.observations)


@invariant("CREDIT-4", "CREDIT-9", "CREDIT-14", "CREDIT-24", "GATE-17")
def job_never_stuck(state: State) -> bool:
    """Until every task has read the end of all its channels, something can happen."""
    return not is_stuck(state)


@always("TIME-8", "TIME-2", "TIME-3")
def timers_make_nothing_late(before: State, event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """What a timer emits is later than every watermark that its operator has handed on."""
    if event.action is not Action.FIRE or not is_enabled(before, event):
        return True
    timed = before.subtasks[event.at].timed
    assert timed is not None
    records = [row for row in find_rows(before, event.at, outcome) if row.kind is LogKind.RECORD]
    return all(row.timestamp is not None and row.timestamp > timed.told for row in records)


@always("TIME-2")
def a_watermark_waits_for_its_timers(_before: State, _event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """No timer is left that a watermark which was handed on has made due."""
    timed = [one.timed for one in outcome.state.subtasks if one.timed is not None]
    return all(timer.time > one.told for one in timed for timer in one.timers)


def find_rows(before: State, subtask: int, outcome: Outcome[State, Observation]) -> list[Logged]:
    """What the subtask handed out."""
    place = before.layout.places[subtask]
    rows = [seen for seen in outcome.observations if isinstance(seen, Logged) and seen.dir is Direction.OUT]
    return [row for row in rows if (row.task, row.subtask) == (place.task.name, place.number)]


@sometimes("TIME-3")
def a_status_waits_for_a_watermark(before: State, event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """What comes behind a watermark whose timers are due waits with it."""
    del before, event
    return any(one.timed is not None and len(one.timed.held) > 1 for one in outcome.state.subtasks)


@sometimes("GATE-17")
def a_run_comes_to_its_end(before: State, _event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """Every task has read the end of all its channels."""
    return is_done(outcome.state) and not is_done(before)
