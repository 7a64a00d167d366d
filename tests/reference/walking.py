"""Walks a deterministic component along a trace in short notation: what is seen, and by which rules."""

from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import Rejected
from tidegate.traces.codec import decode
from tidegate.traces.notation.text import read_trace, write_observations


def walk(component, config, trace):
    """The outcome of each event; every claim is checked on the way, and that a refused event changes nothing."""
    model = COMPONENTS[component]
    (state,) = model.start(decode(config, model.config, strict=True))
    outcomes = []
    for event in read_trace(component, trace):
        (outcome,) = model.step(state, event)
        broken = [one.name for one in model.properties if not one.holds(state, event, outcome)]
        broken += [one.name for one in model.invariants if not one.holds(outcome.state)]
        assert not broken
        if Rejected() in outcome.observations:
            assert outcome.observations == (Rejected(),)
            assert outcome.state == state
        outcomes.append(outcome)
        state = outcome.state
    return outcomes


def seen(component, config, trace):
    return [write_observations(outcome.observations) for outcome in walk(component, config, trace)]


def last(component, config, trace):
    """What the last event shows, and the rule that decides it."""
    outcome = walk(component, config, trace)[-1]
    return write_observations(outcome.observations), outcome.rules[0]


def failing_claims(component, before, event, outcome):
    """The names of the properties and invariants that an outcome breaks."""
    model = COMPONENTS[component]
    properties = {one.name for one in model.properties if not one.holds(before, event, outcome)}
    return properties | {one.name for one in model.invariants if not one.holds(outcome.state)}
