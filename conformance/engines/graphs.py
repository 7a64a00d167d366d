"""Reads and checks job graphs in requests: the graph of a chaining case, and the members of a vertex."""

import attrs

from tidegate.conformance.engines import wire

_KINDS = ("source", "legacy_source", "operator")
_STRATEGIES = ("always", "head", "never", "head_with_sources")
_PARTITIONERS = ("forward", "rebalance", "rescale", "shuffle", "global", "broadcast", "hash")
_EXCHANGES = ("undefined", "pipelined", "batch")
_MEMBER = {"configured": False, "concurrent": True, "selects": False, "above": 0}


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
    #: The decision, once made: the walk back to the head of a chain needs it again.
    chained: bool | None = None


def get_objects(event: wire.Json, key: str) -> list[wire.Json]:
    value = event.get(key)
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise wire.BadRequestError(f"{key} must be a list of objects")
    return value


def read_node(operator: wire.Json) -> Node:
    node = Node(
        id=wire.get_integer(operator, "id"),
        name=wire.get_string(operator, "name"),
        kind=wire.get_choice(operator, "kind", _KINDS),
        strategy=wire.get_choice(operator, "strategy", _STRATEGIES),
        parallelism=wire.get_at_least(operator, "parallelism", 1),
        max_parallelism=wire.get_at_least(operator, "max_parallelism", -1),
        slot_group=wire.get_string(operator, "slot_group"),
        yielding=wire.get_boolean(operator, "yielding"),
    )
    if node.max_parallelism == 0:
        raise wire.BadRequestError("max_parallelism must be -1 or at least 1")
    if node.is_source() and node.yielding:
        raise wire.BadRequestError(f"source {node.id} is yielding")
    return node


def read_graph(event: wire.Json) -> list[Node]:
    """The operators, each after all that feed it."""
    nodes: dict[int, Node] = {}
    for operator in get_objects(event, "operators"):
        node = read_node(operator)
        if node.id in nodes:
            raise wire.BadRequestError(f"two operators have the id {node.id}")
        nodes[node.id] = node
    for given in get_objects(event, "edges"):
        source, target = nodes.get(wire.get_integer(given, "source")), nodes.get(wire.get_integer(given, "target"))
        if source is None or target is None:
            raise wire.BadRequestError("an edge joins operators that are not there")
        if target.is_source():
            raise wire.BadRequestError(f"an edge enters source {target.id}")
        edge = Edge(
            source,
            target,
            wire.get_choice(given, "partitioner", _PARTITIONERS),
            wire.get_choice(given, "exchange", _EXCHANGES),
        )
        source.outputs.append(edge)
        target.inputs.append(edge)
    return sort_nodes(nodes)


def sort_nodes(nodes: dict[int, Node]) -> list[Node]:
    """Topological order from the sources; without a cycle, and if sources reach every operator, it is complete."""
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
        raise wire.BadRequestError("the graph has a cycle, or an operator that no source reaches")
    return order


def get_most(obj: wire.Json) -> int:
    most = wire.get_integer({"max_parallelism": -1, **obj}, "max_parallelism")
    if most != -1 and not 1 <= most <= 32768:
        raise wire.BadRequestError("max_parallelism must be -1 or from 1 to 32768")
    return most


#: Each chained source is an input of its operator.
_MOST_SOURCES = 63


def read_members(event: wire.Json, key: str) -> list[wire.Json]:
    members = [{**_MEMBER, **said} for said in wire.get_objects({key: [], **event}, key)]
    if key == "sources" and len(members) > _MOST_SOURCES:
        raise wire.BadRequestError(f"there may be at most {_MOST_SOURCES} chained sources, not {len(members)}")
    for member in members:
        if not wire.get_string(member, "description"):
            raise wire.BadRequestError("a description must not be empty")
        for flag in ("configured", "concurrent", "selects"):
            wire.get_boolean(member, flag)
        wire.get_at_least(member, "above", 0)
    return members
