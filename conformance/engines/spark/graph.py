"""The graph of a chaining case, read and checked before it becomes rows: joins do not notice a cycle."""

from collections import Counter, defaultdict

from tidegate.conformance.engines.spark.border import get_count, get_text
from tidegate.conformance.engines.wire import (
    BadRequestError,
    Json,
    get_boolean,
    get_choice,
    get_integer,
    unknown_type,
)

KINDS = ("source", "legacy_source", "operator")
STRATEGIES = ("always", "head", "never", "head_with_sources")
PARTITIONERS = ("forward", "rebalance", "rescale", "shuffle", "global", "broadcast", "hash")
EXCHANGES = ("undefined", "pipelined", "batch")


def read_graph(event: Json) -> Json:
    if event.get("type") != "graph":
        raise unknown_type(event)
    operators = [read_operator(each) for each in get_objects(event, "operators")]
    edges = [read_edge(each) for each in get_objects(event, "edges")]
    check_graph({operator["id"]: operator["kind"] for operator in operators}, len(operators), edges)
    return {"operators": operators, "edges": edges}


def get_objects(event: Json, key: str) -> list[Json]:
    value = event.get(key)
    if type(value) is not list or not all(type(entry) is dict for entry in value):
        raise BadRequestError(f"{key} must be a list of objects")
    return value


def get_id(obj: Json, key: str) -> int:
    value = get_integer(obj, key)
    if not -(2**63) <= value < 2**63:
        raise BadRequestError(f"{key} does not fit 64 bits: {value}")
    return value


def read_operator(operator: Json) -> Json:
    read = {
        "id": get_id(operator, "id"),
        "name": get_text(operator, "name"),
        "kind": get_choice(operator, "kind", KINDS),
        "strategy": get_choice(operator, "strategy", STRATEGIES),
        "parallelism": get_count(operator, "parallelism"),
        "max_parallelism": get_count(operator, "max_parallelism", -1),
        "slot_group": get_text(operator, "slot_group"),
        "yielding": get_boolean(operator, "yielding"),
    }
    if read["max_parallelism"] == 0:
        raise BadRequestError("max_parallelism must be -1 or at least 1")
    if read["yielding"] and read["kind"] != "operator":
        raise BadRequestError(f"source {read['id']} is yielding")
    return read


def read_edge(edge: Json) -> Json:
    return {
        "source": get_id(edge, "source"),
        "target": get_id(edge, "target"),
        "partitioner": get_choice(edge, "partitioner", PARTITIONERS),
        "exchange": get_choice(edge, "exchange", EXCHANGES),
    }


def check_graph(kinds: dict[int, str], operators: int, edges: list[Json]) -> None:
    if len(kinds) != operators:
        raise BadRequestError("two operators have the same id")
    targets: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        source, target = edge["source"], edge["target"]
        if source not in kinds or target not in kinds:
            raise BadRequestError(f"the edge from {source} to {target} joins operators that are not there")
        if kinds[target] != "operator":
            raise BadRequestError(f"an edge enters source {target}")
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
        raise BadRequestError("the graph has a cycle, or an operator that no source reaches")
