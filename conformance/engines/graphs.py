"""The job graph of a chaining case, read and checked."""

import attrs

from tidegate.conformance.engines.wire import (
    BadRequestError,
    Json,
    get_at_least,
    get_boolean,
    get_choice,
    get_integer,
    get_string,
)

_KINDS = ("source", "legacy_source", "operator")
_STRATEGIES = ("always", "head", "never", "head_with_sources")
_PARTITIONERS = ("forward", "rebalance", "rescale", "shuffle", "global", "broadcast", "hash")
_EXCHANGES = ("undefined", "pipelined", "batch")


@attrs.define(eq=False)
class Node:
    id: int
    name: str
    kind: str
    strategy: str
    parallelism: int
    max_parallelism: int
    slot_group: str
    yielding: bool
    inputs: "list[Edge]" = attrs.Factory(list)
    outputs: "list[Edge]" = attrs.Factory(list)

    def is_source(self) -> bool:
        return self.kind != "operator"


@attrs.define(eq=False)
class Edge:
    source: Node
    target: Node
    partitioner: str
    exchange: str
    #: The decision about it, once made: the walk back to the head of a chain asks for it again.
    chained: bool | None = None


def get_objects(event: Json, key: str) -> list[Json]:
    value = event.get(key)
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise BadRequestError(f"{key} must be a list of objects")
    return value


def read_node(operator: Json) -> Node:
    node = Node(
        id=get_integer(operator, "id"),
        name=get_string(operator, "name"),
        kind=get_choice(operator, "kind", _KINDS),
        strategy=get_choice(operator, "strategy", _STRATEGIES),
        parallelism=get_at_least(operator, "parallelism", 1),
        max_parallelism=get_at_least(operator, "max_parallelism", -1),
        slot_group=get_string(operator, "slot_group"),
        yielding=get_boolean(operator, "yielding"),
    )
    if node.max_parallelism == 0:
        raise BadRequestError("max_parallelism must be -1 or at least 1")
    if node.is_source() and node.yielding:
        raise BadRequestError(f"source {node.id} is yielding")
    return node


def read_graph(event: Json) -> list[Node]:
    """The operators, each behind all those that feed it."""
    nodes: dict[int, Node] = {}
    for operator in get_objects(event, "operators"):
        node = read_node(operator)
        if node.id in nodes:
            raise BadRequestError(f"two operators have the id {node.id}")
        nodes[node.id] = node
    for given in get_objects(event, "edges"):
        source, target = nodes.get(get_integer(given, "source")), nodes.get(get_integer(given, "target"))
        if source is None or target is None:
            raise BadRequestError("an edge joins operators that are not there")
        if target.is_source():
            raise BadRequestError(f"an edge enters source {target.id}")
        edge = Edge(
            source,
            target,
            get_choice(given, "partitioner", _PARTITIONERS),
            get_choice(given, "exchange", _EXCHANGES),
        )
        source.outputs.append(edge)
        target.inputs.append(edge)
    return sort_nodes(nodes)


def sort_nodes(nodes: dict[int, Node]) -> list[Node]:
    """Peel from the sources; with no cycle, and every operator reached from a source, that reaches all."""
    missing = {node.id: len(node.inputs) for node in nodes.values()}
    ready = [node for node in nodes.values() if node.is_source()]
    order: list[Node] = []
    while ready:
        node = ready.pop()
        order.append(node)
        for edge in node.outputs:
            missing[edge.target.id] -= 1
            if not missing[edge.target.id]:
                ready.append(edge.target)
    if len(order) != len(nodes):
        raise BadRequestError("the graph has a cycle, or an operator that no source reaches")
    return order
