"""Cases for requests to channels: all kinds of channels, in all of their states."""

from collections.abc import Iterator
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.input import channel_requests as requests
from tidegate.reference.input.channel_requests import Kind

LARGE = (100, 127, 128, 255, 256, 257, 2**15 - 1, 2**15, 2**16, 2**16 + 1)


def draw(random: Random, config: requests.Config | None = None) -> tuple[requests.Config, tuple[requests.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random,
        data=5,
        barrier=1,
        read=4,
        resume=1.5,
        size=1,
        one_size=0.6,
        checkpoint=0.4,
        measure=2,
        end=0.3,
        gone=0.25,
        release=0.3,
        request=0.3,
    )
    draw_kind = among(random, weights)
    walk = Walk(random, requests.start(config), requests.step)
    early = random.choice((0, 0, 1, 3))
    for number in walk.rounds():
        walk.play_one(requests.RequestPartitions() if number == early else draw_event(*draw_kind(), walk.state))
    return config, walk.events


def draw_large(random: Random) -> tuple[requests.Config, tuple[requests.Event, ...]]:
    """Buffers, backlogs and sizes beyond one or two bytes; then they are read."""
    config = requests.Config((random.choice((Kind.REMOTE, Kind.REMOTE, Kind.LOCAL)),))
    is_remote = config.channels[0] is Kind.REMOTE
    walk = Walk(random, requests.start(config), requests.step)
    walk.play_one(requests.RequestPartitions())
    for _ in range(random.randint(1, 4)):
        backlog = random.choice((0, 127, 128, 255, 256, 300)) if is_remote else 0
        walk.play_one(requests.DataArrives(0, random.choice(LARGE), backlog))
        walk.play_one(requests.AnnounceSize(random.choice(LARGE)))
        walk.play_one(requests.MeasureGate())
    walk.play(requests.ReadChannel(0) for _ in range(3))
    walk.play_one(requests.MeasureGate())
    return config, walk.events


AIMS = (draw_large,)


def draw_config(random: Random) -> requests.Config:
    usual = (Kind.REMOTE, Kind.LOCAL)
    own = stream(random, "channels")
    kinds = tuple(Kind) if own.random() < 0.2 else (*usual, Kind.UNKNOWN) if own.random() < 0.3 else usual
    return requests.Config(tuple(own.choice(kinds) for _ in range(own.choice((1, 1, 2, 2, 3)))))


def draw_event(random: Random, kind: str, state: requests.State) -> requests.Event:
    last = len(state.channels) - 1
    channel = random.choice((-1, last + 1)) if random.random() < 0.02 else random.randint(0, last)
    size = random.choice((1, 2, 7, 64, 4096))
    match kind:
        case "data":
            is_local = 0 <= channel <= last and state.channels[channel].kind is Kind.LOCAL
            backlogs = (0, 0, 0, 0, 1) if is_local else (0, 1, 2, 3, 7)
            return requests.DataArrives(channel, random.choice((1, 2, 5, 60)), random.choice(backlogs))
        case "barrier":
            return requests.BarrierArrives(channel, random.choice((64, 65, 100)))
        case "end":
            return requests.EndArrives(channel)
        case "read":
            return requests.ReadChannel(channel)
        case "resume":
            blocked = [number for number, one in enumerate(state.channels) if one.blocked]
            return requests.ResumeChannel(random.choice(blocked) if blocked and random.random() < 0.7 else channel)
        case "size":
            return requests.AnnounceSize(size)
        case "one_size":
            return requests.AnnounceSize(size, channel)
        case "checkpoint":
            return requests.StartCheckpoint()
        case "gone":
            return requests.ReleasePartition(channel)
        case "release":
            return requests.ReleaseChannel(channel)
        case "request":
            return requests.RequestPartitions()
        case _:
            return requests.MeasureGate()


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(kinds: tuple[Kind, ...], most: int) -> Scope:
    shared: tuple[requests.Event, ...] = (
        requests.RequestPartitions(),
        requests.AnnounceSize(7),
        requests.StartCheckpoint(),
        requests.MeasureGate(),
    )
    of_channels: list[requests.Event] = []
    for channel in range(len(kinds) + 1):
        backlog = 0 if channel < len(kinds) and kinds[channel] is Kind.LOCAL else 1
        of_channels += [
            requests.DataArrives(channel, 1, backlog),
            requests.DataArrives(channel, 2),
            requests.BarrierArrives(channel, 64),
            requests.EndArrives(channel),
            requests.ReadChannel(channel),
            requests.ResumeChannel(channel),
            requests.AnnounceSize(9, channel),
            requests.ReleasePartition(channel),
            requests.ReleaseChannel(channel),
        ]
    return Scope(
        name="-".join(kinds),
        component="channel_requests",
        configs=(requests.Config(kinds),),
        alphabet=lambda _config, _state: (*shared, *of_channels),
        covers=f"channels that are {', '.join(kinds)}; refused: channels that do not exist, requests at a wrong time",
        expand=lambda state: sum(len(channel.queue) for channel in state.channels) <= most,
        cap=f"at most {most + 1} items queued",
    )


def small() -> Iterator[Scope]:
    yield make_scope((Kind.REMOTE,), 2)
    yield make_scope((Kind.LOCAL,), 2)
    yield make_scope((Kind.UNKNOWN,), 1)
    yield make_scope((Kind.REMOTE, Kind.RECOVERING), 1)


def thorough() -> Iterator[Scope]:
    yield make_scope((Kind.REMOTE, Kind.LOCAL), 1)
