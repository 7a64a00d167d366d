"""The JSON Schema of a component, derived from its classes: what a field is stands on the field, and nowhere else.

Types and defaults say the structure; a `Role`, `Between`, `OneOf` or `Length` in an annotation or as a validator says
which values there are; a string in an annotation, and the docstring of a class, is the description. What relates
several fields is code in the specification, and no type says it: `relations.json` has it for those who validate.
"""

import inspect
import json
import re
import types
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache
from importlib import import_module, resources
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import attrs

from tidegate.reference import elements
from tidegate.reference.components import COMPONENTS, PLACES
from tidegate.reference.elements import MAX, MIN, Between, Length, Long, OneOf, Role, Status
from tidegate.reference.model import Rejected
from tidegate.traces.codec import encode, is_tagged

Json = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
INT32 = Between(-(2**31), 2**31 - 1)

#: What most schemas share, by the name in `common.json`.
ROLES = {
    role.name: (kind, role)
    for kind, role in (
        (int, Role("int32", "A signed 32-bit number.")),
        (
            Long,
            Role(
                "int64",
                "A signed 64-bit quantity as a decimal string, because a reader that turns JSON numbers into doubles "
                f"would destroy it. No leading zeros, no plus sign; from {MIN} to {MAX}.",
            ),
        ),
        *(get_args(one)[:2] for one in vars(elements).values() if get_origin(one) is Annotated),
    )
}


# --- whole schemas ----------------------------------------------------------------------------------------------


@cache
def component_schema(name: str) -> Json:
    """The schema of a component: its config, events and observations, and what they are made of."""
    component = COMPONENTS[name]
    nested = Definitions()
    definitions = {
        "config": nested.describe_class(component.config),
        "event": {"description": "What may happen.", "oneOf": list(map(nested.describe_class, component.events))},
        "observation": {
            "description": "What is seen.",
            "oneOf": [*map(nested.describe_class, component.observations), refer("rejected")],
        },
    }
    relations = read_relations().get(name, {})
    return {
        "$schema": DRAFT,
        "title": f"{name}: config, events, observations",
        "description": " ".join((PLACES[name].sentence, *on_the_wire(PLACES[name].module))),
        "$defs": relate(definitions | nested.found, relations),
    }


def common_definitions() -> Json:
    """What `common.json` says besides what stands in the file: every role, and what all components share."""
    return {
        **{name: {"description": role.sentence, **values_of(kind, role)} for name, (kind, role) in ROLES.items()},
        "bytes": {
            "description": "Bytes in lowercase hexadecimal, two digits each.",
            "type": "string",
            "pattern": "^([0-9a-f]{2})*$",
            "examples": ["", "616263"],
        },
        "status": {"description": docstring(Status), "enum": list(map(str, Status))},
        "rejected": Definitions().describe_class(Rejected),
    }


def on_the_wire(module: str) -> Iterator[str]:
    """What the text of a module says to those who write an engine."""
    for paragraph in (inspect.getdoc(import_module(module)) or "").split("\n\n"):
        if paragraph.startswith("On the wire. "):
            yield " ".join(paragraph.removeprefix("On the wire. ").split())


# --- classes and fields -----------------------------------------------------------------------------------------


class Definitions:
    """Describes classes; those that stand inside others get definitions of their own."""

    def __init__(self) -> None:
        self.found: Json = {}
        self._classes: dict[str, type[Any]] = {}

    def describe_class(self, cls: type[Any]) -> Json:
        kinds = get_type_hints(cls, include_extras=True)
        fields = {field.name: field for field in attrs.fields(cls)}
        tag = {"type": {"const": cls.type}} if is_tagged(cls) else {}
        required = [name for name, field in fields.items() if field.default is attrs.NOTHING]
        described = {name: self.describe_field(kinds[name], field) for name, field in fields.items() if field.init}
        return {
            "description": docstring(cls),
            "type": "object",
            "required": [*tag, *required],
            "properties": tag | described,
            "additionalProperties": False,
        }

    def describe_field(self, kind: Any, field: "attrs.Attribute[Any]") -> Json:
        described = self.describe(kind, tuple(checks_of(field.validator)))
        if field.default not in (attrs.NOTHING, None):
            is_long = plain(kind)[0] is Long
            described["default"] = str(field.default) if is_long else encode(field.default)
        return described

    def describe(self, kind: Any, said: tuple[Any, ...] = ()) -> Json:
        """A type, and what else is said of it: by its annotations, and by validators."""
        kind, more = plain(kind)
        said = (*more, *said)
        sentences = [one for one in said if isinstance(one, str)]
        sentence = {"description": sentences[-1]} if sentences else {}
        if get_origin(kind) is tuple:
            inner = (one for each in said if isinstance(each, Each) for one in each.checks)
            items = self.describe(get_args(kind)[0], tuple(inner))
            return {**sentence, "type": "array", "items": items, **length_of(said, "Items")}
        if is_union(kind):
            return {**sentence, "oneOf": [self.refer_to(one) for one in members_of(kind)]}
        if attrs.has(kind):
            return {**self.refer_to(kind), **sentence}
        return {**describe_value(kind, said), **sentence}

    def refer_to(self, cls: type[Any]) -> Json:
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        if self._classes.setdefault(name, cls) is not cls:
            raise TypeError(f"{cls} and {self._classes[name]} would both be the definition {name}")
        if name not in self.found:
            self.found[name] = self.describe_class(cls)
        return {"$ref": f"#/$defs/{name}"}


def describe_value(kind: Any, said: tuple[Any, ...]) -> Json:
    """A number, a text, a name."""
    names = [one.names for one in said if isinstance(one, OneOf)]
    if kind is bool:
        return {"type": "boolean"}
    if kind is bytes:
        return refer("bytes")
    if kind is Status:
        return refer("status")
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        described = {"description": docstring(kind)} if docstring(kind) else {}
        return {**described, "enum": list(map(str, names[-1] if names else kind))}
    role = next((one for one in said if isinstance(one, Role)), None)
    if kind is str:
        bare = {"type": "string", **length_of(said, "Length")}
        return refer(role.name) if role else {"enum": list(names[-1])} if names else bare
    role = role or ROLES["int64" if kind is Long else "int32"][1]
    held = [one for one in said if isinstance(one, Between)]
    least, most = bounds_of(kind, [role.values, *held])
    same = (least, most) == bounds_of(kind, [role.values])
    return refer(role.name) if same else values_of(kind, attrs.evolve(role, values=Between(least, most)))


def values_of(kind: Any, role: Role) -> Json:
    """The values of a role, as JSON Schema says it."""
    if kind is str:
        return {"type": "string", "pattern": "^[^\\uD800-\\uDFFF]*$"}
    least, most = bounds_of(kind, [role.values])
    if kind is Long:
        return {"type": "string", "pattern": f"^{decimals(least, most)}$", "examples": [str(max(least, 0))]}
    never = {"not": {"const": role.never}} if role.never is not None else {}
    return {"type": "integer", "minimum": least, "maximum": most, **never}


def bounds_of(kind: Any, held: Iterable[Between]) -> tuple[int, int]:
    whole = Between(MIN, MAX) if kind is Long else INT32
    lows, highs = zip(*((one.least, one.most) for one in (whole, *held)), strict=True)
    return max(low for low in lows if low is not None), min(high for high in highs if high is not None)


def decimals(least: int, most: int) -> str:
    """A pattern of the decimal numbers from `least`, which is 0, -1 or the least there is, to `most`."""
    positive = up_to(most)
    return {0: f"(0|{positive})", -1: f"(-1|0|{positive})", MIN: f"(0|-?{positive}|{MIN})"}[least]


def up_to(most: int) -> str:
    """A pattern of the decimal numbers from 1 to `most`."""
    digits = str(most)
    ways = [f"[1-9][0-9]{{0,{len(digits) - 2}}}"]
    for at, digit in enumerate(digits):
        if int(digit) > (at == 0):
            rest = len(digits) - at - 1
            lower = f"{digits[:at]}[{int(at == 0)}-{int(digit) - 1}]"
            ways.append(lower + (f"[0-9]{{{rest}}}" if rest else ""))
    return f"({'|'.join((*ways, digits))})"


def length_of(said: tuple[Any, ...], what: str) -> Json:
    lengths = [one for one in said if isinstance(one, Length)]
    least = max((one.least for one in lengths), default=0)
    most = min((one.most for one in lengths if one.most is not None), default=None)
    return {
        **({f"min{what}": least} if least else {}),
        **({f"max{what}": most} if most is not None else {}),
        **({"uniqueItems": True} if any(one.distinct for one in lengths) else {}),
    }


# --- what annotations and validators say ------------------------------------------------------------------------


@attrs.frozen
class Each:
    """What validators say of each element of a list."""

    checks: tuple[Any, ...]


def plain(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type, of which None says only that it may be left out, and what is said of it."""
    if get_origin(kind) is Annotated:
        inner, *said = get_args(kind)
        inner, more = plain(inner)
        return inner, (*more, *said)
    members = members_of(kind) if is_union(kind) else []
    return plain(members[0]) if len(members) == 1 else (kind, ())


def members_of(union: Any) -> list[Any]:
    return [one for one in get_args(union) if one is not types.NoneType]


def is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


def checks_of(validator: Any) -> Iterator[Any]:
    """What validators look at, those within others included; those that are plain functions say nothing here."""
    if hasattr(validator, "member_validator"):
        yield Each(tuple(checks_of(validator.member_validator)))
        yield from checks_of(validator.iterable_validator)
    elif hasattr(validator, "_validators"):
        for one in validator._validators:  # noqa: SLF001 - what attrs makes of a list of validators
            yield from checks_of(one)
    elif hasattr(validator, "validator"):
        yield from checks_of(validator.validator)
    elif isinstance(validator, Between | OneOf | Length):
        yield validator


def docstring(cls: type[Any]) -> str:
    """The first paragraph of the text of a class, in one line."""
    return " ".join(inspect.cleandoc(cls.__dict__.get("__doc__") or "").partition("\n\n")[0].split())


def refer(name: str) -> Json:
    return {"$ref": f"common.json#/$defs/{name}"}


# --- relations --------------------------------------------------------------------------------------------------


@cache
def read_relations() -> Json:
    text = resources.files(__package__).joinpath("relations.json").read_text(encoding="utf-8")
    found: Json = json.loads(text)
    return found


def relate(schema: Any, relations: Any) -> Any:
    """A schema with relations laid over it: objects are merged, alternatives are found by their type."""
    if isinstance(schema, list) and isinstance(relations, dict):
        return [
            relate(one, relations.get(one.get("properties", {}).get("type", {}).get("const"), {})) for one in schema
        ]
    if not (isinstance(schema, dict) and isinstance(relations, dict)):
        return relations
    merged = {key: relate(part, relations[key]) if key in relations else part for key, part in schema.items()}
    return {**relations, **merged}


def tag_of(schema: Json) -> Any:
    return schema.get("properties", {}).get("type", {}).get("const")
