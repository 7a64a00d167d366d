"""The wiring of an edge: which subpartitions of which producers each consumer reads.

Every producer splits its result into subpartitions, and every subpartition has one reader. All-to-all, each consumer
reads its own subpartition of every producer. Pointwise, the producers are dealt out to the consumers (or the other
way round, if there are more consumers) in contiguous runs of nearly equal length.

Choices. Integer arithmetic, as in Flink 1.13.2 and later (VertexInputInfoComputationUtils). `float_wiring` is
what the releases before it did, and why they do so no more.
"""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from itertools import product
from typing import ClassVar

import attrs

from tidegate.reference.claims import always, claims_in, law, sometimes
from tidegate.reference.elements import at_least
from tidegate.reference.model import Component, Outcome
from tidegate.reference.partitioning import float_wiring

# --- config ---------------------------------------------------------------------------------------------------


class Pattern(StrEnum):
    POINTWISE = "pointwise"
    ALL_TO_ALL = "all_to_all"


@attrs.frozen
class Config:
    pattern: Pattern
    producers: int = attrs.field(validator=at_least(1))
    consumers: int = attrs.field(validator=at_least(1))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    config: Config


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Wire:
    """The edge is wired; again, if it was before."""

    type: ClassVar[str] = "wire"


Event = Wire

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Reads:
    """A consumer reads a subpartition of a producer."""

    type: ClassVar[str] = "reads"
    consumer: int
    producer: int
    subpartition: int


Observation = Reads

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, _event: Event) -> tuple[Outcome[State, Observation], ...]:
    producers, consumers = state.config.producers, state.config.consumers
    if state.config.pattern is Pattern.ALL_TO_ALL:
        return (Outcome(state, wire_all_to_all(producers, consumers), ("PART-15",)),)
    if producers >= consumers:
        return (Outcome(state, wire_fewer_consumers(producers, consumers), ("PART-16",)),)
    return (Outcome(state, wire_more_consumers(producers, consumers), ("PART-17",)),)


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


def all_reads(outcome: Outcome[State, Observation]) -> list[Reads]:
    return [seen for seen in outcome.observations if isinstance(seen, Reads)]


@always("PART-15", "PART-16", "PART-17")
def one_reader_for_each_subpartition(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Every subpartition of every producer is read by exactly one consumer.

    And the subpartitions of a producer are numbered from 0 without gaps.
    """
    config = outcome.state.config
    read = sorted((seen.producer, seen.subpartition) for seen in all_reads(outcome))
    counts = Counter(producer for producer, _subpartition in read)
    return read == [(producer, number) for producer in range(config.producers) for number in range(counts[producer])]


@always("PART-16", "PART-17")
def every_consumer_reads(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No consumer is without input."""
    return {seen.consumer for seen in all_reads(outcome)} == set(range(outcome.state.config.consumers))


@always("PART-15", "PART-16", "PART-17")
def ordered(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Connections are listed by consumer, then producer, each once."""
    pairs = [(seen.consumer, seen.producer) for seen in all_reads(outcome)]
    return pairs == sorted(set(pairs))


@always("PART-16", "PART-17")
def balanced(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No consumer reads, and no producer feeds, more than one more than another."""
    per_consumer = Counter(seen.consumer for seen in all_reads(outcome)).values()
    per_producer = Counter(seen.producer for seen in all_reads(outcome)).values()
    return max(per_consumer) - min(per_consumer) <= 1 and max(per_producer) - min(per_producer) <= 1


@sometimes("PART-16")
def some_consumers_read_more(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Where producers cannot be shared out evenly, one consumer reads more of them than another."""
    return len(set(Counter(read.consumer for read in all_reads(outcome)).values())) > 1


@sometimes("PART-17")
def some_producers_feed_more(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Where consumers cannot be shared out evenly, one producer feeds more of them than another."""
    return len(set(Counter(read.producer for read in all_reads(outcome)).values())) > 1


# --- laws -----------------------------------------------------------------------------------------------------


def compute_producers(consumer: int, producers: int, consumers: int) -> range:
    """PART-16 and PART-17: the run of producers that a consumer reads."""
    if producers < consumers:
        return range(consumer * producers // consumers, consumer * producers // consumers + 1)
    return range(consumer * producers // consumers, (consumer + 1) * producers // consumers)


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


def compute_dynamic_subpartitions(consumer: int, subpartitions: int, consumers: int, *, broadcast: bool) -> range:
    """PART-19: what a consumer reads of each producer where the number of consumers was decided late."""
    if broadcast:
        return range(1)
    return range(consumer * subpartitions // consumers, (consumer + 1) * subpartitions // consumers)


def no_more_consumers_than_subpartitions() -> Iterator[tuple[int, int]]:
    yield from ((count, consumers) for count in range(1, 20) for consumers in range(1, count + 1))


@law("PART-19", samples=no_more_consumers_than_subpartitions)
def dynamic_consumers_share_out_the_subpartitions(subpartitions: int, consumers: int) -> bool:
    """In a dynamic graph consumers read contiguous, balanced runs of subpartitions; broadcast has one for all."""
    runs = [compute_dynamic_subpartitions(j, subpartitions, consumers, broadcast=False) for j in range(consumers)]
    read = [subpartition for run in runs for subpartition in run]
    lengths = [len(run) for run in runs]
    to_all = {compute_dynamic_subpartitions(j, 1, consumers, broadcast=True) for j in range(consumers)}
    return read == list(range(subpartitions)) and max(lengths) - min(lengths) <= 1 and to_all == {range(1)}


COMPONENT = Component(
    name="wiring",
    title="The wiring of producers and consumers",
    config=Config,
    events=Event,
    observations=Observation,
    start=start,
    step=step,
    claims=claims_in(__name__),
)
