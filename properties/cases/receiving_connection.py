"""Cases for the receiving end of a connection: channels come and go, messages are late, the connection breaks."""

from collections.abc import Iterator
from functools import partial
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.credit import receiving_connection as receiving

#: Limit of held buffers per channel: floating ones have to last.
ENOUGH = 200


def draw(
    random: Random, config: receiving.Config | None = None
) -> tuple[receiving.Config, tuple[receiving.Event, ...]]:
    config = config or draw_config(random)
    kinds = swarm(
        random, request=3, data=5, unsaved=0.5, backlog=2, told=0.7, cancel=0.5, release=0.7, writable=2, measure=3
    )
    draw_kind = among(random, {**kinds, "break": 0.1})
    walk = Walk(random, receiving.start(config), receiving.step)
    if random.random() < 0.95:
        walk.play_one(receiving.OpenConnection())
    for _ in walk.rounds():
        walk.play_one(draw_event(*draw_kind(), config.channels))
        if sum(channel.holds for channel in walk.state.channels) > ENOUGH:
            break
    return config, walk.events


def draw_many(count: int, random: Random) -> tuple[receiving.Config, tuple[receiving.Event, ...]]:
    """Many channels request, and many need buffers, while nothing can be sent; then everything is sent at once."""
    config = receiving.Config(count, 0)
    numbers = random.sample(range(count), count)
    events: list[receiving.Event] = [receiving.OpenConnection(), *map(receiving.RequestPartition, numbers)]
    events.append(receiving.SetWritable(value=False))
    events += (receiving.BacklogArrives(one, 1) for one in random.sample(numbers, min(count, ENOUGH // 2)))
    events += map(receiving.ReleaseChannel, random.sample(numbers, random.choice((0, 1, 3))))
    events.append(receiving.SetWritable(value=True))
    events += map(receiving.MeasureChannel, (0, count - 1))
    events.append(receiving.BreakConnection(random.choice(list(receiving.Break))))
    return config, tuple(events)


ONCE = tuple(partial(draw_many, count) for count in (8, 9, 17, 33, 65, 129, 257, 1025))


def draw_config(random: Random) -> receiving.Config:
    return receiving.Config(
        stream(random, "channels").choice((1, 2, 2, 3)), stream(random, "exclusive").choice((0, 1, 2, 2))
    )


def draw_event(random: Random, kind: str, channels: int) -> receiving.Event:
    channel = random.choice((-1, channels)) if random.random() < 0.02 else random.randrange(channels)
    match kind:
        case "request":
            return receiving.RequestPartition(channel)
        case "data":
            return receiving.DataArrives(channel, random.choice((0, 0, 1, 2, 3)), random.randint(0, receiving.MOST))
        case "unsaved":
            return receiving.DataIsNotSaved(channel)
        case "backlog":
            return receiving.BacklogArrives(channel, random.randint(1, receiving.MOST))
        case "told":
            return random.choice((receiving.NotFoundArrives, receiving.ErrorArrives))(channel)
        case "cancel":
            return receiving.CancelRequest(random.choice((channel, -1)))
        case "release":
            return receiving.ReleaseChannel(channel)
        case "writable":
            return receiving.SetWritable(random.random() < 0.5)
        case "break":
            return receiving.BreakConnection(random.choice(list(receiving.Break)))
        case _:
            return receiving.MeasureChannel(channel)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(channels: int, exclusive: int, most: int, *, is_full: bool = False) -> Scope:
    """At most `most` buffers are queued in all. Unless it is full, events that differ only in names are left out."""
    numbers = range(channels)
    arrivals: tuple[receiving.Event, ...] = (
        *(receiving.DataArrives(one, parts, 1) for one in numbers for parts in ((0, 2) if is_full else (2,))),
        *(receiving.DataIsNotSaved(one) for one in numbers),
    )
    more: tuple[receiving.Event, ...] = (
        receiving.RequestPartition(channels),
        receiving.CancelRequest(-1),
        *(receiving.BacklogArrives(one, 2) for one in numbers),
        *(receiving.BreakConnection(how) for how in (receiving.Break.CLOSED, receiving.Break.FATAL)),
    )
    others: tuple[receiving.Event, ...] = (
        receiving.OpenConnection(),
        *(receiving.RequestPartition(one) for one in numbers),
        *(receiving.ErrorArrives(one) for one in numbers),
        receiving.CancelRequest(0),
        *(receiving.ReleaseChannel(one) for one in numbers),
        *(receiving.SetWritable(value) for value in (False, True)),
        *(receiving.BreakConnection(how) for how in (receiving.Break.ERROR, receiving.Break.RESET)),
        *(receiving.NotFoundArrives(one) for one in numbers),
        *(receiving.MeasureChannel(one) for one in numbers),
        *(more if is_full else ()),
    )

    def alphabet(_config: receiving.Config, state: receiving.State) -> tuple[receiving.Event, ...]:
        queued = sum(channel.queued for channel in state.channels)
        return others if queued >= most else (*others, *arrivals)

    return Scope(
        name=f"{channels}-channels-{exclusive}-own",
        component="receiving_connection",
        configs=(receiving.Config(channels, exclusive),),
        alphabet=alphabet,
        covers=f"{counted(channels, 'channel')} with {exclusive} own buffers, {counted(most, 'buffer')} and more",
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 2, 1)


def thorough() -> Iterator[Scope]:
    yield make_scope(1, 0, 2, is_full=True)
    yield make_scope(2, 1, 1, is_full=True)
