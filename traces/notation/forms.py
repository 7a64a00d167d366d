"""The forms of the short notation: how each type of event of each component is written in one word."""

import json
import re
from collections.abc import Callable
from itertools import zip_longest
from typing import Any

import attrs

from tidegate.traces.notation.exchange_forms import EXCHANGE_FORMS
from tidegate.traces.notation.subpartition_forms import SUBPARTITION_FORMS


def one_word(value: Any) -> str:
    """JSON without any white space, so that a token stays one word."""
    return json.dumps(value, separators=(",", ":")).replace(" ", r"\u0020")


@attrs.frozen
class Field:
    """How one value stands in a token."""

    pattern: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]


FIELDS = {
    "int": Field(r"(-?\d+)", int, str),
    "long": Field(r"(-?\d+)", str, str),
    "hex": Field(r"([0-9a-f]*)", str, str),
    "sign": Field(r"([+-])", lambda text: text == "+", lambda value: "+" if value else "-"),
    "text": Field(r'("[^"\s]*")', json.loads, one_word),
}
PLACEHOLDER = re.compile(r"\{(\w+):(\w+)\}")


@attrs.frozen
class Form:
    """How one type of event is written: `{channel:int}w{timestamp:long}`, and what the form leaves unsaid."""

    type: str
    template: str
    fixed: tuple[tuple[str, Any], ...] = ()

    def pattern(self) -> re.Pattern[str]:
        literals = map(re.escape, PLACEHOLDER.split(self.template)[::3])
        fields = [FIELDS[kind].pattern for _path, kind in PLACEHOLDER.findall(self.template)]
        return re.compile("".join(part for pair in zip_longest(literals, fields, fillvalue="") for part in pair))

    def read(self, token: str) -> dict[str, Any] | None:
        match = self.pattern().fullmatch(token)
        if match is None:
            return None
        values = zip(PLACEHOLDER.findall(self.template), match.groups(), strict=True)
        event: dict[str, Any] = {"type": self.type}
        for (path, kind), text in values:
            put(event, path, FIELDS[kind].read(text))
        for path, value in self.fixed:
            put(event, path, value)
        return event

    def shown(self) -> str:
        """The form with the names of its values, for people."""
        return PLACEHOLDER.sub(lambda match: f"<{match[1].rpartition('__')[2]}>", self.template)

    def write(self, event: dict[str, Any]) -> str:
        return PLACEHOLDER.sub(lambda match: FIELDS[match[2]].write(get(event, match[1])), self.template)


def put(event: dict[str, Any], path: str, value: Any) -> None:
    *folders, name = path.split("__")
    for folder in folders:
        event = event.setdefault(folder, {})
    event[name] = value


def get(event: dict[str, Any], path: str) -> Any:
    value: Any = event
    for name in path.split("__"):
        value = value.get(name) if isinstance(value, dict) else None
    return value


IDLE, ACTIVE = (("status", "idle"),), (("status", "active"),)
IMMEDIATE, DEFERRED = (("mode", "immediate"),), (("mode", "deferred"),)

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
        Form("watermark", "{output:int}w{timestamp:long}", IMMEDIATE),
        Form("watermark", "{output:int}later-w{timestamp:long}", DEFERRED),
        Form("status", "{output:int}i", IMMEDIATE + IDLE),
        Form("status", "{output:int}a", IMMEDIATE + ACTIVE),
        Form("status", "{output:int}later-i", DEFERRED + IDLE),
        Form("status", "{output:int}later-a", DEFERRED + ACTIVE),
        Form("periodic_emit", "emit"),
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
    "wiring": (Form("wire", "wire"),),
    "serializer": (
        Form("record", "r{payload:hex}"),
        Form("flush", "flush"),
        Form("event", "event"),
        Form("finish", "finish"),
    ),
    "deserializer": (Form("buffer", "b{data:hex}"), Form("clear", "clear")),
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
    "chain_lifecycle": (
        Form("create", "create"),
        Form("open", "open"),
        Form("end_input", "{input:int}end"),
        Form("mail", "{operator:int}mail"),
        Form("finish", "drain", (("drain", True),)),
        Form("finish", "stop", (("drain", False),)),
        *(
            Form("checkpoint", step, (("step", step),))
            for step in ("prepare", "snapshot", "complete", "abort", "subsume")
        ),
        Form("close", "close"),
    ),
    "outputs": (
        Form("record", "r{content:int}"),
        Form("watermark", "w{timestamp:long}"),
        Form("status", "i", IDLE),
        Form("status", "a", ACTIVE),
        Form("latency_marker", "m"),
        Form("record_attributes", "attributes"),
        Form("barrier", "barrier{unaligned:sign}"),
        Form("end_of_data", "end"),
        Form("fault", "{output:int}fault{hops:int}"),
        Form("read_metrics", "metrics"),
    ),
    "gate": (
        Form("arrive", "{channel:int}data", (("item", "data"),)),
        Form("arrive", "{channel:int}end", (("item", "end_of_data"),)),
        Form("arrive", "{channel:int}over", (("item", "end_of_partition"),)),
        Form("poll", "poll"),
    ),
    "priority_gate": (
        Form("arrive", "{channel:int}data", (("item", "data"),)),
        Form("arrive", "{channel:int}end", (("item", "end_of_data"),)),
        Form("arrive", "{channel:int}over", (("item", "end_of_partition"),)),
        Form("arrive", "{channel:int}priority", (("item", "priority"),)),
        Form("arrive", "{channel:int}barrier", (("item", "barrier"),)),
        Form("notify", "{channel:int}notify"),
        Form("notify_priority", "{channel:int}urgent{sequence:int}"),
        Form("force", "{channel:int}force"),
        Form("poll", "poll"),
    ),
    "union_gate": (
        Form("arrive", "{member:int}.{channel:int}data", (("item", "data"),)),
        Form("arrive", "{member:int}.{channel:int}end", (("item", "end_of_data"),)),
        Form("arrive", "{member:int}.{channel:int}stop", (("item", "stop"),)),
        Form("arrive", "{member:int}.{channel:int}over", (("item", "end_of_partition"),)),
        Form("poll", "poll"),
    ),
    "input_channels": (
        Form("request_partitions", "request"),
        Form("update", "{channel:int}local", (("location", "local"),)),
        Form("update", "{channel:int}remote", (("location", "remote"),)),
        Form("register", "{channel:int}register"),
        Form("retry", "{channel:int}retry"),
        Form("not_found", "{channel:int}missing"),
        Form("arrive", "{channel:int}data{sequence:int}", (("item", "data"),)),
        Form("arrive", "{channel:int}empty{sequence:int}", (("item", "empty"),)),
        Form("arrive", "{channel:int}event{sequence:int}", (("item", "event"),)),
        Form("fail", "{channel:int}failed", (("cause", "producer_failed"),)),
        Form("fail", "{channel:int}lost", (("cause", "connection_lost"),)),
        Form("read", "{channel:int}read"),
        Form("task_event", "task{event:int}"),
        Form("close", "close"),
    ),
    "network_input": (
        Form("buffer", "{channel:int}b{data:hex}"),
        Form("event", "{channel:int}barrier", (("kind", "barrier"),)),
        Form("event", "{channel:int}end", (("kind", "end_of_data"),)),
        Form("event", "{channel:int}stop", (("kind", "stop"),)),
        Form("event", "{channel:int}over", (("kind", "end_of_partition"),)),
        Form("process", "call", (("batch", False),)),
        Form("process", "batch", (("batch", True),)),
    ),
    "multiple_inputs": (
        Form("buffer", "{input:int}.{channel:int}b{data:hex}"),
        Form("event", "{input:int}.{channel:int}barrier", (("kind", "barrier"),)),
        Form("event", "{input:int}.{channel:int}end", (("kind", "end_of_data"),)),
        Form("event", "{input:int}.{channel:int}stop", (("kind", "stop"),)),
        Form("event", "{input:int}.{channel:int}over", (("kind", "end_of_partition"),)),
        Form("process", "call", (("batch", False),)),
        Form("process", "batch", (("batch", True),)),
    ),
    "job": (
        Form("choice", "emit{at:int}", (("action", "emit"),)),
        Form("choice", "poll{at:int}", (("action", "poll"),)),
        Form("choice", "flush{at:int}", (("action", "flush"),)),
        Form("choice", "deliver{at:int}", (("action", "deliver"),)),
        Form("choice", "announce{at:int}", (("action", "announce"),)),
        Form("choice", "credit{at:int}", (("action", "deliver_credit"),)),
    ),
    "mailbox": (
        Form("put", "put{mail:int}@{priority:int}", (("kind", "normal"), ("thread", "other"))),
        Form("put", "own{mail:int}@{priority:int}", (("kind", "normal"), ("thread", "mailbox"))),
        Form("put", "urgent{mail:int}@{priority:int}", (("kind", "urgent"), ("thread", "other"))),
        Form("put", "ownurgent{mail:int}@{priority:int}", (("kind", "urgent"), ("thread", "mailbox"))),
        Form("put", "later{mail:int}@{priority:int}", (("kind", "deferrable"), ("thread", "other"))),
        Form("put", "ownlater{mail:int}@{priority:int}", (("kind", "deferrable"), ("thread", "mailbox"))),
        Form("batch", "batch"),
        Form("take_from_batch", "next"),
        Form("take", "take{priority:int}"),
        Form("loop", "loop"),
        Form("step", "step"),
        Form("suspend_default", "suspend", (("thread", "mailbox"),)),
        Form("resume", "resume{handle:int}", (("thread", "other"),)),
        Form("resume", "ownresume{handle:int}", (("thread", "mailbox"),)),
        Form("complete", "complete", (("thread", "other"),)),
        Form("complete", "owncomplete", (("thread", "mailbox"),)),
        Form("suspend_loop", "leave", (("thread", "other"),)),
        Form("suspend_loop", "ownleave", (("thread", "mailbox"),)),
        Form("quiesce", "quiesce", (("thread", "mailbox"),)),
        Form("close", "close", (("thread", "mailbox"),)),
        Form("drain", "drain"),
        Form("has_mail", "mail?"),
    ),
    "barriers": (
        Form("barrier", "{channel:int}b{checkpoint:long}", (("mode", "aligned"), ("created", "0"))),
        Form("barrier", "{channel:int}t{checkpoint:long}", (("mode", "timeout"), ("created", "0"))),
        Form("barrier", "{channel:int}u{checkpoint:long}", (("mode", "unaligned"), ("created", "0"))),
        Form("barrier", "{channel:int}b{checkpoint:long}@{created:long}", (("mode", "aligned"),)),
        Form("barrier", "{channel:int}t{checkpoint:long}@{created:long}", (("mode", "timeout"),)),
        Form("barrier", "{channel:int}u{checkpoint:long}@{created:long}", (("mode", "unaligned"),)),
        Form("announcement", "{channel:int}n{checkpoint:long}#{sequence:int}@{created:long}"),
        Form("cancel", "{channel:int}c{checkpoint:long}"),
        Form("end_of_partition", "{channel:int}e"),
        Form("advance", "+{milliseconds:int}"),
    ),
    "task": (
        Form("start", "start"),
        Form("proceed", "proceed"),
        Form("throw", "throw", (("cancelled", False),)),
        Form("throw", "throw-cancelled", (("cancelled", True),)),
        Form("cancel", "cancel{seen:text}"),
        Form("fail", "fail{seen:text}"),
        Form("end_of_data", "drain", (("drain", True),)),
        Form("end_of_data", "stop", (("drain", False),)),
        Form("acknowledge", "ack{output:int}"),
    ),
    "statuses": (
        Form("record", "{channel:int}r"),
        Form("watermark", "{channel:int}w{timestamp:long}"),
        Form("status", "{channel:int}i", IDLE),
        Form("status", "{channel:int}a", ACTIVE),
        Form("latency_marker", "{channel:int}m"),
    ),
    **{name: tuple(Form(*plain) for plain in forms) for name, forms in (SUBPARTITION_FORMS | EXCHANGE_FORMS).items()},
}
