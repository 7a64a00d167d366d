"""The job of synthetic run logs: every partitioner that an audit can check, and credit on one edge.

Sources rebalance to maps, maps send keys to counters, each counter forwards to its sink, and sources broadcast to two
watchers.
"""

from functools import cache

import attrs
import numpy as np

from tidegate.properties.kernels.layout import Array
from tidegate.reference.partitioning.keys import StringKey
from tidegate.reference.partitioning.partitioner import Config, Partitioner, compute_channel_of_key
from tidegate.traces.runlog import Capabilities, Edge, Job

TASKS = ("source", "map", "count", "sink", "watch")
SOURCE, MAP, COUNT, SINK, WATCH = range(len(TASKS))
PARALLELISM = 4
WATCHERS = 2
SIZES = (PARALLELISM, PARALLELISM, PARALLELISM, PARALLELISM, WATCHERS)

DEALT, KEYED, FORWARDED, TOLD = range(4)
EDGES = (
    Edge(DEALT, "source", "map", "rebalance", "all_to_all", PARALLELISM, PARALLELISM, None, 2),
    Edge(KEYED, "map", "count", "hash", "all_to_all", PARALLELISM, PARALLELISM, 128, 2),
    Edge(FORWARDED, "count", "sink", "forward", "pointwise", PARALLELISM, PARALLELISM, None, 2),
    Edge(TOLD, "source", "watch", "broadcast", "all_to_all", PARALLELISM, WATCHERS, None, 2),
)
JOB = Job("synthetic", "flink-7728", EDGES, Capabilities(credit=True))
KEYS = tuple(f"key-{number:05}" for number in range(4096))

#: The source that turns idle at times.
SLEEPER = PARALLELISM - 1

#: Columns of a row. `mark` is the number of its fault, or -1.
FIELDS = ("task", "subtask", "dir", "edge", "producer", "consumer", "kind", "timestamp", "key", "id", "value", "mark")
AT = {name: column for column, name in enumerate(FIELDS)}


@cache
def owners() -> Array:
    """The counter of each key."""
    config = Config(Partitioner.HASH, PARALLELISM, EDGES[KEYED].max_parallelism)
    return np.array([compute_channel_of_key(config, StringKey(key)) for key in KEYS])


@attrs.frozen
class Plan:
    """A run: the number of epochs, and the records of every source per epoch."""

    run: str
    seed: int
    epochs: int
    records: int

    @property
    def events(self) -> int:
        return self.epochs * events_of_epoch(self.records)


def events_of_epoch(records: int) -> int:
    """Roughly: idle sources send less, and the first and last epoch differ a little."""
    announced = 2 * 2 * (2 * PARALLELISM**2 + PARALLELISM + PARALLELISM * WATCHERS)
    credit = 6 * PARALLELISM**2
    return 6 * PARALLELISM * records + 2 * PARALLELISM * WATCHERS + announced + credit
