"""The wiring of an edge, channel by channel, computed on demand, so that memory does not grow with the parallelism.

The arithmetic is that of `tidegate.reference.partitioning.wiring` (PART-15 to PART-17), which wires an edge as a whole.
"""

from tidegate.reference.partitioning.wiring import Pattern, compute_fed_consumers, compute_producers
from tidegate.traces.runlog import Channel, Edge, Job


def find_consumers(edge: Edge, producer: int) -> range:
    """The numbers of a producer's consumers."""
    if not 0 <= producer < edge.producers:
        return range(0)
    if edge.pattern == Pattern.ALL_TO_ALL:
        return range(edge.consumers)
    if edge.producers < edge.consumers:
        return compute_fed_consumers(producer, edge.producers, edge.consumers)
    # The last consumer with a range of producers that begins at this producer or before it.
    consumer = ((producer + 1) * edge.consumers - 1) // edge.producers
    return range(consumer, consumer + 1)


def count_consumers(edge: Edge, producer: int) -> int:
    return len(find_consumers(edge, producer))


def count_producers(edge: Edge, consumer: int) -> int:
    """The number of producers of a consumer."""
    if not 0 <= consumer < edge.consumers:
        return 0
    if edge.pattern == Pattern.ALL_TO_ALL:
        return edge.producers
    return len(compute_producers(consumer, edge.producers, edge.consumers))


def find_place(edge: Edge, producer: int, consumer: int) -> int | None:
    """The producer's subpartition that the consumer reads; None without a channel between them."""
    fed = find_consumers(edge, producer)
    return consumer % len(fed) if consumer in fed else None


def find_consumer(edge: Edge, producer: int, place: int) -> int:
    """The reader of a subpartition."""
    fed = find_consumers(edge, producer)
    return fed[(place - fed.start) % len(fed)]


def count_inputs(job: Job, task: str, subtask: int) -> int:
    """How many channels a subtask reads, with or without data so far."""
    return sum(count_producers(edge, subtask) for edge in job.edges if edge.target == task)


def is_wired(job: Job, channel: Channel) -> bool:
    number, producer, consumer = channel
    return any(find_place(edge, producer, consumer) is not None for edge in job.edges if edge.number == number)
