"""The museum: every mutant is documented, and is convicted by its own committed trace."""

import json
import re
from collections import Counter

import pytest

from tidegate.conformance.engines.museum import all_mutants, engine, engines, find
from tidegate.conformance.engines.museum.catalog import load_killers
from tidegate.conformance.engines.museum.wrong import Changed
from tidegate.conformance.judging.convictions import convict
from tidegate.conformance.judging.judge_fast import Judge
from tidegate.conformance.judging.verdicts import Passed
from tidegate.properties.drawing.directed import directed
from tidegate.reference.components import COMPONENTS
from tidegate.reference.rules import rules_of
from tidegate.traces.codec import decode_case, encode_case


def make_case(mutant):
    return {**encode_case(convict(mutant)), "case": mutant.name}


def is_allowed(case, answer):
    return "steps" in answer and isinstance(Judge().judge(decode_case(case), answer["steps"]), Passed)


def test_names_are_unique_in_both_spellings():
    names = [mutant.name for mutant in all_mutants()]
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name) for name in names)
    assert len(set(names)) == len(names)
    assert len({engines.to_class_name(name) for name in names}) == len(names)


def test_every_component_has_its_share():
    counts = Counter(mutant.component for mutant in all_mutants())
    assert counts.keys() == COMPONENTS.keys()
    assert [name for name in COMPONENTS if counts[name] < len(rules_of(name))] == []


def test_every_mutant_is_documented():
    for mutant in all_mutants():
        assert all(re.fullmatch(r"[A-Z]+-\d+", rule) for rule in mutant.rules), mutant.name
        assert len(set(mutant.rules)) == len(mutant.rules), mutant.name
        assert mutant.origin, mutant.name
        assert mutant.story.endswith("."), mutant.name
        assert find(mutant.name) is mutant


def is_convicted(mutant):
    """Played twice, because some bugs are about what one case leaves to the next."""
    case = make_case(mutant)
    assert all(is_allowed(case, answer) for answer in engine(None).replay([case, case])), mutant.name
    return not all(is_allowed(case, answer) for answer in engine(mutant.name).replay([case, case]))


@pytest.mark.parametrize("component", COMPONENTS)
def test_wrong_engines_are_convicted_by_the_cases_that_say_so(component):
    assert [one.name for one in all_mutants() if one.component == component and not is_convicted(one)] == []


def test_each_wrong_engine_is_convicted_in_one_place():
    told = [name for component in COMPONENTS for one in directed(component) for name in one.convicts]
    assert Counter([*told, *load_killers()]) == Counter(mutant.name for mutant in all_mutants())


def test_convictions_respect_the_restrictions():
    for mutant in all_mutants():
        config = convict(mutant).config
        assert not mutant.semantics or config.semantics == mutant.semantics
        assert not mutant.kinds or config.kind in mutant.kinds


def test_right_engine_keeps_nothing_of_earlier_cases():
    """But for the channels that it draws, of which it may choose any."""
    cases = [make_case(mutant) for mutant in all_mutants()]
    first = engine(None).replay(cases)
    assert engine(None).replay(cases) == first
    assert all(map(is_allowed, cases[::-1], engine(None).replay(cases[::-1])))


def test_answers_are_protocol_json():
    answers = engine(None).replay([make_case(mutant) for mutant in all_mutants()])
    assert json.loads(json.dumps(answers)) == answers


def test_mutant_engine_declares_its_component_only():
    wrong = engine("gate-not-requeued")
    assert wrong.describe()["components"] == {"gate": {}}
    [answer] = wrong.replay([{"case": "1", "component": "valve", "config": {"channels": 1}, "events": []}])
    assert answer["error"]["kind"] == "unsupported"


def test_right_engine_declares_everything():
    components = engines.Right().describe()["components"]
    assert components.keys() == COMPONENTS.keys()
    assert components["valve"] == {"semantics": ["flink-7728", "flink-40475"]}


def test_mutants_can_be_named_as_classes():
    name = "ValveNeverFlushes"
    assert getattr(engines, name)().describe()["implementation"]["name"] == "museum valve-never-flushes"
    with pytest.raises(AttributeError):
        engines.NoSuchMutant  # noqa: B018


def test_unknown_mutant_is_refused():
    with pytest.raises(KeyError):
        engine("no-such-mutant")


def changed_in(machine):
    """Every `changed` method of a wrong engine, also of parts that it brings along."""
    for value in vars(machine).values():
        if isinstance(value, Changed):
            yield value
        elif isinstance(value, type):
            yield from changed_in(value)


def test_every_text_that_a_wrong_engine_changes_is_there():
    """Otherwise it would be caught because it cannot be compiled."""
    changed = [one for mutant in all_mutants() for one in changed_in(mutant.make)]
    assert len(changed) > len(all_mutants()) / 2
    assert all(callable(one.compile()) for one in changed)
