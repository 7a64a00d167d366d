"""Writing what is kept, onto a disk that may fail, and giving its memory back."""

import attrs

from tidegate.reference.subpartition.blocking_subpartition import values
from tidegate.reference.subpartition.blocking_subpartition.values import Observation, State
from tidegate.reference.subpartition.queue import Item, ItemKind


@attrs.frozen
class Written:
    """The state after an attempt to write, what was seen of it, and whether it failed."""

    state: State
    seen: tuple[Observation, ...] = ()
    failed: bool = False


def write_pending(state: State) -> Written:
    """SUBP-30: with the bytes that it has now. SUBP-46: not on a disk that fails, nor where a write failed before."""
    if state.stuck:
        return Written(state, failed=True)
    if state.pending is None:
        return Written(state)
    if state.disk_failed:
        return Written(attrs.evolve(state, pending=None, stuck=True), give_back(state), failed=True)
    written = (*state.written, attrs.evolve(state.pending, finished=True))
    return Written(attrs.evolve(state, written=written, pending=None), give_back(state))


def write_end(state: State) -> Written:
    """SUBP-30: what is kept, and the end of the partition; whether that succeeds or not, nothing more is taken in."""
    rest = write_pending(state)
    finished = attrs.evolve(rest.state, finished=True)
    if rest.failed or state.disk_failed:
        return Written(finished, rest.seen, failed=True)
    written = (*finished.written, Item(ItemKind.END_OF_PARTITION))
    return Written(attrs.evolve(finished, written=written, complete=True), rest.seen)


def give_back(state: State) -> tuple[Observation, ...]:
    """SUBP-47: the memory of the buffer that is kept, if there is one and somebody looks."""
    is_seen = state.config.extension == values.FAILURES and state.pending is not None
    return (values.Recycled(),) if is_seen else ()
