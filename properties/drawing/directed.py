"""Directed traces: one per known corner case, with its story and its expected observations.

One TOML file per component, in short notation. They are written by hand, from real bugs.

    [the-first-finished-item-wakes]
    rules = ["SUBP-6"]
    config = { exclusive = 2, size_hint = 8 }
    trace = "view data:61"
    shows = "SUBP-12: view(backlog 0) | added(size 8), data_available"
    story = "The reader is woken when the first item can be read."

`convicts` names the museum engines that answer the trace wrongly, each in one trace only.

`shows` has one part per event. A part may begin with the deciding rule; if the specification leaves a choice, the
alternatives are joined by `or`. `... | ` skips to the last events. Several short traces with one story are a table of
`shows` by trace.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import attrs

from tidegate.traces.cases import Case
from tidegate.traces.codec import DecodeError, decode, find_component
from tidegate.traces.notation.text import read_observations, read_trace

RULE = re.compile(r"(?:([A-Z]+-\d+): )?(.*)", re.DOTALL)
REST = "..."


@attrs.frozen
class Shown:
    """The allowed observations of an event, and the deciding rule, if given."""

    rule: str
    possible: tuple[tuple[Any, ...], ...]


@attrs.frozen
class Directed:
    """A trace written by hand: its rules, its story, and the observations of its last events."""

    case: Case
    story: str
    shows: tuple[Shown, ...] = ()
    convicts: tuple[str, ...] = ()


@cache
def directed(component: str) -> tuple[Directed, ...]:
    """The directed traces of a component, in file order; empty without a file."""
    file = files("tidegate.properties") / "cases" / f"{component}.toml"
    if not file.is_file():
        return ()
    tables: dict[str, dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))
    return tuple(one for name, table in tables.items() for one in make_directed(component, name, table))


def make_directed(component: str, name: str, table: dict[str, Any]) -> Iterator[Directed]:
    config = decode(table["config"], find_component(component).config, f"{name}: config", strict=True)
    story = " ".join(table["story"].split())
    convicts = tuple(table.get("convicts", ()))
    if convicts and "trace" not in table:
        raise DecodeError(f"{name}: several traces, so it is unclear which of them convicts {convicts[0]}")
    for trace_name, trace, shows in traces_of(name, table):
        events = read_trace(component, trace)
        case = Case(f"{component}-directed-{trace_name}", component, config, events, rules=tuple(table["rules"]))
        yield Directed(case, story, read_shows(component, shows, len(events)) if shows else (), convicts)


def traces_of(name: str, table: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Name, trace and `shows` of a single trace, or of each in a table."""
    if "trace" in table:
        yield name, table["trace"], table.get("shows", "")
    else:
        for number, (trace, shows) in enumerate(table["shows"].items(), start=1):
            yield f"{name}-{number}", trace, shows


def read_shows(component: str, text: str, events: int) -> tuple[Shown, ...]:
    parts = [" ".join(part.split()) for part in text.split("|")]
    begin = 1 if parts[0] == REST else 0
    if not (len(parts) == events if begin == 0 else 1 < len(parts) <= events):
        raise DecodeError(f"{events} events, but {text!r} shows {len(parts) - begin}")
    return tuple(read_shown(component, part) for part in parts[begin:])


def read_shown(component: str, part: str) -> Shown:
    named = RULE.fullmatch(part)
    rule, possible = named.groups(default="") if named else ("", part)
    return Shown(rule, tuple(read_observations(component, one) for one in possible.split(" or ")))
