"""The wiring that invariants ask for channel by channel is that of the specification, which wires whole edges."""

from itertools import product

import pytest

from tidegate.properties.runlog.wired import (
    count_consumers,
    count_inputs,
    count_producers,
    find_consumer,
    find_place,
    is_wired,
)
from tidegate.reference.partitioning import wiring
from tidegate.traces.runlog import Edge, Job


def wire(edge):
    """The subpartition of each channel that there is."""
    (state,) = wiring.start(wiring.Config(wiring.Pattern(edge.pattern), edge.producers, edge.consumers))
    (outcome,) = wiring.step(state, wiring.Wire())
    return {(seen.producer, seen.consumer): seen.subpartition for seen in outcome.observations}


@pytest.mark.parametrize("pattern", list(wiring.Pattern))
def test_each_channel_is_where_the_specification_puts_it(pattern):
    for producers, consumers in product(range(1, 14), repeat=2):
        edge = Edge(3, "in", "out", "rebalance", str(pattern), producers, consumers)
        job = Job("test", "flink-7728", (edge,))
        wired = wire(edge)
        for producer, consumer in product(range(-1, producers + 1), range(-1, consumers + 1)):
            place = wired.get((producer, consumer))
            assert find_place(edge, producer, consumer) == place
            assert is_wired(job, (3, producer, consumer)) == (place is not None)
            if place is not None:
                assert find_consumer(edge, producer, place) == consumer
        for producer in range(producers):
            assert count_consumers(edge, producer) == sum(one == producer for one, _consumer in wired)
        for consumer in range(consumers):
            assert count_producers(edge, consumer) == sum(one == consumer for _producer, one in wired)
            assert count_inputs(job, "out", consumer) == count_producers(edge, consumer)


def test_a_declared_parallelism_costs_nothing():
    most = 2**31 - 1
    edges = (
        Edge(0, "in", "out", "rescale", "pointwise", most, 1),
        Edge(1, "in", "out", "rescale", "pointwise", 1, most),
        Edge(2, "in", "out", "hash", "all_to_all", most, most, 128),
    )
    assert count_inputs(Job("test", "flink-7728", edges), "out", 0) == most + 1 + most
    assert find_place(edges[1], 0, most - 1) == most - 1
    assert find_consumer(edges[1], 0, most - 1) == most - 1
    assert find_place(edges[0], most - 1, 0) == 0
