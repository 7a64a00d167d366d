"""Cases for recovered channels: saved state, restored producers, and checkpoints that come too early."""

from collections.abc import Iterator
from functools import partial
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import COUNTS, among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import MAX, Long
from tidegate.reference.recovery.recovered_channel import step, values
from tidegate.reference.recovery.recovered_channel.values import (
    DECLINED,
    HANDED_OVER,
    MARKED,
    SEMANTICS,
    Config,
    Event,
    Location,
    State,
)

BASES = (0, 1, 1, 1, 2**53, MAX - 12)
#: With more channels, not all take part in a checkpoint: several checkpoints would take a real engine too long.
MOST_AT_ONCE = 300


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random,
        recovered=3,
        data=2,
        event=0.5,
        complete=1,
        barrier=1.5,
        poll=5,
        round=0.5,
        start=1,
        stop=0.7,
        mark=1 if config.semantics == MARKED else 0.02,
        refused=0.1,
    )
    base = random.choice(BASES)
    draw_kind = among(random, weights)
    walk = Walk(random, step.start(config), step.step)
    patience = random.choice((0, 2, 5, 10))
    for turn in walk.rounds():
        if turn >= patience and not is_converted(walk.state):
            walk.play(draw_progress(random, walk.state))
        walk.play(draw_events(*draw_kind(), walk.state, base))
    return config, walk.events


def draw_config(random: Random) -> Config:
    return Config(
        channels=stream(random, "channels").choice((1, 1, 2, 2, 3)),
        location=stream(random, "location").choice(tuple(Location)),
        semantics=stream(random, "semantics").choice((SEMANTICS[0], *SEMANTICS)),
    )


def is_converted(state: State) -> bool:
    return state.live and state.finished


def draw_progress(random: Random, state: State) -> list[Event]:
    """A step towards live channels: the end of saved state, reading it, requesting the partitions."""
    if state.config.semantics == MARKED and not state.live:
        return [values.Convert()]
    if not state.finished:
        return [values.Finish()] if random.random() < 0.3 else []
    reads: list[Event] = [values.Poll(index) for index, one in enumerate(state.channels) for _ in one.recovered]
    return [*random.sample(reads, random.randrange(len(reads) + 1)), values.Convert()]


def draw_events(random: Random, kind: str, state: State, base: int) -> list[Event]:
    index = random.randrange(len(state.channels))
    latest = max(base, state.stopped, *(max(one.saving.seen, one.saving.barrier) for one in state.channels))
    near = Long(min(max(latest + random.choice((-1, 0, 0, 0, 1, 1, 2)), 0), MAX - 1))
    match kind:
        case "recovered":
            return [values.Recovered(index)] * random.choice((1, 1, 2))
        case "data":
            return [values.Data(index)] * random.choice((1, 1, 2))
        case "event":
            return [values.PlainEvent(index)]
        case "complete":
            return [values.Complete(index)]
        case "barrier":
            return [values.Barrier(index, near)]
        case "poll":
            return [values.Poll(index)] * random.choice((1, 1, 2, 3))
        case "round":
            return draw_checkpoint(random, state, Long(min(latest + 1, MAX - 1)))
        case "start":
            return [values.Start(near)]
        case "stop":
            return [values.Stop(near)]
        case "mark":
            return [values.Mark(near)]
        case _:
            outside = random.choice((-1, len(state.channels)))
            refused: list[Event] = [values.Recovered(outside), values.Poll(outside), values.Data(outside)]
            return [random.choice((*refused, values.Finish(), values.Convert(), values.Barrier(outside, near)))]


def draw_checkpoint(random: Random, state: State, checkpoint: Long) -> list[Event]:
    """A checkpoint from its first barrier to its end, with reading in between; at times a barrier is missing."""
    order = random.sample(range(len(state.channels)), min(len(state.channels), MOST_AT_ONCE))
    events: list[Event] = [values.Mark(checkpoint)] if state.config.semantics == MARKED else []
    for number, index in enumerate(order):
        if random.random() < 0.85:
            events.append(values.Barrier(index, checkpoint))
        if number == 0:
            events += [values.Poll(index), values.Start(checkpoint)]
        events += [values.Poll(random.choice(order))] * random.choice((0, 1, 2))
        events += [values.Data(index)] * random.choice((0, 0, 1))
    return [*events, values.Stop(checkpoint)]


def draw_all_complete(random: Random, channels: int) -> tuple[Config, tuple[Event, ...]]:
    """All of many producers finish recovery, the last one last; then a few finish again."""
    config = Config(channels, random.choice(tuple(Location)), random.choice(SEMANTICS))
    order = [*random.sample(range(channels - 1), channels - 1), channels - 1]
    reads: list[Event] = [values.Poll(one) for one in order]
    beginning = [values.Finish(), *reads, values.Convert()]
    if config.semantics == MARKED:
        beginning = [values.Convert(), values.Finish(), *reads]
    ends = (0, channels - 1)
    more: list[Event] = [event for one in ends for event in (values.Data(one), values.Poll(one))]
    again: list[Event] = [event for one in ends for event in (values.Complete(one), values.Poll(one), values.Poll(one))]
    said: list[Event] = [values.Complete(one) for one in order]
    return config, (*beginning, *said, *reads[:-1], *more, *reads[-1:], *more, *again, *more, *reads[-2:])


ONCE = tuple(partial(draw_all_complete, channels=channels) for channels in (3, *COUNTS[:-1], 300))


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(name: str, config: Config, checkpoints: int, items: int) -> Scope:
    numbers = [Long(number) for number in range(1, checkpoints + 1)]
    channels = range(config.channels)

    def events() -> Iterator[Event]:
        yield values.Finish()
        yield values.Convert()
        for index in channels:
            yield from (values.Recovered(index), values.Data(index), values.Complete(index), values.Poll(index))
            yield from (values.Barrier(index, number) for number in numbers)
        for number in numbers:
            yield from (values.Start(number), values.Stop(number))
            if config.semantics == MARKED:
                yield values.Mark(number)
        yield values.Poll(config.channels)

    alphabet = tuple(events())

    def expand(state: State) -> bool:
        return (
            sum(one.given + one.written + sum(item.checkpoint >= 0 for item in one.recovered) for one in state.channels)
            < items
        )

    return Scope(
        name=name,
        component="recovered_channel",
        configs=(config,),
        alphabet=lambda _config, _state: alphabet,
        covers=(
            f"{counted(config.channels, f'{config.location} channel')}, {counted(checkpoints, 'checkpoint')}, "
            f"{config.semantics}; saved and new data, ends of recovery, barriers, polls, starts and stops in any "
            "order; refused: a channel out of range"
        ),
        cap=f"at most {counted(items, 'item')}",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope("two-channels", Config(2, Location.REMOTE, DECLINED), 0, 3)
    yield make_scope("declined", Config(1, Location.LOCAL, DECLINED), 1, 3)
    yield make_scope("handed-over", Config(1, Location.REMOTE, HANDED_OVER), 1, 3)
    yield make_scope("handed-over-local", Config(1, Location.LOCAL, HANDED_OVER), 1, 2)
    yield make_scope("marked", Config(1, Location.REMOTE, MARKED), 1, 3)
    yield make_scope("marked-local", Config(1, Location.LOCAL, MARKED), 1, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope("two-channels", Config(2, Location.REMOTE, DECLINED), 1, 3)
    yield make_scope("declined", Config(1, Location.LOCAL, DECLINED), 2, 4)
    yield make_scope("handed-over", Config(1, Location.REMOTE, HANDED_OVER), 2, 4)
    yield make_scope("handed-over-local", Config(1, Location.LOCAL, HANDED_OVER), 2, 4)
    yield make_scope("marked", Config(1, Location.REMOTE, MARKED), 2, 4)
    yield make_scope("marked-local", Config(1, Location.LOCAL, MARKED), 1, 4)
