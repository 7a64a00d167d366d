"""Which consumer reads which subpartition of which producer, PART-15 … PART-17, in SQL."""

from tidegate.conformance.engines.spark.component import Component
from tidegate.conformance.engines.wire import Json, get_at_least, get_choice, unknown_type

PATTERNS = ("pointwise", "all_to_all")


def read(config: Json, events: list[Json]) -> Json:
    for event in events:
        if event.get("type") != "wire":
            raise unknown_type(event)
    return {
        "pattern": get_choice(config, "pattern", PATTERNS),
        "producers": get_at_least(config, "producers", 1),
        "consumers": get_at_least(config, "consumers", 1),
        "events": [event["type"] for event in events],
    }


PIECES = {
    #: the first producer of a consumer, and the first of the next one
    "from": "bigint(consumer) * producers div consumers",
    "until": "bigint(consumer + 1) * producers div consumers",
    #: the first consumer that a producer feeds, and the first of the next one
    "feeds_from": "(producer * consumers + producers - 1) div producers",
    "feeds_until": "((producer + 1) * consumers + producers - 1) div producers",
    "own": "consumer % (feeds_until - feeds_from)",
    "all_to_all": "consumer",
}

_CONSUMERS = """SELECT id, pattern, producers, consumers, events, consumer FROM cases
    LATERAL VIEW explode(sequence(0, consumers - 1)) AS consumer"""

#: With more consumers than producers every consumer reads one producer, so that the run is never empty.
_RUNS = """SELECT *, producer FROM ({consumers}) LATERAL VIEW explode(
    CASE WHEN pattern = 'all_to_all' THEN sequence(0L, producers - 1L)
        WHEN producers < consumers THEN array({from})
        ELSE sequence({from}, {until} - 1) END) AS producer"""

_READS = """SELECT id, events, struct('reads' AS type, consumer, producer, CASE
        WHEN pattern = 'all_to_all' THEN {all_to_all}
        WHEN producers < consumers THEN {own}
        ELSE 0L END AS subpartition) AS pair
    FROM (SELECT *, {feeds_from} AS feeds_from, {feeds_until} AS feeds_until FROM runs)"""

WIRING = Component(
    name="wiring",
    claim={},
    columns="pattern STRING, producers INT, consumers INT, events ARRAY<STRING>",
    read=read,
    views={
        "runs": _RUNS.replace("{consumers}", _CONSUMERS),
        "reads": _READS,
        "wired": "SELECT id, first(events) AS events, array_sort(collect_list(pair)) AS pairs FROM reads GROUP BY id",
        "steps": "SELECT id, transform(events, e -> pairs) AS steps FROM wired",
    },
    pieces=PIECES,
    show=list,
)
