"""The checkpoint of a whole job: the part that each subtask takes of it, and when it is complete.

A source takes its part with its barrier, an aligned task when it has met the barrier of every channel, an unaligned one
with the first. An unaligned barrier overtakes, and what it overtook is part of the checkpoint: what waits unread when
the part is taken, and what arrives until the barrier of its channel does. The checkpoint is complete when every subtask
has met all its barriers.
"""

import attrs

from tidegate.reference.gate import gate
from tidegate.reference.job.programs import Barrier, Element
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
        tuple(place for place, channel in enumerate(channels) if is_barrier_to_come(turn, subtask, place, channel)),
    )
    return with_part(turn, subtask, part).because("RST-4" if channels else "RST-2")


def find_in_flight(channel: Channel, is_met: bool) -> tuple[Element, ...]:  # noqa: FBT001 - the barrier was read
    """What waits unread, up to the barrier if that has come."""
    waiting = tuple(one for one in channel.waiting if not isinstance(one, bytes))
    if waiting and isinstance(waiting[0], Barrier):
        return waiting[1 : 1 + channel.overtaken]
    return waiting[: channel.overtaken] if is_met else waiting


def is_barrier_to_come(turn: Turn, subtask: int, place: int, number: int) -> bool:
    waiting = turn.channel(number).waiting
    is_here = bool(waiting) and isinstance(waiting[0], Barrier)
    return not is_here and place not in turn.subtask(subtask).aligned


def save_arrival(turn: Turn, number: int, payload: Payload) -> Turn:
    """RST-4: what arrives on a channel whose barrier is still to come is saved; the barrier ends that."""
    route = turn.layout.routes[number]
    part = find_part(turn, route.target)
    if part is None or route.place not in part.open:
        return turn
    assert not isinstance(payload, bytes)
    if isinstance(payload, Barrier):
        closed = tuple(one for one in part.open if one != route.place)
        return with_part(turn, route.target, attrs.evolve(part, open=closed))
    longer = (*part.in_flight[route.place], payload)
    in_flight = replace(part.in_flight, route.place, longer)
    return with_part(turn, route.target, attrs.evolve(part, in_flight=in_flight)).because("RST-4")


def finish_part(turn: Turn, subtask: int, checkpoint: int) -> Turn:
    """RST-7: the subtask has met all barriers; with the last subtask the checkpoint is complete."""
    part, progress = find_part(turn, subtask), turn.state.progress
    assert part is not None
    assert progress is not None
    parts = replace(progress.parts, subtask, attrs.evolve(part, done=True))
    done = tuple(one for one in parts if one is not None and one.done)
    if len(done) < len(parts):
        return turn.with_progress(attrs.evolve(progress, parts=parts))
    finished = Progress((None,) * len(parts), done, progress.restored)
    return turn.with_progress(finished).observe(Completed(checkpoint)).because("RST-7")


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
    at_reader = before.channels[route.place]
    longer = attrs.evolve(at_reader, waiting=(gate.Item.DATA, *at_reader.waiting))
    queue = (route.place, *(one for one in before.queue if one != route.place))
    after = gate.State(before.config, replace(before.channels, route.place, longer), queue, available=True)
    return turn.with_subtask(route.target, gate=after).because("RST-4")


def count_overtaken(channel: Channel) -> int:
    """What is left of it when the next item is read; the barrier itself does not count."""
    return channel.overtaken if isinstance(channel.waiting[0], Barrier) else max(channel.overtaken - 1, 0)
