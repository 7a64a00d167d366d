"""Cases for the result partition: consumers that come too early, the last user leaving, failures in the middle."""

from collections.abc import Iterator
from random import Random

import attrs

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.subpartition.result_partition import values as result_partition
from tidegate.reference.subpartition.result_partition.step import start, step
from tidegate.reference.subpartition.subpartition import values as pipelined_values
from tidegate.reference.subpartition.values import Finish, Flush, Poll, ReleaseView

WRITING = ("emit", "broadcast", "end_of_data", "finish", "close")


def draw(
    random: Random, config: result_partition.Config | None = None
) -> tuple[result_partition.Config, tuple[result_partition.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random, poll=5, emit=5, broadcast=1.5, request=2, flush=2, end_of_data=0.5, finish=0.4, release_view=0.5,
        close=0.25, wind_up=0.3, fail=0.06, release=0.12, expire=0.1, setup=0.1, shutdown=0.04, refused=0.4,
    )  # fmt: skip
    early = random.choice((0, 0, 0, 1, 3))
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    for _ in walk.up_to_end(lambda state: state.shut_down, 1, 4):
        if walk.played >= early and not walk.state.registered and random.random() < 0.7:
            walk.play_one(result_partition.Setup())
        else:
            walk.play(draw_events(*draw_kind(), walk.state))
    return config, walk.events


def draw_config(random: Random) -> result_partition.Config:
    kind = stream(random, "kind").choice(
        (
            result_partition.PartitionKind.PIPELINED,
            result_partition.PartitionKind.PIPELINED,
            result_partition.PartitionKind.BLOCKING,
        )
    )
    return result_partition.Config(kind, stream(random, "subpartitions").choice((1, 1, 2, 2, 2, 3)))


def draw_events(random: Random, kind: str, state: result_partition.State) -> list[result_partition.Event]:
    subpartition = random.randrange(state.config.subpartitions)
    match kind:
        case "request":
            return [draw_request(random, state)]
        case "expire":
            return [result_partition.Expire()]
        case "setup":
            return [result_partition.Setup()]
        case "shutdown":
            return [result_partition.ShutDown()]
        case "release":
            return [
                result_partition.Release(
                    random.choice((result_partition.Owner.MANAGER, result_partition.Owner.PRODUCER))
                )
            ]
        case "refused":
            return [draw_refused(random, state)]
    if state.partition is None:
        return [result_partition.Request(subpartition, random.random() < 0.6)]
    if kind in WRITING and is_over(state.partition) and random.random() < 0.85:
        return [draw_reading(random, kind, state.partition, subpartition)]
    match kind:
        case "emit":
            return [result_partition.Emit(subpartition, draw_data(random))] * random.choice((1, 1, 2))
        case "broadcast":
            return [result_partition.Broadcast(draw_data(random))]
        case "flush":
            return [Flush()]
        case "end_of_data":
            return [result_partition.EndOfData(random.random() < 0.6)]
        case "finish":
            return [Finish()]
        case "close":
            return [result_partition.CloseWriter()]
        case "fail":
            return [result_partition.Fail()]
        case "wind_up":
            return draw_wind_up(random, state, state.partition)
    return [draw_reading(random, kind, state.partition, subpartition)]


def is_over(partition: result_partition.Partition) -> bool:
    return partition.finished or partition.closed or partition.failed


def draw_reading(
    random: Random, kind: str, partition: result_partition.Partition, subpartition: int
) -> result_partition.Event:
    if kind == "release_view" and partition.views and random.random() < 0.3:
        # It may be released already.
        return ReleaseView(random.randrange(len(partition.views)))
    views = [number for number, view in enumerate(partition.views) if not view.released]
    if not views:
        return result_partition.Request(subpartition, listen=False)
    return ReleaseView(random.choice(views)) if kind == "release_view" else Poll(random.choice(views))


def draw_request(random: Random, state: result_partition.State) -> result_partition.Event:
    """Mostly a subpartition without a reader."""
    taken = {view.subpartition for view in state.partition.views} if state.partition else set(state.waiting)
    free = [index for index in range(state.config.subpartitions) if index not in taken]
    if not free and state.partition and random.random() < 0.8:
        return Poll(random.randrange(len(state.partition.views)))
    index = random.choice(free) if free and random.random() < 0.8 else random.randrange(state.config.subpartitions)
    return result_partition.Request(index, random.random() < 0.5)


def draw_wind_up(
    random: Random, state: result_partition.State, partition: result_partition.Partition
) -> list[result_partition.Event]:
    """The writer and all readers leave, in any order; perhaps all but one. Missing readers come first."""
    events: list[result_partition.Event] = []
    views = list(partition.views)
    if not partition.finished:
        events.append(Finish())
    unread = set(range(state.config.subpartitions)) - {view.subpartition for view in views}
    events += [result_partition.Request(index, listen=False) for index in sorted(unread)]
    open_views = [number for number, view in enumerate(views) if not view.released]
    leaving: list[result_partition.Event] = [
        ReleaseView(number) for number in (*open_views, *range(len(views), len(views) + len(unread)))
    ]
    if not partition.closed:
        leaving.append(result_partition.CloseWriter())
    random.shuffle(leaving)
    return [*events, *leaving[: max(1, len(leaving) - random.choice((0, 0, 0, 1)))]]


def draw_data(random: Random) -> bytes:
    return random.randbytes(random.choice((1, 1, 2, 3)))


def draw_refused(random: Random, state: result_partition.State) -> result_partition.Event:
    """No such subpartition or view, a released view, or a repeated event."""
    beyond = random.choice((-1, state.config.subpartitions, state.config.subpartitions + 4))
    views = state.partition.views if state.partition else ()
    left = [number for number, view in enumerate(views) if view.released] or [-1, len(views)]
    number = random.choice(left)
    return random.choice(
        (
            result_partition.Request(beyond, listen=False),
            result_partition.Emit(beyond, b"a"),
            Poll(number),
            ReleaseView(number),
            result_partition.Setup(),
            result_partition.CloseWriter(),
        )
    )


def draw_written_and_read(random: Random) -> tuple[result_partition.Config, tuple[result_partition.Event, ...]]:
    """Everything is written, with flushes in between, before any reads; then all readers read to the end."""
    config = draw_config(random)
    subpartitions = range(config.subpartitions)
    kinds = random.choice((("emit", "flush"), ("broadcast", "flush"), ("emit", "broadcast", "flush", "flush")))
    walk = Walk(random, start(config), step)
    walk.play([result_partition.Setup()])
    for _ in range(random.randint(6, 20)):
        walk.play(draw_events(random, random.choice(kinds), walk.state))
    walk.play([Finish(), *(result_partition.Request(index, listen=False) for index in subpartitions)])
    walk.play(Poll(view) for view in subpartitions for _ in range(random.randint(6, 12)))
    return config, walk.events


def draw_many_wait(random: Random) -> tuple[result_partition.Config, tuple[result_partition.Event, ...]]:
    """Several requests wait, in any order, for a partition that may come."""
    config = attrs.evolve(draw_config(random), subpartitions=random.choice((2, 3, 5)))
    waiting = random.sample(range(config.subpartitions), config.subpartitions)
    ends: tuple[result_partition.Event, ...] = (
        result_partition.Expire(),
        result_partition.Setup(),
        result_partition.ShutDown(),
    )
    walk = Walk(random, start(config), step)
    for end in random.sample(ends, 2):
        walk.play(result_partition.Request(index, listen=True) for index in waiting)
        walk.play([end])
    return config, walk.events


def draw_left_again(random: Random) -> tuple[result_partition.Config, tuple[result_partition.Event, ...]]:
    """Views are released several times while others are missing; at the end all are released."""
    config = attrs.evolve(draw_config(random), subpartitions=random.choice((2, 3)))
    first, *others = random.sample(range(config.subpartitions), config.subpartitions)
    walk = Walk(random, start(config), step)
    walk.play([result_partition.Setup(), *random.choice(([], [Finish()])), result_partition.CloseWriter()])
    walk.play([result_partition.Request(first, listen=False), *[ReleaseView(0)] * config.subpartitions])
    walk.play(result_partition.Request(index, listen=False) for index in others)
    walk.play(ReleaseView(view) for view in (0, *range(config.subpartitions)))
    return config, walk.events


AIMS = (draw_written_and_read, draw_many_wait, draw_left_again)


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS)


# --- scopes ---------------------------------------------------------------------------------------------------


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
    """Number of bytes of the largest buffer."""
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
