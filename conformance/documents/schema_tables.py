"""The schema of a component as tables: every field with its domain, and an example as lines on the wire."""

import json
from collections.abc import Iterator
from typing import Any

from tidegate.conformance import schemas
from tidegate.conformance.schemas.examples import example_of
from tidegate.traces.notation.forms import forms_of

Json = dict[str, Any]

SMALLEST, LARGEST = -(2**31), 2**31 - 1

#: Shared parts of schemas that are clearer in words.
SHARED = {
    "int64": "64-bit (decimal string)",
    "checkpoint": "64-bit from 0 (decimal string)",
    "timeout64": "64-bit from -1 (decimal string)",
    "max_parallelism": "integer from 1, or -1",
    "bytes": "bytes (hex)",
    "text": "string",
}


def protocol_section(component: str) -> list[str]:
    """Requests and answers of an engine: in words, as an example, and field by field."""
    schema = schemas.load(component)
    config, event, observation = (schema["$defs"][part] for part in ("config", "event", "observation"))
    in_config = tuple(dict.fromkeys(nested_in(component, config)))
    in_event = tuple(name for name in dict.fromkeys(nested_in(component, event)) if name not in in_config)
    in_observation = dict.fromkeys(nested_in(component, observation)).keys() - {*in_config, *in_event}
    lines = ["```", *example_lines(component), "```", ""]
    lines += ["## Config", "", config["description"], "", *fields_table(config), *nested_tables(component, in_config)]
    lines += ["## Events", "", *values_table(event["oneOf"], component), *nested_tables(component, in_event)]
    lines += ["## Observations", "", *values_table(observation["oneOf"])]
    return [*lines, *nested_tables(component, tuple(sorted(in_observation)))]


def example_lines(component: str) -> Iterator[str]:
    example = example_of(component)
    case = {"case": f"{component}-example", "component": component}
    yield "> " + compact({"id": 2, "op": "replay", **case, "config": example["config"], "events": example["events"]})
    yield "< " + compact({"id": 2, "ok": {"steps": example["steps"]}})


def compact(message: Json) -> str:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False)


# --- tables -----------------------------------------------------------------------------------------------------


def fields_table(schema: Json) -> list[str]:
    if not schema["properties"]:
        return []
    lines = ["| field | values | default | meaning |", "|---|---|---|---|"]
    for name, field in schema["properties"].items():
        default = f"`{compact(field['default'])}`" if "default" in field else is_optional(schema, name)
        lines.append(f"| `{name}` | {cell(values_of(field))} | {cell(default)} | {cell(meaning_of(field))} |")
    return [*lines, ""]


def values_table(alternatives: list[Json], component: str | None = None) -> list[str]:
    """One row per type; with a component, also the short form of its events."""
    lines = [
        "| type | fields | meaning |" + " short form |" * bool(component),
        "|---|---|---|" + "---|" * bool(component),
    ]
    for schema in map(resolve, alternatives):
        kind = schema["properties"]["type"]["const"]
        fields = "<br>".join(
            field_in_words(schema, name, field) for name, field in schema["properties"].items() if name != "type"
        )
        cells = [f"`{kind}`", fields or "none", schema["description"]]
        if component:
            cells.append(" ".join(f"`{form.shown()}`" for form in forms_of(component) if form.type == kind))
        lines.append("| " + " | ".join(map(cell, cells)) + " |")
    return [*lines, ""]


def field_in_words(schema: Json, name: str, field: Json) -> str:
    optional = is_optional(schema, name) and " (optional)"
    return f"`{name}`{optional}: {values_of(field)}. {meaning_of(field)}".rstrip()


def nested_tables(component: str, names: tuple[str, ...]) -> list[str]:
    """The objects inside a config, an event or an observation, each with its own table."""
    lines: list[str] = []
    for name in names:
        inner = schemas.load(component)["$defs"][name]
        lines += [f"### {name}", "", inner["description"], ""]
        lines += values_table(inner["oneOf"]) if "oneOf" in inner else fields_table(inner)
    return lines


def nested_in(component: str, schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        name = local_name(schema)
        if name:
            inner = schemas.load(component)["$defs"][name]
            if is_table(inner):
                yield name
            yield from nested_in(component, inner)
        for key, part in schema.items():
            if key not in ("if", "then", "else", "allOf"):
                yield from nested_in(component, part)
    elif isinstance(schema, list):
        for part in schema:
            yield from nested_in(component, part)


# --- words ------------------------------------------------------------------------------------------------------


def is_optional(schema: Json, name: str) -> str:
    return "" if name in schema.get("required", ()) else "optional"


def local_name(schema: Json) -> str:
    reference: str = schema.get("$ref", "")
    return reference.removeprefix("#/$defs/") if reference.startswith("#") else ""


def is_table(schema: Json) -> bool:
    return "properties" in schema or "oneOf" in schema


def resolve(schema: Json) -> Json:
    """Resolve a reference to a shared part; a description beside it is kept."""
    file, _, name = schema.get("$ref", "").partition("#/$defs/")
    if not file:
        return schema
    return {**schemas.load(file.removesuffix(".json"))["$defs"][name], **schema}


def meaning_of(field: Json) -> str:
    meaning: str = field.get("description", "")
    return meaning


def values_of(field: Json) -> str:
    shared = field.get("$ref", "").rpartition("/")[2]
    if local_name(field):
        return f"*{shared}*"
    if shared in SHARED:
        return SHARED[shared]
    field = resolve(field)
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return " or ".join(f"`{name}`" for name in field["enum"])
    if "oneOf" in field:
        return " or ".join(map(values_of, field["oneOf"]))
    if field["type"] == "array":
        return list_in_words(field)
    if field["type"] == "integer":
        return integer_in_words(field["minimum"], field["maximum"])
    plain = {"boolean": "true or false", "string": "string"}[field["type"]]
    return f"{plain}, not empty" if field.get("minLength") else plain


def list_in_words(field: Json) -> str:
    items = [*field.get("prefixItems", []), field["items"]]
    least = f", at least {field['minItems']}" if "minItems" in field else ""
    return f"list of {', then '.join(map(values_of, items))}{least}"


def integer_in_words(least: int, most: int) -> str:
    if most < LARGEST:
        return f"integer from {least} to {most}"
    return "integer" if least == SMALLEST else f"integer from {least}"


def cell(text: str) -> str:
    """Text that stays inside its cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")
