"""The short forms of events of watermarks and statuses."""

from tidegate.traces.notation.forms import ACTIVE, IDLE, Form

FORMS: dict[str, tuple[Form, ...]] = {
    "valve": (
        Form("watermark", "{channel:int}w{timestamp:long}"),
        Form("status", "{channel:int}i", IDLE),
        Form("status", "{channel:int}a", ACTIVE),
    ),
    "combiner": (
        Form("watermark", "{input:int}w{timestamp:long}"),
        Form("status", "{input:int}i", IDLE),
        Form("status", "{input:int}a", ACTIVE),
    ),
    "multiplexer": (
        Form("register", "add{output:int}"),
        Form("unregister", "drop{output:int}"),
        Form("watermark", "{output:int}w{timestamp:long}", (("mode", "immediate"),)),
        Form("watermark", "{output:int}later-w{timestamp:long}", (("mode", "deferred"),)),
        Form("status", "{output:int}i", (("mode", "immediate"), ("status", "idle"))),
        Form("status", "{output:int}a", (("mode", "immediate"), ("status", "active"))),
        Form("status", "{output:int}later-i", (("mode", "deferred"), ("status", "idle"))),
        Form("status", "{output:int}later-a", (("mode", "deferred"), ("status", "active"))),
        Form("periodic_emit", "emit"),
    ),
    "statuses": (
        Form("record", "{channel:int}r"),
        Form("watermark", "{channel:int}w{timestamp:long}"),
        Form("status", "{channel:int}i", IDLE),
        Form("status", "{channel:int}a", ACTIVE),
        Form("latency_marker", "{channel:int}m"),
    ),
}
