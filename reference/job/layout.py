"""The layout of a job: its tasks, their subtasks, the edges between tasks, and the channels that each edge becomes.

Everything here follows from the program, and nothing of it changes while the job runs: the job graph says which
operators share a task, the wiring which subtasks share a channel. Subtasks and channels are numbered through the
whole job.
"""

from functools import cache

import attrs

from tidegate.reference.chaining.job_graph.outputs import NetworkOutput
from tidegate.reference.chaining.job_graph.step import JobVertex
from tidegate.reference.job.programs import Barrier, Config, Operator, Side, compute_job_graph, rescale
from tidegate.reference.outputs.handing import compute_order
from tidegate.reference.partitioning import keygroups, wiring
from tidegate.reference.partitioning import partitioner as partitioning
from tidegate.reference.tuples import rearrange


@attrs.frozen
class Task:
    """A vertex: operators that are chained, the one that reads first. `first` is the number of its first subtask."""

    name: str
    head: int
    operators: tuple[int, ...]
    parallelism: int
    first: int


@attrs.frozen
class TaskEdge:
    """An edge that goes from task to task."""

    number: int
    source: int
    target: int
    input: int
    kind: partitioning.Partitioner
    pattern: wiring.Pattern
    producers: int
    consumers: int
    side: Side | None = None

    @property
    def max_parallelism(self) -> int | None:
        is_keyed = self.kind is partitioning.Partitioner.HASH
        return keygroups.compute_default_max_parallelism(self.consumers) if is_keyed else None


@attrs.frozen
class Route:
    """A channel: which subpartition it reads, the subtasks that it joins, and its place in the gate of the reader."""

    edge: TaskEdge
    producer: int
    consumer: int
    subpartition: int
    source: int
    target: int
    place: int


@attrs.frozen
class Output:
    """An output of a subtask: the numbers of its channels, in the order of its subpartitions."""

    edge: TaskEdge
    channels: tuple[int, ...]


@attrs.frozen
class Receiver:
    """Who gets what an operator emits: an output of the subtask by its place, or a chained operator by its id.

    `side`: which output of the operator that is, if it is not its own.
    """

    network: bool
    number: int
    side: Side | None = None


@attrs.frozen
class Place:
    """A subtask: its number in the task, the channels of its gate in order, and its outputs.

    `receivers` are those of each operator, in the order in which they are served.
    """

    task: Task
    number: int
    channels: tuple[int, ...]
    outputs: tuple[Output, ...]
    receivers: dict[int, tuple[Receiver, ...]]


@attrs.frozen
class Layout:
    """`places` are the subtasks, `routes` the channels; `chained` are the operators that an operator calls.

    `unreached` are the subtasks that no barrier comes to: sources without one, and who reads from these alone.
    """

    tasks: tuple[Task, ...]
    edges: tuple[TaskEdge, ...]
    places: tuple[Place, ...]
    routes: tuple[Route, ...]
    operators: dict[int, Operator]
    chained: dict[int, tuple[int, ...]]
    unreached: frozenset[int]


@cache
def compute_layout(config: Config) -> Layout:
    seen = compute_job_graph(config)
    # The job graph completes consumers first; read backwards, producers come first.
    tasks = make_tasks([one for one in reversed(seen) if isinstance(one, JobVertex)])
    outputs = {(one.operator, one.consumers[0]): one for one in seen if isinstance(one, NetworkOutput)}
    between = [edge for edge in config.edges if (edge.source, edge.target) in outputs]
    by_operator = {operator: task for task in tasks for operator in task.operators}
    edges = tuple(
        TaskEdge(
            number,
            edge.source,
            edge.target,
            edge.input,
            partitioning.Partitioner(outputs[edge.source, edge.target].partitioner.value),
            outputs[edge.source, edge.target].pattern,
            by_operator[edge.source].parallelism,
            by_operator[edge.target].parallelism,
            edge.output,
        )
        for number, edge in enumerate(between)
    )
    chained = {
        operator.id: tuple(edge.target for edge in config.edges if edge.source == operator.id and edge not in between)
        for operator in config.operators
    }
    operators = {operator.id: operator for operator in config.operators}
    routes = make_routes(edges, by_operator)
    sides = {(edge.source, edge.target): edge.output for edge in config.edges}
    places = tuple(
        make_place(task, number, order_outputs(task.head, edges, chained), routes, chained, sides)
        for task in tasks
        for number in range(task.parallelism)
    )
    return Layout(tasks, edges, places, routes, operators, chained, find_unreached(places, routes, operators))


def find_unreached(
    places: tuple[Place, ...], routes: tuple[Route, ...], operators: dict[int, Operator]
) -> frozenset[int]:
    """Producers come first, so that who reads comes behind all that it reads from."""
    unreached: set[int] = set()
    for number, place in enumerate(places):
        scripts = operators[place.task.head].scripts
        has_barrier = any(isinstance(item, Barrier) for item in scripts[place.number]) if scripts else False
        if not has_barrier and all(routes[channel].source in unreached for channel in place.channels):
            unreached.add(number)
    return frozenset(unreached)


@cache
def compute_restored_layout(config: Config) -> Layout:
    return compute_layout(rescale(config))


def make_tasks(vertices: list[JobVertex]) -> tuple[Task, ...]:
    tasks: list[Task] = []
    for vertex in vertices:
        members = tuple(member.operator for member in vertex.members)
        first = sum(task.parallelism for task in tasks)
        tasks.append(Task(vertex.name, vertex.head, members, vertex.parallelism, first))
    return tuple(tasks)


def make_routes(edges: tuple[TaskEdge, ...], by_operator: dict[int, Task]) -> tuple[Route, ...]:
    """The wiring of each edge. A gate counts its channels edge by edge, as they are wired."""
    routes: list[Route] = []
    for edge in edges:
        (state,) = wiring.start(wiring.Config(edge.pattern, edge.producers, edge.consumers))
        (outcome,) = wiring.step(state, wiring.Wire())
        for reads in (seen for seen in outcome.observations if isinstance(seen, wiring.Reads)):
            source = by_operator[edge.source].first + reads.producer
            target = by_operator[edge.target].first + reads.consumer
            place = sum(route.target == target for route in routes)
            routes.append(Route(edge, reads.producer, reads.consumer, reads.subpartition, source, target, place))
    return tuple(routes)


def order_outputs(operator: int, edges: tuple[TaskEdge, ...], chained: dict[int, tuple[int, ...]]) -> list[TaskEdge]:
    """The outputs of a task in the order in which they are told of events: those of later operators first."""
    later = [edge for following in chained[operator] for edge in order_outputs(following, edges, chained)]
    return later + [edge for edge in edges if edge.source == operator]


Sides = dict[tuple[int, int], Side | None]


def make_place(
    task: Task,
    number: int,
    edges: list[TaskEdge],
    routes: tuple[Route, ...],
    chained: dict[int, tuple[int, ...]],
    sides: Sides,
) -> Place:
    """`edges` are those that leave the task."""
    subtask = task.first + number
    channels = tuple(channel for channel, route in enumerate(routes) if route.target == subtask)
    outputs = tuple(make_output(subtask, edge, routes) for edge in edges)
    receivers = {operator: order_receivers(operator, edges, chained[operator], sides) for operator in task.operators}
    return Place(task, number, channels, outputs, receivers)


def order_receivers(
    operator: int, edges: list[TaskEdge], chained: tuple[int, ...], sides: Sides
) -> tuple[Receiver, ...]:
    """As they are served (OUT-1)."""
    calls = [Receiver(network=False, number=one, side=sides[operator, one]) for one in chained]
    writes = [
        Receiver(network=True, number=place, side=edge.side)
        for place, edge in enumerate(edges)
        if edge.source == operator
    ]
    receivers = (*calls, *writes)
    return rearrange(receivers, compute_order([one.network for one in receivers]))


def make_output(subtask: int, edge: TaskEdge, routes: tuple[Route, ...]) -> Output:
    mine = [channel for channel, route in enumerate(routes) if route.source == subtask and route.edge is edge]
    return Output(edge, tuple(sorted(mine, key=lambda channel: routes[channel].subpartition)))
