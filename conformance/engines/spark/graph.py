"""The graph of a chaining case, read and checked before it becomes rows: joins do not notice a cycle."""

from collections import Counter, defaultdict

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.spark.border import get_count, get_text

KINDS = ("source", "legacy_source", "operator")
STRATEGIES = ("always", "head", "never", "head_with_sources")
PARTITIONERS = ("forward", "rebalance", "rescale", "shuffle", "global", "broadcast", "hash")
EXCHANGES = ("undefined", "pipelined", "batch")


def read_graph(event: wire.Json) -> wire.Json:
    if event.get("type") != "graph":
        raise wire.unknown_type(event)
    operators = [read_operator(each) for each in get_objects(event, "operators")]
    edges = [read_edge(each) for each in get_objects(event, "edges")]
    check_graph({operator["id"]: operator["kind"] for operator in operators}, len(operators), edges)
    return {"operators": operators, "edges": edges}


def get_objects(event: wire.Json, key: str) -> list[wire.Json]:
    value = event.get(key)
    if type(value) is not list or not all(type(entry) is dict for entry in value):
        raise wire.BadRequestError(f"{key} must be a list of objects")
    return value


def get_id(obj: wire.Json, key: str) -> int:
    value = wire.get_integer(obj, key)
    if not -(2**63) <= value < 2**63:
        raise wire.BadRequestError(f"{key} does not fit 64 bits: {value}")
    return value


def read_operator(operator: wire.Json) -> wire.Json:
    read = {
        "id": get_id(operator, "id"),
        "name": get_text(operator, "name"),
        "kind": wire.get_choice(operator, "kind", KINDS),
        "strategy": wire.get_choice(operator, "strategy", STRATEGIES),
        "parallelism": get_count(operator, "parallelism"),
        "max_parallelism": get_count(operator, "max_parallelism", -1),
        "slot_group": get_text(operator, "slot_group"),
        "yielding": wire.get_boolean(operator, "yielding"),
    }
    if read["max_parallelism"] == 0:
        raise wire.BadRequestError("max_parallelism must be -1 or at least 1")
    if read["yielding"] and read["kind"] != "operator":
        raise wire.BadRequestError(f"source {read['id']} is yielding")
    return read


def read_edge(edge: wire.Json) -> wire.Json:
    return {
        "source": get_id(edge, "source"),
        "target": get_id(edge, "target"),
        "partitioner": wire.get_choice(edge, "partitioner", PARTITIONERS),
        "exchange": wire.get_choice(edge, "exchange", EXCHANGES),
    }


def check_graph(kinds: dict[int, str], operators: int, edges: list[wire.Json]) -> None:
    if len(kinds) != operators:
        raise wire.BadRequestError("two operators have the same id")
    targets: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        source, target = edge["source"], edge["target"]
        if source not in kinds or target not in kinds:
            raise wire.BadRequestError(f"the edge from {source} to {target} joins operators that are not there")
        if kinds[target] != "operator":
            raise wire.BadRequestError(f"an edge enters source {target}")
        targets[source].append(target)
    # Peeled from the sources: without a cycle, and with every operator reached from a source, nothing is left.
    waiting = Counter(edge["target"] for edge in edges)
    ready = [number for number, kind in kinds.items() if kind != "operator"]
    peeled = 0
    while ready:
        number = ready.pop()
        peeled += 1
        for target in targets[number]:
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    if peeled != len(kinds):
        raise wire.BadRequestError("the graph has a cycle, or an operator that no source reaches")
