"""Buffers read back into records, SPAN-20 … SPAN-22, SPAN-27 and SPAN-29: a fold over buffers, and one over each.

A buffer of n bytes holds at most n / 4 + 1 headers, with one begun earlier, so the inner fold has as many
turns; turns after the last complete record change nothing.
"""

from typing import Any

from tidegate.conformance.engines.spark.border import read_bytes
from tidegate.conformance.engines.spark.component import Component, fold, let
from tidegate.conformance.engines.wire import Json, Observations

EVENTS = ("buffer", "clear")


def read(_config: Json, events: list[Json]) -> Json:
    return {"events": [read_bytes(event, "data", EVENTS) for event in events]}


PIECES = {
    "length": "int(conv(hex(substring(bytes, r.place, 4)), 16, 10))",
    "has_header": "octet_length(bytes) - r.place + 1 >= 4",
    "is_complete": "octet_length(bytes) - r.place - 3 >= length",
    "forgets": "X''",
    "is_last": "i = size(read.records) - 1 AND read.place > octet_length(bytes)",
    "is_partial": "read.place <= octet_length(bytes) OR octet_length(e.data) = 0",
}

#: One turn: the record that begins at `place`, if it is complete.
_TURN = let(
    "length",
    "IF({has_header}, {length}, NULL)",
    """IF({is_complete}, struct(r.place + 4 + length AS place,
        array_append(r.records, substring(bytes, r.place + 4, length)) AS records), r)""",
)

_READ = f"""aggregate(sequence(0, octet_length(bytes) div 4),
    struct(1 AS place, cast(array() AS ARRAY<BINARY>) AS records), (r, turn) -> {_TURN})"""

_SEEN = """concat(
    transform(read.records, (payload, i) -> struct(payload, IF({is_last}, 'last', 'intermediate') AS result)),
    IF({is_partial}, array(struct(cast(NULL AS BINARY) AS payload, 'partial' AS result)), array()))"""

_BUFFER = let(
    "bytes",
    "concat(s.gathered, e.data)",
    let("read", _READ, f"struct(substring(bytes, read.place) AS gathered, array_append(s.seen, {_SEEN}) AS seen)"),
)

_STEP = f"IF(e.type = 'clear', struct({{forgets}} AS gathered, array_append(s.seen, array()) AS seen), {_BUFFER})"

_START = "struct(X'' AS gathered, cast(array() AS ARRAY<ARRAY<STRUCT<payload: BINARY, result: STRING>>>) AS seen)"


def show(records: list[Any]) -> Observations:
    return [
        {"type": "partial"}
        if record["payload"] is None
        else {"type": "record", "payload": record["payload"].hex(), "result": record["result"]}
        for record in records
    ]


DESERIALIZER = Component(
    name="deserializer",
    claim={},
    columns="events ARRAY<STRUCT<type: STRING, data: BINARY>>",
    read=read,
    views={"steps": fold(_START, _STEP)},
    pieces=PIECES,
    show=show,
)
