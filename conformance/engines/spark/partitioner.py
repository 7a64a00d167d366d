"""A network output with its partitioner, PART-1 … PART-10 and OUT, over a numbered table of elements.

Nothing is folded: the number of earlier records and the last status, which an element needs, are a
window over the rows of its case. If any channel is allowed, a hash of the row decides, so that a replayed batch
gives the same answers however Spark partitions it.
"""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.spark import keys
from tidegate.conformance.engines.spark.border import get_text
from tidegate.conformance.engines.spark.component import Component

KINDS = ("forward", "rebalance", "rescale", "shuffle", "global", "broadcast", "hash")


def read(config: wire.Json, events: list[wire.Json]) -> wire.Json:
    kind = wire.get_choice(config, "kind", KINDS)
    return {
        "kind": kind,
        "channels": wire.get_at_least(config, "channels", 1),
        "max_parallelism": wire.get_at_least(config, "max_parallelism", 1) if kind == "hash" else None,
        "events": [read_element(event, keyed=kind == "hash") for event in events],
    }


def read_element(event: wire.Json, *, keyed: bool) -> wire.Json:
    kind = event.get("type")
    if kind == "record":
        return {"type": kind, **(read_key(event.get("key")) if keyed else {})}
    if kind == "watermark":
        wire.get_long(event, "timestamp")
        return {"type": kind}
    if kind == "status":
        return {"type": kind, "status": wire.get_choice(event, "status", ("idle", "active"))}
    if kind == "latency_marker":
        return {"type": kind}
    raise wire.unknown_type(event)


def read_key(key: wire.Json | None) -> wire.Json:
    if type(key) is not dict:
        raise wire.BadRequestError("key must be an object")
    kind = wire.get_choice(key, "type", ("string", "int", "long"))
    if kind == "string":
        return {"key_type": kind, "text": get_text(key, "value")}
    number = wire.get_integer(key, "value") if kind == "int" else wire.get_long(key, "value")
    return {"key_type": kind, "number": number}


PIECES = {
    **keys.PIECES,
    "turn": "count_if(type = 'record') OVER earlier",
    "announced": "coalesce(last(status, true) OVER earlier, 'active')",
    "first_of_rebalance": "pmod(xxhash64(id), channels)",
    "passes": "announced = 'active'",
    "is_news": "status <> announced",
    "marker": "array(int(pmod(xxhash64(id, step), channels)))",
}

_ELEMENTS = """SELECT id, kind, channels, max_parallelism, step, element.* FROM cases
    LATERAL VIEW posexplode(events) AS step, element"""

_SENDS = """CASE type
    WHEN 'record' THEN CASE kind
        WHEN 'broadcast' THEN sequence(0, channels - 1)
        WHEN 'hash' THEN array(channel)
        WHEN 'rescale' THEN array(int(turn % channels))
        WHEN 'rebalance' THEN array(int((turn + {first_of_rebalance}) % channels))
        WHEN 'shuffle' THEN array(int(pmod(xxhash64(id, step), channels)))
        ELSE array(0) END
    WHEN 'watermark' THEN IF({passes}, sequence(0, channels - 1), array())
    WHEN 'status' THEN IF({is_news}, sequence(0, channels - 1), array())
    ELSE {marker} END"""


def show(channels: list[int]) -> wire.Observations:
    return [{"type": "send", "channel": channel} for channel in channels]


PARTITIONER = Component(
    name="partitioner",
    claim={"kinds": list(KINDS)},
    columns="""kind STRING, channels INT, max_parallelism INT,
        events ARRAY<STRUCT<type: STRING, status: STRING, key_type: STRING, text: STRING, number: BIGINT>>""",
    read=read,
    views={
        "elements": f"""SELECT *, {{turn}} AS turn, {{announced}} AS announced
            FROM ({keys.with_channel(_ELEMENTS)})
            WINDOW earlier AS (PARTITION BY id ORDER BY step ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)""",
        "steps": f"""SELECT id, transform(array_sort(collect_list(struct(step, {_SENDS} AS sends))), s -> s.sends)
            AS steps FROM elements GROUP BY id""",
    },
    pieces=PIECES,
    show=show,
)
