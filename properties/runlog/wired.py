"""The wiring of an edge, channel by channel: computed when asked, so that nothing grows with a declared parallelism.

The arithmetic is that of `tidegate.reference.partitioning.wiring` (PART-15 to PART-17), which wires an edge as a whole.
"""

from tidegate.reference.partitioning.wiring import Pattern, compute_fed_consumers, compute_producers
from tidegate.traces.runlog import Channel, Edge, Job


def find_consumers(edge: Edge, producer: int) -> range:
    """The consumers that a producer feeds, by their numbers."""
    if not 0 <= producer < edge.producers:
        return range(0)
    if edge.pattern == Pattern.ALL_TO_ALL:
        return range(edge.consumers)
    if edge.producers < edge.consumers:
        return compute_fed_consumers(producer, edge.producers, edge.consumers)
    # The last consumer whose run of producers begins at this producer or before it.
    consumer = ((producer + 1) * edge.consumers - 1) // edge.producers
    return range(consumer, consumer + 1)


def count_consumers(edge: Edge, producer: int) -> int:
    return len(find_consumers(edge, producer))


def count_producers(edge: Edge, consumer: int) -> int:
    """How many producers a consumer reads."""
    if not 0 <= consumer < edge.consumers:
        return 0
    if edge.pattern == Pattern.ALL_TO_ALL:
        return edge.producers
    return len(compute_producers(consumer, edge.producers, edge.consumers))


def find_place(edge: Edge, producer: int, consumer: int) -> int | None:
    """Which subpartition of the producer the consumer reads; None where no channel leads from one to the other."""
    fed = find_consumers(edge, producer)
    return consumer % len(fed) if consumer in fed else None


def find_consumer(edge: Edge, producer: int, place: int) -> int:
    """Who reads the subpartition of that number."""
    fed = find_consumers(edge, producer)
    return fed[(place - fed.start) % len(fed)]


def count_inputs(job: Job, task: str, subtask: int) -> int:
    """How many channels a subtask reads, whether or not anything came of them yet."""
    return sum(count_producers(edge, subtask) for edge in job.edges if edge.target == task)


def is_wired(job: Job, channel: Channel) -> bool:
    number, producer, consumer = channel
    return any(find_place(edge, producer, consumer) is not None for edge in job.edges if edge.number == number)
