"""Plays a trace in short notation on a deterministic component, and shows each answer in a few words."""

from tidegate.reference.components import COMPONENTS
from tidegate.traces.codec import decode, encode
from tidegate.traces.notation.text import read_trace


def walk(component, config, trace):
    """The outcome of each event."""
    model = COMPONENTS[component]
    (state,) = model.start(decode(config, model.config))
    outcomes = []
    for event in read_trace(component, trace):
        (outcome,) = model.step(state, event)
        if outcome.observations and outcome.observations[0].type == "rejected":
            assert outcome.state == state
        outcomes.append(outcome)
        state = outcome.state
    return outcomes


def show(outcome):
    return ", ".join(" ".join(str(value) for value in encode(seen).values()) for seen in outcome.observations)


def play(component, config, trace):
    return [show(outcome) for outcome in walk(component, config, trace)]


def last(component, config, trace):
    """What the last event shows, and the rules that say so."""
    outcome = walk(component, config, trace)[-1]
    return show(outcome), outcome.rules


def breaks(claims, name, *arguments):
    """Whether the claim of that name fails on these."""
    (claim,) = [claim for claim in claims if claim.name == name]
    return not claim.holds(*arguments)
