"""From a rule to where it stands."""

import ast

from tests.paths import ROOT
from tidegate.conformance.documents.backlinks import code_places, directed_about, mutants_of, places_of
from tidegate.reference.rules import all_rules


def test_every_modelled_rule_stands_somewhere():
    assert [rule.id for rule in all_rules().values() if not rule.out_of_scope and not places_of(rule.id)] == []


def test_places_are_functions_that_are_there():
    lines, functions = {}, {}
    for path in {place.path for places in code_places().values() for place in places}:
        text = (ROOT / path).read_text(encoding="utf-8")
        lines[path] = text.splitlines()
        functions[path] = {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)} | {""}
    for rule_id, places in code_places().items():
        for place in places:
            assert rule_id in lines[place.path][place.line - 1], place
            assert place.function in functions[place.path], place


def test_a_rule_leads_to_its_function_its_traces_and_its_wrong_engines():
    assert any(
        place.path.endswith("watermarks/valve.py") and place.function == "on_idle" for place in places_of("VALVE-10")
    )
    assert "valve-directed-flush-skipped-for-a-stale-channel" in directed_about("VALVE-13")
    assert "valve-never-flushes" in mutants_of("VALVE-10")
