"""The short forms of events of watermarks and statuses."""

from itertools import product

from tidegate.traces.notation.forms import ACTIVE, IDLE, Form

#: The output that a split or a generator uses.
NOW, LATER = (("mode", "immediate"),), (("mode", "deferred"),)

FORMS: dict[str, tuple[Form, ...]] = {
    "latency_markers": (
        Form("open", "open"),
        Form("elapse", "elapse{milliseconds:int}"),
        Form("close", "close"),
    ),
    "input_gauges": (
        Form("watermark", "{input:int}w{timestamp:long}"),
        Form("record", "{input:int}r"),
        Form("attributes", "{input:int}backlog", (("backlog", True),)),
        Form("attributes", "{input:int}live", (("backlog", False),)),
        Form("measure", "measure"),
    ),
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
    "generalized_watermarks": (
        Form("number", "{channel:int}w{value:long}"),
        Form("truth", "{channel:int}w{value:sign}"),
    ),
    "idleness": (
        Form("record", "r{timestamp:long}"),
        Form("periodic_emit", "emit"),
        Form("advance", "+{ticks:int}"),
        Form("pause", "pause"),
        Form("resume", "resume"),
    ),
    "source_output": (
        Form("add_split", "add{split:int}"),
        Form("release_split", "drop{split:int}"),
        Form("record", "r{timestamp:long}"),
        Form("record", "r{timestamp:long}w{watermark:long}"),
        Form("record", "{split:int}r{timestamp:long}"),
        Form("record", "{split:int}r{timestamp:long}w{watermark:long}"),
        Form("watermark", "w{timestamp:long}", NOW),
        Form("watermark", "later-w{timestamp:long}", LATER),
        Form("watermark", "{split:int}w{timestamp:long}", NOW),
        Form("watermark", "{split:int}later-w{timestamp:long}", LATER),
        *(
            Form("status", f"{split}{door}{status[0]}", (*mode, ("status", status)))
            for split, (door, mode), status in product(
                ("", "{split:int}"), (("", NOW), ("later-", LATER)), ("idle", "active")
            )
        ),
        Form("periodic_emit", "emit"),
    ),
    "source_alignment": (
        Form("add_split", "add{split:int}"),
        Form("finish_split", "drop{split:int}"),
        Form("split_watermark", "{split:int}w{timestamp:long}"),
        Form("split_status", "{split:int}i", IDLE),
        Form("split_status", "{split:int}a", ACTIVE),
        Form("watermark", "w{timestamp:long}"),
        Form("status", "i", IDLE),
        Form("status", "a", ACTIVE),
        Form("sample", "sample"),
        Form("announce", "limit{timestamp:long}"),
        Form("end", "end"),
    ),
    "alignment_group": (
        Form("report", "{source:int}.{subtask:int}w{timestamp:long}"),
        Form("task_failed", "{source:int}.{subtask:int}fails"),
        Form("task_ready", "{source:int}.{subtask:int}ready"),
        Form("announce", "{source:int}announce"),
    ),
    "statuses": (
        Form("record", "{channel:int}r"),
        Form("watermark", "{channel:int}w{timestamp:long}"),
        Form("status", "{channel:int}i", IDLE),
        Form("status", "{channel:int}a", ACTIVE),
        Form("latency_marker", "{channel:int}m"),
    ),
}
