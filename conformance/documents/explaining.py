"""Everything about a rule: its text, its code, its checks, its shortest golden trace."""

import json
from functools import cache

import attrs

from tidegate.conformance import schemas
from tidegate.conformance.documents.backlinks import Place, directed_about, mutants_of, places_of
from tidegate.conformance.documents.stepping import Step, line, step_through
from tidegate.conformance.judging.golden import read_golden
from tidegate.reference.components import COMPONENTS, PATH
from tidegate.reference.rules import Rule, all_rules
from tidegate.traces.cases import Case
from tidegate.traces.codec import encode
from tidegate.traces.notation.forms import forms_of


@attrs.frozen
class Example:
    name: str
    component: str
    config: str
    steps: tuple[Step, ...]


@attrs.frozen
class Explanation:
    rule: Rule
    source: str
    places: tuple[Place, ...]
    statements: tuple[str, ...]
    directed: tuple[str, ...]
    mutants: tuple[str, ...]
    example: Example | None


def explain(rule_id: str) -> Explanation:
    rule = all_rules()[rule_id]
    return Explanation(
        rule=rule,
        source=describe_source(rule),
        places=places_of(rule.id),
        statements=tuple(statements_of(rule)),
        directed=directed_about(rule.id),
        mutants=mutants_of(rule.id),
        example=find_example(rule),
    )


def describe_source(rule: Rule) -> str:
    seen_on = f"up to {rule.until}" if rule.until else "2.3.0"
    evidence = f"observed on the real classes of Flink {seen_on}" if rule.evidence == "observed" else "read from source"
    since = f"; since {rule.since}" if rule.since else ""
    until = f"; until {rule.until}" if rule.until else ""
    return f"{rule.source} ({evidence}{since}{until})"


def statements_of(rule: Rule) -> list[str]:
    """The claims that name the rule."""
    statements = []
    for component in COMPONENTS.values():
        named = [one for one in component.claims if rule.id in one.rules]
        statements += [f"{component.name}/{one.name}: {one.statement}" for one in named]
    return statements


def find_example(rule: Rule) -> Example | None:
    """The shortest trace for the rule, cut after the step that shows it."""
    best: tuple[Case, list[Step]] | None = None
    for component in rule.components:
        for case, steps in golden_steps(component):
            shown = next((index for index, step in enumerate(steps) if rule.id in step.rules), None)
            if shown is not None and (best is None or shown + 1 < len(best[1])):
                best = case, steps[: shown + 1]
    if best is None:
        return None
    case, steps = best
    config = json.dumps(encode(case.config))
    return Example(case.name, case.component, config, tuple(steps))


@cache
def golden_steps(component: str) -> list[tuple[Case, list[Step]]]:
    return [(case, step_through(case)) for case in read_golden(component)]


def describe_component(name: str) -> list[str]:
    """A component in a few lines: its task, the short forms of its events, its rules."""
    place = next(place for place in PATH if place.name == name)
    rules = [rule for rule in all_rules().values() if name in rule.components]
    judged = [rule.id for rule in rules if rule.is_judged]
    return [
        f"{name}: {place.sentence}",
        line("Code", f"reference/{place.path}, docs/semantics/{name}.md"),
        line("Semantics", ", ".join(COMPONENTS[name].semantics) or "one"),
        line("Config", ", ".join(schemas.load(name)["$defs"]["config"]["properties"]) or "nothing"),
        line("Events", "  ".join(form.shown() for form in forms_of(name)) or "JSON objects"),
        line("Rules", f"{len(rules)}, judged on engines: {', '.join(judged)}; `tidegate explain RULE` explains one"),
    ]


@attrs.frozen
class Status:
    """The rules of one prefix: how many are judged on engines, and how many are not."""

    prefix: str
    rules: int
    judged: int
    internal: int
    out_of_scope: int


def rule_status() -> list[Status]:
    prefixes = list(dict.fromkeys(rule.prefix for rule in all_rules().values()))
    return [status_of(prefix) for prefix in [*prefixes, "all"]]


def status_of(prefix: str) -> Status:
    rules = [rule for rule in all_rules().values() if prefix in (rule.prefix, "all")]
    return Status(
        prefix=prefix,
        rules=len(rules),
        judged=sum(rule.is_judged for rule in rules),
        internal=sum(bool(rule.internal) for rule in rules),
        out_of_scope=sum(bool(rule.out_of_scope) for rule in rules),
    )


def describe_judging(rule: Rule) -> str:
    """Whether engines are judged by a rule, in a word."""
    if rule.is_judged:
        return "judged"
    return "internal" if rule.internal else "not modelled"
