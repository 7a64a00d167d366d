"""What a subtask does in one turn: take the next item of its script or of its gate, and hand on what comes of it.

Whatever an operator emits goes to its network outputs, then to the operators that are chained to it (OUT-1), each
calling the next. Watermarks and statuses go through the valve of their input, and through the combiner if there are
several inputs, and then past the operators to every output.
Operators that know event time hold watermarks back until their timers have fired, and all that follows them.
Barriers go through a handler that aligns them: only when one was met on each channel does the task send it on. When
every channel has ended the task ends its own outputs.

Choices. One gate serves all inputs of a task. A buffer is handled in one turn, all records of it. A source says at
its end that event time is over; a task that reads learns it from its channels.
"""

import attrs

from tidegate.reference.barriers import step as barriers
from tidegate.reference.barriers import values as barrier_values
from tidegate.reference.barriers.values import Kind, Mode
from tidegate.reference.elements import MAX, Direction, Long, StatusChange, Watermark
from tidegate.reference.gate import gate
from tidegate.reference.gate.end_of_data import EndOfData as EndOfGate
from tidegate.reference.gate.end_of_data import compute_end_of_data
from tidegate.reference.job import event_time
from tidegate.reference.job.channels import recycle, resume, take, write
from tidegate.reference.job.checkpoints import finish_part, is_unaligned, take_part
from tidegate.reference.job.functions import apply
from tidegate.reference.job.layout import Route, compute_layout, compute_restored_layout
from tidegate.reference.job.programs import (
    EVENT_TIME,
    Barrier,
    Element,
    EndOfData,
    EndOfPartition,
    Function,
    Record,
    Side,
)
from tidegate.reference.job.states import State, Turn
from tidegate.reference.model import Rejected, reach
from tidegate.reference.partitioning import partitioner as partitioning
from tidegate.reference.partitioning.keys import StringKey
from tidegate.reference.tuples import replace
from tidegate.reference.watermarks import combiner, valve

# --- turns ----------------------------------------------------------------------------------------------------


def emit_next(turn: Turn, subtask: int) -> Turn:
    """A source does what its script says next, or ends."""
    place = turn.layout.places[subtask]
    head = place.task.head
    script = turn.layout.operators[head].scripts[place.number]
    cursor = turn.subtask(subtask).cursor
    turn = turn.with_subtask(subtask, cursor=cursor + 1)
    if cursor == len(script):
        turn = pass_control(turn.because("TASK-7"), subtask, head, Watermark(MAX))
        return announce_everywhere(announce_everywhere(turn, subtask, EndOfData()), subtask, EndOfPartition())
    item = script[cursor]
    if isinstance(item, Record):
        return run_operator(turn, subtask, head, item)
    if isinstance(item, Barrier):
        return on_trigger(turn, subtask, item, is_last=True)
    return pass_control(turn, subtask, head, item)


def poll(turn: Turn, subtask: int) -> Turn:
    """A task takes one item from its gate."""
    state = turn.subtask(subtask).gate
    assert state is not None
    (outcome,) = gate.step(state, gate.Poll())
    turn = turn.with_subtask(subtask, gate=outcome.state).because(*outcome.rules)
    (place,) = [seen.channel for seen in outcome.observations if isinstance(seen, gate.Polled)]
    number = turn.layout.places[subtask].channels[place]
    is_buffer = isinstance(turn.channel(number).waiting[0], bytes)
    turn, elements = take(turn, number)
    for element in elements:
        turn = on_element(turn.log_element(number, Direction.IN, element), number, element)
    return recycle(turn, number) if is_buffer else turn


def on_element(turn: Turn, number: int, element: Element) -> Turn:
    route = turn.layout.routes[number]
    subtask = route.target
    match element:
        case Record():
            return run_operator(turn, subtask, turn.layout.places[subtask].task.head, element)
        case Watermark() | StatusChange():
            return on_control(turn, route, element)
        case Barrier():
            return on_barrier(turn, route, element)
        case EndOfData():
            return on_end_of_data(turn, subtask)
        case EndOfPartition():
            return on_end_of_partition(turn, route)


# --- records --------------------------------------------------------------------------------------------------


def run_operator(turn: Turn, subtask: int, number: int, record: Record) -> Turn:
    operator = turn.layout.operators[number]
    if operator.function is Function.SINK:
        collected = tuple(sorted((*turn.subtask(subtask).collected, (record.key, record.value))))
        return turn.with_subtask(subtask, collected=collected)
    timed = turn.subtask(subtask).timed
    if operator.function in EVENT_TIME and timed is not None:
        heard = event_time.on_record(operator, timed, record)
        turn = turn.with_subtask(subtask, timed=heard.timed).because(*heard.rules)
        if heard.is_late:
            return hand_out(turn, subtask, number, (record,), Side.LATE)
        return hand_out(turn, subtask, number, heard.emitted)
    totals, results = apply(operator, turn.subtask(subtask).totals, record)
    return hand_out(turn.with_subtask(subtask, totals=totals), subtask, number, results)


def hand_out(turn: Turn, subtask: int, number: int, results: tuple[Record, ...], side: Side | None = None) -> Turn:
    """To whoever reads this output of the operator."""
    for result in results:
        for receiver in turn.layout.places[subtask].receivers[number]:
            if receiver.side is side:
                hand_to = emit_record if receiver.network else run_operator
                turn = hand_to(turn, subtask, receiver.number, result)
    return name_order(turn, subtask, number) if results else turn


def fire_next(turn: Turn, subtask: int) -> Turn:
    """The next timer that is due fires; behind the last of them, what was held back goes on."""
    timed = turn.subtask(subtask).timed
    assert timed is not None
    return release(fire(turn, subtask, timed.due[0]), subtask)


def fire(turn: Turn, subtask: int, timer: event_time.Timer) -> Turn:
    """A timer that is due fires."""
    head = turn.layout.places[subtask].task.head
    timed = turn.subtask(subtask).timed
    assert timed is not None
    several = len({one.time for one in timed.due}) > 1
    timed, emitted = event_time.fire(turn.layout.operators[head], timed, timer)
    turn = turn.with_subtask(subtask, timed=timed).because("TIME-4" if several else "TIME-1")
    return hand_out(turn, subtask, head, emitted)


def hold(turn: Turn, subtask: int, element: event_time.Held) -> Turn:
    """What comes behind a watermark whose timers are due waits, as that watermark does."""
    timed = turn.subtask(subtask).timed
    assert timed is not None
    was_holding = bool(timed.held)
    timed = event_time.hold(timed, element)
    turn = turn.with_subtask(subtask, timed=timed)
    if timed.due:
        turn = turn.because("TIME-3" if was_holding else "TIME-2")
    return release(turn, subtask)


def release(turn: Turn, subtask: int) -> Turn:
    timed = turn.subtask(subtask).timed
    assert timed is not None
    timed, freed = event_time.release(timed)
    turn = turn.with_subtask(subtask, timed=timed)
    if len(freed) > 1:
        turn = turn.because("TIME-3")
    for element in freed:
        if isinstance(element, EndOfData | EndOfPartition):
            turn = write_everywhere(turn, subtask, element)
        else:
            turn = hand_on(turn, subtask, turn.layout.places[subtask].task.head, element)
    return turn


def emit_record(turn: Turn, subtask: int, place: int, record: Record) -> Turn:
    """A record leaves the task, with an id that no other has: the subtasks take turns in numbering."""
    made = turn.subtask(subtask).made
    leaving = attrs.evolve(record, id=Long(made * count_numbering(turn.state) + subtask))
    is_keyed = turn.layout.places[subtask].outputs[place].edge.kind is partitioning.Partitioner.HASH
    key = StringKey(record.key) if is_keyed else None
    turn = emit(turn.with_subtask(subtask, made=made + 1), subtask, place, partitioning.Record(key), leaving)
    return turn.because("PART-10") if is_keyed else turn


def count_numbering(state: State) -> int:
    """How many subtasks take turns: of a job that can be restored as many as there are before or after that."""
    if state.progress is None:
        return len(state.subtasks)
    return max(len(compute_layout(state.config).places), len(compute_restored_layout(state.config).places))


def emit(turn: Turn, subtask: int, place: int, event: partitioning.Event, element: Element) -> Turn:
    """The output decides which of its channels get the element."""
    outputs = turn.subtask(subtask).outputs
    (outcome,) = partitioning.step(outputs[place], event)
    after = replace(outputs, place, outcome.state)
    turn = turn.with_subtask(subtask, outputs=after).because(*outcome.rules)
    channels = turn.layout.places[subtask].outputs[place].channels
    for seen in outcome.observations:
        if isinstance(seen, partitioning.Send):
            turn = write(turn, channels[seen.channel], element)
    return turn


def name_order(turn: Turn, subtask: int, operator: int) -> Turn:
    """Where an operator has several outputs, the order in which they were served is a rule."""
    return turn.because("OUT-1") if len(turn.layout.places[subtask].receivers[operator]) > 1 else turn


# --- watermarks and statuses ----------------------------------------------------------------------------------


def on_control(turn: Turn, route: Route, element: Watermark | StatusChange) -> Turn:
    """The valve of the input says what the channels amount to."""
    subtask, index = route.target, route.edge.input
    place = count_channels_before(turn, route)
    event: valve.Event
    if isinstance(element, Watermark):
        event = valve.ChannelWatermark(place, element.timestamp)
    else:
        event = valve.ChannelStatus(place, element.status)
    valves = turn.subtask(subtask).valves
    (outcome,) = valve.step(valves[index], event)
    after = replace(valves, index, outcome.state)
    turn = turn.with_subtask(subtask, valves=after).because(*outcome.rules)
    for seen in outcome.observations:
        if not isinstance(seen, Rejected):
            turn = on_input(turn, subtask, index, seen)
    return turn


def count_channels_before(turn: Turn, route: Route) -> int:
    """The place of a channel among those of its input."""
    mates = [turn.layout.routes[number] for number in turn.layout.places[route.target].channels]
    return sum(mate.edge.input == route.edge.input and mate.place < route.place for mate in mates)


def on_input(turn: Turn, subtask: int, index: int, element: Watermark | StatusChange) -> Turn:
    """With several inputs, the combiner says what they amount to."""
    head = turn.layout.places[subtask].task.head
    state = turn.subtask(subtask).combiner
    if state is None:
        return pass_control(turn, subtask, head, element)
    event: combiner.Event
    if isinstance(element, Watermark):
        event = combiner.InputWatermark(index, element.timestamp)
    else:
        event = combiner.InputStatus(index, element.status)
    (outcome,) = combiner.step(state, event)
    turn = turn.with_subtask(subtask, combiner=outcome.state).because(*outcome.rules)
    for seen in outcome.observations:
        if not isinstance(seen, Rejected):
            turn = pass_control(turn, subtask, head, seen)
    return turn


def pass_control(turn: Turn, subtask: int, number: int, element: Watermark | StatusChange) -> Turn:
    """Past the operator; one that knows event time first looks which timers are due."""
    is_timed = turn.layout.operators[number].function in EVENT_TIME
    return hold(turn, subtask, element) if is_timed else hand_on(turn, subtask, number, element)


def hand_on(turn: Turn, subtask: int, number: int, element: Watermark | StatusChange) -> Turn:
    """To the outputs of the operator, and to those chained to it."""
    for receiver in turn.layout.places[subtask].receivers[number]:
        if receiver.network:
            turn = emit(turn, subtask, receiver.number, element, element)
        else:
            turn = pass_control(turn, subtask, receiver.number, element)
    return name_order(turn, subtask, number)


# --- events ---------------------------------------------------------------------------------------------------


def on_barrier(turn: Turn, route: Route, barrier: Barrier) -> Turn:
    """The barrier handler says when the task sends the barrier on, and which channels go on."""
    mode = Mode.UNALIGNED if is_unaligned(turn.state) else Mode.ALIGNED
    return handle(turn, route, barrier, barrier_values.Barrier(route.place, Long(barrier.checkpoint), mode, Long(0)))


def handle(turn: Turn, route: Route, barrier: Barrier, event: barrier_values.Event) -> Turn:
    """The handler takes a barrier or an end, and the task does what the handler says."""
    subtask = route.target
    (outcome,) = barriers.step(restore_handler(turn, route, barrier), event)
    assert isinstance(outcome.state, barrier_values.Alignment)
    rules = ("RST-10", outcome.rules[0]) if find_ended(turn, subtask) else outcome.rules[:1]
    now_met = tuple(sorted({*turn.subtask(subtask).aligned, route.place}))
    turn = turn.with_subtask(subtask, aligned=now_met).because(*rules)
    is_last = outcome.state.done == barrier.checkpoint
    for seen in outcome.observations:
        match seen:
            case barrier_values.Trigger():
                turn = on_trigger(turn, subtask, barrier, is_last=is_last)
            case barrier_values.StopPersisting():
                turn = finish_part(turn, subtask, barrier.checkpoint)
            case barrier_values.Resume(place):
                turn = resume(turn, turn.layout.places[subtask].channels[place])
    return turn.with_subtask(subtask, aligned=tuple(sorted(outcome.state.aligned)))


def restore_handler(turn: Turn, route: Route, barrier: Barrier) -> barrier_values.State:
    """The handler of a subtask, made from what the subtask keeps of it: which channels have met the barrier.

    That is enough. Every source has the same barriers, so no other checkpoint comes in between. It follows in three
    steps: channels that ended without this barrier, channels with the barrier, and those of them that have ended since.
    """
    subtask = route.target
    kind, mode = (Kind.UNALIGNED, Mode.UNALIGNED) if is_unaligned(turn.state) else (Kind.ALIGNED, Mode.ALIGNED)
    channels = len(turn.layout.places[subtask].channels)
    (fresh,) = barriers.start(barrier_values.Config(kind, channels, finished_channels=True))
    met, ended = turn.subtask(subtask).aligned, find_ended(turn, subtask)
    without_barrier = [place for place in ended if place not in (*met, route.place)]
    with_barrier = [place for place in met if place not in ended]
    ended_since = [place for place in met if place in ended]
    events: list[barrier_values.Event] = [
        *map(barrier_values.EndOfPartition, without_barrier),
        *(barrier_values.Barrier(place, Long(barrier.checkpoint), mode, Long(0)) for place in with_barrier),
        *map(barrier_values.EndOfPartition, ended_since),
    ]
    return reach(barriers.step, fresh, events)


def find_ended(turn: Turn, subtask: int) -> tuple[int, ...]:
    """RST-10: the places in the gate of channels that had no barrier to wait for, and were read to their end."""
    state = turn.subtask(subtask).gate
    assert state is not None
    channels = enumerate(turn.layout.places[subtask].channels)
    finished = [place for place, channel in channels if turn.layout.routes[channel].source in turn.layout.unreached]
    return tuple(place for place in finished if state.channels[place].ended and not state.channels[place].waiting)


def on_trigger(turn: Turn, subtask: int, barrier: Barrier, *, is_last: bool) -> Turn:
    """The subtask takes its part of the checkpoint, and sends the barrier on."""
    if turn.state.progress is not None:
        turn = take_part(turn, subtask)
    turn = announce_everywhere(turn, subtask, barrier)
    if turn.state.progress is None or not is_last or (is_unaligned(turn.state) and turn.subtask(subtask).gate):
        return turn
    return finish_part(turn, subtask, barrier.checkpoint)


def on_end_of_data(turn: Turn, subtask: int) -> Turn:
    drained = turn.subtask(subtask).drained + 1
    turn = turn.with_subtask(subtask, drained=drained)
    channels = turn.layout.places[subtask].channels
    if compute_end_of_data(len(channels), (True,) * drained) is EndOfGate.NOT_YET:
        return turn
    return announce_everywhere(turn.because("TASK-7"), subtask, EndOfData())


def on_end_of_partition(turn: Turn, route: Route) -> Turn:
    subtask = route.target
    if turn.subtask(subtask).aligned and route.source in turn.layout.unreached:
        turn = handle(turn, route, find_barrier(turn), barrier_values.EndOfPartition(route.place))
    state = turn.subtask(subtask).gate
    assert state is not None
    return announce_everywhere(turn.because("TASK-7"), subtask, EndOfPartition()) if gate.is_finished(state) else turn


def find_barrier(turn: Turn) -> Barrier:
    """The one that there is in a job where something has finished before."""
    scripts = [script for one in turn.layout.operators.values() for script in one.scripts]
    return next(item for script in scripts for item in script if isinstance(item, Barrier))


def announce_everywhere(turn: Turn, subtask: int, element: Barrier | EndOfData | EndOfPartition) -> Turn:
    """A checkpoint does not wait for timers; the end does."""
    if turn.subtask(subtask).timed is not None and not isinstance(element, Barrier):
        return hold(turn, subtask, element)
    return write_everywhere(turn, subtask, element)


def write_everywhere(turn: Turn, subtask: int, element: Barrier | EndOfData | EndOfPartition) -> Turn:
    """Events go to every channel of every output, past the partitioners."""
    for output in turn.layout.places[subtask].outputs:
        for number in output.channels:
            turn = write(turn, number, element)
    return turn
