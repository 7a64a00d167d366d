"""The generated cases of the default run hit the boundaries, wherever the schemas allow them."""

import json
from collections import Counter
from functools import cache

import attrs
import pytest

from tests.sampling import some
from tidegate.conformance import schemas
from tidegate.conformance.engines.messages import Parser
from tidegate.conformance.engines.museum import Engine
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.judging.suite import Budget, Planned
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.properties.drawing.boundaries import (
    AMOUNTS,
    BOUNDARIES,
    FAR,
    FARTHEST,
    SPENT,
    VERY_MANY,
    draw_strangers,
)
from tidegate.properties.drawing.cases import AIMED_EVERY, draw_case, drawn_once, generator_of
from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import Rejected
from tidegate.reference.spanning import serializer
from tidegate.reference.spanning.deserializer import step as deserializer
from tidegate.traces.codec import encode

DEFAULT_RUN = Budget()

#: Components in whose cases nothing is counted along the trace, and why.
SHORT = {
    "chaining": "an event is a whole graph",
    "job_graph": "an event is a whole graph",
    "vertex_settings": "an event is a whole vertex",
    "buffer_needs": "nothing is remembered",
    "event_kinds": "nothing is remembered",
    "rescaling": "nothing is remembered",
    "wiring": "all is said at the first event",
    "chain_lifecycle": "a chain comes to its end once",
    "task": "a task comes to its end once",
    "buffer": "its memory is given back",
    "writer": "it is closed",
    "job": "its sources come to their end",
    "credit_loop": "its data is all sent",
}


@cache
def cases(component):
    indices = [number * AIMED_EVERY + AIMED_EVERY - 1 for number in range(len(drawn_once(component)))]
    assert max(indices) < DEFAULT_RUN.cases
    return [draw_case(component, DEFAULT_RUN.seed, index) for index in indices]


def domain_of(field):
    """What the schema says of a field; what is an object of its own is none of our numbers."""
    file, _, part = field.get("$ref", "").partition("#/$defs/")
    return schemas.load(file.removesuffix(".json"))["$defs"][part] if file else field


def wanted(component):
    """From the schema of its config: each number and each list with the values that it may take."""
    for name, field in schemas.load(component)["$defs"]["config"]["properties"].items():
        if name in generator_of(component).unrepeatable:
            continue
        domain = domain_of(field)
        if domain.get("type") == "integer":
            far = (FAR, FARTHEST) if name in (*AMOUNTS, *SPENT) else ()
            low, high = domain.get("minimum", 0), domain.get("maximum", FARTHEST)
            yield from ((name, value) for value in (*BOUNDARIES, *far) if low <= value <= high)
        elif domain.get("type") == "array":
            yield from ((name, value) for value in BOUNDARIES if value <= domain.get("maxItems", FARTHEST))


@pytest.mark.parametrize("component", some(COMPONENTS))
def test_every_number_and_list_of_a_config_hits_the_boundaries(component):
    configs = [encode(case.config) for case in cases(component)]
    values = [(name, one) for config in configs for name, one in config.items()]
    hit = [(name, len(one) if isinstance(one, list) else one) for name, one in values]
    assert [pair for pair in wanted(component) if pair not in hit] == []


@pytest.mark.parametrize("component", some(COMPONENTS))
def test_what_a_right_engine_answers_fits_into_a_line_of_the_protocol(component):
    """Who answers in full must not be told that it has answered too much."""
    for case in cases(component):
        steps = [[encode(one) for one in outcome.observations] for outcome in case.follow()]
        Parser().parse(json.dumps({"id": 1, "ok": {"steps": steps}}).encode())


WITH_CHANNELS = [name for name, one in COMPONENTS.items() if attrs.fields_dict(one.config).keys() & {"channels"}]


@pytest.mark.parametrize("component", some(WITH_CHANNELS))
def test_there_are_cases_of_very_many_channels(component):
    assert {size_of(case.config.channels) for case in cases(component)} >= set(VERY_MANY)


@pytest.mark.parametrize("component", some(name for name in COMPONENTS if name not in SHORT))
def test_some_event_comes_more_often_than_a_byte_counts(component):
    assert max(max(Counter(event.type for event in case.events).values()) for case in cases(component)) > 256


@pytest.mark.parametrize("component", ["valve", "gate", "rescaling", "virtual_channels", "union_view", "task", "job"])
def test_numbers_that_there_are_not_are_the_same_in_a_byte_or_two(component):
    """Who cuts them off takes them for others, and does not refuse them."""
    strangers = [
        case
        for case, aim in zip(cases(component), drawn_once(component), strict=True)
        if getattr(aim, "func", None) is draw_strangers
    ]
    steps = [step for case in strangers for step in zip(case.events, case.follow(), strict=True)]
    refused = [event for event, outcome in steps if outcome.observations == (Rejected(),)]
    assert any(type(one) is int and one >= 2**8 for event in refused for one in attrs.astuple(event, recurse=False))


#: Components of channels in whose cases some are never named by their number, and why.
UNNAMED = {
    "partitioner": "channels are chosen, and observed",
    "receiving_connection": "so many take all the memory",
}


@pytest.mark.parametrize("component", some(name for name in COMPONENTS if name not in UNNAMED))
def test_of_very_many_channels_events_name_the_first_and_the_last(component):
    """So who keeps their numbers in one byte takes one for the other, in one case."""
    many = [case for case in cases(component) if size_of(getattr(case.config, "channels", 0)) == 257]
    named = [{event.channel for event in case.events if hasattr(event, "channel")} for case in many]
    if any(named):
        assert any(one >= {0, 256} for one in named)


def size_of(value):
    return len(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("component", some(COMPONENTS))
def test_right_engines_are_right_there(component):
    verdicts = Runner(InProcess(Engine())).run(Planned("generated", case) for case in cases(component))
    assert [verdict for verdict in verdicts if verdict.status is not Status.PASS] == []


def test_payloads_hit_the_boundaries():
    written = [event for event in cases("serializer")[-1].events if isinstance(event, serializer.WriteRecord)]
    shown = (seen for outcome in cases("deserializer")[-1].follow() for seen in outcome.observations)
    read = [seen for seen in shown if isinstance(seen, deserializer.Record)]
    assert {len(one.payload) for one in written} == {len(one.payload) for one in read} == {*BOUNDARIES, FAR}


def test_sequence_numbers_hit_the_boundaries():
    sent = {seen.sequence for outcome in cases("credit_sender")[-1].follow() for seen in outcome.observations}
    assert sent >= {*BOUNDARIES, FAR}
