"""Cases for channel state: barriers that overtake, stay or never come, checkpoints that start early, late or twice."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import MAX, Long
from tidegate.reference.input import channel_state
from tidegate.reference.input.channel_state import Config, Event, Kind, Mode, State

#: Beyond this a channel is drained: a long queue shows no more than a short one.
LONG_QUEUE = 16
BASES = (0, 1, 1, 1, 2**31 - 2, 2**53, MAX - 12)


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random, data=6, event=0.5, poll=3, barrier=2.5, start=1.2, stop=0.8, prioritize=1, round=0.6, refused=0.1
    )
    modes = random.choice(((Mode.UNALIGNED,), (Mode.TIMEOUT,), (Mode.UNALIGNED, Mode.TIMEOUT), tuple(Mode)))
    base = random.choice(BASES)
    draw_kind = among(random, weights)
    walk = Walk(random, channel_state.start(config), channel_state.step)
    for _ in walk.rounds():
        walk.play(draw_events(*draw_kind(), walk.state, modes, base))
    return config, walk.events


def draw_config(random: Random) -> Config:
    return Config(stream(random, "channels").choice((1, 1, 2, 2, 3)))


def draw_events(random: Random, kind: str, state: State, modes: tuple[Mode, ...], base: int) -> list[Event]:
    index = random.randrange(len(state.channels))
    channel = state.channels[index]
    latest = max(base, *(max(one.saving.seen, one.saving.barrier) for one in state.channels))
    near = Long(min(max(latest + random.choice((-1, 0, 0, 0, 1, 1, 2)), 0), MAX - 1))
    if len(channel.queue) > LONG_QUEUE:
        return [channel_state.Poll(index)] * LONG_QUEUE
    match kind:
        case "data":
            return [channel_state.Data(index)] * random.choice((1, 1, 1, 2, 3))
        case "event":
            return [channel_state.PlainEvent(index)]
        case "poll":
            return [channel_state.Poll(index)] * random.choice((1, 1, 2))
        case "barrier":
            return [channel_state.Barrier(index, near, random.choice(modes))]
        case "start":
            return [channel_state.Start(near)]
        case "stop":
            return [channel_state.Stop(near)]
        case "prioritize":
            barriers = [item.sequence for item in channel.queue if item.kind is Kind.BARRIER]
            choices = [*barriers, channel.saving.cut] if random.random() < 0.9 else [0, channel.next]
            polls: list[Event] = [channel_state.Poll(index)] * (len(channel.ahead) if random.random() < 0.8 else 0)
            return [*polls, channel_state.Prioritize(index, max(random.choice(choices), 0))]
        case "round":
            return draw_checkpoint(random, state, Long(min(latest + 1, MAX - 1)), random.choice(modes))
        case _:
            outside = random.choice((-1, len(state.channels)))
            refused: list[Event] = [
                channel_state.Data(outside),
                channel_state.Poll(outside),
                channel_state.Barrier(outside, near, Mode.UNALIGNED),
            ]
            return [random.choice(refused)]


def draw_checkpoint(random: Random, state: State, checkpoint: Long, mode: Mode) -> list[Event]:
    """A checkpoint from its first barrier to its end, with data in between; at times a barrier is missing."""
    order = random.sample(range(len(state.channels)), len(state.channels))
    events: list[Event] = []
    for number, index in enumerate(order):
        events += [channel_state.Data(index)] * random.choice((0, 1, 2))
        if random.random() < 0.85:
            events.append(channel_state.Barrier(index, checkpoint, mode))
        if number == 0:
            events.append(channel_state.Start(checkpoint))
        events += [channel_state.Data(index)] * random.choice((0, 0, 1))
    return [*events, channel_state.Stop(checkpoint)]


def draw_far(_random: Random, buffers: int) -> tuple[Config, tuple[Event, ...]]:
    """So many buffers that sequence numbers exceed two bytes; then a barrier overtakes the queued ones."""
    one: tuple[Event, ...] = (channel_state.Data(0), channel_state.Poll(0))
    data, checkpoint = channel_state.Data(0), Long(1)
    queued = (data, channel_state.Barrier(0, checkpoint, Mode.TIMEOUT), data)
    overtaking = (channel_state.Prioritize(0, buffers + 1), channel_state.Poll(0), channel_state.Start(checkpoint))
    return Config(1), (*one * buffers, *queued, *overtaking, *[channel_state.Poll(0)] * 3)


ONCE = (partial(draw_far, buffers=2**16),)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(name: str, channels: int, checkpoints: int, modes: tuple[Mode, ...], arrivals: int) -> Scope:
    numbers = [Long(number) for number in range(1, checkpoints + 1)]

    def events() -> Iterator[Event]:
        for index in range(channels):
            yield channel_state.Data(index)
            yield channel_state.Poll(index)
            yield from (channel_state.Barrier(index, *one) for one in product(numbers, modes))
            if Mode.TIMEOUT in modes:
                yield from (channel_state.Prioritize(index, sequence) for sequence in range(arrivals))
        yield from map(channel_state.Start, numbers)
        yield from map(channel_state.Stop, numbers)
        yield channel_state.Data(channels)

    alphabet = tuple(events())

    def expand(state: State) -> bool:
        return sum(channel.next for channel in state.channels) < arrivals

    return Scope(
        name=name,
        component="channel_state",
        configs=(Config(channels),),
        alphabet=lambda _config, _state: alphabet,
        covers=(
            f"{counted(channels, 'channel')}, {counted(checkpoints, 'checkpoint')}; data, barriers sent as "
            f"{' or '.join(modes)}, polls, starts and stops in any order; refused: a channel out of range"
        ),
        cap=f"at most {counted(arrivals, 'arrival')}",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope("unaligned", 1, 2, (Mode.UNALIGNED,), 4)
    yield make_scope("announced", 1, 1, (Mode.TIMEOUT,), 3)
    yield make_scope("two-channels", 2, 2, (Mode.UNALIGNED,), 2)


def thorough() -> Iterator[Scope]:
    yield make_scope("unaligned", 1, 3, (Mode.UNALIGNED,), 4)
    yield make_scope("announced", 1, 2, (Mode.TIMEOUT, Mode.ALIGNED), 3)
    yield make_scope("two-channels", 2, 2, (Mode.UNALIGNED, Mode.TIMEOUT), 3)
