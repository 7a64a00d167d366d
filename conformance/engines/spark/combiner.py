"""The watermark combiner of several inputs, COMB, as a fold over the events of a case."""

from tidegate.conformance.engines.spark.border import SIGNALS, read_signal
from tidegate.conformance.engines.spark.component import LOWEST, Component, fold, let, show_words
from tidegate.conformance.engines.wire import Json, get_at_least, get_semantics

SEMANTICS = ("flink-38454", "flink-18934")


def read(config: Json, events: list[Json]) -> Json:
    return {
        "inputs": get_at_least(config, "inputs", 1),
        "flushes": get_semantics(config, SEMANTICS) == "flink-38454",
        "events": [read_signal(event, "input") for event in events],
    }


PIECES = {
    "higher": "greatest(c.mark, e.timestamp)",
    "woken": "false",
    "counts": "NOT c.idle",
    "all_idle": "IF(flushes, array_max(transform(inputs, c -> c.mark)), NULL)",
    "news": "candidate > s.combined",
    "forwards": "e.type <> 'watermark' AND idle <> s.idle",
    "sends": "string(emitted), status",
}

_CHANGED = """transform(s.inputs, (c, i) -> IF(i <> e.place, c, IF(e.type = 'watermark',
    struct({higher} AS mark, {woken} AS idle), struct(c.mark AS mark, e.type = 'idle' AS idle))))"""

_CANDIDATE = "IF(idle, {all_idle}, array_min(transform(filter(inputs, c -> {counts}), c -> c.mark)))"

_AFTER = """struct(inputs, coalesce(emitted, s.combined) AS combined, idle,
    array_append(s.seen, array_compact(array({sends}))) AS seen)"""

_STATUS = let("status", "IF({forwards}, e.type, NULL)", _AFTER)
_EMITTED = let("emitted", "IF({news}, candidate, NULL)", _STATUS)
_EFFECT = let("idle", "forall(inputs, c -> c.idle)", let("candidate", _CANDIDATE, _EMITTED))

_STEP = f"""IF(s.inputs[e.place] IS NULL,
    struct(s.inputs, s.combined, s.idle, array_append(s.seen, array('rejected')) AS seen),
    {let("inputs", _CHANGED, _EFFECT)})"""

_START = f"""struct(array_repeat(struct({LOWEST} AS mark, false AS idle), inputs) AS inputs,
    {LOWEST} AS combined, false AS idle, cast(array() AS ARRAY<ARRAY<STRING>>) AS seen)"""

COMBINER = Component(
    name="combiner",
    claim={"semantics": list(SEMANTICS)},
    columns=f"inputs INT, flushes BOOLEAN, {SIGNALS}",
    read=read,
    views={"steps": fold(_START, _STEP)},
    pieces=PIECES,
    show=show_words,
)
