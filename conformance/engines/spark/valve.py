"""The status-watermark valve, VALVE, as a fold over the events of a case.

The state is a row: the channels, the last output, whether the valve is active. Each event changes at most
one channel; the output follows from the channels after that.
"""

from tidegate.conformance.engines.spark.border import SIGNALS, read_signal
from tidegate.conformance.engines.spark.component import LOWEST, Component, fold, let, show_words
from tidegate.conformance.engines.wire import Json, get_at_least, get_semantics

SEMANTICS = ("flink-7728", "flink-40475")


def read(config: Json, events: list[Json]) -> Json:
    return {
        "channels": get_at_least(config, "channels", 1),
        "dated": get_semantics(config, SEMANTICS) == "flink-7728",
        "events": [read_signal(event, "channel") for event in events],
    }


PIECES = {
    "unheard": "NOT own.active",
    "stale": "e.timestamp <= own.mark",
    "caught_up": "c.aligned OR e.timestamp >= s.last",
    "idle_mark": "c.mark",
    "rejoins": "c.mark >= s.last",
    "counts": "c.aligned",
    "rechecks": "own.mark = s.last",
    "flushes": "own.mark = s.last OR NOT dated",
    "rederives": "NOT dated",
    "slowest": "array_min",
    "news": "candidate > s.last",
}

_CHANGED = """transform(s.channels, (c, i) -> IF(i <> e.place, c, CASE e.type
    WHEN 'watermark' THEN struct(e.timestamp AS mark, true AS active, {caught_up} AS aligned)
    WHEN 'idle' THEN struct({idle_mark} AS mark, false AS active, false AS aligned)
    ELSE struct(c.mark AS mark, true AS active, {rejoins} AS aligned) END))"""

_CANDIDATE = """CASE
    WHEN e.type = 'watermark' OR (e.type = 'idle' AND active AND ({rechecks})) OR (e.type = 'active' AND {rederives})
    THEN {slowest}(transform(filter(channels, c -> {counts}), c -> c.mark))
    WHEN e.type = 'idle' AND NOT active AND ({flushes})
    THEN array_max(transform(channels, c -> c.mark)) END"""

_SEEN = """array_compact(array(
    IF(active AND NOT s.active, 'active', NULL), string(emitted), IF(s.active AND NOT active, 'idle', NULL)))"""

_AFTER = f"""struct(channels, coalesce(emitted, s.last) AS last, active, array_append(s.seen, {_SEEN}) AS seen)"""

_EMITTED = let("emitted", "IF({news}, candidate, NULL)", _AFTER)
_EFFECT = let("active", "exists(channels, c -> c.active)", let("candidate", _CANDIDATE, _EMITTED))

_STEP = f"""CASE
    WHEN own IS NULL
    THEN struct(s.channels, s.last, s.active, array_append(s.seen, array('rejected')) AS seen)
    WHEN (e.type = 'watermark' AND ({{unheard}} OR {{stale}}))
        OR (e.type = 'idle' AND NOT own.active) OR (e.type = 'active' AND own.active)
    THEN struct(s.channels, s.last, s.active, array_append(s.seen, array()) AS seen)
    ELSE {let("channels", _CHANGED, _EFFECT)} END"""

_START = f"""struct(
    array_repeat(struct({LOWEST} AS mark, true AS active, true AS aligned), channels) AS channels,
    {LOWEST} AS last, true AS active, cast(array() AS ARRAY<ARRAY<STRING>>) AS seen)"""

VALVE = Component(
    name="valve",
    claim={"semantics": list(SEMANTICS)},
    columns=f"channels INT, dated BOOLEAN, {SIGNALS}",
    read=read,
    views={"steps": fold(_START, let("own", "s.channels[e.place]", _STEP))},
    pieces=PIECES,
    show=show_words,
)
