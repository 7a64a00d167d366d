"""Cases for the blocking subpartition: views at their own pace, read buffers that run out, holders that go."""

from random import Random

from tidegate.properties.cases.values import among, swarm
from tidegate.properties.cases.walk import Walk
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
            walk.play(draw_events(random, draw_read() if is_over else draw_written(), walk.state))
    return config, walk.events


def draw_config(random: Random) -> blocking.Config:
    return blocking.Config(random.choice(STORES), blocking.FAILURES if random.random() < 0.2 else None)


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
            # To the end and one further, giving each buffer back at once or not.
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
