"""The short forms of events of the writer and of shared connections: type, template, what is unsaid.

They are forms of `notation`, which makes them of these.
"""

from tidegate.traces.notation.subpartition_forms import Plain

EXCHANGE_FORMS: dict[str, tuple[Plain, ...]] = {
    "writer": (
        ("record", "{channel:int}r{payload:hex}", ()),
        ("broadcast", "r{payload:hex}", ()),
        ("event", "event", ()),
        ("hint", "{channel:int}size{size:int}", ()),
        ("pool", "pool{available:sign}", ()),
        ("flush", "flush", ()),
        ("elapse", "+{milliseconds:int}", ()),
        ("fail", "fail", ()),
        ("finish", "finish", ()),
    ),
    "credit_connection": (
        ("add", "{reader:int}data", (("item", "data"),)),
        ("add", "{reader:int}empty", (("item", "empty"),)),
        ("add", "{reader:int}event", (("item", "event"),)),
        ("add", "{reader:int}barrier", (("item", "barrier"),)),
        ("add", "{reader:int}end", (("item", "end_of_partition"),)),
        ("flush", "{reader:int}flush", ()),
        ("credit", "{reader:int}credit{amount:int}", ()),
        ("resume", "{reader:int}resume", ()),
        ("cancel", "{reader:int}cancel", ()),
        ("fail", "{reader:int}fail", ()),
        ("writable", "writable{value:sign}", ()),
        ("break", "break", ()),
    ),
    "credit_loop": (
        ("choice", "{channel:int}write", (("action", "write"),)),
        ("choice", "{channel:int}barrier", (("action", "barrier"),)),
        ("choice", "{channel:int}flush", (("action", "flush"),)),
        ("choice", "{channel:int}deliver", (("action", "deliver"),)),
        ("choice", "{channel:int}consume", (("action", "consume"),)),
        ("choice", "{channel:int}announce", (("action", "announce"),)),
        ("choice", "{channel:int}credit", (("action", "deliver_credit"),)),
    ),
}
