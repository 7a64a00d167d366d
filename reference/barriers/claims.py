"""What holds of the barrier handler at every event."""

from tidegate.reference.barriers.alignment import is_pending
from tidegate.reference.barriers.values import (
    Abort,
    Alignment,
    Block,
    EndOfPartition,
    Event,
    Kind,
    Observation,
    Prioritize,
    Resume,
    StartPersisting,
    State,
    StopPersisting,
    Trigger,
)
from tidegate.reference.model import Invariant, Outcome, Property

Seen = Outcome[State, Observation]


def triggers_each_checkpoint_once(before: State, _event: Event, outcome: Seen) -> bool:
    """A checkpoint that is triggered or given up was neither completed nor given up before."""
    if not isinstance(before, Alignment):
        return True
    ends = [seen.checkpoint for seen in outcome.observations if isinstance(seen, Trigger | Abort)]
    return all(checkpoint > before.done for checkpoint in ends) and len(set(ends)) == len(ends)


def blocks_are_kept(before: State, _event: Event, outcome: Seen) -> bool:
    """What is blocked afterwards is what was, and what was blocked now, without what was resumed."""
    if not isinstance(before, Alignment) or not isinstance(outcome.state, Alignment):
        return True
    blocked = set(before.blocked)
    for seen in outcome.observations:
        if isinstance(seen, Block):
            blocked.add(seen.channel)
        elif isinstance(seen, Resume):
            blocked.discard(seen.channel)
    return blocked == outcome.state.blocked


def channels_go_on_after_the_trigger(before: State, _event: Event, outcome: Seen) -> bool:
    """Behind an aligned trigger there are only resumes; before it, only a checkpoint that is given up has some."""
    triggers = [at for at, seen in enumerate(outcome.observations) if isinstance(seen, Trigger) and seen.aligned]
    if not triggers or before.config.kind is Kind.AT_LEAST_ONCE:
        return True
    ahead, behind = outcome.observations[: triggers[0]], outcome.observations[triggers[0] + 1 :]
    resumes = [at for at, seen in enumerate(ahead) if isinstance(seen, Resume)]
    aborts = [at for at, seen in enumerate(ahead) if isinstance(seen, Abort)]
    early = bool(resumes) and (not aborts or max(resumes) > max(aborts))
    return not early and all(isinstance(seen, Resume) for seen in behind)


def at_least_once_never_blocks(before: State, _event: Event, outcome: Seen) -> bool:
    held = (Block, Resume, StartPersisting, StopPersisting, Prioritize)
    tracked = before.config.kind is Kind.AT_LEAST_ONCE
    return not tracked or not any(isinstance(seen, held) for seen in outcome.observations)


def an_end_is_never_fatal(before: State, event: Event, outcome: Seen) -> bool:
    """Where finished channels count, the end of one gives up no checkpoint."""
    counts = isinstance(event, EndOfPartition) and before.config.finished_channels
    return not counts or not any(isinstance(seen, Abort) for seen in outcome.observations)


def nothing_is_blocked_for_nothing(state: State) -> bool:
    return not isinstance(state, Alignment) or is_pending(state) or not state.blocked


def who_counts_is_fixed(before: State, _event: Event, outcome: Seen) -> bool:
    after = outcome.state
    if not isinstance(before, Alignment) or not isinstance(after, Alignment) or not is_pending(after):
        return True
    begun = before.current != after.current
    return after.target == (after.config.channels - len(before.ended) if begun else before.target)


PROPERTIES: tuple[Property[State, Event, Observation], ...] = (
    Property(
        "each-checkpoint-once",
        "No checkpoint is triggered or given up that was already complete or given up, and none twice in a step.",
        ("BARR-1", "BARR-2"),
        triggers_each_checkpoint_once,
    ),
    Property("blocks-are-kept", "A channel stays blocked until it is resumed.", ("BARR-3", "BARR-8"), blocks_are_kept),
    Property(
        "trigger-before-resume",
        "An aligned checkpoint is triggered first; then every blocked channel goes on.",
        ("BARR-3",),
        channels_go_on_after_the_trigger,
    ),
    Property(
        "at-least-once-never-blocks",
        "At least once neither blocks nor saves anything.",
        ("BARR-9", "BARR-10"),
        at_least_once_never_blocks,
    ),
    Property(
        "an-end-is-never-fatal",
        "Where finished channels count, no checkpoint is given up because a channel ends.",
        ("BARR-6", "BARR-12"),
        an_end_is_never_fatal,
    ),
    Property(
        "who-counts-is-fixed",
        "How many channels a checkpoint waits for is settled when it begins: those that were open then.",
        ("BARR-7",),
        who_counts_is_fixed,
    ),
)

INVARIANTS: tuple[Invariant[State], ...] = (
    Invariant(
        "nothing-blocked-for-nothing",
        "No channel is blocked while no checkpoint is pending.",
        ("BARR-3", "BARR-5"),
        nothing_is_blocked_for_nothing,
    ),
)
