"""What holds of the barrier handler at every event."""

from tidegate.reference.barriers import values
from tidegate.reference.barriers.alignment import is_obsolete, is_pending
from tidegate.reference.barriers.values import Event, Kind, Observation, State
from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.model import Outcome, Rejected

Seen = Outcome[State, Observation]


@always("BARR-1", "BARR-2")
def each_checkpoint_once(before: State, _event: Event, outcome: Seen) -> bool:
    """No checkpoint is triggered or given up that was already complete or given up, and none twice in a step."""
    if not isinstance(before, values.Alignment):
        return True
    ends = [seen.checkpoint for seen in outcome.observations if isinstance(seen, values.Trigger | values.Abort)]
    return all(checkpoint > before.done for checkpoint in ends) and len(set(ends)) == len(ends)


@always("BARR-3", "BARR-8")
def blocks_are_kept(before: State, event: Event, outcome: Seen) -> bool:
    """A channel stays blocked until it is resumed, or ends; an obsolete barrier of it changes nothing."""
    if not isinstance(before, values.Alignment) or not isinstance(outcome.state, values.Alignment):
        return True
    if isinstance(event, values.Barrier) and is_obsolete(before, event.checkpoint):
        return outcome.state.blocked == before.blocked
    blocked = set(before.blocked) - ({event.channel} if isinstance(event, values.EndOfPartition) else set())
    for seen in outcome.observations:
        if isinstance(seen, values.Block):
            blocked.add(seen.channel)
        elif isinstance(seen, values.Resume):
            blocked.discard(seen.channel)
    return blocked == outcome.state.blocked


@always("BARR-3")
def trigger_before_resume(before: State, _event: Event, outcome: Seen) -> bool:
    """An aligned checkpoint is triggered first; then every blocked channel goes on.

    Behind an aligned trigger there are only resumes; before it, only a checkpoint that is given up has some.
    """
    triggers = [at for at, seen in enumerate(outcome.observations) if isinstance(seen, values.Trigger) and seen.aligned]
    if not triggers or before.config.kind is Kind.AT_LEAST_ONCE:
        return True
    ahead, behind = outcome.observations[: triggers[0]], outcome.observations[triggers[0] + 1 :]
    resumes = [at for at, seen in enumerate(ahead) if isinstance(seen, values.Resume)]
    aborts = [at for at, seen in enumerate(ahead) if isinstance(seen, values.Abort)]
    early = bool(resumes) and (not aborts or max(resumes) > max(aborts))
    return not early and all(isinstance(seen, values.Resume) for seen in behind)


@always("BARR-9", "BARR-10")
def at_least_once_never_blocks(before: State, _event: Event, outcome: Seen) -> bool:
    """At least once neither blocks nor saves anything."""
    held = (values.Block, values.Resume, values.StartPersisting, values.StopPersisting, values.Prioritize)
    tracked = before.config.kind is Kind.AT_LEAST_ONCE
    return not tracked or not any(isinstance(seen, held) for seen in outcome.observations)


@always("BARR-6", "BARR-12")
def an_end_is_never_fatal(before: State, event: Event, outcome: Seen) -> bool:
    """Where finished channels count, no checkpoint is given up because a channel ends."""
    counts = isinstance(event, values.EndOfPartition) and before.config.finished_channels
    return not counts or not any(isinstance(seen, values.Abort) for seen in outcome.observations)


@invariant("BARR-3", "BARR-5")
def nothing_blocked_for_nothing(state: State) -> bool:
    """No channel is blocked while no checkpoint is pending."""
    return not isinstance(state, values.Alignment) or is_pending(state) or not state.blocked


@always("BARR-7")
def who_counts_is_fixed(before: State, _event: Event, outcome: Seen) -> bool:
    """How many channels a checkpoint waits for is settled when it begins: those that were open then."""
    after = outcome.state
    if not isinstance(before, values.Alignment) or not isinstance(after, values.Alignment) or not is_pending(after):
        return True
    begun = before.current != after.current
    return after.target == (after.config.channels - len(before.ended) if begun else before.target)


@sometimes("BARR-3")
def blocked_channels_go_on(_before: State, _event: Event, outcome: Seen) -> bool:
    """The last barrier triggers an aligned checkpoint, and more channels than its own go on."""
    triggered = any(isinstance(seen, values.Trigger) and seen.aligned for seen in outcome.observations)
    return triggered and sum(isinstance(seen, values.Resume) for seen in outcome.observations) > 1


@sometimes("BARR-17")
def time_runs_out(before: State, event: Event, outcome: Seen) -> bool:
    """A checkpoint that began aligned is triggered by the timer, unaligned."""
    unaligned = any(isinstance(seen, values.Trigger) and not seen.aligned for seen in outcome.observations)
    return isinstance(event, values.Advance) and before.config.kind is Kind.ALTERNATING and unaligned


@sometimes("BARR-5")
def a_checkpoint_is_given_up(_before: State, _event: Event, outcome: Seen) -> bool:
    """A cancellation gives up a checkpoint for which channels are blocked, and they go on."""
    kinds = {type(seen) for seen in outcome.observations}
    return values.Abort in kinds and values.Resume in kinds


@always("BARR-21", "BARR-22")
def measures_fit_the_alignment(_before: State, event: Event, outcome: Seen) -> bool:
    """No time is measured that has not passed, and what is measured of an alignment under way grows with the clock."""
    if not isinstance(event, values.Measure):
        return True
    (measured,) = outcome.observations
    state = outcome.state
    assert isinstance(measured, values.Measured)
    passed = state.now if state.measures.since is None else state.now - state.measures.since
    exact = state.measures.since is None or measured.alignment == passed
    known = (measured.duration is None) == (measured.bytes is None)
    return exact and known and 0 <= measured.alignment <= passed and measured.start_delay >= 0


@sometimes("BARR-21")
def an_alignment_took_time(_before: State, _event: Event, outcome: Seen) -> bool:
    """A checkpoint is known to have taken time and bytes to align."""
    measured = [seen for seen in outcome.observations if isinstance(seen, values.Measured)]
    return any((seen.duration or 0) > 0 and (seen.bytes or 0) > 0 for seen in measured)


@always("BARR-23")
def nothing_after_the_close(before: State, event: Event, outcome: Seen) -> bool:
    """A handler that is closed stays so, and shows nothing but refusals; closing shows nothing."""
    quiet = not outcome.observations or outcome.observations == (Rejected(),)
    closing = isinstance(event, values.Close)
    return (quiet or not (before.closed or closing)) and outcome.state.closed == (before.closed or closing)


@sometimes("BARR-23")
def an_alignment_is_closed(before: State, event: Event, _outcome: Seen) -> bool:
    """A handler is closed while its timer runs."""
    return isinstance(event, values.Close) and isinstance(before, values.Alignment) and before.timer is not None
