"""The museum as engines: `python:tidegate.conformance.engines.museum.engines:Right`, and its wrong siblings.

Each mutant has a class here under its name in camel case: `valve-never-flushes` is `ValveNeverFlushes`.
"""

from random import Random
from typing import Any

from tidegate.conformance.engines.museum.catalog import COMPONENTS, all_mutants, find, load
from tidegate.conformance.engines.wire import BadRequestError, Host, Json


def declare(module: Any) -> Json:
    """What can be said of a component: which semantics or kinds it knows, if there are several, and extensions."""
    known = [name for name in ("SEMANTICS", "KINDS", "EXTENSIONS") if hasattr(module, name)]
    return {name.lower(): list(getattr(module, name)) for name in known}


class Engine:
    """The right engine, or with `mutant` the wrong one of that name."""

    mutant: str | None = None

    def __init__(self, mutant: str | None = None, seed: int = 0) -> None:
        name = mutant if mutant is not None else self.mutant
        self.name = name or "right"
        self.components = [find(name).component] if name else list(COMPONENTS)
        self.wrong = find(name) if name else None
        self.host = Host(random=Random(seed))

    def describe(self) -> Json:
        return {
            "implementation": {"name": f"museum {self.name}", "version": "1", "language": "python"},
            "components": {name: declare(load(name)) for name in self.components},
        }

    def replay(self, cases: list[Json]) -> list[Json]:
        return [self.replay_case(case) for case in cases]

    def replay_case(self, case: Json) -> Json:
        component = case.get("component")
        if component not in self.components:
            return make_error("unsupported", f"no component {component!r} here")
        config, events = case.get("config"), case.get("events")
        if not isinstance(config, dict) or not isinstance(events, list):
            return make_error("bad_request", "config must be an object and events a list")
        if not all(type(event) is dict and type(event.get("type")) is str for event in events):
            return make_error("bad_request", "an event is an object with a type, which is a string")
        try:
            make = self.wrong.make if self.wrong else load(component).make
            step = make(config, self.host).step
            return {"steps": [step(event) for event in events]}
        except BadRequestError as error:
            return make_error("bad_request", str(error))
        except Exception as error:  # noqa: BLE001  a wrong engine may fail in any way, and says so
            return make_error("internal", f"{type(error).__name__}: {error}")


class Right(Engine):
    """Every component, no bug."""


def make_error(kind: str, message: str) -> Json:
    return {"error": {"kind": kind, "message": message}}


def engine(mutant_name: str | None) -> Engine:
    return Engine(mutant_name)


def to_class_name(mutant_name: str) -> str:
    return "".join(part.capitalize() for part in mutant_name.split("-"))


def __getattr__(name: str) -> Any:
    # Python asks every module that it imports from for `__path__`: no wrong engine needs to be known for that.
    for mutant in all_mutants() if name[:1].isupper() else ():
        if to_class_name(mutant.name) == name:
            return type(name, (Engine,), {"mutant": mutant.name, "__doc__": mutant.story})
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
