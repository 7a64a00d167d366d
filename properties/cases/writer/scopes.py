"""Scopes of the record writer.

A flusher that fails is left out: when that surfaces is free, and changes what follows.
"""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.spanning.writer import values as writer


def make_scope(
    name: str, timeout: int, channels: int, size: int, *, sized: bool, extension: str | None = None
) -> Scope:
    """With `sized`, the size of buffers changes: by what a reader asks for and by what the pool has left."""

    def play(config: writer.Config, _state: writer.State) -> Iterator[writer.Event]:
        yield from (
            writer.Broadcast(b""),
            writer.ControlEvent(),
            writer.Flush(),
            writer.Finish(),
            writer.Hint(channels, 3),
            writer.Elapse(1),
        )
        yield from (writer.Record(channel, b"a") for channel in range(channels))
        yield writer.Record(-1, b"a")
        if sized:
            yield from (writer.Hint(0, 3), writer.Pool(available=False), writer.Pool(available=True))
        if config.timeout <= 0:
            yield writer.Fail()
        if config.extension == writer.MEASURES:
            yield writer.Measure()

    asked = "how much is queued, " * bool(extension)
    changes = "a smaller size asked for by the first reader, the pool exhausted or not, " * sized
    return Scope(
        name=name,
        component="writer",
        configs=tuple(writer.Config(kind, channels, size, timeout, extension) for kind in writer.Kind),
        alphabet=play,
        covers=(
            f"both kinds with {counted(channels, 'channel')}, buffers of {size} bytes and time-out {timeout}; records, "
            f"broadcasts, events, flush, finish, {changes}{asked}time passing; refused: channels out of range, writing "
            "after the end, failures of no flusher"
        ),
    )


def small() -> Iterator[Scope]:
    yield make_scope("always", 0, 1, 7, sized=True)
    yield make_scope("never", -1, 1, 6, sized=True)
    yield make_scope("timed", 2, 1, 6, sized=False)
    yield make_scope("two-channels", 0, 2, 6, sized=False)
    yield make_scope("queued", -1, 1, 6, sized=False, extension=writer.MEASURES)


def thorough() -> Iterator[Scope]:
    yield make_scope("always", 0, 2, 7, sized=True)
    yield make_scope("never", -1, 1, 9, sized=True)
    yield make_scope("timed", 3, 1, 9, sized=False)
    yield make_scope("two-channels", -1, 2, 6, sized=False)
