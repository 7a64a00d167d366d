"""What the schemas allow and what the specification takes are the same: every case passes, and every border agrees.

The schemas are derived from what annotations say; what a value may be is decided by validators, and by functions that
compare fields. Here each config and event is changed in one place, just inside its domain and just outside, and both
have to say the same about it. And no answer of the specification is outside of what annotations say.
"""

import copy
import json
from collections import defaultdict
from functools import cache
from typing import Any

import attrs
import pytest

from tidegate.conformance import schemas
from tidegate.conformance.judging.golden import read_golden, with_answers
from tidegate.properties.drawing.cases import draw_case
from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import InvalidInputError
from tidegate.traces.codec import DecodeError, decode_case, encode_case

#: How many generated cases a component has to show.
DRAWN = 12

#: What cannot be said in a schema, because it relates several values: there the reference refuses more.
GRAPH = ("operators", "operators.id", "operators.kind", "edges", "edges.source", "edges.target")
RELATIONS = {
    "chaining": {f"graph.{place}" for place in GRAPH},
    "job_graph": {f"graph.{place}" for place in GRAPH},
    "chain_lifecycle": {"config.operators.parent", "config.sources", "config.inputs"},
    "input_channels": {"config.initial", "config.maximum"},
    "job": {
        "choice.action",  # fire and fail belong to their extensions
        "config",  # the extension recovery needs recovery, and the other way round
        "config.recovery",
        *(f"config.recovery.rescaled{name}" for name in ("", ".operator", ".parallelism")),
        "config.extension",
        *(f"config.{place}" for place in GRAPH),
        *(f"config.operators.{name}" for name in ("name", "function", "parallelism", "scripts", "size")),
        *(f"config.operators.scripts.{name}" for name in ("type", "timestamp", "checkpoint")),
        *(f"config.edges.{name}" for name in ("input", "partitioner")),
    },
}

BORDERS = (-(2**31), -1, 0, 1, 2, 32768, 1_000_000, 2**31 - 1)
LONGS = ("-9223372036854775809", "-9223372036854775808", "-2", "-1", "0", "9223372036854775807", "9223372036854775808")
TEXTS = (*LONGS, "-0", "05", "+5", " 5", "", "a", "ab", "AB", "0g", "no such", "\ud800", "\U0001f600")
WRONG: tuple[Any, ...] = (None, "no such", True, 7, [], {})

Json = dict[str, Any]
Path = tuple[str | int, ...]


class Absent:
    """Takes the place of a value that is left out."""


# --- samples ----------------------------------------------------------------------------------------------------


def parts_of(case: Json) -> list[tuple[str, Json]]:
    return [("config", case["config"]), *((event["type"], event) for event in case["events"])]


def values_in(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """The value and all within it; of a list, one element of each look."""
    found = [(path, value)]
    inner: dict[Any, Any] = value if isinstance(value, dict) else {}
    if isinstance(value, list):
        inner = {at: one for at, one in enumerate(value) if look_of(one) not in map(look_of, value[:at])}
    return found + [one for key, part in inner.items() for one in values_in(part, (*path, key))]


def look_of(value: Any) -> Any:
    return (sorted(value), value.get("type")) if isinstance(value, dict) else type(value)


def place_of(name: str, path: Path) -> str:
    return ".".join([name, *(step for step in path if isinstance(step, str))])


@attrs.frozen
class Samples:
    """Of each kind of config and event the shortest, also of those that have a place; and what golden traces have.

    `numbers` are the borders that the schema of the component names, and those beside them.
    """

    parts: list[tuple[str, Json, Json]]
    texts: dict[str, set[str]]
    fields: dict[str, Json]
    numbers: list[int]


@cache
def samples_of(component: str) -> Samples:
    shortest: dict[str, tuple[str, Json, Json]] = {}
    texts: dict[str, set[str]] = defaultdict(set)
    fields: dict[str, Json] = defaultdict(dict)
    for golden in read_golden(component):
        case = encode_case(golden)
        for name, part in parts_of(case):
            for path, value in values_in(part):
                if isinstance(value, str):
                    texts[place_of(name, path)].add(value)
                elif isinstance(value, dict):
                    fields[place_of(name, path)] |= value
            look = json.dumps([name, sorted(part), *(part.get(key) for key in ("kind", "semantics", "selectors"))])
            for key in (look, *(place_of(name, path) for path, _value in values_in(part))):
                known = shortest.get(key)
                if known is None or len(json.dumps(part)) < len(json.dumps(known[2])):
                    shortest[key] = (name, case["config"], part)
    parts = {json.dumps([name, part]): (name, config, part) for name, config, part in shortest.values()}
    borders = {*BORDERS, *find_borders(schemas.load(component))}
    numbers = sorted({number + step for number in borders for step in (-1, 0, 1)})
    return Samples(list(parts.values()), texts, fields, numbers)


def find_borders(schema: Any) -> set[int]:
    """All that is a minimum or a maximum anywhere in a schema."""
    if not isinstance(schema, dict | list):
        return set()
    inner = schema.values() if isinstance(schema, dict) else schema
    limits = [schema.get(key) for key in ("minimum", "maximum")] if isinstance(schema, dict) else []
    return {one for one in limits if isinstance(one, int)}.union(*map(find_borders, inner))


# --- one change -------------------------------------------------------------------------------------------------


def variants_of(place: str, value: Any, samples: Samples) -> list[Any]:
    """Other values for a place: inside the domain, outside, of a wrong type."""
    if isinstance(value, dict):
        more = [{**value, key: other} for key, other in samples.fields[place].items() if key not in value]
        return [*WRONG, *more, {**value, "unheard_of": 1}]
    if isinstance(value, list):
        return [*WRONG, value[:1], [*value, *value[:1]]]
    if isinstance(value, str):
        return [*WRONG, *TEXTS, *sorted(samples.texts[place])[:12]]
    return [*WRONG, *(samples.numbers if type(value) is int else (False, 0))]


def change(part: Json, path: Path, value: Any) -> Json:
    changed = copy.deepcopy(part)
    holder: Any = changed
    for step in path[:-1]:
        holder = holder[step]
    if value is Absent:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return changed


def changes_of(component: str) -> list[tuple[str, Json]]:
    """Places, and cases that are changed there."""
    samples = samples_of(component)
    changed: dict[str, tuple[str, Json]] = {}
    for name, config, part in samples.parts:
        for path, value in values_in(part)[1:]:
            place = place_of(name, path)
            left_out = [Absent] if isinstance(path[-1], str) else []
            for other in [*variants_of(place, value, samples), *left_out]:
                case = make_case(component, name, config, change(part, path, other))
                changed[json.dumps(case)] = place, case
        for other in variants_of(name, part, samples):
            if isinstance(other, dict):
                case = make_case(component, name, config, other)
                changed[json.dumps(case)] = name, case
    return list(changed.values())


def make_case(component: str, name: str, config: Json, part: Json) -> Json:
    is_config = name == "config"
    events = [] if is_config else [part]
    return {"case": "x", "component": component, "config": part if is_config else config, "events": events}


def is_taken(case: Json, *, strict: bool = True) -> bool:
    """Whether the specification makes a case of it, and an event is none that it calls no event."""
    try:
        decoded = decode_case(case, strict=strict)
        for event in decoded.events:
            decoded.model.step(decoded.model.start(decoded.config)[0], event)
    except (DecodeError, InvalidInputError):
        return False
    return True


# --- tests ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("component", COMPONENTS)
def test_schema_and_reference_agree_on_every_border(component):
    said = [(place, case, schemas.check(case, "trace-case"), is_taken(case)) for place, case in changes_of(component)]
    assert {taken for _place, _case, _complaints, taken in said} == {False, True}
    too_strict = [(place, case, complaints) for place, case, complaints, taken in said if taken and complaints]
    assert too_strict == []
    too_lax = [(place, case) for place, case, complaints, taken in said if not taken and not complaints]
    relations = RELATIONS.get(component, set())
    assert [(place, case) for place, case in too_lax if place not in relations] == []


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_case_passes(component):
    """Golden and generated ones: configs, events, and what the specification answers to them."""
    met = set()
    for case in [*read_golden(component), *(draw_case(component, 14, index) for index in range(DRAWN))]:
        encoded = encode_case(case if case.expect is not None else with_answers(case))
        observations = [seen for step in encoded.get("expect", []) for seen in step]
        for kind, values in (
            ("config", [encoded["config"]]),
            ("event", encoded["events"]),
            ("observation", observations),
        ):
            for value in values:
                text = f"{kind} {json.dumps(value)}"
                if text not in met:
                    met.add(text)
                    assert schemas.check(value, f"{component}.{kind}") == [], text
