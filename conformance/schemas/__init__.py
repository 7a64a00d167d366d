"""The JSON Schemas of protocol 1 and of the trace file: what implementers read, and what strict mode checks.

Those of messages are files of this folder: `hello-request`, `replay-reply`, `trace-case`, … Those of components are
derived from the specification, three of each: `valve.config`, `valve.event` and `valve.observation`; a fourth, `case`,
relates a config to its events. They refer to one another by file name: `tidegate schemas --to DIR` writes a
folder that any validator can use.

jsonschema is needed to check, not to read, and it is imported only then.
"""

import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.conformance.engines.errors import StrictModeUnavailableError
from tidegate.conformance.engines.text import printable
from tidegate.conformance.schemas.deriving import common_definitions, component_schema
from tidegate.reference.components import COMPONENTS

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError


@cache
def files() -> tuple[str, ...]:
    """The names of the schemas, without their ending."""
    names = {entry.name for entry in resources.files(__package__).iterdir()} - {"relations.json"}
    messages = (name.removesuffix(".json") for name in names if name.endswith(".json"))
    return tuple(sorted((*messages, *COMPONENTS)))


@cache
def load(name: str) -> dict[str, Any]:
    """A schema, by its name without ending."""
    if name in COMPONENTS:
        return component_schema(name)
    if name not in files():
        raise KeyError(f"there is no schema {name!r}; there are {', '.join(files())}")
    text = resources.files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    if name == "common":
        schema["$defs"] |= common_definitions()
    return schema


def as_text(name: str) -> str:
    """A schema as a file; that of a component with an example."""
    schema = load(name)
    if name in COMPONENTS:
        from tidegate.conformance.schemas.examples import example_of  # noqa: PLC0415 - it reads golden traces

        schema = {**schema, "examples": [example_of(name)]}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write(folder: Path) -> list[Path]:
    """Every schema as a file of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.json" for name in files()]
    for name, path in zip(files(), paths, strict=True):
        path.write_text(as_text(name), encoding="utf-8")
    return paths


def check(message: Any, name: str, component: str | None = None) -> list[str]:
    """What is wrong with a message, each complaint with its place; empty if nothing is.

    A case is checked as one of its component, and with `component` so are the observations of a `replay-reply`.

    Raises
    ------
    StrictModeUnavailableError
        jsonschema is not installed.
    """
    complaints = list(_complaints(message, _validator(name)))
    if complaints:
        return complaints
    known = message.get("component") if name in ("replay-request", "trace-case") else component
    if known not in COMPONENTS:
        return []
    return [
        complaint
        for place, value, part in _parts(message, load(known)["$defs"])
        for complaint in _complaints(value, _validator(f"{known}.{part}"), place)
    ]


def _parts(message: Any, schemas: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any, str]]:
    """The parts of a message that the schemas of a component are about: place, value, and which of them."""
    if "config" in message:
        yield ("config",), message["config"], "config"
    for at, event in enumerate(message.get("events", ())):
        yield ("events", at), event, "event"
    seen = [("expect", message.get("expect", ())), ("ok/steps", message.get("ok", {}).get("steps", ()))]
    for place, steps in seen:
        for at, step in enumerate(steps):
            yield from (((place, at, position), one, "observation") for position, one in enumerate(step))
    if "config" in message and "case" in schemas:
        yield (), message, "case"


@cache
def _validator(name: str) -> "Draft202012Validator":
    try:
        from jsonschema import Draft202012Validator  # noqa: PLC0415 - only strict mode needs it
        from referencing import Registry, Resource  # noqa: PLC0415
    except ImportError as error:
        raise StrictModeUnavailableError(
            "strict mode checks messages with jsonschema, which is not installed", "pip install 'tidegate[schemas]'"
        ) from error
    file, _, part = name.partition(".")
    load(file)

    def retrieve(uri: str) -> Any:
        return Resource.from_contents(load(uri.removesuffix(".json")))

    registry: Registry[Any] = Registry(retrieve=retrieve)  # type: ignore[call-arg]  # an alias that mypy does not see
    return Draft202012Validator({"$ref": f"{file}.json" + (f"#/$defs/{part}" if part else "")}, registry=registry)


def _complaints(message: Any, validator: "Draft202012Validator", place: tuple[str | int, ...] = ()) -> Iterator[str]:
    for error in validator.iter_errors(message):
        for path, said in _findings(error):
            where = "/".join(map(str, (*place, *path))) or "the message"
            yield printable(f"{where}: {said}", 300)


def _findings(error: "ValidationError") -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What is really wrong, and where. Of several alternatives, told apart by `type`, only the one meant matters."""
    path = tuple(error.absolute_path)
    if error.validator != "oneOf":
        is_forbidden = error.validator == "not" and not error.validator_value
        yield path, "must not be here" if is_forbidden else error.message
        return
    alternatives: dict[Any, list[ValidationError]] = {}
    for each in error.context or ():
        alternatives.setdefault(each.schema_path[0], []).append(each)
    meant = [found for found in alternatives.values() if not any(e.validator == "const" for e in found)]
    if len(meant) == 1:
        for each in meant[0]:
            yield from _findings(each)
    else:
        types = [e.validator_value for found in alternatives.values() for e in found if e.validator == "const"]
        yield path, f"{error.instance!r} has none of the types {', '.join(map(repr, types))}"
