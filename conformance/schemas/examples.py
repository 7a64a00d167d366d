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

#: What is longer is no example to begin with.
MOST_CHARACTERS = 700


def example_of(name: str) -> Json:
    """Of those that are short and need no dialect, the one with the most types of observations, then of events."""
    component = COMPONENTS[name]
    examples = [made for one in directed(name) for made in make_example(component, one.case)]
    short = [one for one in examples if size_of(one) <= MOST_CHARACTERS] or [min(examples, key=size_of)]
    return max(short, key=lambda one: (needs_nothing(one), *count_types(one), -size_of(one)))


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


def count_types(example: Json) -> tuple[int, int]:
    """Of observations, and of events."""
    shown = {seen["type"] for step in example["steps"] for seen in step}
    return len(shown), len({event["type"] for event in example["events"]})


def size_of(example: Json) -> int:
    return len(json.dumps(example))
