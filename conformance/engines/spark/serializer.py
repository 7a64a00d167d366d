"""Records written across buffers, SPAN-1 … SPAN-14, as a fold over bytes.

The state is the fill level of the open buffer and its bytes that were not shown yet. A record is cut by
arithmetic: how many buffers it finishes, and where the first of them ends.
"""

from typing import Any

from tidegate.conformance.engines.spark.border import read_bytes
from tidegate.conformance.engines.spark.component import Component, fold, let
from tidegate.conformance.engines.wire import Json, Observations, get_at_least

EVENTS = ("record", "flush", "event", "finish")


def read(config: Json, events: list[Json]) -> Json:
    return {
        "size": get_at_least(config, "buffer_size", 1),
        "events": [read_bytes(event, "payload", EVENTS) for event in events],
    }


PIECES = {
    "header": "unhex(lpad(hex(octet_length(e.payload)), 8, '0'))",
    "finished": "(s.filled + octet_length(written)) div size",
    "flushed": "s.filled",
    "refused": "s.ended AND e.type <> 'flush'",
}

#: Where the first finished buffer ends in the bytes not shown yet.
_FIRST = "octet_length(s.pending) + size - s.filled"

_CUT = """transform(sequence(1, finished), n -> IF(n = 1, substring(bytes, 1, first),
    substring(bytes, int(first + (n - 2) * size + 1), size)))"""

_WRITTEN = f"""struct(
    int((s.filled + octet_length(written)) % size) AS filled,
    IF(finished = 0, bytes, substring(bytes, int(first + (finished - 1) * size + 1))) AS pending,
    false AS ended, array_append(s.seen, IF(finished = 0, array(), {_CUT})) AS seen)"""

_RECORD = let(
    "written",
    "concat({header}, e.payload)",
    let("bytes", "concat(s.pending, written)", let("first", _FIRST, let("finished", "{finished}", _WRITTEN))),
)

_OTHER = """struct(IF(e.type = 'flush', {flushed}, 0) AS filled, X'' AS pending, s.ended OR e.type = 'finish' AS ended,
    array_append(s.seen, filter(array(s.pending), b -> octet_length(b) > 0)) AS seen)"""

_STEP = f"""CASE
    WHEN {{refused}}
    THEN struct(s.filled, s.pending, s.ended, array_append(s.seen, array(cast(NULL AS BINARY))) AS seen)
    WHEN e.type = 'record' THEN {_RECORD}
    ELSE {_OTHER} END"""

_START = "struct(0 AS filled, X'' AS pending, false AS ended, cast(array() AS ARRAY<ARRAY<BINARY>>) AS seen)"


def show(buffers: list[Any]) -> Observations:
    return [{"type": "rejected"} if data is None else {"type": "buffer", "data": data.hex()} for data in buffers]


SERIALIZER = Component(
    name="serializer",
    claim={},
    columns="size INT, events ARRAY<STRUCT<type: STRING, payload: BINARY>>",
    read=read,
    views={"steps": fold(_START, _STEP)},
    pieces=PIECES,
    show=show,
)
