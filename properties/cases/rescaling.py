"""Cases for rescaling: a little up or down, by factors, and not at all; subtasks at both ends, and one too many."""

from collections.abc import Iterator
from itertools import product
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.recovery import rescaling
from tidegate.reference.recovery.rescaling import Config, Parallelism, Partitioner, Side

#: Keyed and custom partitioners are the most error-prone.
PARTITIONERS = (*Partitioner, Partitioner.HASH, Partitioner.HASH, Partitioner.HASH, Partitioner.CUSTOM)
FEW = (1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 10)
MANY = (16, 31, 32, 33, 63, 64, 65, 127, 128)


def draw(
    random: Random, config: rescaling.Config | None = None
) -> tuple[rescaling.Config, tuple[rescaling.Event, ...]]:
    config = config or draw_config(random)
    walk = Walk(random, rescaling.start(config), rescaling.step, length=random.randint(1, 12))
    for _ in walk.rounds():
        walk.play_one(draw_event(random, config))
    return config, walk.events


def draw_config(random: Random) -> rescaling.Config:
    return rescaling.Config(
        partitioner=stream(random, "partitioner").choice(PARTITIONERS),
        producers=draw_parallelism(stream(random, "producers")),
        consumers=draw_parallelism(stream(random, "consumers")),
    )


def draw_parallelism(random: Random) -> Parallelism:
    before = random.choice(FEW if random.random() < 0.85 else MANY)
    others = (before, before + 1, before - 1, before * 2, before * 2 - 1, before // 2, before // 3, random.choice(FEW))
    return Parallelism(before, min(max(1, random.choice(others)), rescaling.MOST_SUBTASKS))


def draw_event(random: Random, config: rescaling.Config) -> rescaling.Event:
    kind = random.random()
    if kind < 0.25:
        return rescaling.AskForProducer(draw_index(random, config.producers.after))
    if kind < 0.6:
        return rescaling.AskForConsumer(draw_index(random, config.consumers.after))
    side = random.choice(list(rescaling.Side))
    producer, consumer = draw_index(random, config.producers.before), draw_index(random, config.consumers.before)
    return rescaling.FindHeirs(side, producer, consumer)


def draw_index(random: Random, count: int) -> int:
    """Any existing one; at times a nonexistent one."""
    return random.randrange(count) if random.random() < 0.96 else random.choice((-1, count, count + 1))


GENERATOR = Generator(draw=draw, draw_config=draw_config, in_runs=False)


# --- scopes ---------------------------------------------------------------------------------------------------


def play_all(config: Config, _state: rescaling.State) -> Iterator[rescaling.Event]:
    """Every subtask, every old connection, and one beyond."""
    producers, consumers = config.producers, config.consumers
    yield from (rescaling.AskForProducer(subtask) for subtask in range(-1, producers.after + 1))
    yield from (rescaling.AskForConsumer(subtask) for subtask in range(-1, consumers.after + 1))
    for side, producer in product(Side, range(producers.before)):
        yield from (rescaling.FindHeirs(side, producer, consumer) for consumer in range(consumers.before))
    beyond = ((-1, 0), (0, -1), (producers.before, 0), (0, consumers.before))
    yield from (rescaling.FindHeirs(Side.INPUT, *pair) for pair in beyond)


def make_scope(most_producers: int, most_consumers: int) -> Scope:
    producers = [Parallelism(*pair) for pair in product(range(1, most_producers + 1), repeat=2)]
    consumers = [Parallelism(*pair) for pair in product(range(1, most_consumers + 1), repeat=2)]
    return Scope(
        name=f"{most_producers}-to-{most_consumers}",
        component="rescaling",
        configs=tuple(Config(*one) for one in product(Partitioner, producers, consumers)),
        alphabet=play_all,
        covers=f"every partitioner, up to {most_producers} producers and {most_consumers} consumers before and after",
    )


def small() -> Iterator[Scope]:
    yield make_scope(2, 3)


def thorough() -> Iterator[Scope]:
    yield make_scope(3, 5)
