"""The documentation of the semantics, generated from the registry, the components and the golden traces.

One page per component, one with all rules, and an overview. `make docs` writes them; a test fails if they are stale.
"""

import inspect
import json
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_origin

import attrs

from tidegate.conformance.documents.explaining import Explanation, describe_judging, describe_source
from tidegate.conformance.documents.flink_tests import flink_tests_page
from tidegate.conformance.documents.schema_tables import cell, protocol_section
from tidegate.conformance.documents.stepping import Step, step_through
from tidegate.conformance.judging.golden import read_golden
from tidegate.reference.components import BY_FLOOR, COMPONENTS, PLACES, Floor
from tidegate.reference.elements import Long, types_of
from tidegate.reference.model import AnyComponent, Claim
from tidegate.reference.rules import Rule, all_rules, rules_of
from tidegate.traces.cases import Case
from tidegate.traces.codec import encode

#: Longest example in characters: more does not fit a page.
LONGEST_EXAMPLE = 3500

MADE = "<!-- Written by `make docs` from the specification. Do not edit. -->"


def write_documents(folder: Path) -> list[Path]:
    written = []
    for name, text in make_documents().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    protocol = folder / "protocol.md"
    if protocol.exists():
        protocol.write_text(list_components(protocol.read_text(encoding="utf-8")), encoding="utf-8")
        written.append(protocol)
    return written


def make_documents() -> dict[str, str]:
    pages = {"semantics/index.md": overview(), "semantics/rules.md": rules_page()}
    pages["flink-tests.md"] = flink_tests_page(MADE)
    pages |= {f"semantics/{component.name}.md": component_page(component) for component in COMPONENTS.values()}
    return pages


#: Heading of the components of a floor.
FLOORS = {
    Floor.CORE: "The core: what any engine of this kind can be held to.",
    Floor.INSIDE: "Inside Flink: parts that an engine has if it is built as Flink is.",
}


def list_components(page: str) -> str:
    """The protocol page, with every component in the table of its floor."""
    for floor, about in FLOORS.items():
        before, title, rest = page.partition(f"{about}\n\n| component | what it does |\n|---|---|\n")
        behind = rest[rest.index("\n\n") :] if title else ""
        rows = [f"| [{one.name}](semantics/{one.name}.md) | {one.sentence} |" for one in BY_FLOOR[floor]]
        page = before + title + "\n".join(rows) + behind if title else page
    return page


def overview() -> str:
    lines = [
        MADE,
        "# The exchange",
        "",
        "How a record travels from one task to the next, and which page says what.",
        "",
    ]
    lines += ["```mermaid", "flowchart LR", *diagram(), "```", ""]
    for floor, about in FLOORS.items():
        lines += [about, "", "| component | what it does | rules |", "|---|---|---|"]
        for place in BY_FLOOR[floor]:
            title = COMPONENTS[place.name].title
            lines.append(f"| [{title}]({place.name}.md) | {place.sentence} | {len(rules_of(place.name))} |")
        lines.append("")
    judged = [rule for rule in all_rules().values() if rule.is_judged]
    internal = [rule for rule in all_rules().values() if rule.internal]
    lines += [f"[All rules](rules.md): {len(all_rules())}. {len(judged)} of them are judged on engines."]
    lines += [f"{len(internal)} are internal; each says why no engine can be judged by it.", ""]
    return "\n".join(lines)


def diagram() -> list[str]:
    return [
        '  operator["operator"] -->|record, watermark, status| partitioner',
        '  subgraph producer["producing task"]',
        "    operator",
        '    partitioner["partitioner<br/>which channel"] --> serializer["serializer<br/>bytes in buffers"]',
        '    serializer --> subpartition["subpartition<br/>queue of buffers"]',
        "  end",
        '  subpartition --> sender["credit sender"]',
        '  sender ==>|"buffer, backlog"| receiver["credit receiver"]',
        "  receiver -.->|credit| sender",
        '  subgraph consumer["consuming task"]',
        '    receiver --> gate["gate<br/>one item a turn"]',
        '    gate --> deserializer["deserializer<br/>records again"]',
        '    deserializer -->|watermark, status| valve["valve"]',
        '    deserializer -->|record| next["next operator"]',
        '    valve --> combiner["combiner<br/>all inputs"] --> next',
        "  end",
    ]


def rules_page() -> str:
    titles = ("rule", "level", "components", "text", "evidence", "judged")
    lines = [MADE, "# All rules", "", f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for rule in all_rules().values():
        text = cell(" ".join([rule.text, *(f"*{title}: {why}*" for title, why in reasons_of(rule).items())]))
        pages = ", ".join(f"[{name}]({name}.md)" if name in COMPONENTS else name for name in rule.components)
        lines.append(f"| {rule.id} | {rule.level} | {pages} | {text} | {rule.evidence} | {describe_judging(rule)} |")
    return "\n".join(lines) + "\n"


def component_page(component: AnyComponent) -> str:
    lines = [MADE, f"# {component.title}", "", *introduction(component), ""]
    lines += ["## In the engine protocol", "", *protocol_section(component.name)]
    lines += ["## State", "", *state_section(component), ""]
    lines += ["## Rules", ""]
    for rule in rules_of(component.name):
        lines += rule_section(rule)
    lines += claims_table("What must hold", (*component.properties, *component.invariants, *component.laws))
    lines += claims_table("What must be reachable", component.sometimes)
    lines += example_section(component)
    return "\n".join(lines).rstrip() + "\n"


def claims_table(title: str, claims: tuple[Claim, ...]) -> list[str]:
    if not claims:
        return []
    rows = [f"| {one.name} | {cell(one.statement)} | {', '.join(one.rules)} |" for one in claims]
    return [f"## {title}", "", "| name | statement | rules |", "|---|---|---|", *rows, ""]


def introduction(component: AnyComponent) -> list[str]:
    return (inspect.getdoc(import_module(PLACES[component.name].module)) or "").splitlines()


def type_name(annotation: Any) -> str:
    """The JSON form of a type, in words."""
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return " or ".join(f"`{name}`" for name in annotation)
    members = [member for member in get_args(annotation) if member not in (type(None), ...)]
    if get_origin(annotation) in (tuple, frozenset):
        return f"{'list' if get_origin(annotation) is tuple else 'set'} of {type_name(members[0])}"
    if members:
        return " or ".join(type_name(member) for member in members)
    known = {
        Long: "64-bit (decimal string)",
        bytes: "bytes (hex)",
        int: "integer",
        str: "string",
        bool: "true or false",
    }
    if annotation in known:
        return known[annotation]
    if attrs.has(annotation):
        kind = vars(annotation).get("type")
        tag = [f'`type`: "{kind}"'] if isinstance(kind, str) else []
        inner = [f"`{name}`: {type_name(kind)}" for name, kind in types_of(annotation).items()]
        return "(" + ", ".join(tag + inner) + ")"
    return str(getattr(annotation, "__name__", annotation))


def state_section(component: AnyComponent) -> list[str]:
    case = example_case(component)
    if case is None:
        return ["See the example."]
    state = component.start(case.config)[0]
    if not attrs.has(type(state)):
        return ["None."]
    fields = {name: kind for name, kind in types_of(type(state)).items() if name != "config"}
    if not fields:
        return ["None: the answer depends on the config and the event alone."]
    return [f"- `{name}`: {type_name(kind)}" for name, kind in fields.items()]


def rule_section(rule: Rule) -> list[str]:
    lines = [
        f"### {rule.id}",
        "",
        rule.text,
        "",
        f"*Why:* {rule.intent}",
        "",
        f"*Source:* {describe_source(rule)}.",
        "",
    ]
    for title, why in reasons_of(rule).items():
        lines += [f"*{title}:* {why}", ""]
    return lines


def reasons_of(rule: Rule) -> dict[str, str]:
    """Why no engine is judged by a rule; empty for most rules."""
    reasons = {"Internal": rule.internal, "Not modelled": rule.out_of_scope}
    return {title: why for title, why in reasons.items() if why}


@cache
def example_case(component: AnyComponent) -> Case | None:
    """A short golden trace with many rules: the most rules for its length, among those that fit a page."""
    cases = [case for case in read_golden(component.name) if 1 <= len(case.events) <= 9]
    cases = [case for case in cases if sum(len(f"{step}") for step in step_through(case)) < LONGEST_EXAMPLE]
    return max(cases, key=lambda case: (len(rules_shown(case)), -len(case.events)), default=None)


def rules_shown(case: Case) -> set[str]:
    return {rule for step in step_through(case) for rule in step.rules}


def example_section(component: AnyComponent) -> list[str]:
    case = example_case(component)
    if case is None:
        return []
    lines = ["## Example", "", f"`{case.name}`, with config `{json.dumps(encode(case.config))}`:", ""]
    return [*lines, *steps_table(tuple(step_through(case)))]


def steps_table(steps: tuple[Step, ...]) -> list[str]:
    lines = ["| event | seen | rules | state afterwards |", "|---|---|---|---|"]
    for step in steps:
        cells = (f"`{step.event}`", step.observations, ", ".join(step.rules), f"`{step.state or 'none'}`")
        lines.append("| " + " | ".join(map(cell, cells)) + " |")
    return lines


def explanation_as_markdown(explanation: Explanation) -> str:
    lines = rule_section(explanation.rule)
    lines += [f"- `{place}`" for place in explanation.places]
    lines += [f"- {statement}" for statement in explanation.statements]
    if explanation.example is not None:
        lines += ["", f"`{explanation.example.name}`:", "", *steps_table(explanation.example.steps)]
    return "\n".join(lines)
