"""Fields that may be left out: cases do so with each of them, and an engine that takes another default is caught."""

import json

import attrs
import pytest

from tests.sampling import some
from tidegate.conformance import schemas
from tidegate.conformance.engines.museum import Engine
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.judging.suite import Budget
from tidegate.conformance.judging.trial import Encoder, Runner, Trial
from tidegate.conformance.judging.verdicts import VIOLATIONS, Status, Verdict
from tidegate.conformance.reports.findings import describe
from tidegate.properties.drawing.cases import draw_case
from tidegate.reference.components import COMPONENTS
from tidegate.traces.codec import decode_case, encode_case
from tidegate.traces.notation.text import read_case

DEFAULT_RUN = Budget(stages=("generated",))
#: Extensions that only bring further events: who always knows them shows nothing that is wrong without them.
ONLY_MORE_EVENTS = {
    ("barriers", "closing"),
    ("barriers", "late_timers"),
    ("barriers", "measures"),
    ("credit_receiver", "failures"),
    ("job", "event_time"),
    ("mailbox", "failures"),
    ("multiple_inputs", "selection"),
    ("priority_gate", "closing"),
    ("wiring", "dynamic"),
    ("writer", "measures"),
}


# --- the schemas ----------------------------------------------------------------------------------------------


def resolve(file, schema):
    """Where a schema stands, and what it says."""
    while "$ref" in schema:
        named, _, part = schema["$ref"].partition("#/$defs/")
        file = named.removesuffix(".json") or file
        schema = schemas.load(file)["$defs"][part]
    return file, schema


def objects(file, schema):
    """The schemas of all objects that a value may be made of."""
    file, schema = resolve(file, schema)
    if "properties" in schema:
        yield schema
    inner = [*schema.get("oneOf", ()), *schema.get("properties", {}).values()]
    for one in [*inner, schema["items"]] if "items" in schema else inner:
        yield from objects(file, one)


def objects_in(file, schema, value):
    """Each object in a value, with its schema."""
    file, schema = resolve(file, schema)
    for one in schema.get("oneOf", ()):
        kind = resolve(file, one)[1].get("properties", {}).get("type", {}).get("const")
        if isinstance(value, dict) and value.get("type") == kind:
            yield from objects_in(file, one, value)
    if isinstance(value, dict) and "properties" in schema:
        yield schema, value
        for name in schema["properties"].keys() & value.keys():
            yield from objects_in(file, schema["properties"][name], value[name])
    for one in value if isinstance(value, list) else ():
        yield from objects_in(file, schema.get("items", {}), one)


def optional(schema):
    """The fields that an object may have or not, each named by what the object is and the field."""
    fields = schema["properties"].keys() - set(schema.get("required", ()))
    return {
        (schema.get("description", schema["properties"].get("type", {}).get("const")), name): name for name in fields
    }


def parts(component):
    definitions = schemas.load(component)["$defs"]
    return definitions["config"], definitions["event"]


def with_defaults():
    """The optional fields of configs with their defaults: component, field, default."""
    for component in COMPONENTS:
        config, _event = parts(component)
        for name, field in config["properties"].items():
            if "default" in field:
                yield component, name


# --- tests ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("component", some(COMPONENTS))
def test_every_optional_field_is_left_out_and_given(component):
    config, event = parts(component)
    wanted = {key for part in (config, event) for schema in objects(component, part) for key in optional(schema)}
    missing = {(key, given) for key in wanted for given in (True, False)}
    encoder = Encoder()
    for index in range(DEFAULT_RUN.cases):
        if not missing:
            break
        request = encoder.request(draw_case(component, DEFAULT_RUN.seed, index))
        values = [(config, request.config), *((event, one) for one in request.events)]
        for part, value in values:
            for schema, found in objects_in(component, part, value):
                missing -= {(key, name in found) for key, name in optional(schema).items()}
    assert missing == set()


class OtherDefault(Engine):
    """Right, but for what it takes where a config leaves out a field."""

    def __init__(self, field, value):
        super().__init__()
        self.left_out = {field: value}

    def replay_case(self, case):
        return super().replay_case({**case, "config": {**self.left_out, **case["config"]}})


def others(field, schema):
    """Values that are not the default: another name, fewer and one more."""
    value = schema["default"]
    if "enum" in schema:
        return [schema["enum"][-1]]
    # Of exclusive buffers it only matters that there are some.
    return [0] if field == "exclusive" else [value // 2, value + 1] if value else [1]


def other_defaults():
    for component, field in with_defaults():
        for value in others(field, parts(component)[0]["properties"][field]):
            yield component, field, value


@pytest.mark.parametrize(("component", "field", "value"), [*other_defaults()])
def test_an_engine_with_another_default_is_caught(component, field, value):
    wrong = OtherDefault(field, value)
    verdicts = Trial(Runner(InProcess(wrong))).try_component(component, DEFAULT_RUN)
    failing = next(one for one in verdicts if one.status in VIOLATIONS)
    assert field not in Encoder().request(failing.case).config


def extensions():
    return [(component, one) for component, model in COMPONENTS.items() for one in model.extensions]


@pytest.mark.parametrize(("component", "extension"), extensions())
def test_an_engine_that_takes_an_extension_where_none_is_named_is_caught(component, extension):
    budget = Budget(100, stages=("directed", "generated"))
    verdicts = Trial(Runner(InProcess(OtherDefault("extension", extension)))).try_component(component, budget)
    failing = next((one for one in verdicts if one.status in VIOLATIONS), None)
    assert (failing is None) == ((component, extension) in ONLY_MORE_EVENTS)
    assert failing is None or failing.case.config.extension is None


@pytest.mark.parametrize("component", ["valve", "job_graph"])
def test_what_was_left_out_is_left_out_in_files_and_in_reproductions(component):
    drawn = (draw_case(component, DEFAULT_RUN.seed, index) for index in range(DEFAULT_RUN.cases))
    brief = next(case for case in drawn if encode_case(case) != encode_case(attrs.evolve(case, brief=False)))
    written = encode_case(brief)
    assert encode_case(decode_case(written)) == written
    told = describe(Verdict(brief, "", Status.PASS), "reference")
    read = read_case(component, json.loads(told.config), told.trace, brief.name)
    assert encode_case(read) == written
