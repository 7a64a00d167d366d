"""Cases for the channels of a gate: unknown ones that get known early or late, retries to the end, gaps, errors."""

from random import Random

from tidegate.properties.cases.values import among, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.input.input_channels import values as input_channels
from tidegate.reference.input.input_channels.step import start, step


def draw(
    random: Random, config: input_channels.Config | None = None
) -> tuple[input_channels.Config, tuple[input_channels.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random,
        request=1,
        arrive=4,
        read=3,
        update=1,
        register=0.7,
        retry=1.5,
        not_found=0.7,
        gap=0.2,
        fail=0.2,
        task_event=0.5,
        close=0.06,
        refused=0.2,
    )
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    for _ in walk.rounds():
        walk.play_one(draw_event(random, draw_kind(), walk.state))
    return config, walk.events


def draw_config(random: Random) -> input_channels.Config:
    count = random.choice((1, 2, 2, 3))
    locations = tuple(random.choice(list(input_channels.Location)) for _ in range(count))
    initial = random.choice((0, 1, 1, 3, 100))
    maximum = max(initial, random.choice((1, 2, 7, 20, 400)))
    return input_channels.Config(locations, initial, maximum, random.choice((0, 1, 10, maximum)))


def draw_with_defaults(random: Random) -> tuple[input_channels.Config, tuple[input_channels.Event, ...]]:
    """What a config takes that names no delays, or only one so high that a few retries get to the end."""
    config = draw_config(random)
    return draw(random, input_channels.Config(config.locations, random.choice((100, 3000, 6000))))


def draw_parked(random: Random) -> tuple[input_channels.Config, tuple[input_channels.Event, ...]]:
    """Requests that wait at their producers until time is up, by the timeout that a config takes that names none.

    Twice the maximum of 10,001 has room for two timeouts of 10 seconds, and for no longer ones.
    """
    locations = (input_channels.Location.REMOTE,) * random.choice((1, 2))
    config = input_channels.Config(locations, 100, random.choice((10_000, 10_001, 15_001)))
    draw_kind = among(random, {"request": 1, "not_found": 4, "read": 1})
    walk = Walk(random, start(config), step)
    walk.play_one(input_channels.RequestPartitions())
    for _ in walk.rounds():
        walk.play_one(draw_event(random, draw_kind(), walk.state))
    return config, walk.events


AIMS = (draw_with_defaults, draw_parked)


def draw_event(random: Random, kind: str, state: input_channels.State) -> input_channels.Event:
    index = random.randrange(len(state.channels))
    channel = state.channels[index]
    item = random.choice(
        (input_channels.Item.DATA, input_channels.Item.DATA, input_channels.Item.EMPTY, input_channels.Item.EVENT)
    )
    match kind:
        case "arrive":
            return input_channels.Arrive(index, channel.expected, item)
        case "gap":
            return input_channels.Arrive(index, channel.expected + random.choice((-1, 1, 1, 2)), item)
        case "read":
            return input_channels.Read(index)
        case "update":
            unknown = [i for i, one in enumerate(state.channels) if one.location is input_channels.Location.UNKNOWN]
            location = random.choice((input_channels.Location.LOCAL, input_channels.Location.REMOTE))
            if random.random() < 0.1:
                return input_channels.Update(index, location)
            # Mostly it is said of a channel that is unknown, and where the partition is registered, if that is here.
            if not unknown:
                return input_channels.Read(index)
            index = random.choice(unknown)
            if not state.channels[index].registered and random.random() < 0.7:
                location = input_channels.Location.REMOTE
            return input_channels.Update(index, location)
        case "register":
            return input_channels.Register(index)
        case "retry":
            scheduled = [i for i, one in enumerate(state.channels) if one.scheduled]
            return (
                input_channels.Retry(random.choice(scheduled or [index]))
                if scheduled
                else input_channels.RequestPartitions()
            )
        case "not_found":
            return input_channels.NotFound(index)
        case "fail":
            return input_channels.Fail(index, random.choice(list(input_channels.Cause)))
        case "task_event":
            return input_channels.TaskEvent(random.randrange(4))
        case "close":
            return input_channels.Close()
        case "refused":
            return random.choice(
                (input_channels.Read, input_channels.Register, input_channels.Retry, input_channels.NotFound)
            )(random.choice((-1, len(state.channels))))
    return input_channels.RequestPartitions()
