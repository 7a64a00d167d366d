"""Every mutant of the museum. Each component has a folder, and in it

machine.py      the component, right, with a switch for each bug: `make(config, host)`, and its `SEMANTICS`
mutants.toml    one table per mutant:
rule        the rule that it breaks
also        other rules that may equally be named when it is caught
origin      where the bug was seen, or `one-rule change`
story       what it does
semantics, kinds   the only semantics or partitioner kinds under which it shows, if not under all
killers.json    a short case for each mutant, on which it differs from every right engine; its events are
                played `times` over
"""

import json
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import attrs

FOLDER = files("tidegate.conformance.engines.museum")

#: The components that are in the museum: its folders.
COMPONENTS = tuple(sorted(folder.name for folder in FOLDER.iterdir() if folder.joinpath("mutants.toml").is_file()))


@attrs.frozen(kw_only=True)
class Mutant:
    """One wrong engine of the museum, and the trace that convicts it."""

    name: str
    component: str
    #: The rule that it breaks.
    rule: str
    #: Where the bug was seen, or `one-rule change`.
    origin: str
    story: str
    #: Other rules that may equally be named when it is caught.
    also: tuple[str, ...] = ()
    #: The only semantics, or partitioner kinds, under which it shows; none given: under all.
    semantics: str | None = None
    kinds: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        return (self.rule, *self.also)

    @property
    def killer(self) -> dict[str, Any]:
        """A short case, `config` and `events`, on which it differs from every right engine.

        Bugs about state that leaks from case to case show when the case is replayed a second time.
        """
        killer = load_killers(self.component)[self.name]
        return {"config": killer["config"], "events": killer["events"] * killer.get("times", 1)}


@cache
def mutants_of(component: str) -> tuple[Mutant, ...]:
    text = FOLDER.joinpath(component, "mutants.toml").read_text(encoding="utf-8")
    return tuple(
        Mutant(
            name=name,
            component=component,
            rule=table["rule"],
            origin=table["origin"],
            story=table["story"],
            also=tuple(table.get("also", ())),
            semantics=table.get("semantics"),
            kinds=tuple(table.get("kinds", ())),
        )
        for name, table in tomllib.loads(text).items()
    )


@cache
def load_killers(component: str) -> dict[str, dict[str, Any]]:
    text = FOLDER.joinpath(component, "killers.json").read_text(encoding="utf-8")
    killers: dict[str, dict[str, Any]] = json.loads(text)
    return killers


def all_mutants() -> tuple[Mutant, ...]:
    """They are read when somebody asks: most runs never meet one."""
    return tuple(mutant for component in COMPONENTS for mutant in mutants_of(component))


@cache
def _by_name() -> dict[str, Mutant]:
    return {mutant.name: mutant for mutant in all_mutants()}


def find(name: str) -> Mutant:
    """The mutant of that name; `KeyError` if there is none."""
    return _by_name()[name]
