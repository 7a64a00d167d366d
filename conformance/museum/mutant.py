"""One wrong engine of the museum, and the trace that convicts it."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

import attrs


@cache
def load_killers() -> dict[str, dict[str, Any]]:
    text = files("conformance.museum").joinpath("killers.json").read_text(encoding="utf-8")
    killers: dict[str, dict[str, Any]] = json.loads(text)
    return killers


@attrs.frozen(kw_only=True)
class Mutant:
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
        return load_killers()[self.name]
