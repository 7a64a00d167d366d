"""What recovered channels do with an event."""

import attrs

from tidegate.reference.elements import Long
from tidegate.reference.input import saving
from tidegate.reference.input.saving import NONE, Saving, Status
from tidegate.reference.model import Outcome, rejected
from tidegate.reference.recovery.recovered_channel import values
from tidegate.reference.recovery.recovered_channel.values import (
    DECLINED,
    HANDED_OVER,
    MARKED,
    Channel,
    Config,
    Event,
    Item,
    Kind,
    Location,
    Next,
    Observation,
    State,
)
from tidegate.reference.tuples import replace

#: What a reader is told of each kind of item.
NEXT = {
    Kind.DATA: Next.DATA,
    Kind.EVENT: Next.EVENT,
    Kind.BARRIER: Next.PRIORITY,
    Kind.RECOVERY_COMPLETION: Next.RECOVERY_COMPLETION,
    Kind.END_OF_STATE: Next.EVENT,
    Kind.MARK: Next.EVENT,
}


def start(config: Config) -> tuple[State, ...]:
    """Nothing was given yet, and no checkpoint is known."""
    return (State(config, (Channel(),) * config.channels),)


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    match event:
        case values.Finish():
            return on_finish(state)
        case values.Convert():
            return on_convert(state)
        case values.Mark(checkpoint):
            return on_mark(state, checkpoint)
        case values.Start(checkpoint):
            return (on_start(state, checkpoint),)
        case values.Stop(checkpoint):
            return (on_stop(state, checkpoint),)
    if not 0 <= event.channel < state.config.channels:
        return rejected(state, "REC-1")
    match event:
        case values.Recovered(index):
            return on_recovered(state, index)
        case values.Poll(index):
            return (on_poll(state, index),)
        case values.Barrier(index, checkpoint):
            return on_barrier(state, index, checkpoint)
        case values.Complete(index):
            if state.channels[index].announced:
                return rejected(state, "REC-6")
            announced = with_channel(state, index, attrs.evolve(state.channels[index], announced=True))
            return (Outcome(write(announced, index, Kind.RECOVERY_COMPLETION), (), ("REC-6",)),)
        case values.Data(index):
            return on_write(state, index, Kind.DATA)
        case values.PlainEvent(index):
            return on_write(state, index, Kind.EVENT)


# --- recovered state ------------------------------------------------------------------------------------------


def on_recovered(state: State, index: int) -> tuple[Outcome[State, Observation], ...]:
    """REC-1; REC-10: what is given to a live channel waits behind what was given before."""
    if state.finished or is_too_early(state):
        return rejected(state, "REC-10" if is_too_early(state) else "REC-1")
    channel = state.channels[index]
    after = attrs.evolve(
        channel, recovered=(*channel.recovered, Item(Kind.DATA, channel.given)), given=channel.given + 1
    )
    return (Outcome(with_channel(state, index, after), (), (name_given(state),)),)


def on_finish(state: State) -> tuple[Outcome[State, Observation], ...]:
    """REC-2: behind the last recovered buffer of each channel it is said that there are no more."""
    if state.finished or is_too_early(state):
        return rejected(state, "REC-10" if is_too_early(state) else "REC-2")
    ended = tuple(
        attrs.evolve(one, recovered=(*one.recovered, Item(Kind.END_OF_STATE, one.given))) for one in state.channels
    )
    after = attrs.evolve(state, channels=ended, finished=True)
    is_ready = state.config.semantics == HANDED_OVER
    rule = "REC-8" if is_ready else "REC-10" if state.live else "REC-2"
    return (Outcome(after, (values.Ready(),) if is_ready else (), (rule,)),)


def is_too_early(state: State) -> bool:
    """REC-10: recovered state is given to live channels only."""
    return state.config.semantics == MARKED and not state.live


def name_given(state: State) -> str:
    return "REC-10" if state.config.semantics == MARKED else "REC-1"


def on_convert(state: State) -> tuple[Outcome[State, Observation], ...]:
    """REC-3: channels become live when their recovered state was read; REC-8: given; REC-10: at once."""
    semantics = state.config.semantics
    allowed = {
        DECLINED: all(channel.consumed for channel in state.channels),
        HANDED_OVER: state.finished,
        MARKED: True,
    }
    rule = {DECLINED: "REC-3", HANDED_OVER: "REC-8", MARKED: "REC-10"}[semantics]
    if not allowed[semantics]:
        return rejected(state, rule)
    if state.live:
        return (Outcome(state, (), ("REC-3",)),)
    live = attrs.evolve(stop_all(state, state.stopped), live=True)
    after = attrs.evolve(live, channels=tuple(flow(live, channel) for channel in live.channels))
    rules = (rule,) if state.stopped == NONE else (rule, "REC-5")
    return (Outcome(after, (), rules),)


# --- what producers write -------------------------------------------------------------------------------------


def on_write(state: State, index: int, kind: Kind) -> tuple[Outcome[State, Observation], ...]:
    """It waits with the producer until the channel is live; REC-6: and as long as that is blocked."""
    after = write(state, index, kind)
    seen = list_saved_on_arrival(index, state.channels[index], after.channels[index])
    rule = "BARR-14" if seen else "REC-6" if state.channels[index].blocked else "REC-1"
    return (Outcome(after, seen, (rule,)),)


def write(state: State, index: int, kind: Kind) -> State:
    channel = state.channels[index]
    after = attrs.evolve(channel, unsent=(*channel.unsent, Item(kind, channel.written)), written=channel.written + 1)
    return with_channel(state, index, flow(state, after))


def flow(state: State, channel: Channel) -> Channel:
    """What a remote producer has for a live channel comes in, until it is blocked."""
    if state.config.location is Location.LOCAL or not state.live:
        return channel
    while channel.unsent and not channel.blocked and not is_recovering(state, channel):
        item, *rest = channel.unsent
        channel = attrs.evolve(
            channel,
            unsent=tuple(rest),
            queue=(*channel.queue, attrs.evolve(item, sequence=channel.arrived)),
            arrived=channel.arrived + 1,
            blocked=item.kind is Kind.RECOVERY_COMPLETION,
        )
    return channel


def is_recovering(state: State, channel: Channel) -> bool:
    """REC-10: a live channel that still reads recovered state is sent nothing but barriers."""
    return state.config.semantics == MARKED and not channel.consumed


def list_saved_on_arrival(index: int, before: Channel, after: Channel) -> tuple[Observation, ...]:
    """BARR-14: while the barrier is still to come, what comes in is saved."""
    if before.saving.status is not Status.PENDING:
        return ()
    news = after.queue[len(before.queue) :]
    return tuple(values.Saved(index, before.saving.seen, (), (item.number,)) for item in news if item.kind is Kind.DATA)


def on_barrier(state: State, index: int, checkpoint: Long) -> tuple[Outcome[State, Observation], ...]:
    """REC-7: a barrier overtakes recovered data, and what is held back behind the end of recovery."""
    if not state.live:
        return rejected(state, "REC-4")
    channel = state.channels[index]
    item = Item(Kind.BARRIER, channel.written, checkpoint)
    after = attrs.evolve(channel, ahead=(*channel.ahead, item), written=channel.written + 1)
    if state.config.location is Location.REMOTE:
        after = attrs.evolve(
            after, arrived=channel.arrived + 1, saving=hear_barrier(after, checkpoint, channel.arrived)
        )
    return (Outcome(with_channel(state, index, after), (), name_barrier(channel, checkpoint)),)


def name_barrier(channel: Channel, checkpoint: Long) -> tuple[str, ...]:
    return ("REC-7", "BARR-20") if saving.is_obsolete(channel.saving, checkpoint) else ("REC-7",)


def hear_barrier(channel: Channel, checkpoint: Long, sequence: int | None = None) -> Saving:
    """BARR-20: as a channel that saves its state does; a local one need not know where the barrier was."""
    if saving.is_obsolete(channel.saving, checkpoint):
        return channel.saving
    known = saving.hear_barrier(channel.saving, checkpoint)
    return known if sequence is None else saving.remember_cut(known, checkpoint, sequence)


# --- reading --------------------------------------------------------------------------------------------------


def on_poll(state: State, index: int) -> Outcome[State, Observation]:
    channel = state.channels[index]
    if channel.ahead:
        return poll_barrier(state, index)
    if channel.recovered:
        return poll_recovered(state, index)
    if channel.queue:
        first, after = channel.queue[0], attrs.evolve(channel, queue=channel.queue[1:])
        return poll_sent(with_channel(state, index, after), index, first, ())
    is_local = state.config.location is Location.LOCAL
    if is_local and state.live and not is_recovering(state, channel) and channel.unsent and not channel.blocked:
        return poll_local(state, index)
    return Outcome(state, (), (name_waiting(state, channel),))


def name_waiting(state: State, channel: Channel) -> str:
    """Why there is nothing to read."""
    if channel.blocked:
        return "REC-6"
    return "REC-10" if state.config.semantics == MARKED else "REC-1"


def poll_barrier(state: State, index: int) -> Outcome[State, Observation]:
    channel = state.channels[index]
    first, *rest = channel.ahead
    after = attrs.evolve(channel, ahead=tuple(rest))
    if state.config.location is Location.LOCAL:
        after = attrs.evolve(after, saving=hear_barrier(after, first.checkpoint))
    state = with_channel(state, index, after)
    seen = values.Polled(first.kind, False, first.number, find_next(state, after))  # noqa: FBT003 - it was sent
    return Outcome(state, (seen,), ("REC-7", "REC-11"))


def poll_recovered(state: State, index: int) -> Outcome[State, Observation]:
    channel = state.channels[index]
    first, *rest = channel.recovered
    after = attrs.evolve(channel, recovered=tuple(rest))
    is_end = first.kind is Kind.END_OF_STATE
    if is_end and not state.live:
        return consume(with_channel(state, index, after), index, ())
    state = with_channel(state, index, after)
    polled = values.Polled(first.kind, True, first.number, find_next_recovered(state, after))  # noqa: FBT003
    if is_end and state.config.semantics == MARKED:
        return consume(state, index, (polled,))
    again = is_saved_again(state, after, first)
    saved = (values.Saved(index, after.saving.seen, (first.number,), ()),) if again else ()
    rule = "REC-9" if again else "REC-8" if state.live and not rest else name_given(state)
    return Outcome(state, (*saved, polled), (rule, "REC-11"))


def consume(state: State, index: int, polled: tuple[Observation, ...]) -> Outcome[State, Observation]:
    """REC-2: the end of recovered state is read, and of all channels; REC-10: from here on the producer sends."""
    left = () if state.config.location is Location.LOCAL else state.channels[index].recovered
    before = attrs.evolve(state.channels[index], consumed=True, recovered=left)
    after = flow(state, before)
    state = with_channel(state, index, after)
    is_ready = state.config.semantics == DECLINED and all(channel.consumed for channel in state.channels)
    ready = (values.Ready(),) if is_ready else ()
    saved = list_saved_on_arrival(index, before, after)
    rule = "REC-10" if state.live else "REC-2"
    return Outcome(state, (*polled, values.Consumed(index), *saved, *ready), (rule,))


def is_saved_again(state: State, channel: Channel, item: Item) -> bool:
    """REC-9: what was saved when the checkpoint started is saved when it is read."""
    is_local = state.config.location is Location.LOCAL and state.config.semantics == HANDED_OVER
    return is_local and state.live and channel.saving.status is Status.PENDING and item.kind is Kind.DATA


def poll_local(state: State, index: int) -> Outcome[State, Observation]:
    """The queue of the producer is read itself; BARR-14: and saved while the barrier is still to come."""
    channel = state.channels[index]
    first, *rest = channel.unsent
    blocks = first.kind is Kind.RECOVERY_COMPLETION
    after = attrs.evolve(channel, unsent=tuple(rest), blocked=blocks)
    is_saved = channel.saving.status is Status.PENDING and first.kind is Kind.DATA
    saved = (values.Saved(index, channel.saving.seen, (), (first.number,)),) if is_saved else ()
    return poll_sent(with_channel(state, index, after), index, first, saved)


def poll_sent(state: State, index: int, item: Item, saved: tuple[Observation, ...]) -> Outcome[State, Observation]:
    channel = state.channels[index]
    polled = values.Polled(item.kind, False, item.number, find_next(state, channel))  # noqa: FBT003 - it was sent
    if item.kind is not Kind.RECOVERY_COMPLETION:
        return Outcome(state, (*saved, polled), ("REC-1", "REC-11"))
    state = with_channel(state, index, attrs.evolve(channel, complete=True))
    if not all(one.complete for one in state.channels):
        return Outcome(state, (polled,), ("REC-6", "REC-11"))
    return resume_all(state, polled)


def resume_all(state: State, polled: Observation) -> Outcome[State, Observation]:
    """REC-6: the last channel has said that its producer is complete, and all producers go on."""
    before = [attrs.evolve(channel, blocked=False) for channel in state.channels]
    after = tuple(flow(state, channel) for channel in before)
    seen = [polled]
    for index, (blocked, free) in enumerate(zip(before, after, strict=True)):
        seen += [values.Resumed(index), *list_saved_on_arrival(index, blocked, free)]
    return Outcome(attrs.evolve(state, channels=after), tuple(seen), ("REC-6",))


def find_next(state: State, channel: Channel) -> Next:
    """REC-11: what a reader is told comes next; a blocked producer on this machine says that nothing does."""
    is_local = state.config.location is Location.LOCAL
    if channel.ahead and not (is_local and channel.blocked):
        return Next.PRIORITY
    if channel.recovered:
        return NEXT[channel.recovered[0].kind]
    if is_recovering(state, channel) or (is_local and channel.blocked):
        return Next.NONE
    waiting = channel.unsent if is_local else channel.queue
    return NEXT[waiting[0].kind] if waiting else Next.NONE


def find_next_recovered(state: State, channel: Channel) -> Next:
    """REC-11: behind the last recovered item a local channel says data, whatever its producer has."""
    found = find_next(state, channel) if state.live or channel.recovered else Next.NONE
    is_local = state.config.location is Location.LOCAL
    return Next.DATA if is_local and not channel.recovered and found is not Next.NONE else found


# --- checkpoints ----------------------------------------------------------------------------------------------


def on_mark(state: State, checkpoint: Long) -> tuple[Outcome[State, Observation], ...]:
    """REC-12: channels that still recover get a mark, behind what was given so far."""
    if state.config.semantics != MARKED or not state.live:
        return rejected(state, "REC-12")
    channels = tuple(
        one if one.consumed else attrs.evolve(one, recovered=(*one.recovered, Item(Kind.MARK, one.given, checkpoint)))
        for one in state.channels
    )
    return (Outcome(attrs.evolve(state, channels=channels), (), ("REC-12",)),)


def on_start(state: State, checkpoint: Long) -> Outcome[State, Observation]:
    if not state.live:
        return Outcome(state, (values.Declined(0),), ("REC-4",))
    channels = list(state.channels)
    seen: list[Observation] = []
    rule = name_start(state)
    for index, channel in enumerate(state.channels):
        recovered = find_recovered(state, channel, checkpoint)
        if recovered is None:
            seen.append(values.Declined(index))
            rule = "REC-12"
            break
        known = find_known(state, channel, checkpoint)
        channels[index] = known or channel
        if known is None or saving.is_subsumed(known.saving, checkpoint):
            seen.append(values.Subsumed(index))
            rule = "BARR-16"
            break
        channels[index] = attrs.evolve(known, saving=saving.start_saving(known.saving, checkpoint))
        sent = compute_overtaken(known)
        seen += [values.Saved(index, checkpoint, recovered, sent)] if recovered or sent else []
    return Outcome(attrs.evolve(state, channels=tuple(channels)), tuple(seen), (rule,))


def find_known(state: State, channel: Channel, checkpoint: Long) -> Channel | None:
    """The channel, once it knows where the checkpoint cuts; BARR-16: it cannot if a newer barrier has come in.

    A local channel knows of no barrier before that is read.
    """
    if is_recovering(state, channel):
        return drop_marks(channel, checkpoint)
    known = saving.find_cut(channel.saving, checkpoint)
    return None if known is None else attrs.evolve(channel, saving=known)


def name_start(state: State) -> str:
    return {DECLINED: "BARR-14", HANDED_OVER: "REC-8", MARKED: "REC-12"}[state.config.semantics]


def find_recovered(state: State, channel: Channel, checkpoint: Long) -> tuple[int, ...] | None:
    """What is saved of recovered state: all that was not read, or up to the mark; without the mark, nothing can be."""
    if not is_recovering(state, channel):
        return tuple(item.number for item in channel.recovered if item.kind is Kind.DATA)
    numbers: list[int] = []
    for item in channel.recovered:
        if item.kind is Kind.MARK and item.checkpoint >= checkpoint:
            return tuple(numbers) if item.checkpoint == checkpoint else None
        if item.kind is Kind.DATA:
            numbers.append(item.number)
    return None


def drop_marks(channel: Channel, checkpoint: Long) -> Channel:
    """Its own mark, and those of older checkpoints before it."""
    own = next(place for place, item in enumerate(channel.recovered) if item.checkpoint == checkpoint)
    kept = (item for item in channel.recovered[:own] if item.kind is not Kind.MARK)
    return attrs.evolve(channel, recovered=(*kept, *channel.recovered[own + 1 :]))


def compute_overtaken(channel: Channel) -> tuple[int, ...]:
    """BARR-14: the data that waits, up to the barrier if that is here."""
    before = [item for item in channel.queue if saving.is_before_cut(channel.saving, item.sequence)]
    return tuple(item.number for item in before if item.kind is Kind.DATA)


def on_stop(state: State, checkpoint: Long) -> Outcome[State, Observation]:
    """REC-5: channels that are not live yet remember it."""
    if not state.live:
        return Outcome(attrs.evolve(state, stopped=checkpoint), (), ("REC-5",))
    return Outcome(stop_all(state, checkpoint), (), ("BARR-20",))


def stop_all(state: State, checkpoint: Long) -> State:
    stopped = (
        attrs.evolve(channel, saving=saving.stop_saving(channel.saving, checkpoint)) for channel in state.channels
    )
    return attrs.evolve(state, channels=tuple(stopped))


def with_channel(state: State, index: int, channel: Channel) -> State:
    return attrs.evolve(state, channels=replace(state.channels, index, channel))
