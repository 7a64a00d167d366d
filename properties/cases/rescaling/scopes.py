"""Scopes of rescaling."""

from collections.abc import Iterator
from itertools import product

from tidegate.properties.cases.scope import Scope
from tidegate.reference.recovery import rescaling
from tidegate.reference.recovery.rescaling import Config, Parallelism, Partitioner, Side


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
