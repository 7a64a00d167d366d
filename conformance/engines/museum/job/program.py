"""The program of a job as a config gives it, read and checked: operators, edges, scripts and the wire."""

from itertools import pairwise

import attrs

from tidegate.conformance.engines import wire as wire_module
from tidegate.conformance.engines.graphs import get_objects
from tidegate.conformance.engines.museum.valve import SEMANTICS

EVENT_TIME = ("timer", "co_timer", "window")
FUNCTIONS = ("source", "map", "flat_map", "filter", "sum", "union", "join", "sink", *EVENT_TIME)
TWO_INPUTS = ("join", "co_timer")
EXTENSIONS = ("event_time", "recovery", "finished")
RESTORABLE = ("source", "map", "flat_map", "filter", "sum", "sink")
#: Up to this parallelism there are as many key groups.
FEW = 85
PARTITIONERS = ("forward", "rebalance", "rescale", "global", "broadcast", "hash")
_ITEMS = ("record", "watermark", "status", "barrier")


@attrs.frozen
class Element:
    """Whatever travels through a channel. `number` is a timestamp, or the number of a checkpoint."""

    kind: str
    number: int = 0
    key: str = ""
    value: int = 0
    id: int = -1
    status: str = "active"


@attrs.define(eq=False)
class Operator:
    id: int
    name: str
    function: str
    parallelism: int
    scripts: list[list[Element]]
    size: int = 0
    lateness: int = 0


@attrs.define(eq=False)
class Edge:
    source: Operator
    target: Operator
    partitioner: str
    input: int
    output: str = ""


@attrs.define
class Wire:
    buffer_size: int
    exclusive: int
    floating: int
    output: int


@attrs.define(eq=False)
class Program:
    operators: list[Operator]
    edges: list[Edge]
    wire: Wire | None
    semantics: str
    extension: str | None
    unaligned: bool = False
    rescaled: dict[int, int] = attrs.Factory(dict)


def read_program(config: wire_module.Json) -> Program:
    operators = [read_operator(given) for given in get_objects(config, "operators")]
    by_id = {operator.id: operator for operator in operators}
    if len({operator.name for operator in operators}) < len(operators):
        raise wire_module.BadRequestError("two operators have the same name")
    edges = [read_edge(given, by_id) for given in get_objects(config, "edges")]
    if len({(edge.source.id, edge.target.id) for edge in edges}) < len(edges):
        raise wire_module.BadRequestError("two edges join the same operators")
    for operator in operators:
        check_inputs(operator, edges)
    scripts = [script for operator in operators for script in operator.scripts]
    if config.get("extension") == "finished":
        going_on = [script for script in scripts if any(item.kind == "barrier" for item in script)]
        if not 0 < len(going_on) < len(scripts):
            raise wire_module.BadRequestError("some scripts have no barrier, and some have one")
        scripts = going_on
    check_barriers(scripts)
    wire = config.get("wire")
    wire_module.get_extension(config, EXTENSIONS)
    check_event_time(operators, edges, config.get("extension"))
    unaligned, rescaled = read_recovery(config, operators, edges)
    return Program(
        operators,
        edges,
        None if wire is None else read_wire(wire),
        wire_module.get_semantics(config, SEMANTICS),
        config.get("extension"),
        unaligned,
        rescaled,
    )


def read_recovery(
    config: wire_module.Json, operators: list[Operator], edges: list[Edge]
) -> tuple[bool, dict[int, int]]:
    given = config.get("recovery")
    if (given is not None) != (config.get("extension") in ("recovery", "finished")):
        raise wire_module.BadRequestError("recovery belongs to the extensions recovery and finished, which need it")
    if given is None:
        return False, {}
    if not isinstance(given, dict):
        raise wire_module.BadRequestError(f"recovery must be an object, not {given!r}")
    given = {"unaligned": False, "rescaled": [], **given}
    pairs = [
        (wire_module.get_integer(one, "operator"), wire_module.get_at_least(one, "parallelism", 1))
        for one in get_objects(given, "rescaled")
    ]
    check_recovery(config, operators, edges)
    check_rescaled(pairs, operators, edges)
    return wire_module.get_boolean(given, "unaligned"), dict(pairs)


def check_recovery(config: wire_module.Json, operators: list[Operator], edges: list[Edge]) -> None:
    if config.get("wire") is not None or any(one.function not in RESTORABLE for one in operators):
        raise wire_module.BadRequestError("a job that is restored has no wire and only simple operators")
    for one in operators:
        readers = [edge.target.function for edge in edges if edge.source is one]
        if one.function == "sum" and ("sum" in readers or not any(reads_by_key(one, edge) for edge in edges)):
            raise wire_module.BadRequestError("a sum that is restored reads by key, and no other sum")
        for script in one.scripts:
            kinds = [item.kind for item in script]
            spared = config.get("extension") == "finished" and "barrier" not in kinds
            if (kinds.count("barrier") != 1 and not spared) or not set(kinds) <= {"record", "barrier"}:
                raise wire_module.BadRequestError("a job that is restored has records and one barrier in each script")


def reads_by_key(operator: Operator, edge: Edge) -> bool:
    return edge.target is operator and edge.partitioner == "hash"


def check_rescaled(pairs: list[tuple[int, int]], operators: list[Operator], edges: list[Edge]) -> None:
    rescaled = dict(pairs)
    known = {one.id for one in operators if one.function != "source"}
    if len(rescaled) < len(pairs) or not rescaled.keys() <= known:
        raise wire_module.BadRequestError("an operator is rescaled once, and a source is not")
    if pairs and max(*rescaled.values(), *(one.parallelism for one in operators)) > FEW:
        raise wire_module.BadRequestError("what is rescaled keeps its number of key groups")
    for edge in edges:
        source, target = rescaled.get(edge.source.id), rescaled.get(edge.target.id)
        if (source is not None or target is not None) and source != target and edge.partitioner != "hash":
            raise wire_module.BadRequestError("what is rescaled is read by key, and reads by key")


def check_event_time(operators: list[Operator], edges: list[Edge], extension: str | None) -> None:
    if extension is None and any(operator.function in EVENT_TIME for operator in operators):
        raise wire_module.BadRequestError("operators that know event time belong to the extension event_time")
    for edge in edges:
        if edge.target.function in EVENT_TIME and edge.partitioner != "hash":
            raise wire_module.BadRequestError("an operator that knows event time reads by key")
        if edge.output and edge.source.function not in EVENT_TIME:
            raise wire_module.BadRequestError("only an operator that knows event time has a late output")


def read_wire(given: object) -> Wire:
    if not isinstance(given, dict):
        raise wire_module.BadRequestError(f"wire must be an object, not {given!r}")
    return Wire(
        wire_module.get_at_least(given, "buffer_size", 1),
        wire_module.get_at_least(given, "exclusive", 0),
        wire_module.get_at_least(given, "floating", 1),
        wire_module.get_at_least({"output": 2, **given}, "output", 1),
    )


def read_operator(given: wire_module.Json) -> Operator:
    given = {"parallelism": 1, "scripts": [], **given}
    function = wire_module.get_choice(given, "function", FUNCTIONS)
    parallelism = wire_module.get_at_least(given, "parallelism", 1)
    scripts = given["scripts"]
    if not isinstance(scripts, list) or len(scripts) != (parallelism if function == "source" else 0):
        raise wire_module.BadRequestError("a source has a script for each subtask, and nothing else has any")
    read = [[read_item(item) for item in get_objects({"script": script}, "script")] for script in scripts]
    for script in read:
        times = [item.number for item in script if item.kind == "watermark"]
        if any(one >= following for one, following in pairwise([*times, wire_module.HIGHEST])):
            raise wire_module.BadRequestError("the watermarks of a script increase, and the end has the last")
    is_window = function == "window"
    if ("size" in given) != is_window or ("lateness" in given and not is_window):
        raise wire_module.BadRequestError("a window has a size, and may have a lateness; nothing else has any")
    return Operator(
        wire_module.get_integer(given, "id"),
        wire_module.get_string(given, "name"),
        function,
        parallelism,
        read,
        wire_module.get_at_least(given, "size", 1) if is_window else 0,
        wire_module.get_at_least({"lateness": 0, **given}, "lateness", 0),
    )


def read_item(item: wire_module.Json) -> Element:
    kind = wire_module.get_choice(item, "type", _ITEMS)
    if kind == "watermark":
        return Element(kind, wire_module.get_long(item, "timestamp"))
    if kind == "status":
        return Element(kind, status=wire_module.get_choice(item, "status", ("active", "idle")))
    if kind == "barrier":
        return Element(kind, wire_module.get_at_least(item, "checkpoint", 1))
    key = wire_module.get_string(item, "key")
    if any("\ud800" <= letter <= "\udfff" for letter in key):
        raise wire_module.BadRequestError("a key has an unpaired surrogate")
    return Element(kind, wire_module.get_long(item, "timestamp"), key, wire_module.get_long(item, "value"))


def read_edge(given: wire_module.Json, by_id: dict[int, Operator]) -> Edge:
    """Without a partitioner: one to one where that is possible, else in turns."""
    source, target = (
        by_id.get(wire_module.get_integer(given, "source")),
        by_id.get(wire_module.get_integer(given, "target")),
    )
    if source is None or target is None:
        raise wire_module.BadRequestError("an edge joins operators that are not there")
    is_equal = source.parallelism == target.parallelism
    default = "forward" if is_equal else "rebalance"
    partitioner = wire_module.get_choice({"partitioner": default, **given}, "partitioner", PARTITIONERS)
    if partitioner == "forward" and not is_equal:
        raise wire_module.BadRequestError("an edge that is one to one joins operators that are not")
    output = wire_module.get_choice(given, "output", ("late",)) if "output" in given else ""
    return Edge(source, target, partitioner, wire_module.get_at_least({"input": 0, **given}, "input", 0), output)


def check_inputs(operator: Operator, edges: list[Edge]) -> None:
    inputs = {edge.input for edge in edges if edge.target is operator}
    wanted = set() if operator.function == "source" else {0, 1} if operator.function in TWO_INPUTS else {0}
    if inputs != wanted:
        raise wire_module.BadRequestError(f"{operator.function} cannot have the inputs {sorted(inputs)}")
    if operator.function == "sink" and any(edge.source is operator for edge in edges):
        raise wire_module.BadRequestError("nothing comes out of a sink")


def check_barriers(scripts: list[list[Element]]) -> None:
    lines = {tuple(item.number for item in script if item.kind == "barrier") for script in scripts}
    if len(lines) > 1 or any(one >= following for line in lines for one, following in pairwise(line)):
        raise wire_module.BadRequestError("every script has the same barriers, with numbers that increase")
