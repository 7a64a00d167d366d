"""The plan of a program: which operators share a task, which subtasks share a channel, in which order tasks run.

An operator is fused with the one before it if it reads nothing else and the edge is one to one. Every other edge is
a shuffle of the query. The level of a task is the stage of the query that runs it: one more than the highest level of
its inputs.
"""

from functools import cached_property
from typing import Any

import attrs

from tidegate.conformance.engines.spark.streaming.routing import compute_consumers, compute_key_groups

_POINTWISE = ("forward", "rescale")


@attrs.frozen
class Operator:
    id: int
    name: str
    function: str
    parallelism: int


@attrs.frozen
class Task:
    """`first` is the number of subtasks of the tasks before this one."""

    name: str
    head: int
    operators: tuple[int, ...]
    parallelism: int
    first: int
    level: int


@attrs.frozen
class Edge:
    """An edge between tasks, by their numbers, and the operators at its ends."""

    number: int
    source: int
    target: int
    operator: int
    input: int
    partitioner: str
    pattern: str
    producers: int
    consumers: int

    @property
    def key_groups(self) -> int | None:
        return compute_key_groups(self.consumers) if self.partitioner == "hash" else None


@attrs.frozen
class Channel:
    """An input of a subtask: an edge, the producer, and the input of its task."""

    edge: int
    producer: int
    input: int


@attrs.frozen
class Output:
    """An output of a subtask: an edge, its consumers in the order of the subpartitions, the level that reads them."""

    edge: Edge
    consumers: tuple[int, ...]
    level: int


@attrs.define(slots=False)
class Layout:
    operators: dict[int, Operator]
    fused: dict[int, tuple[int, ...]]
    tasks: tuple[Task, ...]
    edges: tuple[Edge, ...]
    semantics: str

    @cached_property
    def subtasks(self) -> int:
        return sum(task.parallelism for task in self.tasks)

    @property
    def levels(self) -> int:
        return 1 + max(task.level for task in self.tasks)

    def channels(self, task: int, subtask: int) -> tuple[Channel, ...]:
        """The channels of a subtask, edge by edge."""
        return tuple(
            Channel(edge.number, producer, edge.input)
            for edge in self.edges
            if edge.target == task
            for producer, consumers in enumerate(wire(edge))
            if subtask in consumers
        )

    def outputs(self, task: int, subtask: int) -> tuple[Output, ...]:
        """In the order in which they receive events: those of later operators first."""
        return tuple(
            Output(edge, tuple(wire(edge)[subtask]), self.tasks[edge.target].level)
            for edge in self.edges_behind(self.tasks[task].head)
        )

    def edges_behind(self, operator: int) -> list[Edge]:
        later = [edge for target in self.fused[operator] for edge in self.edges_behind(target)]
        return later + [edge for edge in self.edges if edge.operator == operator]


def wire(edge: Edge) -> list[list[int]]:
    return compute_consumers(edge.pattern, edge.producers, edge.consumers)


# --- from a program -------------------------------------------------------------------------------------------


def make_layout(job: dict[str, Any]) -> Layout:
    """`job` is a job as in trace files: operators, edges, semantics."""
    operators = {
        one["id"]: Operator(one["id"], one["name"], one["function"], one["parallelism"]) for one in job["operators"]
    }
    edges = [(one["source"], one["target"], one["input"], choose_partitioner(one, operators)) for one in job["edges"]]
    fused: dict[int, tuple[int, ...]] = dict.fromkeys(operators, ())
    between = []
    for edge in edges:
        source, target, _input, partitioner = edge
        is_alone = sum(other[1] == target for other in edges) == 1
        is_equal = operators[source].parallelism == operators[target].parallelism
        if is_alone and is_equal and partitioner == "forward":
            fused[source] = (*fused[source], target)
        else:
            between.append(edge)
    tasks = make_tasks(operators, fused, [(source, target) for source, target, *_ in between])
    homes = {operator: number for number, task in enumerate(tasks) for operator in task.operators}
    return Layout(
        operators,
        fused,
        tasks,
        tuple(make_edge(number, edge, homes, operators) for number, edge in enumerate(between)),
        job.get("semantics", "flink-7728"),
    )


def choose_partitioner(edge: dict[str, Any], operators: dict[int, Operator]) -> str:
    asked: str | None = edge.get("partitioner")
    is_equal = operators[edge["source"]].parallelism == operators[edge["target"]].parallelism
    return asked or ("forward" if is_equal else "rebalance")


def make_edge(
    number: int, edge: tuple[int, int, int, str], homes: dict[int, int], operators: dict[int, Operator]
) -> Edge:
    source, target, place, partitioner = edge
    pattern = "pointwise" if partitioner in _POINTWISE else "all_to_all"
    ends = (operators[source].parallelism, operators[target].parallelism)
    return Edge(number, homes[source], homes[target], source, place, partitioner, pattern, *ends)


def make_tasks(
    operators: dict[int, Operator], fused: dict[int, tuple[int, ...]], between: list[tuple[int, int]]
) -> tuple[Task, ...]:
    """Producers before consumers: the reverse of the order in which a walk from the sources completes tasks."""
    inside = {target for targets in fused.values() for target in targets}
    done: list[int] = []

    def walk(head: int, operator: int) -> None:
        if head in done:
            return
        for target in fused[operator]:
            walk(head, target)
        for target in [target for source, target in between if source == operator]:
            walk(target, target)
        if operator == head:
            done.append(head)

    for source in sorted(one.id for one in operators.values() if one.function == "source"):
        walk(source, source)
    levels: dict[int, int] = {}
    tasks: list[Task] = []
    for head in reversed(done):
        assert head not in inside
        members = collect(fused, head)
        level = max((1 + levels[source] for source, target in between if target == head), default=0)
        levels |= dict.fromkeys(members, level)
        first = sum(task.parallelism for task in tasks)
        tasks.append(Task(make_name(operators, fused, head), head, members, operators[head].parallelism, first, level))
    return tuple(tasks)


def collect(fused: dict[int, tuple[int, ...]], operator: int) -> tuple[int, ...]:
    return (operator, *(one for target in fused[operator] for one in collect(fused, target)))


def make_name(operators: dict[int, Operator], fused: dict[int, tuple[int, ...]], operator: int) -> str:
    names = [make_name(operators, fused, target) for target in fused[operator]]
    name = operators[operator].name
    if not names:
        return name
    return f"{name} -> {names[0]}" if len(names) == 1 else f"{name} -> ({', '.join(names)})"
