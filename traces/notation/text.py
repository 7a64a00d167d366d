"""The short notation of traces: `0w10 1w7 1i 0i 1a`.

For reports, directed traces and the command line. Each component has a few forms, one per type of event; an event
without a form, or with a value that its form cannot express, is written as JSON without spaces. Printed events are
always read back as the same events. `r*257` is the event `r`, 257 times.
"""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Any, get_args

from tidegate.reference.elements import Long, types_of
from tidegate.traces.cases import Case
from tidegate.traces.codec import (
    DecodeError,
    check_parts,
    decode,
    encode,
    event_type,
    find_component,
    is_brief,
    is_union,
    observation_type,
    show,
)
from tidegate.traces.notation.forms import forms_of, one_word
from tidegate.traces.notation.graphs import read_graph, write_graph
from tidegate.traces.strict_json import read_json

#: From this many on, equal events in a row are written as one.
REPEATED = 10
TIMES = re.compile(r"(.+)\*([1-9][0-9]{0,5})")


def write_event(component: str, event: Any, *, brief: bool = False) -> str:
    encoded = encode(event)
    if component == "chaining":
        token = write_graph(encoded)
        if read_graph(token) == encoded:
            return token
    for form in forms_of(component):
        if form.type == encoded["type"]:
            token = form.write(encoded)
            if " " not in token and form.read(token) == encoded:
                return token
    return one_word(encode(event, brief=brief))


def write_trace(component: str, events: Iterable[Any], *, brief: bool = False) -> str:
    """Many equal events in a row are written as one with a count: `r*257`."""
    words: list[str] = []
    for word, group in groupby(write_event(component, event, brief=brief) for event in events):
        count = len(list(group))
        words += [word] * count if count < REPEATED else [f"{word}*{count}"]
    return " ".join(words)


def read_event(component: str, token: str) -> Any:
    return decode(read_token(component, token), event_type(component), token)


def is_brief_event(component: str, token: str) -> bool:
    times = TIMES.fullmatch(token)
    raw = read_token(component, times[1] if times else token)
    return is_brief(raw, decode(raw, event_type(component), token), event_type(component))


def read_token(component: str, token: str) -> Any:
    forms = forms_of(component)
    try:
        if token.startswith("{"):
            return read_json(token)
        if component == "chaining" and (graph := read_graph(token)) is not None:
            return graph
        for form in forms:
            event = form.read(token)
            if event is not None:
                return event
    except ValueError as error:  # not JSON, or a number with more digits than Python allows
        raise DecodeError(f"{show(token)}: {error}") from None
    known = " ".join(form.shown() for form in forms) or "JSON objects"
    raise DecodeError(f"{show(token)} is no event of {component}; its forms are: {known}")


def read_trace(component: str, text: str) -> tuple[Any, ...]:
    events: list[Any] = []
    for token in text.split():
        times = TIMES.fullmatch(token)
        events += [read_event(component, times[1])] * int(times[2]) if times else [read_event(component, token)]
    return tuple(events)


def read_case(component: str, config: Any, trace: str, name: str = "trace") -> Case:
    """A case from its config, as JSON, and its events, in short notation."""
    model = find_component(component)
    read = decode(config, model.config, "config", strict=True)
    check_parts(read)
    brief = is_brief(config, read, model.config) or any(is_brief_event(component, token) for token in trace.split())
    return Case(name, component, read, read_trace(component, trace), brief=brief)


# --- observations -----------------------------------------------------------------------------------------------

#: An observation, and the next after a comma and a space. No value has a space in it.
OBSERVATION = re.compile(r"(?P<type>\w+)(?:\((?P<values>.*?)\))?(?:, (?=\w)|$)")
#: A text that would be ambiguous without quotes.
MISTAKABLE = re.compile(r'["\s,()]')
NOTHING = "nothing"


def write_observation(observation: Any) -> str:
    """The type, then the values with their names: `watermark(timestamp 5)`."""
    encoded = encode(observation)
    kind = encoded.pop("type")
    values = [f"{name} {write_value(value)}" for name, value in encoded.items()]
    return f"{kind}({', '.join(values)})" if values else str(kind)


def write_value(value: Any) -> str:
    return value if isinstance(value, str) and not MISTAKABLE.search(value) else one_word(value)


def write_observations(observations: Iterable[Any]) -> str:
    return ", ".join(map(write_observation, observations)) or NOTHING


def read_observations(component: str, text: str) -> tuple[Any, ...]:
    """Parse observations; DecodeError if they are not observations of the component."""
    if text == NOTHING:
        return ()
    found: list[Any] = []
    begin = 0
    while begin < len(text) or not found:
        match = OBSERVATION.match(text, begin)
        if match is None:
            raise DecodeError(f"{show(text)}: no observation at {show(text[begin:])}")
        found.append(read_observation(component, match["type"], match["values"]))
        begin = match.end()
    return tuple(found)


def read_observation(component: str, kind: str, values: str | None) -> Any:
    place = kind if values is None else f"{kind}({values})"
    classes = {cls.type: cls for cls in get_args(observation_type(component))}
    types = types_of(classes[kind]) if kind in classes else {}
    encoded: dict[str, Any] = {"type": kind}
    for one in values.split(", ") if values else ():
        name, _, value = one.partition(" ")
        bare = name in types and is_text(types[name]) and not value.startswith('"')
        try:
            encoded[name] = value if bare else read_json(value)
        except ValueError as error:
            raise DecodeError(f"{show(place)}: {name}: {error}") from None
    return decode(encoded, observation_type(component), show(place), strict=True)


def is_text(kind: Any) -> bool:
    """Whether values of the type are strings in JSON."""
    members = get_args(kind) if is_union(kind) else (kind,)
    return Long in members or any(isinstance(one, type) and issubclass(one, str | bytes) for one in members)
