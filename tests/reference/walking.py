"""One walker: a component along a trace, with all that is claimed of it checked at every step.

    seen("valve", {"channels": 2}, "0w3 1w5 1i 0i")

A config is JSON or a value, a trace is in short notation or a sequence of events.
"""

from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import Rejected
from tidegate.traces.codec import decode, encode
from tidegate.traces.notation.text import read_trace, write_observations


def begin(component, config):
    """The state before the first event; the first, where there are several."""
    model = COMPONENTS[component]
    return model.start(decode(config, model.config, strict=True) if isinstance(config, dict) else config)[0]


def walk(component, config, trace, *, breaks=(), choose=0):
    """The outcome of each event: the first, or what `choose` says, where several are allowed.

    Claims hold on the way, but for those that a dated semantics `breaks`; a refused event shows and changes nothing.
    """
    state = begin(component, config)
    outcomes = []
    for event in read_trace(component, trace) if isinstance(trace, str) else trace:
        allowed = COMPONENTS[component].step(state, event)
        for outcome in allowed:
            wrong = broken_claims(component, state, event, outcome) - set(breaks)
            assert not wrong, f"{event} breaks {wrong}"
            if Rejected() in outcome.observations:
                assert (outcome.observations, outcome.state) == ((Rejected(),), state)
        outcomes.append(allowed[choose])
        state = outcomes[-1].state
    return outcomes


def run_out(component, state, enabled, pick=0):
    """Of all choices that are enabled always the same one, until there is none: (before, choice, outcome) each time."""
    while choices := enabled(state):
        choice = choices[pick % len(choices)]
        (outcome,) = COMPONENTS[component].step(state, choice)
        yield state, choice, outcome
        state = outcome.state


def state_after(component, config, trace, **options):
    return [begin(component, config), *(outcome.state for outcome in walk(component, config, trace, **options))][-1]


def seen(component, config, trace, **options):
    """What each event shows, as reports write it."""
    return [write_observations(outcome.observations) for outcome in walk(component, config, trace, **options)]


def last(component, config, trace, **options):
    """What the last event shows, and the rule that decides it."""
    outcome = walk(component, config, trace, **options)[-1]
    return write_observations(outcome.observations), outcome.rules[0]


def brief(outcome):
    """What an outcome shows, in fewer words: `view 0, availability True 1`."""
    return ", ".join(" ".join(map(str, encode(one).values())) for one in outcome.observations)


def play(component, config, trace, **options):
    """What each event shows, in brief."""
    return list(map(brief, walk(component, config, trace, **options)))


def ending(component, config, trace, **options):
    """What the last event shows, in brief, and all its rules."""
    outcome = walk(component, config, trace, **options)[-1]
    return brief(outcome), outcome.rules


# --- claims -----------------------------------------------------------------------------------------------------


def broken_claims(component, before, event, outcome):
    """The names of the properties and invariants that an outcome breaks."""
    model = COMPONENTS[component]
    properties = {one.name for one in model.properties if not one.holds(before, event, outcome)}
    return properties | {one.name for one in model.invariants if not one.holds(outcome.state)}


def claim(component, name):
    """What decides whether the claim of that name holds."""
    (found,) = [one.holds for one in COMPONENTS[component].claims if one.name == name]
    return found


def refuses(component, name, *about):
    """Whether the claim of that name fails on these."""
    return not claim(component, name)(*about)


def law_holds(component, name):
    """Whether the law of that name holds on all its samples."""
    (law,) = [one for one in COMPONENTS[component].laws if one.name == name]
    return all(law.holds(*sample) for sample in law.samples())
