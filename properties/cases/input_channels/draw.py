"""Cases for the channels of a gate: unknown ones that get known early or late, retries to the end, gaps, errors."""

from random import Random

from tidegate.properties.cases.values import among, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.input.input_channels.step import start, step
from tidegate.reference.input.input_channels.values import (
    Arrive,
    Cause,
    Close,
    Config,
    Event,
    Fail,
    Item,
    Location,
    NotFound,
    Read,
    Register,
    RequestPartitions,
    Retry,
    State,
    TaskEvent,
    Update,
)


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
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


def draw_config(random: Random) -> Config:
    count = random.choice((1, 2, 2, 3))
    locations = tuple(random.choice(list(Location)) for _ in range(count))
    initial = random.choice((1, 1, 3, 100))
    maximum = max(initial, random.choice((1, 2, 7, 20, 400)))
    return Config(locations, initial, maximum, random.choice((0, 1, 10, maximum)))


def draw_event(random: Random, kind: str, state: State) -> Event:
    index = random.randrange(len(state.channels))
    channel = state.channels[index]
    item = random.choice((Item.DATA, Item.DATA, Item.EMPTY, Item.EVENT))
    match kind:
        case "arrive":
            return Arrive(index, channel.expected, item)
        case "gap":
            return Arrive(index, channel.expected + random.choice((-1, 1, 1, 2)), item)
        case "read":
            return Read(index)
        case "update":
            unknown = [i for i, one in enumerate(state.channels) if one.location is Location.UNKNOWN]
            location = random.choice((Location.LOCAL, Location.REMOTE))
            return Update(random.choice(unknown) if unknown and random.random() < 0.8 else index, location)
        case "register":
            return Register(index)
        case "retry":
            scheduled = [i for i, one in enumerate(state.channels) if one.scheduled]
            return Retry(random.choice(scheduled or [index])) if scheduled else RequestPartitions()
        case "not_found":
            return NotFound(index)
        case "fail":
            return Fail(index, random.choice(list(Cause)))
        case "task_event":
            return TaskEvent(random.randrange(4))
        case "close":
            return Close()
        case "refused":
            return random.choice((Read, Register, Retry, NotFound))(random.choice((-1, len(state.channels))))
    return RequestPartitions()
