"""Scopes of the result partition and its manager: registration and release, writing and reading, each on its own.

Sequence numbers and the numbers of views go on, so few of them are counted: that is the cap.
"""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.subpartition.result_partition import values as result_partition
from tidegate.reference.subpartition.subpartition import values as pipelined_values
from tidegate.reference.subpartition.values import Finish, Flush, Poll, ReleaseView

LIVES: tuple[result_partition.Event, ...] = (
    result_partition.Setup(),
    *(result_partition.Request(0, listen) for listen in (True, False)),
    *(
        result_partition.Expire(),
        Finish(),
        result_partition.CloseWriter(),
        result_partition.Fail(),
        Poll(0),
        ReleaseView(0),
        result_partition.ShutDown(),
    ),
    *(result_partition.Release(owner) for owner in result_partition.Owner),
    *(result_partition.Request(1, listen=False), Poll(-1)),
)


def count_items(state: result_partition.State) -> int:
    if state.partition is None:
        return 0
    counts = []
    for one in state.partition.subpartitions:
        if isinstance(one, pipelined_values.State):
            counts.append(len(one.queue.items) + one.queue.sequence)
        else:
            counts.append(len(one.written) + (one.pending is not None))
    return max(counts)


def count_bytes(state: result_partition.State) -> int:
    """Of the largest buffer."""
    if state.partition is None:
        return 0
    sizes = [0]
    for one in state.partition.subpartitions:
        if isinstance(one, pipelined_values.State):
            sizes += [len(item.data) for item in one.queue.items]
        else:
            sizes += [len(item.data) for item in (*one.written, *((one.pending,) if one.pending else ()))]
    return max(sizes)


def count_views(state: result_partition.State) -> int:
    return 0 if state.partition is None else len(state.partition.views)


def make_lives(views: int) -> Scope:
    return Scope(
        name="lives",
        component="result_partition",
        configs=tuple(result_partition.Config(kind, 1) for kind in result_partition.PartitionKind),
        alphabet=lambda _config, _state: LIVES,
        covers=(
            "both kinds with 1 subpartition; setup, requests that listen or not, expiry, finish, close, failure, "
            "release by either side, shutdown, a view polled and released; refused: what comes before the setup, after "
            "the end or twice, subpartitions and views out of range"
        ),
        cap=f"at most {counted(views, 'view')}",
        expand=lambda state: count_views(state) <= views,
    )


def make_writing(subpartitions: int, items: int) -> Scope:
    def play(_config: result_partition.Config, _state: result_partition.State) -> Iterator[result_partition.Event]:
        yield from (
            result_partition.Broadcast(b"b"),
            result_partition.EndOfData(drain=True),
            result_partition.EndOfData(drain=False),
            Flush(),
            Finish(),
            result_partition.CloseWriter(),
        )
        yield from (result_partition.Emit(index, b"a") for index in range(subpartitions))
        yield from (
            result_partition.Emit(subpartitions, b"a"),
            result_partition.Emit(-1, b"a"),
            Poll(0),
            result_partition.Request(0, listen=False),
        )

    return Scope(
        name=f"writing-{subpartitions}",
        component="result_partition",
        configs=tuple(result_partition.Config(kind, subpartitions) for kind in result_partition.PartitionKind),
        opening=lambda config: (
            (result_partition.Setup(), result_partition.Request(0, listen=False))
            if config.kind is result_partition.PartitionKind.PIPELINED
            else (result_partition.Setup(),)
        ),
        alphabet=play,
        covers=(
            f"both kinds with {counted(subpartitions, 'subpartition')}, set up; bytes emitted and broadcast, both ends "
            "of data, flush, finish, close, the first subpartition requested and polled; refused: writing after the "
            "end, subpartitions out of range"
        ),
        cap=f"at most {counted(items, 'item')} in a subpartition so far, of at most 2 bytes, 1 view",
        expand=lambda state: count_items(state) <= items and count_bytes(state) <= 2 and count_views(state) <= 1,
    )


def small() -> Iterator[Scope]:
    yield make_lives(1)
    yield make_writing(2, 1)


def thorough() -> Iterator[Scope]:
    yield make_lives(2)
    yield make_writing(2, 2)
