"""The program of a job graph, read, checked and filled in: strategies, partitioners, exchanges, tags."""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.graphs import Edge, Node, get_objects, read_node, sort_nodes

_PARTITIONERS = (
    "forward",
    "rebalance",
    "rescale",
    "shuffle",
    "global",
    "broadcast",
    "hash",
    "custom",
    "forward_for_consecutive_hash",
)
_EXCHANGES = ("undefined", "pipelined", "batch", "hybrid_full", "hybrid_selective")


@attrs.frozen
class Wishes:
    """What an edge carries that chaining does not ask for."""

    input: int
    tag: str | None
    dataset: str | None


@attrs.define
class Program:
    """`bare` are the nodes without an operator; `is_impossible` says that an edge cannot be what it was asked to be."""

    nodes: list[Node] = attrs.Factory(list)
    wishes: dict[Edge, Wishes] = attrs.Factory(dict)
    bare: set[int] = attrs.Factory(set)
    timeouts: dict[int, int] = attrs.Factory(dict)
    is_impossible: bool = False
    #: the edges that are forward because nobody asked for anything
    unasked: set[Edge] = attrs.Factory(set)


#: What an operator and an edge have where nothing is said.
_OPERATOR = {
    "max_parallelism": -1,
    "slot_group": "default",
    "yielding": False,
    "has_operator": True,
    "buffer_timeout": "-1",
}
_EDGE: wire.Json = {"input": 0, "via": []}


def read_program(event: wire.Json, bug: str) -> Program:
    program = Program()
    nodes: dict[int, Node] = {}
    for said in get_objects(event, "operators"):
        operator = {"strategy": get_default_strategy(said, bug), **_OPERATOR, **said}
        node = read_node(operator)
        if node.id in nodes:
            raise wire.BadRequestError(f"two operators have the id {node.id}")
        nodes[node.id] = node
        program.timeouts[node.id] = wire.get_long(operator, "buffer_timeout")
        if program.timeouts[node.id] < -1:
            raise wire.BadRequestError("buffer_timeout must be at least -1")
        if not wire.get_boolean(operator, "has_operator"):
            program.bare.add(node.id)
    for given in ({**_EDGE, **said} for said in get_objects(event, "edges")):
        source, target = nodes.get(wire.get_integer(given, "source")), nodes.get(wire.get_integer(given, "target"))
        if source is None or target is None:
            raise wire.BadRequestError("an edge joins operators that are not there")
        if target.is_source():
            raise wire.BadRequestError(f"an edge enters source {target.id}")
        read_edge(program, given, source, target, bug)
    program.nodes = sort_nodes(nodes)
    return program


def get_default_strategy(operator: wire.Json, bug: str) -> str:
    """CHAIN-14: nobody has said anything."""
    if operator.get("kind") == "legacy_source" or bug == "unconfigured-begins-a-chain":
        return "head"
    return "never" if bug == "unconfigured-stays-alone" else "always"


def read_edge(program: Program, given: wire.Json, source: Node, target: Node, bug: str) -> None:
    partitioner, exchange, tag = follow_virtual_nodes(get_objects(given, "via"), bug)
    is_equal = source.parallelism == target.parallelism
    refused = ("forward", "forward_for_consecutive_hash") if bug == "consecutive-hash-refused" else ("forward",)
    if partitioner in refused and not is_equal:
        if bug != "impossible-forward-becomes-rebalance":
            program.is_impossible = True
        partitioner = None
    nobody_asked = partitioner is None and is_equal
    if partitioner is None:
        unequal = "rescale" if bug == "unasked-is-rescale" else "rebalance"
        partitioner = "forward" if is_equal and bug != "unasked-is-never-forward" else unequal
    if partitioner == "forward_for_consecutive_hash" and not is_equal:
        partitioner = "rebalance" if bug == "unequal-consecutive-hash-rebalanced" else "hash"
    edge = Edge(source, target, partitioner, exchange)
    if nobody_asked:
        program.unasked.add(edge)
    source.outputs.append(edge)
    target.inputs.append(edge)
    dataset = wire.get_string(given, "dataset") if "dataset" in given else None
    program.wishes[edge] = Wishes(wire.get_at_least(given, "input", 0), tag, dataset)


def follow_virtual_nodes(via: list[wire.Json], bug: str) -> tuple[str | None, str, str | None]:
    """CHAIN-16: from the producer to the consumer, so what is met later counts; but for the exchange."""
    partitioner: str | None = None
    exchange: str | None = None
    tag: str | None = None
    for node in via:
        if wire.get_choice(node, "type", ("partition", "side_output")) == "side_output":
            met = wire.get_string(node, "tag")
            tag = tag if tag is not None and bug == "tag-nearest-to-the-producer" else met
            continue
        wanted, handed = (
            wire.get_choice(node, "partitioner", _PARTITIONERS),
            wire.get_choice(node, "exchange", _EXCHANGES),
        )
        partitioner = partitioner if partitioner and bug == "partitioner-nearest-to-the-producer" else wanted
        exchange = exchange if exchange and bug != "exchange-nearest-to-the-consumer" else handed
        if bug == "side-output-forgotten-behind-a-partition":
            tag = None
    return partitioner, exchange or "undefined", tag
