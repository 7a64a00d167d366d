"""The checkpoint of a whole job: the part that each subtask takes of it, and when it is complete.

A source takes its part with its barrier, an aligned task when it has met the barrier of every channel, an unaligned one
with the first. An unaligned barrier overtakes, and what it overtook is part of the checkpoint: what waits unread when
the part is taken, and what arrives until the barrier of its channel does. The checkpoint is complete when every subtask
has met all its barriers. What has finished before takes no part: it counts with what it knew at its end.
"""

import attrs

from tidegate.reference.gate import gate
from tidegate.reference.job.programs import Barrier, EndOfData, Record
from tidegate.reference.job.states import Channel, Completed, Payload, Progress, Snapshot, State, Turn
from tidegate.reference.tuples import replace


def is_unaligned(state: State) -> bool:
    return state.config.recovery is not None and state.config.recovery.unaligned


# --- the part of a subtask ------------------------------------------------------------------------------------


def take_part(turn: Turn, subtask: int) -> Turn:
    """RST-2: what the subtask knows now; RST-4: and what waits before the barriers of its channels."""
    mine = turn.subtask(subtask)
    channels = turn.layout.places[subtask].channels if is_unaligned(turn.state) else ()
    part = Snapshot(
        mine.cursor,
        mine.made,
        mine.totals,
        mine.collected,
        tuple(find_in_flight(turn.channel(channel), place in mine.aligned) for place, channel in enumerate(channels)),
        tuple(
            place
            for place, channel in enumerate(channels)
            if place not in mine.aligned
            and not waits_with_barrier(turn.channel(channel))
            and turn.layout.routes[channel].source not in turn.layout.unreached
        ),
    )
    return with_part(turn, subtask, part).because("RST-4" if channels else "RST-2")


def find_in_flight(channel: Channel, is_met: bool) -> tuple[Record, ...]:  # noqa: FBT001 - the barrier was read
    """The records that wait unread, up to the barrier if that has come."""
    is_here = waits_with_barrier(channel)
    waiting = tuple(one for one in channel.waiting if isinstance(one, Record))
    return waiting[: channel.overtaken] if is_here or is_met else waiting


def waits_with_barrier(channel: Channel) -> bool:
    """Whether its barrier has come, and was not read."""
    return any(isinstance(one, Barrier) for one in channel.waiting)


def save_arrival(turn: Turn, number: int, payload: Payload) -> Turn:
    """RST-4: what arrives on a channel whose barrier is still to come is saved; the barrier, no record, ends that."""
    route = turn.layout.routes[number]
    part = find_part(turn, route.target)
    if part is None or route.place not in part.open:
        return turn
    if not isinstance(payload, Record):
        closed = tuple(one for one in part.open if one != route.place)
        return with_part(turn, route.target, attrs.evolve(part, open=closed))
    longer = (*part.in_flight[route.place], payload)
    in_flight = replace(part.in_flight, route.place, longer)
    return with_part(turn, route.target, attrs.evolve(part, in_flight=in_flight)).because("RST-4")


def finish_part(turn: Turn, subtask: int, checkpoint: int) -> Turn:
    """RST-7: the subtask has met all barriers; with the last subtask the checkpoint is complete.

    RST-10: what has finished counts.
    """
    part, progress = find_part(turn, subtask), turn.state.progress
    assert part is not None
    assert progress is not None
    parts = replace(progress.parts, subtask, attrs.evolve(part, done=True))
    ended = turn.layout.unreached
    done = tuple(
        one
        for one in (take_last(turn, at) if at in ended else own for at, own in enumerate(parts))
        if one is not None and one.done
    )
    if len(done) < len(parts):
        return turn.with_progress(attrs.evolve(progress, parts=parts))
    complete = Progress((None,) * len(parts), done, progress.restored)
    return turn.with_progress(complete).observe(Completed(checkpoint)).because("RST-7", *["RST-10"] * bool(ended))


def take_last(turn: Turn, subtask: int) -> Snapshot:
    """RST-10: what a subtask that has finished knew at its end."""
    mine = turn.subtask(subtask)
    return Snapshot(mine.cursor, mine.made, mine.totals, mine.collected, done=True)


def find_part(turn: Turn, subtask: int) -> Snapshot | None:
    progress = turn.state.progress
    return None if progress is None else progress.parts[subtask]


def with_part(turn: Turn, subtask: int, part: Snapshot) -> Turn:
    progress = turn.state.progress
    assert progress is not None
    return turn.with_progress(attrs.evolve(progress, parts=replace(progress.parts, subtask, part)))


# --- barriers that overtake -----------------------------------------------------------------------------------


def overtake(turn: Turn, number: int, barrier: Barrier) -> Turn:
    """RST-4: an unaligned barrier is the next that is read of its channel, and its channel the next that is polled."""
    route = turn.layout.routes[number]
    channel = turn.channel(number)
    turn = save_arrival(turn, number, barrier)
    turn = turn.with_channel(number, waiting=(barrier, *channel.waiting), overtaken=len(channel.waiting))
    before = turn.subtask(route.target).gate
    assert before is not None
    (arrived,) = gate.step(before, gate.Arrive(route.place, gate.Item.DATA))
    queue = (route.place, *(one for one in arrived.state.queue if one != route.place))
    return turn.with_subtask(route.target, gate=attrs.evolve(arrived.state, queue=queue)).because("RST-4")


# --- what has finished ----------------------------------------------------------------------------------------


def may_begin(state: State) -> bool:
    """RST-9: whatever no barrier comes to has finished, and nobody has anything of it left to read but its end."""
    layout = state.layout
    return all(has_finished(state, at) for at in layout.unreached) and not any(
        isinstance(one, EndOfData)
        for route, channel in zip(layout.routes, state.channels, strict=True)
        if route.source in layout.unreached
        for one in channel.waiting
    )


def has_finished(state: State, subtask: int) -> bool:
    mine = state.subtasks[subtask]
    if mine.gate is not None:
        return gate.is_finished(mine.gate)
    place = state.layout.places[subtask]
    return mine.cursor > len(state.layout.operators[place.task.head].scripts[place.number])
