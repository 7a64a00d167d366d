"""The JSON Schemas: well-formed, written for people, and in agreement with the protocol's own examples."""

import builtins
import json
import re

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tidegate.conformance import schemas
from tidegate.conformance.engines.errors import StrictModeUnavailableError
from tidegate.conformance.schemas.deriving import decimals
from tidegate.reference.components import COMPONENTS

#: One of these says what a property is.
TELLING = {"description", "$ref", "const"}

#: Of the protocol itself; what components allow is held to all their cases in `test_schema_domains`.
GOOD = [
    ("hello-request", {"id": 1, "op": "hello", "protocol": [1], "suite": "0.1.0"}),
    (
        "hello-reply",
        {
            "id": 1,
            "ok": {
                "protocol": 1,
                "implementation": {"name": "n", "version": "v", "language": "l"},
                "components": {"valve": {}, "partitioner": {"kinds": ["hash"]}},
            },
        },
    ),
    ("replay-reply", {"id": 2, "ok": {"steps": [[], [{"type": "rejected", "reason": "closed"}]]}}),
    ("replay-reply", {"id": 2, "error": {"kind": "unsupported", "message": ""}}),
    ("error-reply", {"id": 2, "error": {"kind": "bad_request", "message": "0 channels"}}),
    ("bye-request", {"id": 3, "op": "bye"}),
    ("trace-header", {"format": "tidegate-traces/1", "suite": "0.1.0", "seed": 7}),
    ("trace-footer", {"cases": 1}),
]

BAD = [
    ("hello-request", {"id": 1, "op": "hello", "protocol": [], "suite": "0.1.0"}, "protocol: "),
    ("replay-reply", {"id": 2, "ok": {"steps": [[{"kind": "x"}]]}}, "ok/steps/0/0: 'type' is a required property"),
    ("replay-reply", {"id": 2, "ok": {"steps": []}, "extra": 1}, "the message: "),
    ("replay-reply", {"id": 2, "error": {"kind": "tired", "message": ""}}, "error/kind: 'tired'"),
    ("bye-request", {"id": 0, "op": "bye"}, "id: 0 is less than the minimum"),
    ("trace-header", {"format": "tidegate-traces/2", "suite": "0.1.0", "seed": 7}, "format: "),
    ("trace-footer", {"cases": -1}, "cases: "),
    ("valve.config", {"channels": 0}, "channels: 0 is less than the minimum of 1"),
    ("valve.config", {"channels": 1, "semantics": None}, "semantics: None is not one of"),
    ("valve.event", {"type": "watermark", "channel": 0, "timestamp": 5}, "timestamp: 5 is not of type 'string'"),
    ("valve.event", {"type": "watermark", "channel": 0, "timestamp": "05"}, "timestamp: '05' does not match"),
    ("valve.event", {"type": "watermark", "input": 0, "timestamp": "5"}, "'channel' is a required property"),
    ("valve.observation", {"type": "data"}, "has none of the types 'watermark', 'status', 'rejected'"),
    ("multiplexer.config", {"semantics": "flink-7728"}, "semantics: 'flink-7728' is not one of"),
    ("multiplexer.event", {"type": "status", "output": 0, "status": "idle"}, "'mode' is a required property"),
    ("partitioner.config", {"kind": "hash", "channels": 4}, "'max_parallelism' is a required property"),
    (
        "partitioner.config",
        {"kind": "global", "channels": 4, "max_parallelism": 8},
        "max_parallelism: must not be here",
    ),
    (
        "partitioner.event",
        {"type": "record", "key": {"type": "int", "value": 2**31}},
        "key/value: 2147483648 is greater",
    ),
    ("barriers.config", {"kind": "aligned", "channels": 2, "finished_channels": True, "timeout": 30}, "timeout"),
    ("serializer.event", {"type": "record", "payload": "ABC"}, "payload: 'ABC' does not match"),
]


def test_every_schema_is_a_schema_and_says_what_it_is_for():
    for name in schemas.files():
        schema = schemas.load(name)
        Draft202012Validator.check_schema(schema)
        assert schema["title"], name
        assert schema["description"], name


def parts_of(schema, path):
    """Every schema within a schema. What follows from a condition restricts what is described elsewhere."""
    if isinstance(schema, dict):
        yield path, schema
        for key in schema.keys() - {"if", "then", "else", "allOf", "examples"}:
            yield from parts_of(schema[key], f"{path}/{key}")
    elif isinstance(schema, list):
        for position, value in enumerate(schema):
            yield from parts_of(value, f"{path}/{position}")


def test_every_object_and_every_property_is_described():
    undescribed = []
    for name in schemas.files():
        for path, part in parts_of(schemas.load(name), name):
            if "properties" in part and "required" in part and "description" not in part:
                undescribed.append(path)
            properties = part.get("properties", {}) if "type" in part else {}
            undescribed += [f"{path}/{key}" for key, inner in properties.items() if not TELLING & inner.keys()]
    assert undescribed == []


def test_a_case_of_every_component_is_checked():
    """Nothing at all is a config only where everything is optional, and an unknown event is none anywhere."""
    for name in COMPONENTS:
        assert schemas.check({"case": "x", "component": name, "config": {}, "events": [{}]}, "trace-case") != [], name


@pytest.mark.parametrize(("name", "message"), GOOD, ids=lambda each: each if isinstance(each, str) else "")
def test_what_the_protocol_allows(name, message):
    assert schemas.check(message, name) == []


@pytest.mark.parametrize(("name", "message", "complaint"), BAD, ids=lambda each: each if isinstance(each, str) else "")
def test_what_it_does_not_allow(name, message, complaint):
    found = schemas.check(message, name)
    assert any(complaint in each for each in found), found


def case(**changes):
    parts = {
        "case": "valve-17",
        "component": "valve",
        "config": {"channels": 2},
        "events": [{"type": "watermark", "channel": 0, "timestamp": "5"}],
    }
    return parts | changes


def test_a_case_is_checked_as_one_of_its_component():
    assert schemas.check(case(expect=[[]], rules=["VALVE-5"]), "trace-case") == []
    assert schemas.check({"id": 2, "op": "replay", **case()}, "replay-request") == []
    wrong = case(component="combiner", config={"inputs": 2}, expect=[[{"type": "send"}]])
    assert schemas.check({"id": 2, "op": "replay", **case(component="combiner")}, "replay-request") != []
    assert {complaint.split(":")[0] for complaint in schemas.check(wrong, "trace-case")} == {"events/0", "expect/0/0"}
    assert schemas.check(case(component="unheard_of", config={}, events=[{"type": "mail"}]), "trace-case") == []


def test_a_reply_is_checked_as_one_of_its_component():
    reply = {"id": 2, "ok": {"steps": [[], [{"type": "watermark", "timestamp": "1"}, {"type": "reads"}]]}}
    assert schemas.check(reply, "replay-reply") == []
    (complaint,) = schemas.check(reply, "replay-reply", component="valve")
    assert complaint.startswith("ok/steps/1/1: ")


def test_complaints_are_printable():
    (complaint,) = schemas.check({"type": "\x1b[31m", "status": "idle"}, "valve.observation")
    assert "\x1b" not in complaint


def test_an_unknown_schema():
    with pytest.raises(KeyError, match="valve"):
        schemas.check({}, "valves")
    with pytest.raises(KeyError):
        schemas.load("../../pyproject")


def test_without_jsonschema_strict_mode_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("jsonschema"):
            raise ImportError(name)
        return real(name, *rest)

    schemas._validator.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(StrictModeUnavailableError) as raised:
        schemas.check({}, "trace-footer")
    assert "tidegate[schemas]" in raised.value.hint


def test_the_files_written_are_enough_for_any_validator(tmp_path):
    """They refer to one another by name, and to nothing else; and the example of each component is one."""
    contents = {path.name: json.loads(path.read_text()) for path in schemas.write(tmp_path / "schemas")}
    registry = Registry().with_resources((name, Resource.from_contents(one)) for name, one in contents.items())

    def validate(value, reference):
        Draft202012Validator({"$ref": reference}, registry=registry).validate(value)

    for name in COMPONENTS:
        [example] = contents[f"{name}.json"]["examples"]
        validate(example["config"], f"{name}.json#/$defs/config")
        for event, seen in zip(example["events"], example["steps"], strict=True):
            validate(event, f"{name}.json#/$defs/event")
            for one in seen:
                validate(one, f"{name}.json#/$defs/observation")
    for name, message, *_ in GOOD:
        validate(message, f"{name}.json")


@pytest.mark.parametrize(
    ("least", "most"), [(0, 9), (0, 10), (0, 105), (-1, 99), (0, 2**63 - 1), (0, 2**63 - 2), (-(2**63), 2**63 - 1)]
)
def test_the_pattern_of_decimal_numbers(least, most):
    pattern = re.compile(decimals(least, most))
    near = {0, 1, 9, 10, 11, 99, 100, most // 10, most // 2, most * 10}
    for number in {sign * one + step for sign in (1, -1) for one in near | {least, most} for step in (-1, 0, 1)}:
        assert bool(pattern.fullmatch(str(number))) == (least <= number <= most), number
    assert not any(pattern.fullmatch(text) for text in ("", "-0", "00", "01", "+1", " 1", "1 ", "x"))
