"""What `tidegate explore` does and prints: closures explored, with progress, as text, JSON or Markdown."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
from rich.markup import escape

from tidegate.conformance.cli.console import console
from tidegate.properties.explorer.closures import Closure
from tidegate.properties.explorer.exploring import Broken, explore
from tidegate.reference.rules import all_rules
from tidegate.traces.codec import encode
from tidegate.traces.notation.text import write_event, write_trace


@attrs.frozen
class Counterexample:
    """A property that is broken, with a config and a shortest trace that show it."""

    config: Any
    property: Broken


@attrs.frozen
class Explored:
    """What was found on all configs of a closure. `symmetry` names the parts whose numbers made no difference."""

    note: str
    symmetry: str | None
    states: int
    transitions: int
    depth: int
    seconds: float
    complete: bool
    checked: tuple[str, ...]
    broken: tuple[Counterexample, ...]


Progress = Callable[[int, int], None]


def explore_all(component: str, closures: list[Closure], limit: int, *, symmetry: bool = True) -> list[Explored]:
    with show_progress(component) as progress:
        return [explore_one(closure, limit, progress, symmetry=symmetry) for closure in closures]


def explore_one(closure: Closure, limit: int, progress: Progress, *, symmetry: bool) -> Explored:
    began = time.perf_counter()
    used = closure.component.symmetry if symmetry else None
    found = [
        (config, explore(closure.component, config, closure.alphabet_of(config), limit, progress, used))
        for config in closure.configs
    ]
    broken: dict[str, Counterexample] = {}
    for config, exploration in found:
        for one in exploration.broken:
            known = broken.get(one.name)
            if known is None or len(one.trace) < len(known.property.trace):
                broken[one.name] = Counterexample(config, one)
    return Explored(
        note=closure.note,
        symmetry=used.parts if used else None,
        states=sum(exploration.states for _config, exploration in found),
        transitions=sum(exploration.transitions for _config, exploration in found),
        depth=max(exploration.depth for _config, exploration in found),
        seconds=time.perf_counter() - began,
        complete=all(exploration.complete for _config, exploration in found),
        checked=found[0][1].checked,
        broken=tuple(broken.values()),
    )


@contextmanager
def show_progress(component: str) -> Iterator[Progress]:
    """Counts on standard error, if somebody looks at it."""
    error = console(stderr=True)
    if not error.is_terminal:
        yield lambda _states, _transitions: None
        return
    with error.status(f"exploring {component}") as status:
        yield lambda states, transitions: status.update(
            f"exploring {component}: {states:,} states, {transitions:,} transitions"
        )


# --- output ---------------------------------------------------------------------------------------------------


def describe_size(one: Explored) -> str:
    extent = "all of them" if one.complete else "stopped at the limit, there are more"
    alike = f" up to symmetry of {one.symmetry}" if one.symmetry else ""
    size = f"{one.states:,} states{alike}, {one.transitions:,} transitions, depth {one.depth}"
    return f"{size}: {extent}, in {one.seconds:.2f} s"


def rule_texts(broken: Broken) -> list[tuple[str, str]]:
    known = all_rules()
    return [(rule, known[rule].text if rule in known else "") for rule in broken.rules]


def print_pretty(component: str, explored: list[Explored]) -> None:
    out = console()
    for one in explored:
        out.print(f"[bold]{component}[/], {escape(one.note)}")
        out.print(f"  {describe_size(one)}")
        names = {each.property.name for each in one.broken}
        holding = [name for name in one.checked if name not in names]
        if holding:
            out.print(f"  [green]hold[/] ({len(holding)}): {', '.join(holding)}")
        for each in one.broken:
            broken = each.property
            out.print(f"  [bold red]broken[/]: {broken.name}. {escape(broken.statement)}")
            for rule, text in rule_texts(broken):
                out.print(f"    [cyan]{rule}[/] {escape(text)}")
            out.print(f"    config {escape(str(encode(each.config)))}")
            out.print(f"    {len(broken.trace)} steps: [bold]{escape(write_trace(component, broken.trace))}[/]")


def as_json(component: str, explored: list[Explored]) -> dict[str, Any]:
    return {
        "component": component,
        "holds": not any(one.broken for one in explored),
        "explorations": [
            {
                "note": one.note,
                "symmetry": one.symmetry,
                "states": one.states,
                "transitions": one.transitions,
                "depth": one.depth,
                "seconds": round(one.seconds, 3),
                "complete": one.complete,
                "checked": list(one.checked),
                "broken": [
                    {
                        "name": each.property.name,
                        "statement": each.property.statement,
                        "rules": [{"id": rule, "text": text} for rule, text in rule_texts(each.property)],
                        "config": encode(each.config),
                        "trace": write_trace(component, each.property.trace),
                        "events": [encode(event) for event in each.property.trace],
                    }
                    for each in one.broken
                ],
            }
            for one in explored
        ],
    }


def as_markdown(component: str, explored: list[Explored]) -> Iterator[str]:
    yield f"# {component}"
    for one in explored:
        yield f"\n{one.note}: {describe_size(one)}.\n"
        yield "| property | holds | shortest counterexample |\n|---|---|---|"
        broken = {each.property.name: each.property for each in one.broken}
        for name in one.checked:
            if name not in broken:
                yield f"| {name} | yes | |"
                continue
            trace = " ".join(f"`{write_event(component, event)}`" for event in broken[name].trace)
            yield f"| {name} ({', '.join(broken[name].rules)}) | no | {trace} |"
