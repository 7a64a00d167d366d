"""From a program to running tasks: which tasks there are, and which of them must run at the same time.

Operators are chained into vertices, each vertex becomes as many tasks as its parallelism, and tasks are deployed by
*pipelined region*: vertices joined by pipelined edges need each other and start together; across a blocking edge the
consumer starts when the producer has finished.

Choices. StreamGraph, JobGraph, ExecutionGraph, PipelinedRegionSchedulingStrategy (1.11 and later); before, the choice
was between all at once (eager) and as input becomes available (lazy). Chaining itself is a component of its own.
"""

from collections.abc import Iterator
from itertools import combinations, product

import attrs

from tidegate.reference.claims import law


@attrs.frozen
class Edge:
    source: int
    target: int
    blocking: bool


@attrs.frozen
class Deployment:
    """One task: the subtask of a vertex, and the stage in which it is deployed."""

    vertex: int
    subtask: int
    stage: int


def find_regions(vertices: int, edges: tuple[Edge, ...]) -> tuple[frozenset[int], ...]:
    """Sets of vertices joined by pipelined edges, by their smallest vertex."""
    regions = [frozenset((vertex,)) for vertex in range(vertices)]
    for edge in edges:
        if not edge.blocking:
            joined = frozenset[int]().union(*(one for one in regions if edge.source in one or edge.target in one))
            regions = [one for one in regions if not one & joined] + [joined]
    return tuple(sorted(regions, key=min))


def compute_stages(vertices: int, edges: tuple[Edge, ...]) -> tuple[int, ...]:
    """The stage of each vertex: a region comes after every region that it reads from over a blocking edge."""
    regions = find_regions(vertices, edges)
    stages = dict.fromkeys(range(vertices), 0)
    for _round in regions:
        for region in regions:
            needed = [stages[edge.source] + 1 for edge in edges if edge.blocking and edge.target in region]
            stages |= dict.fromkeys(region, max(needed, default=0))
    return tuple(stages[vertex] for vertex in range(vertices))


def compute_deployments(parallelisms: tuple[int, ...], edges: tuple[Edge, ...]) -> tuple[Deployment, ...]:
    """TASK-6: every subtask of every vertex, once, in the order of stages."""
    stages = compute_stages(len(parallelisms), edges)
    tasks = (
        Deployment(vertex, subtask, stages[vertex])
        for vertex, parallelism in enumerate(parallelisms)
        for subtask in range(parallelism)
    )
    return tuple(sorted(tasks, key=lambda task: (task.stage, task.vertex, task.subtask)))


# --- laws -----------------------------------------------------------------------------------------------------


def small_graphs() -> Iterator[tuple[tuple[int, ...], tuple[Edge, ...]]]:
    """Graphs of four vertices, whose regions do not read from one another in a circle."""
    pairs = tuple(combinations(range(4), 2))
    for chosen in product((None, False, True), repeat=len(pairs)):
        marked = zip(pairs, chosen, strict=True)
        edges = tuple(Edge(source, target, kind) for (source, target), kind in marked if kind is not None)
        if len(edges) <= 4 and not has_circle(edges):
            yield (1, 2, 3, 1), edges


@law("TASK-6", samples=small_graphs)
def deployed_when_it_can_run(parallelisms: tuple[int, ...], edges: tuple[Edge, ...]) -> bool:
    """Every subtask is deployed once, together with those it exchanges data with at once, and after those whose
    finished result it reads.
    """
    deployed = compute_deployments(parallelisms, edges)
    expected = {(vertex, subtask) for vertex, count in enumerate(parallelisms) for subtask in range(count)}
    once = len(deployed) == len(expected) and {(task.vertex, task.subtask) for task in deployed} == expected
    stage = {task.vertex: task.stage for task in deployed}
    together = all(stage[edge.source] == stage[edge.target] for edge in edges if not edge.blocking)
    behind = all(stage[edge.source] < stage[edge.target] for edge in edges if edge.blocking)
    return once and together and behind


def has_circle(edges: tuple[Edge, ...]) -> bool:
    """Whether a region would have to finish before it starts: such jobs are refused."""
    regions = find_regions(4, edges)
    place = {vertex: number for number, region in enumerate(regions) for vertex in region}
    reads = {(place[edge.source], place[edge.target]) for edge in edges if edge.blocking}
    for _round in regions:
        reads |= {(first, last) for first, middle in reads for again, last in reads if middle == again}
    return any(first == last for first, last in reads)
