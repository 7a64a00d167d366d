"""Which operators share a task, CHAIN-1 … CHAIN-11 and CHAIN-17 … CHAIN-20, as joins over operators and edges.

`links` joins each edge with both of its ends and keeps those that nothing forbids. They form trees, because an
operator has at most one incoming link. `paths` finds the top of each operator's tree: every operator knows an operator
above it, and joining this relation with itself doubles its reach, so a chain of a hundred takes seven joins. The name
of a chain is not built recursively either: every operator writes the text before and after its part of
the tree, and the path to it gives its position, by which the parts are sorted.
"""

from tidegate.conformance.engines import graphs
from tidegate.conformance.engines.spark.border import get_text
from tidegate.conformance.engines.spark.component import Component
from tidegate.conformance.engines.wire import Json, get_boolean, unknown_type

OPERATOR = ("id", "name", "kind", "strategy", "parallelism", "max_parallelism", "slot_group", "yielding")
EDGE = ("source", "target", "partitioner", "exchange")


def read(config: Json, events: list[Json]) -> Json:
    return {
        "chaining": get_boolean(config, "chaining"),
        "different": get_boolean(config, "chain_different_max_parallelism"),
        "events": [read_graph(event) for event in events],
    }


def read_graph(event: Json) -> Json:
    """Checked before it becomes rows: joins do not notice a cycle."""
    if event.get("type") != "graph":
        raise unknown_type(event)
    graphs.read_graph(event)
    for operator in event["operators"]:
        get_text(operator, "name")
        get_text(operator, "slot_group")
    return {
        "operators": [{name: operator[name] for name in OPERATOR} for operator in event["operators"]],
        "edges": [{name: edge[name] for name in EDGE} for edge in event["edges"]],
    }


PIECES = {
    "entering": "count(*) OVER (PARTITION BY id, step, edge.target)",
    "same_slots": "up.slot_group = down.slot_group",
    "goes_on": "up.strategy <> 'never'",
    "follows": "down.strategy = 'always' OR (down.strategy = 'head_with_sources' AND up.kind = 'source')",
    "forward": "partitioner = 'forward'",
    "same_parallelism": "up.parallelism = down.parallelism",
    "exchange": "exchange <> 'batch'",
    "same_max_parallelism": "different OR up.max_parallelism = down.max_parallelism",
    "hosted": "up.kind = 'source' AND leaving = 1 AND down.strategy = 'head_with_sources'",
    "cut": "IF(legacy, array_position(transform(path, p -> p.yielding), true), 0)",
    "order": "l.place",
    "alone": "children = 1",
}

_GRAPHS = """SELECT id, step, chaining, different, graph.operators, graph.edges
    FROM cases LATERAL VIEW posexplode(events) AS step, graph"""

_OPERATORS = """SELECT id, step, operator.id AS operator, operator.name, operator.kind, operator.strategy,
    operator.parallelism, operator.max_parallelism, operator.slot_group, operator.yielding
    FROM graphs LATERAL VIEW explode(operators) AS operator"""

_EDGES = """SELECT id, step, chaining, different, place, edge.*, {entering} AS entering,
    count(*) OVER (PARTITION BY id, step, edge.source) AS leaving
    FROM graphs LATERAL VIEW posexplode(edges) AS place, edge"""

_LINKS = """SELECT edges.id, edges.step, place, source, target, up.name AS source_name, {hosted} AS hosted
    FROM edges
    JOIN operators AS up ON up.id = edges.id AND up.step = edges.step AND up.operator = source
    JOIN operators AS down ON down.id = edges.id AND down.step = edges.step AND down.operator = target
    WHERE chaining AND entering = 1 AND ({same_slots}) AND ({goes_on}) AND ({follows}) AND ({forward})
        AND ({same_parallelism}) AND ({exchange}) AND ({same_max_parallelism})"""

#: Each operator with what is above it. A source that is an input of its target has no path: it belongs to the name and
#: the members of the target, which is the top of its own tree.
_PATHS = """SELECT o.id, o.step, operator, l.source, {order} AS place, i.source AS input,
        o.name || coalesce(' [' || i.source_name || ']', '') AS name,
        coalesce(l.source, operator) AS top, kind = 'legacy_source' AS legacy, l.source IS NOT NULL AS changed,
        IF(l.source IS NULL, array(), array(struct(operator, yielding, {order} AS place))) AS path
    FROM operators AS o
    LEFT JOIN links AS l ON NOT l.hosted AND l.id = o.id AND l.step = o.step AND l.target = operator
    LEFT JOIN links AS i ON i.hosted AND i.id = o.id AND i.step = o.step AND i.target = operator
    LEFT ANTI JOIN links AS h ON h.hosted AND h.id = o.id AND h.step = o.step AND h.source = operator"""

_LONGER_PATHS = """SELECT p.id, p.step, p.operator, p.source, p.place, p.input, p.name, above.top, above.legacy,
        above.top <> p.top AS changed, concat(above.path, p.path) AS path
    FROM paths AS p JOIN paths AS above ON above.id = p.id AND above.step = p.step AND above.operator = p.top"""

#: CHAIN-11: below a legacy source the first yielding operator of each path begins a chain of its own.
_CHAINS = """SELECT *, IF(cut = 0, top, path[cut - 1].operator) AS head,
        transform(slice(path, int(cut + 1), size(path)), p -> p.place) AS way
    FROM (SELECT *, {cut} AS cut FROM paths)"""

_FAMILIES = """SELECT *, row_number() OVER siblings AS rank, count(*) OVER family AS children
    FROM (SELECT *, operator <> head AS below FROM chains)
    WINDOW family AS (PARTITION BY id, step, head, below, source),
        siblings AS (PARTITION BY id, step, head, below, source ORDER BY place)"""

_PARTS = """SELECT id, step, head, way, array_compact(array(operator, input)) AS members, concat(CASE
        WHEN NOT below THEN '' WHEN {alone} THEN ' -> ' WHEN rank = 1 THEN ' -> (' ELSE ', ' END, name) AS part
    FROM families
    UNION ALL
    SELECT id, step, head, array_append(way, 2147483647), array(), ')' FROM families
    WHERE below AND rank = children AND NOT ({alone})"""

_VERTICES = """SELECT id, step, struct('vertex' AS type, head, array_sort(flatten(collect_list(members))) AS operators,
        array_join(transform(array_sort(collect_list(struct(way, part))), p -> p.part), '') AS name) AS vertex
    FROM parts GROUP BY id, step, head"""

#: From the graphs, because a graph without operators has no vertices, but needs an answer.
_STEPS = """SELECT id, transform(array_sort(collect_list(struct(step, vertices))), s -> s.vertices) AS steps FROM (
        SELECT graphs.id, graphs.step, array_sort(collect_list(vertex)) AS vertices
        FROM graphs LEFT JOIN vertices ON vertices.id = graphs.id AND vertices.step = graphs.step
        GROUP BY graphs.id, graphs.step)
    GROUP BY id"""

_OPERATOR = """STRUCT<id: BIGINT, name: STRING, kind: STRING, strategy: STRING, parallelism: INT,
    max_parallelism: INT, slot_group: STRING, yielding: BOOLEAN>"""
_EDGE = "STRUCT<source: BIGINT, target: BIGINT, partitioner: STRING, exchange: STRING>"

CHAINING = Component(
    name="chaining",
    claim={},
    columns=f"""chaining BOOLEAN, different BOOLEAN,
        events ARRAY<STRUCT<operators: ARRAY<{_OPERATOR}>, edges: ARRAY<{_EDGE}>>>""",
    read=read,
    views={
        "graphs": _GRAPHS,
        "operators": _OPERATORS,
        "edges": _EDGES,
        "links": _LINKS,
        "paths": _PATHS,
        "chains": _CHAINS,
        "families": _FAMILIES,
        "parts": _PARTS,
        "vertices": _VERTICES,
        "steps": _STEPS,
    },
    kept=frozenset({"operators", "links"}),
    repeated={"paths": _LONGER_PATHS},
    pieces=PIECES,
    show=list,
)
