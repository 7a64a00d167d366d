"""No rule without a use, no use without a rule."""

import ast
import re
from functools import cache

import pytest

from tests.paths import ROOT
from tidegate.conformance.engines.museum.catalog import all_mutants
from tidegate.conformance.judging.expected import expected_rules
from tidegate.conformance.judging.golden import read_golden
from tidegate.reference.components import COMPONENTS
from tidegate.reference.rules import all_rules

ID = re.compile(r"^[A-Z]+-\d+$")


def named_in_code():
    """Every rule id that stands as a string of its own in the reference."""
    found = {}
    for path in (ROOT / "reference").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and ID.match(node.value):
                found.setdefault(node.value, []).append(path.name)
    return found


@cache
@cache
def named_by_outcomes(component):
    """The rules that an outcome of a golden trace of the component names: there an engine can be wrong."""
    return {rule for case in read_golden(component) for rules in expected_rules(case) for rule in rules}


@cache
def broken_by_wrong_engines():
    """The rules that some engine of the museum is caught breaking."""
    return {rule for mutant in all_mutants() for rule in mutant.rules}


def claimed():
    return {rule for component in COMPONENTS.values() for one in component.claims for rule in one.rules}


def test_every_named_rule_is_in_the_registry():
    assert set(named_in_code()) <= set(all_rules())


def test_every_rule_is_named_unless_it_says_why_not():
    named = named_in_code()
    assert not [rule.id for rule in all_rules().values() if rule.id not in named and not rule.out_of_scope]


def test_every_judged_rule_is_named_where_an_engine_can_break_it():
    """A rule that no case shows is a defect of the protocol, or internal. And somebody must have broken it."""
    judged = [rule for rule in all_rules().values() if rule.is_judged]
    unseen = [rule.id for rule in judged if rule.id not in set().union(*map(named_by_outcomes, rule.components))]
    assert unseen == []
    assert [rule.id for rule in judged if rule.id not in broken_by_wrong_engines()] == []


def test_every_internal_rule_is_held_by_a_claim_and_by_no_outcome():
    internal = {rule.id for rule in all_rules().values() if rule.internal}
    assert internal
    assert internal <= claimed()
    assert internal & set().union(*map(named_by_outcomes, COMPONENTS)) == set()


def test_internal_rules_say_why_and_name_only_rules_that_are_judged():
    for rule in all_rules().values():
        named = re.findall(r"[A-Z]+-\d+", rule.internal)
        assert len(rule.internal) > 20 or not rule.internal
        assert [one for one in named if not all_rules()[one].is_judged] == [], rule.id


def test_out_of_scope_rules_are_few_and_explained():
    outside = [rule for rule in all_rules().values() if rule.out_of_scope]
    assert all(len(rule.out_of_scope) > 20 for rule in outside)
    assert len(outside) <= len(all_rules()) / 10


def test_rules_belong_to_components_that_exist():
    known = set(COMPONENTS)
    assert not {name for rule in all_rules().values() for name in rule.components} - known


@pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.id)
def test_rules_are_complete(rule):
    assert ID.match(rule.id)
    assert len(rule.text) > 20
    assert len(rule.intent) > 10
    assert rule.source


@pytest.mark.parametrize(
    ("component", "law"),
    [(component.name, law) for component in COMPONENTS.values() for law in component.laws],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_laws_hold(component, law):
    samples = list(law.samples())
    assert samples
    for sample in samples:
        assert law.holds(*sample), sample
