"""From what a MiniCluster showed of a job to its run log.

The job graph that Flink made must be the one that the specification makes of the same program; only then its vertices
are our tasks, its result partitions and gates our edges, and rows can be read at all.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import attrs

from tidegate.properties.runlog.recording import make_job
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.job.layout import Layout, Route, Task, TaskEdge, compute_layout
from tidegate.reference.job.programs import Config
from tidegate.traces.runlog import OWN, OWN_KINDS, Capabilities, Channel, Direction, Kind, Row, RunLog, renumber

Json = dict[str, Any]

_OPERATOR = re.compile(r"\bo(\d+)\b")
_KINDS = frozenset(kind.value for kind in Kind)
#: An event that Flink sends where a checkpoint is given up: what is known of barriers is not the whole story then.
_GIVEN_UP = "CancelCheckpointMarker"


class OtherGraphError(ValueError):
    """The engine made another job graph of the program than the specification does."""


def is_readable(config: Config) -> bool:
    """Between two tasks no two edges look alike, so that edges of the engine can be told apart."""
    layout = compute_layout(config)
    by_operator = {operator: task.head for task in layout.tasks for operator in task.operators}
    ends = [(by_operator[edge.source], by_operator[edge.target], edge.kind) for edge in layout.edges]
    return len(set(ends)) == len(ends)


def read_run(config: Config, shown: Json, run: str, engine: str) -> RunLog:
    """The run log, with records numbered as the specification numbers them: by each subtask, as they leave it.

    Raises
    ------
    OtherGraphError
        The job graph is another one.
    """
    places = Map(config, shown)
    # Barriers that overtake are in no order with the rest.
    kinds = _KINDS - {Kind.BARRIER} if shown.get("unaligned") else _KINDS
    rows = [places.read(line, run) for line in shown["rows"] if line[5] in kinds]
    given_up = shown.get("unaligned") or any(line[5] == _GIVEN_UP for line in shown["rows"]) or is_injected(rows)
    job = attrs.evolve(make_job(config), engine=engine, capabilities=Capabilities(checkpoints=not given_up))
    numbered = tuple(number_records(rows, places.layout))
    return renumber(RunLog(run, job, numbered, complete="error" not in shown))


def is_injected(rows: list[Row]) -> bool:
    """Whether a task took part in a checkpoint that some channel ended without.

    When all producers of a task are over, Flink begins the checkpoint at the task itself, which may not have read their
    ends yet.
    """
    sent: dict[tuple[str, int], set[int | None]] = {}
    met: dict[tuple[str, int, Channel], set[int | None]] = {}
    for row in rows:
        if row.dir is Direction.IN:
            met.setdefault((row.task, row.subtask, row.channel), set())
        if row.kind is Kind.BARRIER and row.dir is Direction.OUT:
            sent.setdefault((row.task, row.subtask), set()).add(row.value)
        elif row.kind is Kind.BARRIER:
            met[row.task, row.subtask, row.channel].add(row.value)
    return any(sent.get((task, subtask), set()) - known for (task, subtask, _channel), known in met.items())


def number_records(rows: list[Row], layout: Layout) -> Iterator[Row]:
    """What was received and never sent keeps a number that nobody else has."""
    places = {(place.task.name, place.number): at for at, place in enumerate(layout.places)}
    made: Counter[int] = Counter()
    numbers: dict[int | None, int] = {}
    for row in rows:
        if row.kind is Kind.RECORD and row.dir is Direction.OUT and row.id not in numbers:
            place = places[row.task, row.subtask]
            numbers[row.id] = made[place] * len(places) + place
            made[place] += 1
    for row in rows:
        known = numbers.get(row.id, -1 - (row.id or 0))
        yield attrs.evolve(row, id=known) if row.kind is Kind.RECORD else row


class Map:
    """Which vertex is which task, and which port which edge."""

    def __init__(self, config: Config, shown: Json) -> None:
        self.layout = compute_layout(config)
        self.writers = shown["writers"]
        by_operators = {frozenset(task.operators): task for task in self.layout.tasks}
        self.tasks: dict[str, Task] = {}
        for vertex in shown["graph"]:
            operators = frozenset(map(int, _OPERATOR.findall(vertex["name"])))
            task = by_operators.pop(operators, None)
            if task is None or task.parallelism != vertex["parallelism"]:
                raise OtherGraphError(f"the engine chains {vertex['name']} ({vertex['parallelism']} subtasks)")
            self.tasks[vertex["vertex"]] = task
        if by_operators:
            raise OtherGraphError(f"the engine has no {', '.join(task.name for task in by_operators.values())}")
        self.outputs: dict[tuple[str, int], TaskEdge] = {}
        self.gates: dict[tuple[str, int], TaskEdge] = {}
        for vertex in shown["graph"]:
            for gate, source in enumerate(vertex["inputs"]):
                edge = self.find_edge(source, vertex)
                self.outputs[source["vertex"], source["output"]] = self.gates[vertex["vertex"], gate] = edge

    def find_edge(self, source: Json, target: Json) -> TaskEdge:
        producer, consumer = self.tasks[source["vertex"]], self.tasks[target["vertex"]]
        kind = Partitioner(source["partitioner"].lower())
        for edge in self.layout.edges:
            if edge.source in producer.operators and edge.target in consumer.operators and edge.kind.value == kind:
                if edge.pattern.value != source["pattern"].lower():
                    raise OtherGraphError(f"{producer.name} to {consumer.name} is {source['pattern']}")
                return edge
        raise OtherGraphError(f"the engine joins {producer.name} and {consumer.name} by {source['partitioner']}")

    def read(self, line: list[Any], run: str) -> Row:
        vertex, subtask, direction, port, channel, kind, timestamp, number, key, value = line
        if kind in OWN_KINDS:
            own = (subtask, 0, Direction.OUT, OWN, subtask, subtask, 0)
            return Row(run, self.tasks[vertex].name, *own, Kind(kind), timestamp, key, value, number)
        edge, producer, consumer = self.find_channel(vertex, subtask, direction, port, channel)
        is_record = kind == Kind.RECORD
        return Row(
            run=run,
            task=self.tasks[vertex].name,
            subtask=subtask,
            step=0,
            dir=Direction(direction),
            edge=edge.number,
            producer=producer,
            consumer=consumer,
            position=0,
            kind=Kind(kind),
            timestamp=timestamp,
            key=key if edge.kind.value == Partitioner.HASH else None,
            id=number if is_record else None,
            value=None if is_record else number,
        )

    def find_channel(
        self, vertex: str, subtask: int, direction: str, port: int | None, channel: int
    ) -> tuple[TaskEdge, int, int]:
        if direction == Direction.OUT:
            assert port is not None
            edge = self.outputs[vertex, port]
            return edge, subtask, self.routes(edge, producer=subtask)[channel].consumer
        if port is None:
            its_vertex, its_subtask, its_port = self.writers[channel]
            return self.outputs[its_vertex, its_port], its_subtask, subtask
        edge = self.gates[vertex, port]
        return edge, self.routes(edge, consumer=subtask)[channel].producer, subtask

    def routes(self, edge: TaskEdge, *, producer: int | None = None, consumer: int | None = None) -> list[Route]:
        """In the order of the producer's subpartitions, or in that of the channels of the consumer's gate."""
        found = [
            route
            for route in self.layout.routes
            if route.edge == edge and producer in (None, route.producer) and consumer in (None, route.consumer)
        ]
        return sorted(found, key=lambda route: route.subpartition if consumer is None else route.place)
