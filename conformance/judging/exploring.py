"""The specification itself, explored: closures of small scopes, every claim on every transition."""

import time
from collections.abc import Iterable
from typing import Any

import attrs

from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.suite import UnknownNameError
from tidegate.conformance.reports.summary import GREEN, RED, Paint, plain
from tidegate.properties.cases.job import make_restored_jobs
from tidegate.properties.drawing.scopes import has_scopes
from tidegate.properties.explorer import closures
from tidegate.properties.explorer.closures import Closure
from tidegate.properties.explorer.exploring import MOST_BYTES, Progress, Shown, in_silence
from tidegate.properties.explorer.exploring import Exploration as Found
from tidegate.reference.components import COMPONENTS
from tidegate.reference.job.examples import make_word_count
from tidegate.reference.model import Claim
from tidegate.reference.rules import all_rules
from tidegate.traces.codec import encode
from tidegate.traces.notation.text import write_event, write_trace

#: The options of each component. Any other component with a small scope is explored on that scope, without options.
OPTIONS: dict[str, tuple[str, ...]] = {
    "valve": ("channels", "timestamps", "semantics"),
    "combiner": ("inputs", "timestamps", "semantics"),
    "multiplexer": ("outputs", "timestamps", "semantics"),
    "credit_loop": ("channels", "exclusive", "floating", "data", "barriers"),
    "deserializer": ("records",),
}
#: Limit on the states of all closures together, unless set otherwise.
LIMIT = 2_000_000


@attrs.frozen
class Example:
    """A claim, with a config and a shortest trace on which it is broken, or reached if it must be reachable."""

    config: Any
    claim: Shown


def texts_of(claim: Claim | Shown) -> list[tuple[str, str]]:
    """The rules behind a claim, with their texts."""
    known = all_rules()
    return [(rule, known[rule].text if rule in known else "") for rule in claim.rules]


@attrs.frozen
class Explored:
    """The result for all configs of a closure.

    `symmetry` names the parts whose numbers made no difference. `reduced`: of independent events, only
    one order was followed.
    """

    note: str
    symmetry: str | None
    reduced: bool
    states: int
    transitions: int
    depth: int
    seconds: float
    complete: bool
    interrupted: bool
    full: bool
    checked: tuple[str, ...]
    broken: tuple[Example, ...]
    reached: tuple[Example, ...]

    @property
    def size(self) -> str:
        stopped = "interrupted" if self.interrupted else "stopped at the limit"
        stopped = f"stopped at {MOST_BYTES:,} bytes of memory" if self.full else stopped
        extent = "all of them" if self.complete else f"{stopped}, there are more"
        alike = f" up to symmetry of {self.symmetry}" if self.symmetry else ""
        alike += " up to the order of independent events" if self.reduced else ""
        size = f"{self.states:,} states{alike}, {self.transitions:,} transitions, depth {self.depth}"
        return f"{size}: {extent}, in {self.seconds:.2f} s"


@attrs.frozen(repr=False)
class Exploration:
    """The results for the closures of a component.

    `unreached` must be reachable, and was not reached. On the small scopes of the component, explored completely, that
    breaks the specification; a scope chosen by a user may be too small for it.
    """

    component: str
    explored: tuple[Explored, ...]
    unreached: tuple[Claim, ...]
    small_scopes: bool

    @property
    def complete(self) -> bool:
        return all(one.complete for one in self.explored)

    @property
    def holds(self) -> bool:
        """Whether no claim is broken, and everything that must be reachable was reached."""
        missed = self.unreached and self.small_scopes and self.complete
        return not missed and not any(one.broken for one in self.explored)

    @property
    def exit_code(self) -> Exit:
        """0 if every claim holds in every state, 1 if one is broken, 2 if there are more states than the limit."""
        if not self.holds:
            return Exit.VIOLATIONS
        return Exit.CONFORMANT if self.complete else Exit.UNDETERMINED

    def text(self, paint: Paint = plain) -> str:
        lines = []
        for one in self.explored:
            lines += [f"{paint(self.component, 'bold')}, {one.note}", f"  {one.size}"]
            names = {each.claim.name for each in one.broken}
            holding = [name for name in one.checked if name not in names]
            lines += [f"  {paint('hold', GREEN)} ({len(holding)}): {', '.join(holding)}"] * bool(holding)
            reached = [each.claim.name for each in one.reached]
            lines += [f"  {paint('reached', GREEN)} ({len(reached)}): {', '.join(reached)}"] * bool(reached)
            for each in one.broken:
                broken = each.claim
                lines.append(f"  {paint('broken', f'bold {RED}')}: {broken.name}. {broken.statement}")
                lines += [f"    {paint(rule, 'cyan')} {text}" for rule, text in texts_of(broken)]
                trace = paint(write_trace(self.component, broken.trace), "bold")
                lines += [f"    config {encode(each.config)}", f"    {len(broken.trace)} steps: {trace}"]
        for claim in self.unreached:
            if not self.small_scopes or not self.complete:
                lines.append(f"not reached in this scope: {claim.name}. {claim.statement}")
                continue
            lines.append(f"{paint('never reached', f'bold {RED}')}: {claim.name}. {claim.statement}")
            lines += [f"  {paint(rule, 'cyan')} {text}" for rule, text in texts_of(claim)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        states = sum(one.states for one in self.explored)
        return f"<Exploration of {self.component}: {self.exit_code.name.lower()}, {states} states>"

    def json(self) -> dict[str, Any]:
        return {
            "component": self.component,
            "holds": self.holds,
            "unreached": [describe(one) for one in self.unreached],
            "explorations": [
                {
                    "note": one.note,
                    "symmetry": one.symmetry,
                    "reduced": one.reduced,
                    "states": one.states,
                    "transitions": one.transitions,
                    "depth": one.depth,
                    "seconds": round(one.seconds, 3),
                    "complete": one.complete,
                    "checked": list(one.checked),
                    "broken": [self.describe(each) for each in one.broken],
                    "reached": [self.describe(each) for each in one.reached],
                }
                for one in self.explored
            ],
        }

    def describe(self, example: Example) -> dict[str, Any]:
        return {
            **describe(example.claim),
            "config": encode(example.config),
            "trace": write_trace(self.component, example.claim.trace),
            "events": [encode(event) for event in example.claim.trace],
        }

    def markdown(self) -> str:
        lines = [f"# {self.component}"]
        for one in self.explored:
            lines += [f"\n{one.note}: {one.size}.\n", "| property | holds | shortest counterexample |\n|---|---|---|"]
            broken = {each.claim.name: each.claim for each in one.broken}
            for name in one.checked:
                if name not in broken:
                    lines.append(f"| {name} | yes | |")
                else:
                    lines.append(f"| {name} ({', '.join(broken[name].rules)}) | no | {self.quote(broken[name])} |")
        reached = find_shortest((each.config, each.claim) for one in self.explored for each in one.reached)
        lines += ["\n| must be reachable | reached | shortest trace |\n|---|---|---|"]
        lines += [f"| {each.claim.name} | yes | {self.quote(each.claim)} |" for each in reached]
        lines += [f"| {claim.name} ({', '.join(claim.rules)}) | no | |" for claim in self.unreached]
        return "\n".join(lines) + "\n"

    def quote(self, claim: Shown) -> str:
        return " ".join(f"`{write_event(self.component, event)}`" for event in claim.trace)


def describe(claim: Claim | Shown) -> dict[str, Any]:
    return {
        "name": claim.name,
        "statement": claim.statement,
        "rules": [{"id": rule, "text": text} for rule, text in texts_of(claim)],
    }


def explore_component(
    component: str,
    limit: int = LIMIT,
    progress: Progress = in_silence,
    *,
    symmetry: bool = True,
    reduction: bool = True,
    **options: Any,
) -> Exploration:
    """Close over all states of a component on a small alphabet.

    An interrupt ends it; the result is what is known by then.

    With `symmetry`, states that differ only in the numbers of channels, inputs or outputs count as one. With
    `reduction`, of independent choices of a job only one order is followed. The options are those
    of `OPTIONS`; None means the default. UnknownNameError is raised if there is nothing
    to explore, no such option or no such semantics.
    """
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in OPTIONS.get(component, ()):
            own = ", ".join(OPTIONS.get(component, ())) or "none: it is explored on its small scopes"
            raise UnknownNameError(f"{component} has no {name}; its options are {own}")
    explored: list[Explored] = []
    sometimes: tuple[Claim, ...] = ()
    for closure in choose_closures(component, given):
        sometimes = closure.component.sometimes
        explored.append(explore_closure(closure, limit, progress, symmetry=symmetry, reduction=reduction))
        limit -= explored[-1].states
        if not explored[-1].complete:
            break
    reached = {each.claim.name for one in explored for each in one.reached}
    unreached = tuple(one for one in sometimes if one.name not in reached)
    return Exploration(component, tuple(explored), unreached, small_scopes=component not in OPTIONS)


def choose_closures(component: str, options: dict[str, Any]) -> Iterable[Closure]:
    ask = options.get
    if component == "valve":
        return [closures.of_valve(ask("channels", 3), ask("timestamps", 2), choose_semantics(component, options))]
    if component == "combiner":
        return [closures.of_combiner(ask("inputs", 3), ask("timestamps", 2), choose_semantics(component, options))]
    if component == "multiplexer":
        return [closures.of_multiplexer(ask("outputs", 2), ask("timestamps", 2), choose_semantics(component, options))]
    if component == "credit_loop":
        exclusive, floating = ask("exclusive", (0, 1, 2)), ask("floating", (1, 2))
        return closures.of_credit_loop(ask("channels", 2), exclusive, floating, choose_loads(options))
    if component == "deserializer":
        return [closures.of_deserializer(ask("records", 2))]
    chosen = closures.of_small_scopes(component) if component in COMPONENTS else []
    if component == "job":
        chosen.append(closures.of_job("WordCount", make_word_count()))
        chosen += [closures.of_job(name, config) for name, config in make_restored_jobs().items()]
    if not chosen:
        known = sorted({*OPTIONS, *(one for one in COMPONENTS if has_scopes(one))})
        raise UnknownNameError(f"nothing to explore for {component!r}; there are {', '.join(known)}")
    return chosen


def choose_semantics(component: str, options: dict[str, Any]) -> str:
    known = COMPONENTS[component].semantics
    chosen = str(options.get("semantics", known[0]))
    if chosen not in known:
        raise UnknownNameError(f"the semantics of {component} is one of {', '.join(known)}, not {chosen!r}")
    return chosen


def choose_loads(options: dict[str, Any]) -> Iterable[tuple[int, int]]:
    """What is written on each channel: data buffers and barriers. Two of one and one of the other take minutes."""
    if not {"data", "barriers"} & options.keys():
        return [(2, 0), (1, 1)]
    return [(data, barriers) for data in options.get("data", (1,)) for barriers in options.get("barriers", (0,))]


def explore_closure(
    closure: Closure, limit: int, progress: Progress, *, symmetry: bool = True, reduction: bool = True
) -> Explored:
    began = time.perf_counter()
    used = closure.component.symmetry if symmetry else None
    found: list[tuple[Any, Found]] = []
    for config in closure.configs:
        found.append((config, closure.explore(config, limit, progress, symmetry=symmetry, reduction=reduction)))
        limit -= found[-1][1].states
        if not found[-1][1].complete:
            break
    return Explored(
        note=closure.note,
        symmetry=used.parts if used else None,
        reduced=reduction and closure.reduced is not None,
        states=sum(exploration.states for _config, exploration in found),
        transitions=sum(exploration.transitions for _config, exploration in found),
        depth=max(exploration.depth for _config, exploration in found),
        seconds=time.perf_counter() - began,
        complete=all(exploration.complete for _config, exploration in found),
        interrupted=found[-1][1].interrupted,
        full=found[-1][1].full,
        checked=found[0][1].checked,
        broken=find_shortest((config, one) for config, exploration in found for one in exploration.broken),
        reached=find_shortest((config, one) for config, exploration in found for one in exploration.reached),
    )


def find_shortest(shown: Iterable[tuple[Any, Shown]]) -> tuple[Example, ...]:
    """The example with the shortest trace of each claim."""
    best: dict[str, Example] = {}
    for config, one in shown:
        known = best.get(one.name)
        if known is None or len(one.trace) < len(known.claim.trace):
            best[one.name] = Example(config, one)
    return tuple(best.values())
