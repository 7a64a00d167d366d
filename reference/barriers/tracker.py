"""At least once: barriers are counted, and no channel ever waits.

Several checkpoints may be pending at a time. What is read behind a barrier before the last one has come in is part of
the checkpoint as well, and comes again after a restart.

Choices. CheckpointBarrierTracker. With one open channel nothing is counted and nothing remembered.
"""

import attrs

from tidegate.reference.barriers import values
from tidegate.reference.barriers.values import Observation, Reason
from tidegate.reference.elements import Long
from tidegate.reference.model import Outcome
from tidegate.reference.tuples import replace

MOST_PENDING = 50

Seen = Outcome[values.Tracking, Observation]


def compute_open(state: values.Tracking) -> int:
    return state.config.channels - len(state.ended)


def on_barrier(state: values.Tracking, event: values.Barrier) -> Seen:
    checkpoint = event.checkpoint
    if checkpoint > state.latest and compute_open(state) == 1:
        return Outcome(state, (values.Trigger(checkpoint, aligned=True),), ("BARR-9",))
    position = find_position(state, checkpoint)
    if position is not None:
        return count_channel(state, position, event.channel)
    if checkpoint <= state.latest:
        return Outcome(state, (), ("BARR-10",))
    count = values.Count(checkpoint, frozenset((event.channel,)), compute_open(state))
    pending = (*state.pending, count)[-MOST_PENDING:]
    return Outcome(attrs.evolve(state, pending=pending, latest=checkpoint), (), ("BARR-10", "BARR-7"))


def find_position(state: values.Tracking, checkpoint: Long) -> int | None:
    places = (place for place, count in enumerate(state.pending) if count.checkpoint == checkpoint)
    return next(places, None)


def count_channel(state: values.Tracking, position: int, channel: int) -> Seen:
    count = add_channel(state.pending[position], channel)
    if len(count.channels) < count.target:
        pending = replace(state.pending, position, count)
        return Outcome(attrs.evolve(state, pending=pending), (), ("BARR-10",))
    complete = attrs.evolve(state, pending=state.pending[position + 1 :])
    if count.aborted:
        return Outcome(complete, (), ("BARR-11", "BARR-10"))
    return Outcome(complete, (values.Trigger(count.checkpoint, aligned=True),), ("BARR-10",))


def add_channel(count: values.Count, channel: int) -> values.Count:
    return attrs.evolve(count, channels=count.channels | {channel})


def on_cancel(state: values.Tracking, event: values.Cancel) -> Seen:
    checkpoint = event.checkpoint
    if checkpoint > state.latest and compute_open(state) == 1:
        return Outcome(state, (values.Abort(checkpoint, Reason.CANCELLED),), ("BARR-11", "BARR-9"))
    older = [count for count in state.pending if count.checkpoint < checkpoint]
    rest = state.pending[len(older) :]
    aborts = tuple(values.Abort(count.checkpoint, Reason.CANCELLED) for count in older if not count.aborted)
    itself = (values.Abort(checkpoint, Reason.CANCELLED),)
    if rest and rest[0].checkpoint == checkpoint:
        aborts += () if rest[0].aborted else itself
        count = attrs.evolve(add_channel(rest[0], event.channel), aborted=True)
        kept = (count,) if len(count.channels) < count.target else ()
        return Outcome(attrs.evolve(state, pending=kept + rest[1:]), aborts, ("BARR-11",))
    if checkpoint > state.latest:
        marker = values.Count(checkpoint, frozenset((event.channel,)), compute_open(state), aborted=True)
        recorded = attrs.evolve(state, pending=(marker,), latest=checkpoint)
        return Outcome(recorded, aborts + itself, ("BARR-11",))
    return Outcome(attrs.evolve(state, pending=rest), aborts, ("BARR-11",))


def on_end_of_partition(state: values.Tracking, event: values.EndOfPartition) -> Seen:
    ended = attrs.evolve(state, ended=state.ended | {event.channel})
    if not state.config.finished_channels:
        given_up = [count.checkpoint for count in state.pending if not count.aborted]
        aborts = tuple(values.Abort(checkpoint, Reason.END_OF_PARTITION) for checkpoint in given_up)
        return Outcome(attrs.evolve(ended, pending=()), aborts, ("BARR-12",))
    counted = tuple(add_channel(count, event.channel) for count in state.pending)
    complete = [place for place, count in enumerate(counted) if len(count.channels) == count.target]
    if not complete:
        return Outcome(attrs.evolve(ended, pending=counted), (), ("BARR-12",))
    newest = counted[complete[-1]]
    trigger = () if newest.aborted else (values.Trigger(newest.checkpoint, aligned=True),)
    return Outcome(attrs.evolve(ended, pending=counted[complete[-1] + 1 :]), trigger, ("BARR-12",))
