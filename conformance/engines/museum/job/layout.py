"""What becomes of a program: tasks, their subtasks, and the channels between them."""

import attrs

from tidegate.conformance.engines.museum.chaining import Chaining
from tidegate.conformance.engines.museum.job.program import Edge, Operator, Program
from tidegate.conformance.engines.museum.wiring import Wiring
from tidegate.conformance.engines.wire import Host, Json


@attrs.define(eq=False)
class Task:
    """Operators that are chained; `first` is the number of its first subtask in the whole job."""

    name: str
    head: Operator
    first: int = 0


@attrs.define(eq=False)
class NetworkEdge:
    """An edge from task to task."""

    number: int
    edge: Edge
    source: Task
    target: Task


@attrs.define(eq=False)
class Route:
    """A channel: the subtasks that it joins, and its place in the gate of the one that reads."""

    edge: NetworkEdge
    producer: int
    consumer: int
    subpartition: int
    place: int

    @property
    def source(self) -> int:
        return self.edge.source.first + self.producer

    @property
    def target(self) -> int:
        return self.edge.target.first + self.consumer


class Layout:
    def __init__(self, program: Program) -> None:
        self.program = program
        vertices = Chaining({"chaining": True, "chain_different_max_parallelism": True}, Host()).step(
            make_graph(program)
        )
        by_id = {operator.id: operator for operator in program.operators}
        self.tasks = {vertex["head"]: Task(vertex["name"], by_id[vertex["head"]]) for vertex in vertices}
        homes = {member: self.tasks[vertex["head"]] for vertex in vertices for member in vertex["operators"]}
        self.order: list[Task] = []
        for operator in sorted(program.operators, key=lambda operator: operator.id):
            if operator.function == "source":
                self.visit(self.tasks[operator.id])
        self.order.reverse()
        count = 0
        for task in self.order:
            task.first = count
            count += task.head.parallelism
        between = [edge for edge in program.edges if edge.target.id in self.tasks]
        self.edges = [
            NetworkEdge(number, edge, homes[edge.source.id], homes[edge.target.id])
            for number, edge in enumerate(between)
        ]
        self.routes: list[Route] = []
        for edge in self.edges:
            self.add_routes(edge)

    def visit(self, task: Task) -> None:
        """Whoever reads from a task comes before it; turned round in the end, producers come first."""
        if task not in self.order:
            self.visit_consumers(task.head)
            self.order.append(task)

    def visit_consumers(self, operator: Operator) -> None:
        for chained in self.chained_to(operator):
            self.visit_consumers(chained)
        for edge in self.program.edges:
            if edge.source is operator and edge.target.id in self.tasks:
                self.visit(self.tasks[edge.target.id])

    def chained_to(self, operator: Operator, side: str | None = None) -> list[Operator]:
        """The operators that this one calls; those that read one of its outputs, if that is asked for."""
        return [
            edge.target
            for edge in self.program.edges
            if edge.source is operator and edge.target.id not in self.tasks and side in (None, edge.output)
        ]

    def add_routes(self, edge: NetworkEdge) -> None:
        pattern = "pointwise" if edge.edge.partitioner in {"forward", "rescale"} else "all_to_all"
        producers, consumers = edge.source.head.parallelism, edge.target.head.parallelism
        wiring = Wiring({"pattern": pattern, "producers": producers, "consumers": consumers}, Host())
        for reads in wiring.step({"type": "wire"}):
            route = Route(edge, reads["producer"], reads["consumer"], reads["subpartition"], 0)
            route.place = sum(other.target == route.target for other in self.routes)
            self.routes.append(route)

    def outputs_of(self, operator: Operator) -> list[NetworkEdge]:
        """The outputs of an operator and all that are chained to it, in the order in which they hear of events."""
        below = [edge for chained in self.chained_to(operator) for edge in self.outputs_of(chained)]
        return below + [edge for edge in self.edges if edge.edge.source is operator]


def make_graph(program: Program) -> Json:
    """The program as chaining wants it: no operator has wishes of its own."""
    operators = [
        {
            "id": operator.id,
            "name": operator.name,
            "kind": "source" if operator.function == "source" else "operator",
            "strategy": "always",
            "parallelism": operator.parallelism,
            "max_parallelism": -1,
            "slot_group": "default",
            "yielding": False,
        }
        for operator in program.operators
    ]
    edges = [
        {"source": edge.source.id, "target": edge.target.id, "partitioner": edge.partitioner, "exchange": "undefined"}
        for edge in program.edges
    ]
    return {"type": "graph", "operators": operators, "edges": edges}
