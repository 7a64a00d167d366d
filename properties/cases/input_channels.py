"""Cases for the channels of a gate: unknown ones that are resolved early or late, retries, gaps, errors."""

from collections.abc import Iterator
from random import Random

import attrs

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
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
        walk.play_one(draw_event(*draw_kind(), walk.state))
    return config, walk.events


def draw_config(random: Random) -> input_channels.Config:
    own = stream(random, "locations")
    count = own.choice((1, 2, 2, 3))
    locations = tuple(own.choice(list(input_channels.Location)) for _ in range(count))
    initial = stream(random, "initial").choice((0, 1, 1, 3, 100))
    maximum = max(initial, stream(random, "maximum").choice((1, 2, 7, 20, 400)))
    return input_channels.Config(locations, initial, maximum, stream(random, "timeout").choice((0, 1, 10, maximum)))


def draw_with_defaults(random: Random) -> tuple[input_channels.Config, tuple[input_channels.Event, ...]]:
    """Default delays, or a first delay that is so high that a few retries reach the limit."""
    config = draw_config(random)
    return draw(random, input_channels.Config(config.locations, random.choice((100, 3000, 6000))))


def draw_parked(random: Random) -> tuple[input_channels.Config, tuple[input_channels.Event, ...]]:
    """Requests that wait at their producers until the default timeout.

    Twice the maximum of 10,001 has room for two timeouts of 10 seconds, and for no longer ones.
    """
    locations = (input_channels.Location.REMOTE,) * random.choice((1, 2))
    config = input_channels.Config(locations, 100, random.choice((10_000, 10_001, 15_001)))
    draw_kind = among(random, {"request": 1, "not_found": 4, "read": 1})
    walk = Walk(random, start(config), step)
    walk.play_one(input_channels.RequestPartitions())
    for _ in walk.rounds():
        walk.play_one(draw_event(*draw_kind(), walk.state))
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
            # Mostly for an unknown channel, and with the location where the partition is registered, if local.
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


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS)


# --- scopes ---------------------------------------------------------------------------------------------------


CONNECTING: tuple[input_channels.Event, ...] = (
    input_channels.RequestPartitions(),
    input_channels.Update(0, input_channels.Location.LOCAL),
    input_channels.Update(0, input_channels.Location.REMOTE),
    *(
        input_channels.Register(0),
        input_channels.Retry(0),
        input_channels.NotFound(0),
        input_channels.TaskEvent(7),
        input_channels.Close(),
        input_channels.Read(0),
    ),
    input_channels.Fail(0, input_channels.Cause.PRODUCER_FAILED),
    input_channels.Arrive(0, 0, input_channels.Item.DATA),
    *(input_channels.Update(1, input_channels.Location.LOCAL), input_channels.Retry(-1)),
)
#: The next sequence number is 0 or 1: the other one is out of order.
READING: tuple[input_channels.Event, ...] = (
    input_channels.RequestPartitions(),
    *(input_channels.Arrive(0, sequence, item) for sequence in (0, 1) for item in input_channels.Item),
    *(
        input_channels.Fail(0, cause)
        for cause in (input_channels.Cause.PRODUCER_FAILED, input_channels.Cause.CONNECTION_LOST)
    ),
    *(
        input_channels.Read(0),
        input_channels.Close(),
        input_channels.TaskEvent(7),
        input_channels.Register(0),
        input_channels.Retry(0),
    ),
)


#: Two channels that fail at once if their partition is missing.
IMPATIENT = input_channels.Config((input_channels.Location.LOCAL, input_channels.Location.REMOTE), 0, 0, 0)


def make_scope(
    name: str,
    locations: tuple[input_channels.Location, ...],
    events: tuple[input_channels.Event, ...],
    covers: str,
    waiting: int,
    received: int,
) -> Scope:
    def expand(state: input_channels.State) -> bool:
        few = all(len(one.waiting) <= waiting and one.expected <= received for one in state.channels)
        return few and len(state.pending) <= 1

    configs = tuple(input_channels.Config((location,), initial=100, maximum=200, timeout=150) for location in locations)
    return Scope(
        name=name,
        component="input_channels",
        configs=configs,
        alphabet=lambda _config, _state: events,
        covers=(
            f"one channel, {' or '.join(locations)}, retries after 100 ms and 200 ms, requests parked for 150 ms; "
            f"{covers}; refused: what comes before it may, after the gate is closed, and on channels out of range"
        ),
        cap=f"at most {waiting} items waiting, {received} received from a remote producer, 1 task event held back",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    known = "requests, updates, registration, retries, partitions not found, task events, a failure, close"
    yield make_scope("connecting", tuple(input_channels.Location), CONNECTING, known, waiting=0, received=0)
    read = "items of every kind with the numbers 0 and 1, failures, reads, task events, close"
    yield make_scope(
        "reading", (input_channels.Location.LOCAL, input_channels.Location.REMOTE), READING, read, waiting=1, received=1
    )
    yield Scope(
        name="impatient",
        component="input_channels",
        configs=(IMPATIENT,),
        alphabet=lambda _config, _state: (
            input_channels.RequestPartitions(),
            *(kind(channel) for kind in (input_channels.NotFound, input_channels.Read) for channel in (0, 1)),
        ),
        covers="a local and a remote channel, no delays: requests, partitions not found, reads",
    )


def thorough() -> Iterator[Scope]:
    yield from (attrs.evolve(one, extra_states=1) for one in small())
