"""The short forms of events of partitioners and wiring."""

from tidegate.traces.notation.forms import ACTIVE, IDLE, Form

FORMS: dict[str, tuple[Form, ...]] = {
    "wiring": (
        Form("wire", "wire"),
        Form("wire_dynamic", "wire{subpartitions:int}", (("broadcast", "no"),)),
        Form("wire_dynamic", "early{subpartitions:int}", (("broadcast", "early"),)),
        Form("wire_dynamic", "late{subpartitions:int}", (("broadcast", "late"),)),
    ),
    "partitioner": (
        Form("record", "r"),
        Form("record", "r{key__value:text}", (("key__type", "string"),)),
        Form("record", "r{key__value:int}", (("key__type", "int"),)),
        Form("record", "r{key__value:long}L", (("key__type", "long"),)),
        Form("watermark", "w{timestamp:long}"),
        Form("status", "i", IDLE),
        Form("status", "a", ACTIVE),
        Form("latency_marker", "m"),
    ),
}
