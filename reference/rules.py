"""The registry of rules: what each id means, why it is so, and where it comes from.

The texts are data: each subject has its `rules.toml` beside its code. Documentation, reports and test names are derived
from them. A rule keeps its id for ever.
"""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import attrs

LEVELS = ("must", "should", "may")


@attrs.frozen
class Rule:
    """One rule.

    `components` are the names of the components that it belongs to. `source` says where it was learnt: a class, an
    issue, a paper. `evidence` is `observed` where the rule was confirmed by running the real classes, and `read`
    where it was only read from their source. `since` and `until` are Flink releases. `internal` says why no engine can
    be held to a rule, although the specification keeps it; `out_of_scope` says why a rule is listed but not modelled.
    Both are empty for all others: those are judged.
    """

    id: str
    components: tuple[str, ...]
    level: str
    text: str
    intent: str
    source: str
    evidence: str
    since: str = ""
    until: str = ""
    internal: str = ""
    out_of_scope: str = ""

    @property
    def is_judged(self) -> bool:
        """Whether an engine is held to the rule: some case can show that it breaks it."""
        return not self.internal and not self.out_of_scope

    @property
    def prefix(self) -> str:
        return self.id.partition("-")[0]

    @property
    def number(self) -> int:
        return int(self.id.partition("-")[2])


@cache
def all_rules() -> dict[str, Rule]:
    """Every rule by its id, in the order of prefix and number."""
    rules = [rule for text in read_rulebooks() for rule in parse(text)]
    return {rule.id: rule for rule in sorted(rules, key=lambda rule: (rule.prefix, rule.number))}


def read_rulebooks() -> list[str]:
    books = [folder / "rules.toml" for folder in files("tidegate.reference").iterdir() if folder.is_dir()]
    return [book.read_text(encoding="utf-8") for book in books if book.is_file()]


def parse(text: str) -> list[Rule]:
    """The rules of one file. Its table `defaults` holds for all of them, or has a table for each prefix."""
    tables: dict[str, dict[str, Any]] = tomllib.loads(text)
    defaults = tables.pop("defaults", {})
    return [
        make_rule(rule_id, {**defaults.get(rule_id.partition("-")[0], defaults), **table})
        for rule_id, table in tables.items()
    ]


def make_rule(rule_id: str, table: dict[str, Any]) -> Rule:
    prose = {name: " ".join(value.split()) for name, value in table.items() if isinstance(value, str)}
    rule = Rule(id=rule_id, components=tuple(table["components"]), **prose)
    if rule.internal and rule.out_of_scope:
        raise ValueError(f"{rule_id}: a rule that is not modelled is not internal")
    if rule.level not in LEVELS or rule.evidence not in ("observed", "read"):
        raise ValueError(f"{rule_id}: level {rule.level!r} or evidence {rule.evidence!r} is unknown")
    return rule


def rules_of(component: str) -> list[Rule]:
    return [rule for rule in all_rules().values() if component in rule.components]
