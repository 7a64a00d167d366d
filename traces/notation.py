"""The short notation of traces: `0w10 1w7 1i 0i 1a`.

For people: in reports, in directed traces, on the command line. Each component has a few forms, one for each type of
event; an event that has none, or a value that the form cannot carry, is written as JSON without spaces. What is
printed is always read back as the same event.
"""

import json
import re
from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import Any

import attrs

from traces.codec import DecodeError, decode, encode, event_type
from traces.graph_notation import read_graph, write_graph


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
    "gate": (
        Form("arrive", "{channel:int}data", (("item", "data"),)),
        Form("arrive", "{channel:int}end", (("item", "end_of_data"),)),
        Form("arrive", "{channel:int}over", (("item", "end_of_partition"),)),
        Form("poll", "poll"),
    ),
}


def write_event(component: str, event: Any) -> str:
    encoded = encode(event)
    if component == "chaining":
        token = write_graph(encoded)
        if read_graph(token) == encoded:
            return token
    for form in FORMS.get(component, ()):
        if form.type == encoded["type"]:
            token = form.write(encoded)
            if " " not in token and form.read(token) == encoded:
                return token
    return one_word(encoded)


def write_trace(component: str, events: Iterable[Any]) -> str:
    return " ".join(write_event(component, event) for event in events)


def read_event(component: str, token: str) -> Any:
    return decode(read_token(component, token), event_type(component), token)


def read_token(component: str, token: str) -> Any:
    if token.startswith("{"):
        try:
            return json.loads(token)
        except ValueError as error:
            raise DecodeError(f"{token!r}: {error}") from None
    if component == "chaining" and (graph := read_graph(token)) is not None:
        return graph
    forms = FORMS.get(component, ())
    for form in forms:
        event = form.read(token)
        if event is not None:
            return event
    known = " ".join(form.shown() for form in forms) or "JSON objects"
    raise DecodeError(f"{token!r} is no event of {component}; its forms are: {known}")


def read_trace(component: str, text: str) -> tuple[Any, ...]:
    return tuple(read_event(component, token) for token in text.split())


def write_observation(observation: Any) -> str:
    """For the eye only: the type, then the values."""
    encoded = encode(observation)
    kind = encoded.pop("type")
    values = [f"{name} {value if isinstance(value, str) else one_word(value)}" for name, value in encoded.items()]
    return f"{kind}({', '.join(values)})" if values else str(kind)


def write_observations(observations: Iterable[Any]) -> str:
    return ", ".join(map(write_observation, observations)) or "nothing"
