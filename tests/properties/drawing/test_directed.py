"""The directed traces: each one is a case, shows the rules that it is tagged with, and has a story."""

import re
import tomllib
from functools import cache

import pytest

from tests.paths import ROOT
from tidegate.conformance.judging.expected import expected_rules
from tidegate.properties.drawing.directed import directed, traces_of
from tidegate.reference.components import COMPONENTS
from tidegate.reference.rules import all_rules
from tidegate.traces.codec import decode_case, encode_case
from tidegate.traces.notation.forms import forms_of
from tidegate.traces.notation.text import read_trace, write_trace

FOLDER = ROOT / "properties" / "cases"


@cache
def traces():
    return [one for component in COMPONENTS for one in directed(component)]


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_component_has_some(component):
    assert len(directed(component)) >= 3


def test_every_file_belongs_to_a_component():
    assert {path.stem for path in FOLDER.glob("*.toml")} <= set(COMPONENTS)


def test_names_are_unique():
    assert len({one.case.name for one in traces()}) == len(traces())


def test_no_two_are_the_same_case():
    assert len({(one.case.component, one.case.config, one.case.events) for one in traces()}) == len(traces())


@pytest.mark.parametrize("component", COMPONENTS)
def test_each_is_a_case_of_the_protocol(component):
    for case in (one.case for one in directed(component)):
        again = decode_case(encode_case(case))
        assert (again.config, again.events, again.rules) == (case.config, case.events, case.rules), case.name


@pytest.mark.parametrize("component", COMPONENTS)
def test_each_shows_its_rules(component):
    for case in (one.case for one in directed(component)):
        shown = {rule for rules in expected_rules(case) for rule in rules}
        assert case.rules, case.name
        assert len(set(case.rules)) == len(case.rules), case.name
        assert set(case.rules) <= shown <= set(all_rules()), case.name


def test_each_has_a_story():
    assert [one.case.name for one in traces() if len(one.story.split()) < 5 or not one.story.endswith(".")] == []


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_notation_is_read_back_as_it_is_written(path):
    component = path.stem
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    for name, trace, _shows in (one for key, table in tables.items() for one in traces_of(key, table)):
        events = read_trace(component, trace)
        assert read_trace(component, write_trace(component, events)) == events
        if forms_of(component):
            assert single(write_trace(component, events)) == single(trace), name


def single(trace):
    """The tokens, those that stand for several written as often."""
    repeated = [re.fullmatch(r"(.+)\*(\d+)", token) or re.fullmatch(r"(.+?)()", token) for token in trace.split()]
    return [event for found in repeated for event in [found[1]] * int(found[2] or 1)]
