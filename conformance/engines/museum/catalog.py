"""Every wrong engine of the museum, found in the module of its component."""

import json
from functools import cache
from importlib import import_module
from importlib.resources import files
from pkgutil import iter_modules
from typing import Any

from tidegate.conformance.engines.museum.wrong import MUTANTS, Mutant

PACKAGE = "tidegate.conformance.engines.museum"
FOLDER = files(PACKAGE)
#: How the museum is made, and no component.
_MADE_BY = {"catalog", "engines", "wrong"}

#: The components that are in the museum: its modules, or packages with the wrong engines in `wrong.py`.
COMPONENTS = tuple(sorted({module.name for module in iter_modules([str(FOLDER)])} - _MADE_BY))


@cache
def load(component: str) -> Any:
    """The module of a component: `make(config, host)` is a fresh machine; `SEMANTICS`, `KINDS`, `EXTENSIONS` if any."""
    return import_module(f"{PACKAGE}.{component}")


@cache
def mutants_of(component: str) -> tuple[Mutant, ...]:
    module = load(component)
    if hasattr(module, "__path__"):
        import_module(f"{PACKAGE}.{component}.wrong")
    return tuple(MUTANTS[component])


@cache
def load_killers() -> dict[str, dict[str, Any]]:
    """A case for each wrong engine that no directed trace convicts; its events are played `times` over."""
    killers: dict[str, dict[str, Any]] = json.loads(FOLDER.joinpath("killers.json").read_text(encoding="utf-8"))
    return {
        name: {"config": killer["config"], "events": killer["events"] * killer.get("times", 1)}
        for name, killer in killers.items()
    }


def all_mutants() -> tuple[Mutant, ...]:
    """They are imported when somebody asks: most runs never meet one."""
    return tuple(mutant for component in COMPONENTS for mutant in mutants_of(component))


@cache
def _by_name() -> dict[str, Mutant]:
    return {mutant.name: mutant for mutant in all_mutants()}


def find(name: str) -> Mutant:
    """The mutant of that name; `KeyError` if there is none. Only if it is not known yet are all components imported."""
    known = (mutant for some in MUTANTS.values() for mutant in some if mutant.name == name)
    return next(known, None) or _by_name()[name]
