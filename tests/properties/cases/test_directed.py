"""The directed traces: each one is a case, shows the rules that it is tagged with, and has a story."""

import tomllib
from pathlib import Path

import pytest

import tidegate.properties.cases.directed
from tidegate.conformance.judging.judge import expected_rules
from tidegate.properties.cases.directed import directed
from tidegate.reference.components import COMPONENTS
from tidegate.reference.rules import all_rules
from tidegate.traces.codec import decode_case, encode_case
from tidegate.traces.notation.forms import FORMS
from tidegate.traces.notation.notation import read_trace, write_trace

FOLDER = Path(tidegate.properties.cases.directed.__file__).parent
TRACES = [one for component in COMPONENTS for one in directed(component)]
ENGINE_COMPONENTS = [
    "valve",
    "combiner",
    "partitioner",
    "wiring",
    "serializer",
    "deserializer",
    "chaining",
    "credit_sender",
    "credit_receiver",
    "gate",
    "multiplexer",
]


def by_name(one):
    return one.case.name


@pytest.mark.parametrize("component", ENGINE_COMPONENTS)
def test_every_component_of_the_museum_has_some(component):
    assert len(directed(component)) >= 9


def test_every_file_belongs_to_a_component():
    assert {path.stem for path in FOLDER.glob("*.toml")} <= set(COMPONENTS)


def test_names_are_unique():
    assert len({one.case.name for one in TRACES}) == len(TRACES)


def test_no_two_are_the_same_case():
    assert len({(one.case.component, one.case.config, one.case.events) for one in TRACES}) == len(TRACES)


@pytest.mark.parametrize("one", TRACES, ids=by_name)
def test_is_a_case_of_the_protocol(one):
    again = decode_case(encode_case(one.case))
    assert (again.config, again.events, again.rules) == (one.case.config, one.case.events, one.case.rules)


@pytest.mark.parametrize("one", TRACES, ids=by_name)
def test_shows_its_rules(one):
    shown = {rule for rules in expected_rules(one.case) for rule in rules}
    assert one.case.rules
    assert len(set(one.case.rules)) == len(one.case.rules)
    assert set(one.case.rules) <= shown <= set(all_rules())


@pytest.mark.parametrize("one", TRACES, ids=by_name)
def test_has_a_story(one):
    assert len(one.story.split()) >= 5
    assert one.story.endswith(".")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_notation_is_read_back_as_it_is_written(path):
    for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
        events = read_trace(path.stem, table["trace"])
        assert read_trace(path.stem, write_trace(path.stem, events)) == events
        if path.stem in FORMS:
            assert write_trace(path.stem, events).split() == table["trace"].split(), name
