"""The rows of a query: elements on their way to a subtask, and rows of run logs and results."""

from typing import NamedTuple

HIGHEST = 2**63 - 1
LOWEST = -(2**63)

#: The level of rows that no task reads any more: they are for the sink.
OUT = -1
#: The edge on which a source receives the lines of its script.
SCRIPT = -1


class Element(NamedTuple):
    """An element of a channel. `value` is that of a record, a status (1 active, 0 idle) or a checkpoint."""

    kind: str
    timestamp: int | None = None
    key: str | None = None
    id: int | None = None
    value: int | None = None


class Line(NamedTuple):
    """A row of the query: the destination of an element, or the place of a row of the log; its channel; the element."""

    level: int
    run: str
    task: int
    subtask: int
    step: int | None
    dir: str
    edge: int
    producer: int
    consumer: int
    position: int
    kind: str
    timestamp: int | None
    key: str | None
    id: int | None
    value: int | None

    @property
    def element(self) -> Element:
        return Element(self.kind, self.timestamp, self.key, self.id, self.value)


#: The same columns in Spark's notation.
SCHEMA = (
    "level int, run string, task int, subtask int, step bigint, dir string, edge int, producer int, consumer int, "
    "position bigint, kind string, timestamp bigint, key string, id bigint, value bigint"
)
