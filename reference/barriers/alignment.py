"""One checkpoint at a time: aligned, unaligned, and aligned until a time-out.

Aligned: a channel whose barrier was read is blocked until the others have caught up; then the task takes its part, and
everything before the barriers has been processed and nothing behind them. Unaligned: the first barrier is enough, and
what is still in flight becomes part of the checkpoint. Alternating starts aligned and turns unaligned when it takes
too long; barriers that have arrived but not been read are then made to overtake.

Choices. SingleCheckpointBarrierHandler and its states (WaitingForFirstBarrier, CollectingBarriers, Alternating...).
"""

import attrs

from tidegate.reference.barriers import values
from tidegate.reference.barriers.values import Kind, Mode, Observation, Reason
from tidegate.reference.elements import Long
from tidegate.reference.model import Outcome

Seen = Outcome[values.Alignment, Observation]
#: A state, and what was seen on the way to it.
Way = tuple[values.Alignment, tuple[Observation, ...]]


def is_pending(state: values.Alignment) -> bool:
    return state.current != state.done


def is_complete(state: values.Alignment) -> bool:
    return len(state.aligned) == state.target


def is_obsolete(state: values.Alignment, checkpoint: Long) -> bool:
    return checkpoint < state.current or (checkpoint == state.current and not is_pending(state))


def is_alternating(state: values.Alignment) -> bool:
    return state.config.kind is Kind.ALTERNATING


def is_timed_out(state: values.Alignment, barrier: values.Barrier) -> bool:
    """BARR-17: strictly later than the time-out."""
    timeout = state.config.timeout
    return timeout is not None and barrier.mode is Mode.TIMEOUT and state.now - barrier.created > timeout


# --- events ---------------------------------------------------------------------------------------------------


def on_barrier(state: values.Alignment, event: values.Barrier) -> Seen:
    if is_obsolete(state, event.checkpoint):
        resume = () if event.mode is Mode.UNALIGNED else (values.Resume(event.channel),)
        return Outcome(state, resume, ("BARR-1",))
    begun, seen, rules = begin_if_new(state, event)
    counted = attrs.evolve(begun, aligned=begun.aligned | {event.channel})
    after, more = read_barrier(counted, event)
    finished = finish_if_complete(after)
    triggered = any(isinstance(one, values.Trigger) for one in more)
    return Outcome(finished, seen + more, (*rules_of_barrier(counted, after, event, triggered=triggered), *rules))


def rules_of_barrier(
    before: values.Alignment, after: values.Alignment, event: values.Barrier, *, triggered: bool
) -> tuple[str, ...]:
    if not is_alternating(before):
        if before.config.kind is Kind.UNALIGNED:
            return ("BARR-13",)
        return ("BARR-4", "BARR-3") if before.target == 1 else ("BARR-3",)
    switched = after.unaligned or before.unaligned or event.mode is Mode.UNALIGNED
    return ("BARR-17", "BARR-13") if switched and triggered else ("BARR-17",)


def on_announcement(state: values.Alignment, event: values.Announcement) -> Seen:
    if is_obsolete(state, event.checkpoint):
        return Outcome(state, (), ("BARR-1",))
    begun, seen, rules = begin_if_new(
        state, values.Barrier(event.channel, event.checkpoint, Mode.TIMEOUT, event.created)
    )
    if begun.unaligned:
        return Outcome(begun, (*seen, values.Prioritize(event.channel, event.sequence)), ("BARR-17", *rules))
    if not is_alternating(begun):
        return Outcome(begun, seen, rules or ("BARR-3",))
    return Outcome(announce(begun, event.channel, event.sequence), seen, ("BARR-17", *rules))


def on_cancel(state: values.Alignment, event: values.Cancel) -> Seen:
    newer = event.checkpoint > state.current
    if newer or (event.checkpoint == state.current and state.aligned):
        after, seen = give_up(state, event.checkpoint, Reason.CANCELLED)
        return Outcome(after, seen, ("BARR-5",))
    return Outcome(state, (), ("BARR-5",))


def on_end_of_partition(state: values.Alignment, event: values.EndOfPartition) -> Seen:
    ended = attrs.evolve(state, ended=state.ended | {event.channel})
    if not is_pending(state):
        return Outcome(ended, (), ("BARR-6", "BARR-7"))
    if not state.config.finished_channels:
        after, seen = give_up(ended, state.current, Reason.END_OF_PARTITION)
        return Outcome(after, seen, ("BARR-6",))
    announced = tuple(pair for pair in ended.announced if pair[0] != event.channel)
    without = attrs.evolve(ended, announced=announced, blocked=ended.blocked - {event.channel})
    counted = attrs.evolve(without, aligned=without.aligned | {event.channel})
    after, seen = end_channel(counted)
    return Outcome(finish_if_complete(after), seen, ("BARR-6", "BARR-17") if is_alternating(state) else ("BARR-6",))


def on_advance(state: values.Alignment, event: values.Advance) -> Seen:
    later = attrs.evolve(state, now=state.now + event.milliseconds)
    if later.timer is None or later.timer.due > later.now:
        return Outcome(later, (), ("BARR-17",))
    after, seen = turn_unaligned(later)
    return Outcome(after, seen, ("BARR-17",))


def on_delay(state: values.Alignment, event: values.Delay) -> Seen:
    return Outcome(attrs.evolve(state, now=state.now + event.milliseconds), (), ("BARR-17",))


# --- one checkpoint -------------------------------------------------------------------------------------------


def begin_if_new(
    state: values.Alignment, barrier: values.Barrier
) -> tuple[values.Alignment, tuple[Observation, ...], tuple[str, ...]]:
    """BARR-2: the first sign of a newer checkpoint gives up the one that is pending. BARR-7: who counts is fixed."""
    if barrier.checkpoint <= state.current:
        return state, (), ()
    seen: tuple[Observation, ...] = ()
    if is_pending(state):
        state, seen = give_up(state, state.current, Reason.SUBSUMED)
    timer = None
    if state.config.timeout is not None and barrier.mode is Mode.TIMEOUT:
        timer = values.Timer(barrier.created + state.config.timeout)
    begun = attrs.evolve(
        state, current=barrier.checkpoint, target=state.config.channels - len(state.ended), first=barrier, timer=timer
    )
    return begun, seen, ("BARR-2", "BARR-7")


def read_barrier(state: values.Alignment, barrier: values.Barrier) -> Way:
    """What a barrier does whose channel already counts as aligned."""
    if state.unaligned:
        return read_unaligned(state, barrier)
    if barrier.mode is Mode.UNALIGNED:
        turned, seen = turn_unaligned(state)
        after, more = read_unaligned(turned, barrier)
        return after, seen + more
    announced = tuple(pair for pair in state.announced if pair[0] != barrier.channel)
    blocked = attrs.evolve(state, announced=announced, blocked=state.blocked | {barrier.channel})
    seen = (values.Block(barrier.channel),)
    if is_complete(blocked):
        after, more = take_aligned(blocked)
        return after, seen + more
    if is_timed_out(blocked, barrier):
        turned, more = turn_unaligned(blocked)
        after, rest = read_unaligned(turned, attrs.evolve(barrier, mode=Mode.UNALIGNED))
        return after, seen + more + rest
    return attrs.evolve(blocked, collecting=True), seen


def read_unaligned(state: values.Alignment, barrier: values.Barrier) -> Way:
    """BARR-13: the first barrier triggers, the others count. An aligned one has blocked its channel all the same."""
    seen: tuple[Observation, ...] = ()
    if barrier.mode is not Mode.UNALIGNED:
        state = attrs.evolve(state, blocked=state.blocked | {barrier.channel})
        seen = (values.Block(barrier.channel),)
    if not state.collecting:
        seen += (values.StartPersisting(state.current), values.Trigger(state.current, aligned=False))
        state = attrs.evolve(state, collecting=True)
    if is_complete(state):
        after, more = stop_collecting(state, state.current)
        return after, seen + more
    return state, seen


def take_aligned(state: values.Alignment) -> Way:
    """BARR-3: first the task takes its part, then the channels go on."""
    after, resumed = unblock_all(state)
    return after, (values.Trigger(state.current, aligned=True), *resumed)


def turn_unaligned(state: values.Alignment) -> Way:
    """BARR-17: announced barriers overtake; if a barrier was read already, the task takes its part now."""
    if state.unaligned:
        return state, ()
    seen: tuple[Observation, ...] = tuple(values.Prioritize(*pair) for pair in sorted(state.announced))
    turned = attrs.evolve(state, unaligned=True)
    if state.collecting:
        seen += (values.StartPersisting(state.current), values.Trigger(state.current, aligned=False))
    return turned, seen


def end_channel(state: values.Alignment) -> Way:
    """BARR-6: the end of a channel stands for its barrier, unless no barrier was read at all."""
    if not state.collecting:
        return state, ()
    if is_complete(state):
        return stop_collecting(state, state.current) if state.unaligned else take_aligned(state)
    assert state.first is not None
    if is_timed_out(state, state.first):
        return turn_unaligned(state)
    return state, ()


def stop_collecting(state: values.Alignment, checkpoint: Long) -> Way:
    after, resumed = unblock_all(state)
    return after, (values.StopPersisting(checkpoint), *resumed)


def unblock_all(state: values.Alignment) -> Way:
    """Every blocked channel goes on, and the handler waits for the first barrier of another checkpoint."""
    resumed = tuple(values.Resume(channel) for channel in sorted(state.blocked))
    waiting = attrs.evolve(
        state, blocked=frozenset(), announced=(), collecting=False, unaligned=state.config.kind is Kind.UNALIGNED
    )
    return waiting, resumed


def give_up(state: values.Alignment, checkpoint: Long, reason: Reason) -> Way:
    """BARR-5: channels go on, then it is said. A cancelled newer checkpoint ends the pending one without a word."""
    if state.unaligned and state.collecting:
        after, seen = stop_collecting(state, checkpoint)
    else:
        after, seen = unblock_all(state)
    ended = attrs.evolve(
        after, current=max(state.current, checkpoint), done=max(state.done, checkpoint), aligned=frozenset(), timer=None
    )
    return ended, (*seen, values.Abort(checkpoint, reason))


def finish_if_complete(state: values.Alignment) -> values.Alignment:
    if not is_complete(state):
        return state
    return attrs.evolve(state, aligned=frozenset(), done=state.current, timer=None)


def announce(state: values.Alignment, channel: int, sequence: int) -> values.Alignment:
    others = [pair for pair in state.announced if pair[0] != channel]
    return attrs.evolve(state, announced=tuple(sorted((*others, (channel, sequence)))))
