"""What is measured of an alignment: how long it took, how much was processed meanwhile, and how late it began.

An alignment begins with the first channel that counts as aligned, and ends with the last, or with the checkpoint. What
a checkpoint was triggered with may be settled later: an unaligned one is triggered first and aligned afterwards.

A handler that counts knows several checkpoints at a time, but measures one: that which began last.

Choices. CheckpointBarrierHandler of Flink 2.3; in ms.
"""

import attrs

from tidegate.reference.barriers import values
from tidegate.reference.barriers.alignment import is_obsolete, is_pending
from tidegate.reference.barriers.values import Event, Measures, Observation, Settled, State
from tidegate.reference.elements import Long
from tidegate.reference.model import Outcome, Rejected


def begin(measures: Measures, checkpoint: int, created: int, now: int) -> Measures:
    """Whatever was measured before is settled."""
    fresh = reset(measures)
    return attrs.evolve(fresh, since=now, checkpoint=checkpoint, start_delay=max(0, now - created))


def end(measures: Measures, duration: int) -> Measures:
    """What is settled already stays so."""
    latest = measures.latest or Settled(duration, measures.processed)
    return attrs.evolve(measures, latest=latest, since=None, processed=0)


def reset(measures: Measures) -> Measures:
    """An alignment that did not come to its end took no time."""
    ended = end(measures, 0)
    triggered = ended.latest if ended.shares else ended.triggered
    return attrs.evolve(ended, latest=None, triggered=triggered, shares=False)


def measure(
    before: values.Alignment, event: Event, outcome: Outcome[values.Alignment, Observation]
) -> Outcome[values.Alignment, Observation]:
    """The outcome, with what is measured by now."""
    after = outcome.state
    measures = before.measures
    if any(isinstance(seen, values.Abort) for seen in outcome.observations):
        measures = reset(measures)
    counted = find_counted(before, event)
    if counted is not None:
        beginning = event if isinstance(event, values.Barrier) else before.first
        assert beginning is not None
        measures = count(measures, after, counted, beginning.created)
    measures = note_triggers(measures, outcome.observations)
    return attrs.evolve(outcome, state=attrs.evolve(after, measures=measures))


def note_triggers(measures: Measures, observations: tuple[Observation | Rejected, ...]) -> Measures:
    for seen in observations:
        if isinstance(seen, values.Trigger):
            shares = seen.checkpoint == measures.checkpoint
            measures = attrs.evolve(measures, shares=shares, triggered=Settled(0, 0))
    return measures


def find_counted(before: values.Alignment, event: Event) -> frozenset[int] | None:
    """The channels that count as aligned by the event; None if it makes none count."""
    if isinstance(event, values.Barrier) and not is_obsolete(before, event.checkpoint):
        return (frozenset() if event.checkpoint > before.current else before.aligned) | {event.channel}
    if isinstance(event, values.EndOfPartition) and is_pending(before) and before.config.finished_channels:
        return before.aligned | {event.channel}
    return None


def count(measures: Measures, after: values.Alignment, counted: frozenset[int], created: int) -> Measures:
    if len(counted) == 1:
        measures = begin(measures, after.current, created, after.now)
    if len(counted) == after.target and measures.since is not None:
        return end(measures, after.now - measures.since)
    return measures


def track(
    before: values.Tracking, event: Event, outcome: Outcome[values.Tracking, Observation]
) -> Outcome[values.Tracking, Observation]:
    """The outcome, with what is measured by now, at least once."""
    after, measures, now = outcome.state, before.measures, before.now
    if isinstance(event, values.Advance):
        now += event.milliseconds
    elif isinstance(event, values.Barrier) and event.checkpoint > before.latest:
        measures = begin(measures, event.checkpoint, event.created, now)
        # With one open channel nothing is remembered.
        measures = end(measures, 0) if after.latest == before.latest else measures
    elif gives_up_all(before, event, after):
        measures = reset(measures)
    if measures.since is not None and values.Trigger(after.latest, aligned=True) in outcome.observations:
        measures = end(measures, now - measures.since)
    measures = note_triggers(measures, outcome.observations)
    return attrs.evolve(outcome, state=attrs.evolve(after, now=now, measures=measures))


def gives_up_all(before: values.Tracking, event: Event, after: values.Tracking) -> bool:
    if isinstance(event, values.Cancel):
        return event.checkpoint > max(before.latest, after.latest)
    return isinstance(event, values.EndOfPartition) and not before.config.finished_channels


def on_processed(state: State, event: values.Processed) -> Outcome[State, Observation]:
    """Bytes count while an alignment is under way."""
    if state.measures.since is None:
        return Outcome(state, (), ("BARR-21",))
    measures = attrs.evolve(state.measures, processed=state.measures.processed + event.bytes)
    return Outcome(attrs.evolve(state, measures=measures), (), ("BARR-21",))


def on_measure(state: State) -> Outcome[State, Observation]:
    measures = state.measures
    present = measures.latest.duration if measures.latest else 0
    alignment = state.now - measures.since if measures.since is not None else present
    triggered = measures.latest if measures.shares else measures.triggered
    duration, processed = (triggered.duration, triggered.bytes) if triggered else (None, None)
    shown = values.Measured(alignment, Long(measures.start_delay), duration, processed)
    rules = ("BARR-22", "BARR-21") if isinstance(state, values.Tracking) else ("BARR-21",)
    return Outcome(state, (shown,), rules)
