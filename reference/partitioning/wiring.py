"""The wiring of an edge: which subpartitions of which producers each consumer reads.

Every producer splits its result into subpartitions, and every subpartition has one reader. All-to-all, each consumer
reads its own subpartition of every producer. Pointwise, the producers are dealt out to the consumers (or the other
way round, if there are more consumers) in contiguous runs of nearly equal length. In a dynamic graph, an extension, the
number of subpartitions was settled before that of the consumers, and a consumer reads a run of them.

Choices. Integer arithmetic, as in Flink 1.13.2 and later (VertexInputInfoComputationUtils). `float_wiring` is
what the releases before it did, and why they do so no more.
"""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from itertools import product
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, law, sometimes
from tidegate.reference.elements import MOST_CONSUMERS, Position, Subtasks, at_least, between, one_of
from tidegate.reference.model import Component, InvalidInputError, Outcome, Rejected, rejected
from tidegate.reference.partitioning import float_wiring

DYNAMIC = "dynamic"
EXTENSIONS = (DYNAMIC,)

# --- config ---------------------------------------------------------------------------------------------------


class Pattern(StrEnum):
    POINTWISE = "pointwise"
    ALL_TO_ALL = "all_to_all"


@attrs.frozen
class Config:
    """Producers and consumers, connected by a pattern."""

    pattern: Annotated[Pattern, "How producers and consumers are connected."]
    producers: Annotated[Subtasks, "How many producers."] = attrs.field(validator=at_least(1))
    consumers: Annotated[Subtasks, "How many consumers."] = attrs.field(validator=at_least(1))
    extension: Annotated[
        str | None,
        "With `dynamic` there are events `wire_dynamic`. Only for engines that declare it.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*EXTENSIONS)))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    config: Config


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Wire:
    """The edge is wired; again, if it was before."""

    type: ClassVar[str] = "wire"


class Broadcast(StrEnum):
    """Whether every consumer gets everything, and whether that was decided before the producers wrote."""

    NO = "no"
    EARLY = "early"
    LATE = "late"


@attrs.frozen
class WireDynamic:
    """Extension `dynamic`. Show the wiring of an edge whose producers have written so many subpartitions each. Too few
    for the consumers that share a producer, or several of an early broadcast, are refused.
    """

    type: ClassVar[str] = "wire_dynamic"
    subpartitions: Annotated[int, "How many each producer has."] = attrs.field(validator=between(1, MOST_CONSUMERS))
    broadcast: Annotated[
        Broadcast,
        "Whether every consumer gets everything, and whether that was decided before the producers wrote (`early`) "
        "or after (`late`). Makes no difference to a pointwise edge.",
    ]


Event = Wire | WireDynamic

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Reads:
    """A consumer reads a subpartition of a producer. Ordered by consumer, then producer, then subpartition."""

    type: ClassVar[str] = "reads"
    consumer: Annotated[Position, "The consumer, from 0."]
    producer: Annotated[Position, "The producer, from 0."]
    subpartition: Annotated[Position, "The subpartition of the producer, from 0."]


Observation = Reads

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if isinstance(event, WireDynamic):
        return on_wire_dynamic(state, event)
    producers, consumers = state.config.producers, state.config.consumers
    if state.config.pattern is Pattern.ALL_TO_ALL:
        return (Outcome(state, wire_all_to_all(producers, consumers), ("PART-15",)),)
    if producers >= consumers:
        return (Outcome(state, wire_fewer_consumers(producers, consumers), ("PART-16",)),)
    return (Outcome(state, wire_more_consumers(producers, consumers), ("PART-17",)),)


def on_wire_dynamic(state: State, event: WireDynamic) -> tuple[Outcome[State, Observation], ...]:
    """PART-19: the wiring says whom a consumer reads and with how many others it shares them."""
    config, count = state.config, event.subpartitions
    if config.extension != DYNAMIC:
        raise InvalidInputError("wire_dynamic belongs to the extension dynamic")
    is_broadcast = config.pattern is Pattern.ALL_TO_ALL and event.broadcast is not Broadcast.NO
    if is_broadcast and event.broadcast is Broadcast.EARLY and count > 1:
        return rejected(state, "PART-19")
    reads: list[Reads] = []
    for consumer, producer, sharing in compute_shares(config):
        if sharing > count and not is_broadcast:
            return rejected(state, "PART-19")
        run = compute_dynamic_subpartitions(consumer % sharing, count, sharing, broadcast=is_broadcast)
        reads += [Reads(consumer, producer, subpartition) for subpartition in run]
    return (Outcome(state, tuple(reads), ("PART-19",)),)


def compute_shares(config: Config) -> Iterator[tuple[int, int, int]]:
    """Each consumer with each producer that it reads, and how many consumers share that producer."""
    if config.pattern is Pattern.ALL_TO_ALL:
        yield from ((*pair, config.consumers) for pair in product(range(config.consumers), range(config.producers)))
        return
    for consumer in range(config.consumers):
        for producer in compute_producers(consumer, config.producers, config.consumers):
            sharing = 1
            if config.producers < config.consumers:
                sharing = len(compute_fed_consumers(producer, config.producers, config.consumers))
            yield consumer, producer, sharing


def compute_dynamic_subpartitions(consumer: int, subpartitions: int, consumers: int, *, broadcast: bool) -> range:
    """PART-19: what a consumer reads of each producer where the number of consumers was decided late.

    A broadcast that was decided early has one subpartition; one that was decided late has as many as any other.
    """
    if broadcast:
        return range(subpartitions)
    return range(consumer * subpartitions // consumers, (consumer + 1) * subpartitions // consumers)


def compute_producers(consumer: int, producers: int, consumers: int) -> range:
    """PART-16 and PART-17: the run of producers that a consumer reads."""
    if producers < consumers:
        return range(consumer * producers // consumers, consumer * producers // consumers + 1)
    return range(consumer * producers // consumers, (consumer + 1) * producers // consumers)


def wire_all_to_all(producers: int, consumers: int) -> tuple[Reads, ...]:
    """PART-15: each consumer reads the subpartition of its own number."""
    pairs = product(range(consumers), range(producers))
    return tuple(Reads(consumer, producer, subpartition=consumer) for consumer, producer in pairs)


def wire_fewer_consumers(producers: int, consumers: int) -> tuple[Reads, ...]:
    """PART-16: each consumer reads a run of producers, which have one subpartition each."""
    return tuple(
        Reads(consumer, producer, subpartition=0)
        for consumer in range(consumers)
        for producer in range(consumer * producers // consumers, (consumer + 1) * producers // consumers)
    )


def wire_more_consumers(producers: int, consumers: int) -> tuple[Reads, ...]:
    """PART-17: each producer feeds a run of consumers, which share out its subpartitions by their own numbers."""
    reads: list[Reads] = []
    for producer in range(producers):
        fed = compute_fed_consumers(producer, producers, consumers)
        reads += [Reads(consumer, producer, subpartition=consumer % len(fed)) for consumer in fed]
    return tuple(reads)


def compute_fed_consumers(producer: int, producers: int, consumers: int) -> range:
    first = (producer * consumers + producers - 1) // producers
    end = ((producer + 1) * consumers + producers - 1) // producers
    return range(first, end)


# --- claims ---------------------------------------------------------------------------------------------------


def is_broadcast_to_all(event: Event) -> bool:
    return isinstance(event, WireDynamic) and event.broadcast is not Broadcast.NO


def all_reads(outcome: Outcome[State, Observation]) -> list[Reads]:
    return [seen for seen in outcome.observations if isinstance(seen, Reads)]


@always("PART-15", "PART-16", "PART-17")
def one_reader_for_each_subpartition(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Every subpartition of every producer is read by exactly one consumer, unless it is broadcast.

    And the subpartitions of a producer are numbered from 0 without gaps.
    """
    if is_broadcast_to_all(event) or Rejected() in outcome.observations:
        return True
    config = outcome.state.config
    read = sorted((seen.producer, seen.subpartition) for seen in all_reads(outcome))
    counts = Counter(producer for producer, _subpartition in read)
    return read == [(producer, number) for producer in range(config.producers) for number in range(counts[producer])]


@always("PART-19")
def everybody_reads_a_broadcast(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Of a result that is broadcast every consumer reads every subpartition of every producer."""
    config, read = outcome.state.config, set(all_reads(outcome))
    if not isinstance(event, WireDynamic) or not is_broadcast_to_all(event) or config.pattern is Pattern.POINTWISE:
        return True
    numbers = product(range(config.consumers), range(config.producers), range(event.subpartitions))
    return Rejected() in outcome.observations or read == {Reads(*one) for one in numbers}


@always("PART-16", "PART-17", "PART-19")
def every_consumer_reads(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No consumer is without input."""
    return Rejected() in outcome.observations or {seen.consumer for seen in all_reads(outcome)} == set(
        range(outcome.state.config.consumers)
    )


@always("PART-15", "PART-16", "PART-17")
def ordered(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Connections are listed by consumer, then producer, then subpartition, each once."""
    reads = [(seen.consumer, seen.producer, seen.subpartition) for seen in all_reads(outcome)]
    return reads == sorted(set(reads))


@always("PART-16", "PART-17")
def balanced(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No consumer reads, and no producer feeds, more than one more than another."""
    if isinstance(event, WireDynamic):
        return True
    per_consumer = Counter(seen.consumer for seen in all_reads(outcome)).values()
    per_producer = Counter(seen.producer for seen in all_reads(outcome)).values()
    return max(per_consumer) - min(per_consumer) <= 1 and max(per_producer) - min(per_producer) <= 1


@sometimes("PART-19")
def several_subpartitions_of_one_producer(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A consumer reads more than one subpartition of a producer, which is not broadcast."""
    often = Counter((seen.consumer, seen.producer) for seen in all_reads(outcome)).values()
    return not is_broadcast_to_all(event) and max(often, default=0) > 1


@sometimes("PART-16")
def some_consumers_read_more(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Where producers cannot be shared out evenly, one consumer reads more of them than another."""
    return len(set(Counter(read.consumer for read in all_reads(outcome)).values())) > 1


@sometimes("PART-17")
def some_producers_feed_more(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Where consumers cannot be shared out evenly, one producer feeds more of them than another."""
    return len(set(Counter(read.producer for read in all_reads(outcome)).values())) > 1


# --- laws -----------------------------------------------------------------------------------------------------


def pairs_up_to_40() -> Iterator[tuple[int, int]]:
    yield from product(range(1, 41), repeat=2)


@law("PART-16", "PART-17", samples=pairs_up_to_40)
def wired_as_stated(producers: int, consumers: int) -> bool:
    """Consumer j of T reads the producers j·S/T up to (j+1)·S/T of S, or the only one at j·S/T if there are fewer.

    The producers of each consumer, computed from the consumer, are those that the wiring gives it.
    """
    (outcome,) = step(State(Config(Pattern.POINTWISE, producers, consumers)), Wire())
    stated = [
        (consumer, producer)
        for consumer in range(consumers)
        for producer in compute_producers(consumer, producers, consumers)
    ]
    return [(seen.consumer, seen.producer) for seen in all_reads(outcome)] == stated


@law("PART-18", samples=pairs_up_to_40)
def wired_otherwise_in_1_5(producers: int, consumers: int) -> bool:
    """The float factors of 1.5 to 1.12 wired 14 of the 1600 pairs up to 40 × 40 otherwise, and no more."""
    differs = any(
        float_wiring.compute_producers(consumer, producers, consumers)
        != compute_producers(consumer, producers, consumers)
        for consumer in range(consumers)
    )
    return differs == ((producers, consumers) in WIRED_OTHERWISE_IN_1_5)


#: 14 of the 1600 pairs of producers and consumers up to 40.
WIRED_OTHERWISE_IN_1_5 = {
    *((14, 16), (14, 32), (20, 24), (21, 24), (25, 30), (26, 22), (26, 28)),
    *((26, 32), (28, 32), (30, 32), (30, 36), (35, 40), (36, 40), (39, 33)),
}


def known_overruns() -> Iterator[tuple[int, int, int]]:
    """The pair with the fewest producers, the one with the fewest consumers, and nothing before them."""
    yield from ((7, 57, 1), (13, 14, 1), (11, 29, 1), (7, 114, 1))
    yield from ((producers, consumers, 0) for producers in range(1, 7) for consumers in range(producers + 1, 120))
    yield from ((producers, consumers, 0) for consumers in range(2, 14) for producers in range(1, consumers))


@law("PART-18", samples=known_overruns)
def runs_past_the_end_in_1_13_0(producers: int, consumers: int, past: int) -> bool:
    """The rounded-up floats of 1.13.0 and 1.13.1 fed a consumer that does not exist.

    How many consumers too many the last producer fed; today it is none.
    """
    last = float_wiring.compute_fed_consumers(producers - 1, producers, consumers)
    return (
        last.stop == consumers + past and compute_fed_consumers(producers - 1, producers, consumers).stop == consumers
    )


def no_more_consumers_than_subpartitions() -> Iterator[tuple[int, int]]:
    yield from ((count, consumers) for count in range(1, 20) for consumers in range(1, count + 1))


@law("PART-19", samples=no_more_consumers_than_subpartitions)
def dynamic_consumers_share_out_the_subpartitions(subpartitions: int, consumers: int) -> bool:
    """In a dynamic graph consumers read contiguous, balanced runs of subpartitions; of a broadcast all read all."""
    runs = [compute_dynamic_subpartitions(j, subpartitions, consumers, broadcast=False) for j in range(consumers)]
    read = [subpartition for run in runs for subpartition in run]
    lengths = [len(run) for run in runs]
    to_all = {compute_dynamic_subpartitions(j, subpartitions, consumers, broadcast=True) for j in range(consumers)}
    return read == list(range(subpartitions)) and max(lengths) - min(lengths) <= 1 and to_all == {range(subpartitions)}


COMPONENT = Component.of(__name__, title="The wiring of producers and consumers")
