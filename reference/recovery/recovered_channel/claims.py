"""What holds of recovered channels."""

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.input.saving import Status
from tidegate.reference.model import Outcome, Rejected
from tidegate.reference.recovery.recovered_channel import values
from tidegate.reference.recovery.recovered_channel.values import (
    DECLINED,
    MARKED,
    Channel,
    Event,
    Item,
    Kind,
    Next,
    Observation,
    State,
)


def find_polled(outcome: Outcome[State, Observation]) -> values.Polled | None:
    return next((seen for seen in outcome.observations if isinstance(seen, values.Polled)), None)


def all_saved(outcome: Outcome[State, Observation]) -> list[values.Saved]:
    return [seen for seen in outcome.observations if isinstance(seen, values.Saved)]


def is_poll(before: State, event: Event) -> bool:
    return isinstance(event, values.Poll) and 0 <= event.channel < before.config.channels


@always("REC-1", "REC-10")
def recovered_before_sent(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """While recovered state is left, nothing is read that was sent, but for barriers."""
    polled = find_polled(outcome)
    if polled is None or polled.recovered or not isinstance(event, values.Poll):
        return True
    channel = before.channels[event.channel]
    still_recovers = bool(channel.recovered) or (before.config.semantics == MARKED and not channel.consumed)
    return polled.kind is Kind.BARRIER or not still_recovers


@always("REC-1", "REC-6", "REC-7", "REC-8")
def the_oldest_is_read(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What is read is the oldest barrier, or else the oldest of what may be read."""
    polled = find_polled(outcome)
    if polled is None or not isinstance(event, values.Poll):
        return True
    channel = before.channels[event.channel]
    waiting: tuple[Item, ...] = channel.recovered or channel.queue or channel.unsent
    if polled.kind is Kind.BARRIER or polled.recovered:
        waiting = channel.ahead if polled.kind is Kind.BARRIER else channel.recovered
    return (waiting[0].kind, waiting[0].number) == (polled.kind, polled.number)


@always("REC-2")
def an_end_is_consumed(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A channel is consumed exactly when the end of its state is read; before it is live, without an item."""
    if not isinstance(event, values.Poll) or not is_poll(before, event):
        return True
    was, now = before.channels[event.channel], outcome.state.channels[event.channel]
    shown = values.Consumed(event.channel) in outcome.observations
    read = bool(was.recovered) and was.recovered[0].kind is Kind.END_OF_STATE and not was.ahead
    handed_over = before.live and before.config.semantics != MARKED
    return shown == (now.consumed and not was.consumed) == (read and not handed_over)


@always("REC-2", "REC-3", "REC-8")
def ready_once(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A gate is ready when its state is read, or given where that is enough; and it says so once."""
    is_ready = values.Ready() in outcome.observations
    if before.config.semantics == DECLINED:
        done = [all(channel.consumed for channel in state.channels) for state in (before, outcome.state)]
    else:
        done = [state.finished and state.config.semantics != MARKED for state in (before, outcome.state)]
    return is_ready == (done[1] and not done[0])


@always("REC-3", "REC-8")
def nothing_is_dropped(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """When the channels go live, nothing of what waits is lost, and nothing changes its place."""
    if not isinstance(event, values.Convert) or Rejected() in outcome.observations:
        return True

    def names(channel: Channel) -> list[tuple[Kind, int]]:
        return [(one.kind, one.number) for one in (*channel.recovered, *channel.queue, *channel.unsent)]

    return list(map(names, before.channels)) == list(map(names, outcome.state.channels))


@always("REC-4")
def no_checkpoint_before_life(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Before the channels are live, a checkpoint is declined by the first of them."""
    is_early = isinstance(event, values.Start) and not before.live
    return not is_early or outcome.observations == (values.Declined(0),)


@always("REC-6")
def resumed_when_all_are_complete(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """All producers are resumed with the last end of recovery, each once, and none is blocked from then on."""
    resumed = [seen.channel for seen in outcome.observations if isinstance(seen, values.Resumed)]
    done = [all(one.complete for one in state.channels) for state in (before, outcome.state)]
    if done[1] and any(one.blocked for one in outcome.state.channels):
        return False
    return resumed == (list(range(before.config.channels)) if done[1] and not done[0] else [])


@always("REC-6")
def nothing_passes_the_block(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """From a channel whose end of recovery was read, nothing but barriers is read until all were."""
    polled = find_polled(outcome)
    if polled is None or not isinstance(event, values.Poll):
        return True
    is_held = before.channels[event.channel].complete and not all(one.complete for one in before.channels)
    return polled.kind is Kind.BARRIER or not is_held


@always("REC-7")
def a_barrier_is_read_next(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A barrier that waits is read next, whatever else waits."""
    polled = find_polled(outcome)
    if not isinstance(event, values.Poll) or not is_poll(before, event):
        return True
    waits = bool(before.channels[event.channel].ahead)
    return not waits or (polled is not None and polled.kind is Kind.BARRIER)


@always("REC-8", "REC-12", "BARR-14")
def a_start_saves_what_is_left(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A checkpoint that starts saves recovered data that was not read: all of it, or up to its mark."""
    failed = any(isinstance(seen, values.Declined | values.Subsumed) for seen in outcome.observations)
    if not isinstance(event, values.Start) or failed:
        return True
    saved = {seen.channel: seen for seen in all_saved(outcome)}
    for index, channel in enumerate(before.channels):
        marks = [place for place, one in enumerate(channel.recovered) if one.checkpoint == event.checkpoint]
        left = channel.recovered[: marks[0]] if marks else channel.recovered
        due = tuple(item.number for item in left if item.kind is Kind.DATA)
        if (saved[index].recovered if index in saved else ()) != due:
            return False
    return True


@always("REC-8", "REC-12")
def recovered_data_is_saved_once(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What a checkpoint saved when it started is not saved again when it is read. REC-9 breaks it."""
    return not isinstance(event, values.Poll) or not any(seen.recovered for seen in all_saved(outcome))


@always("BARR-14")
def saves_while_the_barrier_is_to_come(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Whatever is saved apart from a start is saved for the checkpoint whose barrier the channel waits for."""
    if isinstance(event, values.Start):
        return True
    savings = [before.channels[seen.channel].saving for seen in all_saved(outcome)]
    return all(
        one.status is Status.PENDING and one.seen == seen.checkpoint
        for one, seen in zip(savings, all_saved(outcome), strict=True)
    )


@always("REC-11")
def says_what_comes_next(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Nothing is said to come next only if nothing can be read, or a blocked producer has a barrier."""
    polled = find_polled(outcome)
    if polled is None or not isinstance(event, values.Poll):
        return True
    channel = outcome.state.channels[event.channel]
    if polled.next is Next.PRIORITY:
        return bool(channel.ahead)
    if polled.next is not Next.NONE:
        return not channel.ahead or channel.blocked
    return not channel.recovered


@invariant("REC-5", "REC-4")
def no_checkpoint_is_known_before_life(state: State) -> bool:
    """No channel saves anything, or has a barrier, before it is live."""
    return state.live or all(
        one.saving.status is Status.DONE and not one.ahead and not one.queue for one in state.channels
    )


@invariant("REC-12")
def nothing_but_marks_behind_the_end(state: State) -> bool:
    """A channel that has read the end of its recovered state has at most marks left of it."""
    left = [item for one in state.channels if one.consumed for item in one.recovered]
    return all(item.kind is Kind.MARK for item in left)


@sometimes("REC-6")
def a_producer_waits_for_another(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A channel is blocked, with data behind the end of its recovery, while another still recovers."""
    return any(one.complete and one.blocked and one.unsent for one in outcome.state.channels)


@sometimes("REC-7")
def a_barrier_overtakes_recovered_data(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A barrier is read while recovered data waits."""
    polled = find_polled(outcome)
    is_barrier = polled is not None and polled.kind is Kind.BARRIER
    return is_barrier and isinstance(event, values.Poll) and bool(before.channels[event.channel].recovered)


@sometimes("REC-8")
def a_checkpoint_saves_recovered_data(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A checkpoint starts while recovered data was not read."""
    return isinstance(event, values.Start) and any(seen.recovered for seen in all_saved(outcome))


@sometimes("REC-12")
def a_mark_cuts(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A checkpoint saves recovered data before its mark, and not what is behind it."""
    saved = [seen for seen in all_saved(outcome) if seen.recovered]
    behind = (outcome.state.channels[seen.channel].recovered[-1].number > seen.recovered[-1] for seen in saved)
    return isinstance(event, values.Start) and outcome.state.config.semantics == MARKED and any(behind)
