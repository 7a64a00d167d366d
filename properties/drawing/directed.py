"""Directed traces: one for each corner that is known to hurt, with its story.

One TOML file per component, in the short notation. They are written by hand, from bugs that people really had.
"""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import attrs

from tidegate.traces.cases import Case
from tidegate.traces.codec import decode, find_component
from tidegate.traces.notation.text import read_trace


@attrs.frozen
class Directed:
    """A trace written by hand: the rules that it is about, and why it is here."""

    case: Case
    story: str


@cache
def directed(component: str) -> tuple[Directed, ...]:
    """The directed traces of a component, in the order of its file; none if it has no file."""
    file = files("tidegate.properties") / "cases" / f"{component}.toml"
    if not file.is_file():
        return ()
    tables: dict[str, dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))
    return tuple(make_directed(component, name, table) for name, table in tables.items())


def make_directed(component: str, name: str, table: dict[str, Any]) -> Directed:
    config = decode(table["config"], find_component(component).config, f"{name}: config", strict=True)
    events = read_trace(component, table["trace"])
    case = Case(f"{component}-directed-{name}", component, config, events, rules=tuple(table["rules"]))
    return Directed(case, " ".join(table["story"].split()))
