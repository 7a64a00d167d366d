"""Records written into the buffers of many channels: what the writer is made of.

Buffers are opened, filled, finished and flushed here; which of that an event asks for is the business of `writer`. The
target of a write is one channel, or None for the buffer that all channels share.
"""

import attrs

from tidegate.reference.spanning.builders import Builder, compute_capacity, enlarge
from tidegate.reference.spanning.records import cut
from tidegate.reference.spanning.writer.values import Add, Buffer, Count, Observation, Request, State
from tidegate.reference.tuples import replace

Target = int | None


@attrs.frozen
class Progress:
    """A writer in the midst of an event: its state, what has been seen of it, the rules that were at work."""

    state: State
    seen: tuple[Observation, ...] = ()
    rules: tuple[str, ...] = ()

    def then(self, state: State, *seen: Observation) -> "Progress":
        return Progress(state, (*self.seen, *seen), self.rules)

    def because(self, *rules: str) -> "Progress":
        return Progress(self.state, self.seen, (*self.rules, *rules))


def get_readers(state: State, target: Target) -> tuple[int, ...]:
    return tuple(range(state.config.channels)) if target is None else (target,)


def get_builder(state: State, target: Target) -> Builder | None:
    return state.shared if target is None else state.builders[target]


def set_builder(state: State, target: Target, builder: Builder | None) -> State:
    if target is None:
        return attrs.evolve(state, shared=builder)
    return attrs.evolve(state, builders=replace(state.builders, target, builder))


def write_record(progress: Progress, target: Target, encoded: bytes) -> Progress:
    """Fill the open buffer, or a new one, and go on in new ones while bytes are left."""
    size = progress.state.config.buffer_size
    builder = get_builder(progress.state, target)
    if builder is None:
        progress = add_consumers(request(progress, target), target, 0)
        builder = trim(progress.state, target, Builder(size), len(encoded))
        progress = because_of_hint(progress, builder)
    larger = builder if progress.state.pool else enlarge(builder, size, len(encoded))
    if larger != builder:
        progress = progress.because("SPAN-9")
    progress = append(progress, target, larger, encoded[: larger.room])
    for piece in cut(encoded[larger.room :], size):
        progress = continue_record(finish_builder(progress, target), target, piece)
    written = get_builder(progress.state, target)
    return finish_builder(progress, target) if written is not None and not written.room else progress


def continue_record(progress: Progress, target: Target, piece: bytes) -> Progress:
    """SPAN-5: what continues a record is written before the buffer is queued, so that it is told from a beginning."""
    size = progress.state.config.buffer_size
    progress = append(request(progress, target), target, Builder(size), piece)
    progress = add_consumers(progress, target, len(piece))
    trimmed = trim(progress.state, target, Builder(size, len(piece)), len(piece))
    return because_of_hint(progress.then(set_builder(progress.state, target, trimmed)), trimmed)


def because_of_hint(progress: Progress, builder: Builder) -> Progress:
    return progress.because("SPAN-8") if builder.capacity < progress.state.config.buffer_size else progress


def request(progress: Progress, target: Target) -> Progress:
    """SPAN-13: before a buffer of one kind is opened, those of the other kind are finished."""
    others: tuple[Target, ...] = tuple(range(progress.state.config.channels)) if target is None else (None,)
    for other in others:
        if get_builder(progress.state, other) is not None:
            progress = finish_builder(progress.because("SPAN-13"), other)
    return progress.then(progress.state, Request())


def add_consumers(progress: Progress, target: Target, written: int) -> Progress:
    readers = get_readers(progress.state, target)
    return progress.then(progress.state, *(Add(reader, written, written) for reader in readers)).because("SPAN-5")


def trim(state: State, target: Target, builder: Builder, least: int) -> Builder:
    """SPAN-8: the readers' hints; the smallest of them, where the buffer is shared."""
    hint = min(state.hints[reader] for reader in get_readers(state, target))
    return Builder(compute_capacity(state.config.buffer_size, hint, least), builder.filled)


def append(progress: Progress, target: Target, builder: Builder, piece: bytes) -> Progress:
    """SPAN-6: what is appended is committed at once, for all readers."""
    state = set_builder(progress.state, target, Builder(builder.capacity, builder.filled + len(piece)))
    readers = get_readers(state, target)
    pending = tuple(old + piece if reader in readers else old for reader, old in enumerate(state.pending))
    return progress.then(attrs.evolve(state, pending=pending))


def finish_builder(progress: Progress, target: Target) -> Progress:
    """SPAN-15: the counters grow when a buffer is finished, by its size for each channel that reads it."""
    builder = get_builder(progress.state, target)
    if builder is None:
        return progress
    readers = get_readers(progress.state, target)
    progress = flush(progress, readers)
    count = Count(builder.filled * len(readers), len(readers))
    return progress.then(set_builder(progress.state, target, None), count).because("SPAN-15")


def finish_all(progress: Progress) -> Progress:
    """SPAN-14: the shared buffer, then those of the channels in order."""
    for target in (None, *range(progress.state.config.channels)):
        progress = finish_builder(progress, target)
    return progress


def flush(progress: Progress, channels: tuple[int, ...]) -> Progress:
    """The channels see what is pending; buffers stay open."""
    pending = progress.state.pending
    seen = tuple(Buffer(channel, pending[channel]) for channel in channels if pending[channel])
    left = tuple(b"" if channel in channels else data for channel, data in enumerate(pending))
    return progress.then(attrs.evolve(progress.state, pending=left), *seen)
