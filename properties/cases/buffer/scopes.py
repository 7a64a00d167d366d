"""Scopes of the network buffer: one builder, and consumers that read behind it."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.subpartition.buffer import values as buffer


def make_scope(capacity: int, consumers: int, slices: int) -> Scope:
    def play(_config: buffer.Config, state: buffer.State) -> Iterator[buffer.Event]:
        yield from (
            buffer.Append(b"a"),
            buffer.Append(b"bc"),
            buffer.Commit(),
            buffer.Finish(),
            buffer.CloseBuilder(),
            buffer.Consume(),
        )
        # One that does not exist is among them: the next to come.
        for consumer in range(min(len(state.consumers) + 1, consumers + 1)):
            yield from (
                make(consumer)
                for make in (buffer.Copy, buffer.Inspect, buffer.Build, buffer.Recycle, buffer.CloseConsumer)
            )
        yield buffer.Inspect(-1)

    def expand(state: buffer.State) -> bool:
        few = all(consumer.slices <= slices for consumer in state.consumers)
        return len(state.consumers) <= consumers and few

    return Scope(
        name=f"{capacity}x{consumers}x{slices}",
        component="buffer",
        configs=(buffer.Config(capacity),),
        alphabet=play,
        covers=(
            f"a buffer of {counted(capacity, 'byte')}, {counted(consumers, 'consumer')}; one byte or two appended, "
            "commit, finish, close, consumers copied, asked, read, recycled and closed; refused: appending to a buffer "
            "that is finished, a second first consumer, consumers that are none or closed, recycling what is not held"
        ),
        cap=f"at most {counted(consumers, 'consumer')}, each with at most {counted(slices, 'slice')} out",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope(2, 1, 1)


def thorough() -> Iterator[Scope]:
    yield make_scope(3, 1, 2)
    yield make_scope(1, 2, 1)
