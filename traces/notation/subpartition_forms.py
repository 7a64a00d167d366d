"""The short forms of events of subpartitions, partitions and what they are made of: type, template, what is unsaid.

They are forms of `notation`, which makes them of these.
"""

from typing import Any

Plain = tuple[str, str, tuple[tuple[str, Any], ...]]

DONE = (("finished", True),)
OPEN = (("finished", False),)

SUBPARTITION_FORMS: dict[str, tuple[Plain, ...]] = {
    "subpartition": (
        ("buffer", "data:{data:hex}", DONE),
        ("buffer", "open:{data:hex}", OPEN),
        ("append", "append:{data:hex}", ()),
        ("finish_buffer", "close", ()),
        ("event", "event", (("kind", "event"),)),
        ("event", "end", (("kind", "end_of_data"),)),
        ("event", "barrier", (("kind", "barrier"),)),
        ("event", "recovered", (("kind", "recovery_completion"),)),
        ("event", "watermark", (("kind", "aligned_watermark"),)),
        ("event", "priority", (("kind", "priority"),)),
        ("flush", "flush", ()),
        ("finish", "finish", ()),
        ("release", "release", ()),
        ("view", "view", ()),
        ("poll", "poll", ()),
        ("query", "query{credit:sign}", ()),
        ("resume", "resume", ()),
        ("size", "size{size:int}", ()),
    ),
    "buffer": (
        ("append", "append:{data:hex}", ()),
        ("commit", "commit", ()),
        ("finish", "finish", ()),
        ("close_builder", "close", ()),
        ("consume", "consume", ()),
        ("copy", "{consumer:int}copy", ()),
        ("inspect", "{consumer:int}inspect", ()),
        ("build", "{consumer:int}build", ()),
        ("recycle", "{consumer:int}recycle", ()),
        ("close", "{consumer:int}close", ()),
    ),
    "blocking_subpartition": (
        ("buffer", "data:{data:hex}", DONE),
        ("buffer", "open:{data:hex}", OPEN),
        ("append", "append:{data:hex}", ()),
        ("finish_buffer", "close", ()),
        ("end_of_data", "end", ()),
        ("flush", "flush", ()),
        ("finish", "finish", ()),
        ("release", "release", ()),
        ("lose_file", "lose", ()),
        ("view", "view", ()),
        ("poll", "{view:int}poll", ()),
        ("recycle", "{view:int}recycle", ()),
        ("query", "{view:int}query{credit:sign}", ()),
        ("release_view", "{view:int}leave", ()),
    ),
    "result_partition": (
        ("setup", "setup", ()),
        ("request", "{subpartition:int}request", (("listen", False),)),
        ("request", "{subpartition:int}listen", (("listen", True),)),
        ("expire", "expire", ()),
        ("emit", "{subpartition:int}emit:{data:hex}", ()),
        ("broadcast", "broadcast:{data:hex}", ()),
        ("end_of_data", "drain", (("drain", True),)),
        ("end_of_data", "stop", (("drain", False),)),
        ("flush", "flush", ()),
        ("finish", "finish", ()),
        ("close", "close", ()),
        ("fail", "fail", ()),
        ("poll", "{view:int}poll", ()),
        ("release_view", "{view:int}leave", ()),
        ("release", "release", (("by", "manager"),)),
        ("release", "drop", (("by", "producer"),)),
        ("shutdown", "shutdown", ()),
    ),
    "exchange": (
        ("register", "register", ()),
        ("request", "{consumer:int}request", ()),
        ("produce", "produce", ()),
        ("flush", "flush", ()),
        ("finish", "finish", ()),
        ("pull", "{consumer:int}pull{credit:sign}", ()),
        ("leave", "{consumer:int}leave", ()),
        ("release", "release", ()),
        ("end_job", "end_job", ()),
    ),
}
