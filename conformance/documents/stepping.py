"""A trace step by step: each event with its observations, rules and the state afterwards."""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from textwrap import fill
from typing import Any

import attrs

from tidegate.conformance.engines.text import printable
from tidegate.conformance.reports.summary import Paint, plain
from tidegate.reference.elements import MAX, MIN
from tidegate.traces.cases import Case
from tidegate.traces.codec import DecodeError, decode_observation
from tidegate.traces.notation.text import write_event, write_observations

#: Width of the label column.
MARGIN = 13
#: Width of a narrow window, as on a laptop beside an editor.
WIDTH = 80
#: Longer lists, before and after together, are shown by their added and removed items.
LONG_LISTS = 60


@attrs.frozen
class Step:
    event: str
    observations: str
    rules: tuple[str, ...]
    state: str


def step_through(case: Case) -> list[Step]:
    """The first allowed outcome of each step; if a case has expected answers, the outcome with these answers."""
    component = case.model
    states = component.start(case.config)
    steps = []
    for index, event in enumerate(case.events):
        outcomes = [outcome for state in states for outcome in component.step(state, event)]
        if case.expect is not None:
            outcomes = [outcome for outcome in outcomes if outcome.observations == case.expect[index]] or outcomes
        outcome = outcomes[0]
        states = (outcome.state,)
        seen = write_observations(outcome.observations)
        steps.append(Step(write_event(case.component, event), seen, outcome.rules, show(outcome.state)))
    return steps


# --- beside an engine -------------------------------------------------------------------------------------------


@attrs.frozen
class Compared:
    """A step of an engine compared with the specification. Without an engine, `mine` is None."""

    event: str
    mine: str | None
    allowed: tuple[str, ...]
    rules: tuple[str, ...]
    agrees: bool
    #: Changes of the specification's state; of the first state if there are several.
    changes: tuple[str, ...]
    states: int

    def text(self, number: int, paint: Paint = plain) -> str:
        """One labelled line per fact, so that large states are readable in a narrow window."""
        mark, style = ("  ", "") if self.agrees else ("✗ ", "bold red")
        lines = [paint(line(f"{mark}step {number}", self.event), style or "bold")]
        if self.mine is not None:
            lines.append(paint(line(f"{mark}  mine", self.mine), style))
        first, *others = self.allowed
        lines += [line("    allowed", first), *(line("    or", other) for other in others)]
        lines.append(line("    rules", ", ".join(self.rules)))
        first, *others = self.changes or ("as before",)
        lines += [line("    state" if self.states == 1 else f"    1 of {self.states}", first)]
        return "\n".join([*lines, *(line("", other) for other in others)])


def line(title: str, text: str) -> str:
    return fill(text, WIDTH, initial_indent=f"{title:<{MARGIN}}", subsequent_indent=" " * (MARGIN + 2))


def compare(case: Case, shown: Sequence[Sequence[Any]] | None = None) -> Iterator[Compared]:
    """The case step by step: the engine's answer, as raw JSON, beside the allowed answers.

    After a wrong step it continues from the specification's state.
    """
    component = case.model
    states = component.start(case.config)
    for index, event in enumerate(case.events):
        outcomes = [outcome for state in states for outcome in component.step(state, event)]
        before, agreeing, mine = states[0], outcomes, None
        if shown is not None:
            try:
                seen = tuple(decode_observation(raw, case.component) for raw in shown[index])
                mine = printable(write_observations(seen))
                agreeing = [outcome for outcome in outcomes if outcome.observations == seen]
            except DecodeError as error:
                mine, agreeing = printable(f"malformed: {error}"), []
        states = tuple(dict.fromkeys(outcome.state for outcome in agreeing or outcomes[:1]))
        yield Compared(
            event=write_event(case.component, event),
            mine=mine,
            allowed=tuple(dict.fromkeys(write_observations(outcome.observations) for outcome in outcomes)),
            rules=tuple(dict.fromkeys(rule for outcome in agreeing or outcomes for rule in outcome.rules)),
            agrees=bool(agreeing),
            changes=tuple(changes(before, states[0])),
            states=len(states),
        )


def changes(before: Any, after: Any, name: str = "") -> Iterator[str]:
    """Each changed part by its name: `channels[2].idle: no → yes`."""
    if before == after:
        return
    if type(before) is type(after):
        if attrs.has(type(after)):
            for field in attrs.fields(type(after)):
                inner = f"{name}.{field.name}" if name else field.name
                yield from changes(getattr(before, field.name), getattr(after, field.name), inner)
            return
        if isinstance(after, tuple) and len(before) == len(after):
            for index, (old, new) in enumerate(zip(before, after, strict=True)):
                yield from changes(old, new, f"{name}[{index}]")
            return
        if isinstance(after, tuple) and len(show(before)) + len(show(after)) > LONG_LISTS and overlap(before, after):
            kept = overlap(before, after)
            gone, come = before[: len(before) - kept], after[kept:]
            yield from [f"{name}: removed from the front {show_many(gone)}"] if gone else []
            yield from [f"{name}: added at the end {show_many(come)}"] if come else []
            return
    yield f"{name}: {show(before)} → {show(after)}"


def overlap(before: tuple[Any, ...], after: tuple[Any, ...]) -> int:
    """How many items at the end of one list begin the other: a queue with items removed or added."""
    return next((n for n in range(min(len(before), len(after)), 0, -1) if before[-n:] == after[:n]), 0)


# --- values -----------------------------------------------------------------------------------------------------


def show(value: Any) -> str:
    """A state in few words, without the config, which does not change."""
    if value is MIN or value == MIN:
        return "MIN"
    if value == MAX:
        return "MAX"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, bytes):
        return value.hex() or "empty"
    if attrs.has(type(value)):
        fields = [field.name for field in attrs.fields(type(value)) if field.name != "config"]
        return " ".join(f"{name}={show_inner(getattr(value, name))}" for name in fields)
    if isinstance(value, tuple | list | frozenset | set):
        return show_many(value)
    return str(value)


def show_inner(value: Any) -> str:
    text = show(value)
    return f"({text})" if attrs.has(type(value)) and " " in text else text


def show_many(values: Iterable[Any]) -> str:
    return f"[{', '.join(show_inner(value) for value in values)}]"
