"""The short form of a graph: `graph[1"src":source,2:head:p4;1>2,1>2:rebalance:batch]`.

Operators, then edges. Defaults are left out: an operator has kind `operator`, strategy `always`, parallelism 1, unset
max parallelism, slot group `default`, not yielding; an edge is `forward` and its exchange `undefined`.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from tidegate.traces.strict_json import read_json

USUAL_OPERATOR = {
    "name": "",
    "kind": "operator",
    "strategy": "always",
    "parallelism": 1,
    "max_parallelism": -1,
    "slot_group": "default",
    "yielding": False,
}
USUAL_EDGE = {"partitioner": "forward", "exchange": "undefined"}
KINDS = ("source", "legacy_source")
EXCHANGES = ("pipelined", "batch")
STRATEGIES = ("head", "never", "head_with_sources")

OPERATOR = re.compile(r'(-?\d+)("(?:[^"\\\s]|\\.)*")?((?::(?:g"(?:[^"\\\s]|\\.)*"|[pm]-?\d+|[a-z_]+))*)')
EDGE = re.compile(r"(-?\d+)>(-?\d+)((?::[a-z_]+)*)")
PART = re.compile(r':(g"(?:[^"\\\s]|\\.)*"|[pm]-?\d+|[a-z_]+)')


def word(text: str) -> str:
    return json.dumps(text).replace(" ", r"\u0020")


def write_graph(event: dict[str, Any]) -> str:
    operators = ",".join(write_operator(one) for one in event["operators"])
    edges = ",".join(write_edge(one) for one in event["edges"])
    return f"graph[{operators};{edges}]"


def write_operator(one: dict[str, Any]) -> str:
    parts = [str(one["id"]) + (word(one["name"]) if one["name"] else "")]
    parts += [one[key] for key in ("kind", "strategy") if one[key] != USUAL_OPERATOR[key]]
    parts += [f"p{one['parallelism']}"] if one["parallelism"] != 1 else []
    parts += [f"m{one['max_parallelism']}"] if one["max_parallelism"] != -1 else []
    parts += [f"g{word(one['slot_group'])}"] if one["slot_group"] != "default" else []
    parts += ["yielding"] if one["yielding"] else []
    return ":".join(parts)


def write_edge(one: dict[str, Any]) -> str:
    parts = [f"{one['source']}>{one['target']}"]
    return ":".join(parts + [one[key] for key, usual in USUAL_EDGE.items() if one[key] != usual])


def read_graph(token: str) -> dict[str, Any] | None:
    """The graph, or None if the token does not have this form."""
    if not (token.startswith("graph[") and token.endswith("]")):
        return None
    text = token[len("graph[") : -1]
    operators, end = read_list(OPERATOR, text, 0)
    if end >= len(text) or text[end] != ";":
        return None
    edges, end = read_list(EDGE, text, end + 1)
    if end != len(text):
        return None
    return {
        "type": "graph",
        "operators": [read_operator(match) for match in operators],
        "edges": [read_edge(match) for match in edges],
    }


def read_list(pattern: re.Pattern[str], text: str, begin: int) -> tuple[list[re.Match[str]], int]:
    found = []
    while match := pattern.match(text, begin):
        found.append(match)
        begin = match.end()
        if not text.startswith(",", begin):
            break
        begin += 1
    return found, begin


def parts_of(text: str) -> Iterator[str]:
    return (match[1] for match in PART.finditer(text))


def read_operator(match: re.Match[str]) -> dict[str, Any]:
    one: dict[str, Any] = {"id": int(match[1]), **USUAL_OPERATOR}
    if match[2]:
        one["name"] = read_json(match[2])
    for part in parts_of(match[3]):
        if part.startswith('g"'):
            one["slot_group"] = read_json(part[1:])
        elif part == "yielding":
            one["yielding"] = True
        elif part in KINDS:
            one["kind"] = part
        elif part in STRATEGIES:
            one["strategy"] = part
        elif re.fullmatch(r"[pm]-?\d+", part):
            one["parallelism" if part[0] == "p" else "max_parallelism"] = int(part[1:])
        else:
            one["kind"] = part  # unknown: the codec reports it with the place
    return one


def read_edge(match: re.Match[str]) -> dict[str, Any]:
    one: dict[str, Any] = {"source": int(match[1]), "target": int(match[2]), **USUAL_EDGE}
    for part in parts_of(match[3]):
        one["exchange" if part in EXCHANGES else "partitioner"] = part
    return one
