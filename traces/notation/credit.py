"""The short forms of events of credit-based flow control."""

from tidegate.traces.notation.forms import Form

FORMS: dict[str, tuple[Form, ...]] = {
    "credit_sender": (
        Form("data", "data"),
        Form("event", "event"),
        Form("barrier", "barrier"),
        Form("flush", "flush"),
        Form("credit", "credit{amount:int}"),
        Form("resume", "resume"),
        Form("writable", "writable{value:sign}"),
        Form("finish", "finish"),
    ),
    "credit_receiver": (
        Form("data", "{channel:int}data{backlog:int}"),
        Form("event", "{channel:int}event{backlog:int}"),
        Form("backlog", "{channel:int}backlog{backlog:int}"),
        Form("recycle", "{channel:int}recycle"),
        Form("announce", "{channel:int}announce"),
        Form("barrier", "{channel:int}barrier"),
        Form("resume", "{channel:int}resume"),
    ),
    "credit_connection": (
        Form("add", "{reader:int}data", (("item", "data"),)),
        Form("add", "{reader:int}empty", (("item", "empty"),)),
        Form("add", "{reader:int}event", (("item", "event"),)),
        Form("add", "{reader:int}barrier", (("item", "barrier"),)),
        Form("add", "{reader:int}end", (("item", "end_of_partition"),)),
        Form("flush", "{reader:int}flush"),
        Form("credit", "{reader:int}credit{amount:int}"),
        Form("resume", "{reader:int}resume"),
        Form("cancel", "{reader:int}cancel"),
        Form("fail", "{reader:int}fail"),
        Form("writable", "writable{value:sign}"),
        Form("break", "break"),
    ),
    "credit_loop": (
        Form("choice", "{channel:int}write", (("action", "write"),)),
        Form("choice", "{channel:int}barrier", (("action", "barrier"),)),
        Form("choice", "{channel:int}flush", (("action", "flush"),)),
        Form("choice", "{channel:int}deliver", (("action", "deliver"),)),
        Form("choice", "{channel:int}consume", (("action", "consume"),)),
        Form("choice", "{channel:int}announce", (("action", "announce"),)),
        Form("choice", "{channel:int}credit", (("action", "deliver_credit"),)),
    ),
}
