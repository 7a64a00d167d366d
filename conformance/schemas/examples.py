"""An example for each component: a short directed trace in which much happens, with what the specification answers."""

import json
from collections.abc import Iterator
from typing import Any

from tidegate.properties.drawing.directed import directed
from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import AnyComponent
from tidegate.traces.cases import Case
from tidegate.traces.codec import encode

Json = dict[str, Any]

#: More events, or characters, are no example to begin with.
MOST_EVENTS = 6
MOST_CHARACTERS = 900


def example_of(name: str) -> Json:
    """Of those that are short and need no dialect, the one with the most types of events and observations."""
    component = COMPONENTS[name]
    examples = [made for one in directed(name) for made in make_example(component, one.case)]
    short = [one for one in examples if len(one["events"]) <= MOST_EVENTS and size_of(one) <= MOST_CHARACTERS]
    if not short:
        return min(examples, key=size_of)
    return max(short, key=lambda one: (needs_nothing(one), len(types_in(one)), -size_of(one)))


def make_example(component: AnyComponent, case: Case) -> Iterator[Json]:
    """A case with its answer, if the specification allows just one."""
    states = component.start(case.config)
    steps = []
    for event in case.events:
        outcomes = [outcome for state in states for outcome in component.step(state, event)]
        if len(outcomes) != 1:
            return
        states = (outcomes[0].state,)
        steps.append([encode(one) for one in outcomes[0].observations])
    events = [encode(event, brief=case.brief) for event in case.events]
    yield {"config": encode(case.config, brief=True), "events": events, "steps": steps}


def needs_nothing(example: Json) -> bool:
    return not {"semantics", "extension"} & example["config"].keys()


def types_in(example: Json) -> set[tuple[str, str]]:
    events = {("event", event["type"]) for event in example["events"]}
    return events | {("observation", seen["type"]) for step in example["steps"] for seen in step}


def size_of(example: Json) -> int:
    return len(json.dumps(example))
