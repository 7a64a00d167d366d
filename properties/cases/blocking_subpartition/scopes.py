"""Scopes of the blocking subpartition: writing, and reading what is written."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.subpartition import values as subpartition
from tidegate.reference.subpartition.blocking_subpartition import values as blocking
from tidegate.reference.subpartition.blocking_subpartition.stores import Store

WRITING: tuple[blocking.Event, ...] = (
    subpartition.AddBuffer(b"a", finished=True),
    subpartition.AddBuffer(b"", finished=False),
    subpartition.Append(b"b"),
    subpartition.FinishBuffer(),
    blocking.EndOfData(),
    subpartition.Flush(),
    subpartition.Finish(),
    subpartition.Release(),
)


def read(view: int) -> Iterator[blocking.Event]:
    yield from (subpartition.Poll(view), blocking.Recycle(view), subpartition.ReleaseView(view))
    yield from (blocking.Query(view, credit) for credit in (True, False))


def make_writing(stores: tuple[Store, ...], items: int) -> Scope:
    def expand(state: blocking.State) -> bool:
        waiting = 0 if state.pending is None else len(state.pending.data)
        return len(state.written) <= items and waiting <= 1 and len(state.readers) <= 1

    return Scope(
        name="writing",
        component="blocking_subpartition",
        configs=tuple(map(blocking.Config, stores)),
        alphabet=lambda _config, _state: (*WRITING, subpartition.CreateView(), subpartition.Poll(0)),
        covers=(
            f"{' and '.join(stores)}; full and open buffers, appending, finishing, flush, end of data, finish, "
            "release, a view and its polls; refused: adding after the end, appending to what is not open, views before "
            "the end"
        ),
        cap=f"at most {counted(items, 'item')} written, 1 byte pending, 1 view",
        expand=expand,
    )


def make_reading(stores: tuple[Store, ...], buffers: int, views: int) -> Scope:
    written: tuple[blocking.Event, ...] = (
        *(subpartition.AddBuffer(bytes((number,)), finished=True) for number in range(buffers)),
        subpartition.Finish(),
    )

    def play(_config: blocking.Config, state: blocking.State) -> Iterator[blocking.Event]:
        yield from (
            subpartition.CreateView(),
            subpartition.Release(),
            blocking.LoseFile(),
            subpartition.Poll(-1),
        )
        for view in range(min(len(state.readers) + 1, views + 1)):
            yield from read(view)

    return Scope(
        name=f"reading-{buffers}x{views}",
        component="blocking_subpartition",
        configs=tuple(map(blocking.Config, stores)),
        opening=lambda _config: written,
        alphabet=play,
        covers=(
            f"{', '.join(stores)}; {counted(buffers, 'buffer')} written; {counted(views, 'view')} polled, asked, "
            "recycled and released, the file lost and released; refused: views that are none or released, recycling "
            "what is not held, views after the release"
        ),
        cap=f"at most {counted(views, 'view')}",
        expand=lambda state: len(state.readers) <= views,
    )


def make_failing(stores: tuple[Store, ...], items: int) -> Scope:
    def expand(state: blocking.State) -> bool:
        return len(state.written) <= items and len(state.readers) <= 1

    return Scope(
        name="failing",
        component="blocking_subpartition",
        configs=tuple(blocking.Config(store, blocking.FAILURES) for store in stores),
        alphabet=lambda _config, _state: (
            subpartition.AddBuffer(b"a", finished=True),
            subpartition.AddBuffer(b"", finished=False),
            subpartition.FinishBuffer(),
            blocking.EndOfData(),
            subpartition.Flush(),
            blocking.FailDisk(),
            subpartition.Finish(),
            subpartition.Release(),
            subpartition.CreateView(),
            subpartition.Poll(0),
        ),
        covers=(
            f"{' and '.join(stores)}; full and open buffers, flush, end of data, finish, release, a view, its polls, "
            "on a disk that fails at any time; what is given back"
        ),
        cap=f"at most {counted(items, 'item')} written, 1 view",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_failing((Store.FILE,), 1)
    yield make_writing((Store.FILE,), 2)
    yield make_reading(tuple(Store), 2, 1)


def thorough() -> Iterator[Scope]:
    yield make_failing((Store.FILE, Store.MMAP, Store.FILE_MMAP), 2)
    yield make_writing((Store.FILE, Store.MMAP), 3)
    yield make_reading(tuple(Store), 3, 1)
    yield make_reading((Store.FILE,), 2, 2)
