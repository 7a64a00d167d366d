"""Cases for the blocking subpartition: views at their own pace, read buffers that run out, released holders."""

from collections.abc import Iterator
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.subpartition import values as subpartition
from tidegate.reference.subpartition.blocking_subpartition import values as blocking
from tidegate.reference.subpartition.blocking_subpartition.step import start, step
from tidegate.reference.subpartition.blocking_subpartition.stores import Store

STORES = (Store.FILE, Store.FILE, Store.FILE_REGION, Store.MMAP, Store.FILE_MMAP)


def draw(random: Random, config: blocking.Config | None = None) -> tuple[blocking.Config, tuple[blocking.Event, ...]]:
    config = config or draw_config(random)
    writing = swarm(random, buffer=4, append=2, finish_buffer=1, flush=1, end_of_data=0.4, view=0.1, release=0.05)
    if config.extension == blocking.FAILURES:
        writing |= swarm(random, fail_disk=0.6)
    reading = swarm(
        random, poll=6, recycle=4, view=1, query=2, release_view=0.7, drain=0.6, release=0.2, lose_file=0.05,
        refused=0.4,
    )  # fmt: skip
    draw_written, draw_read = among(random, writing), among(random, reading)
    walk = Walk(random, start(config), step)
    writes = random.randint(0, min(12, walk.length))
    for _ in walk.up_to_length():
        is_over = walk.state.finished or walk.state.released
        if not is_over and walk.played >= writes:
            walk.play_one(subpartition.Finish())
        else:
            walk.play(draw_events(*(draw_read if is_over else draw_written)(), walk.state))
    return config, walk.events


def draw_config(random: Random) -> blocking.Config:
    failures = stream(random, "extension").random() < 0.2
    return blocking.Config(stream(random, "store").choice(STORES), blocking.FAILURES if failures else None)


def draw_events(random: Random, kind: str, state: blocking.State) -> list[blocking.Event]:
    match kind:
        case "buffer":
            return [subpartition.AddBuffer(draw_data(random), finished=random.random() < 0.5)]
        case "append" | "finish_buffer":
            return [draw_writing(random, kind, state)]
        case "end_of_data":
            return [subpartition.Flush() if state.data_ended and random.random() < 0.7 else blocking.EndOfData()]
        case "flush":
            return [subpartition.Flush()]
        case "release":
            return [subpartition.Release()]
        case "fail_disk":
            return [blocking.FailDisk()]
        case "lose_file":
            return [blocking.LoseFile()]
        case "refused":
            return [draw_refused(random, state)]
    views = [index for index, reader in enumerate(state.readers) if not reader.released]
    if kind == "view" or not views:
        return [subpartition.CreateView()]
    return draw_reading(random, kind, state, random.choice(views))


def draw_writing(random: Random, kind: str, state: blocking.State) -> blocking.Event:
    if not blocking.is_open(state):
        return subpartition.AddBuffer(draw_data(random), finished=False)
    return subpartition.FinishBuffer() if kind == "finish_buffer" else subpartition.Append(draw_data(random))


def draw_reading(random: Random, kind: str, state: blocking.State, view: int) -> list[blocking.Event]:
    match kind:
        case "recycle" if state.readers[view].held:
            return [blocking.Recycle(view)]
        case "query":
            return [blocking.Query(view, random.random() < 0.5)]
        case "release_view":
            return [subpartition.ReleaseView(view)]
        case "drain":
            # To the end and one further, recycling each buffer at once or not.
            left = len(state.written) - state.readers[view].position + 1
            turn: list[blocking.Event] = (
                [subpartition.Poll(view), blocking.Recycle(view)]
                if random.random() < 0.7
                else [subpartition.Poll(view)]
            )
            return turn * left
    return [subpartition.Poll(view)]


def draw_data(random: Random) -> bytes:
    return random.randbytes(random.choice((0, 1, 1, 2, 3)))


def draw_refused(random: Random, state: blocking.State) -> blocking.Event:
    """Too late, or no such view."""
    gone = [index for index, reader in enumerate(state.readers) if reader.released]
    beyond = (-1, len(state.readers), len(state.readers) + 2)
    view = random.choice(gone) if gone and random.random() < 0.5 else random.choice(beyond)
    late: tuple[blocking.Event, ...] = (
        subpartition.AddBuffer(b"a", finished=True),
        subpartition.Finish(),
        blocking.EndOfData(),
        subpartition.Append(b"a"),
        subpartition.FinishBuffer(),
    )
    return random.choice(
        (
            *late,
            subpartition.Poll(view),
            blocking.Recycle(view),
            blocking.Query(view, credit=True),
            subpartition.ReleaseView(view),
        )
    )


GENERATOR = Generator(draw=draw, draw_config=draw_config)


# --- scopes ---------------------------------------------------------------------------------------------------


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
