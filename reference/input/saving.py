"""What a channel remembers of the checkpoint that it saves its data for."""

from enum import StrEnum

import attrs

from tidegate.reference.elements import Long

#: Before any checkpoint, and where no barrier is known.
NONE = Long(-1)


class Status(StrEnum):
    """Whether the latest checkpoint of a channel is done with, waits for its barrier, or has it."""

    DONE = "done"
    PENDING = "pending"
    RECEIVED = "received"


@attrs.frozen
class Saving:
    """`seen` is the latest checkpoint that the channel knows of.

    `barrier` is the latest barrier that came in and was not made obsolete by a newer checkpoint, and `cut` its sequence
    number.
    """

    status: Status = Status.DONE
    seen: Long = NONE
    barrier: Long = NONE
    cut: int = NONE


def is_obsolete(saving: Saving, checkpoint: Long) -> bool:
    """BARR-20: a barrier of a checkpoint that is over, or older than one that is known."""
    return checkpoint < (saving.seen + 1 if saving.status is Status.DONE else saving.seen)


def hear_barrier(saving: Saving, checkpoint: Long) -> Saving:
    return attrs.evolve(saving, status=Status.RECEIVED, seen=checkpoint)


def remember_cut(saving: Saving, checkpoint: Long, sequence: int) -> Saving:
    return attrs.evolve(saving, barrier=checkpoint, cut=sequence) if checkpoint > saving.barrier else saving


def find_cut(saving: Saving, checkpoint: Long) -> Saving | None:
    """Where a checkpoint that starts has to cut; BARR-16: not known if a newer barrier has come in."""
    if checkpoint < saving.barrier:
        return None
    return forget_barrier(saving) if checkpoint > saving.barrier else saving


def is_subsumed(saving: Saving, checkpoint: Long) -> bool:
    """BARR-16."""
    return saving.status is Status.RECEIVED and saving.seen > checkpoint


def start_saving(saving: Saving, checkpoint: Long) -> Saving:
    return attrs.evolve(saving, status=Status.PENDING, seen=checkpoint) if saving.seen < checkpoint else saving


def is_before_cut(saving: Saving, sequence: int) -> bool:
    """BARR-14: before the barrier, if that is here."""
    return saving.cut == NONE or sequence < saving.cut


def stop_saving(saving: Saving, checkpoint: Long) -> Saving:
    """BARR-20."""
    if checkpoint >= saving.seen:
        saving = attrs.evolve(saving, status=Status.DONE, seen=checkpoint)
    return forget_barrier(saving) if checkpoint == saving.barrier else saving


def forget_barrier(saving: Saving) -> Saving:
    return attrs.evolve(saving, barrier=NONE, cut=NONE)
