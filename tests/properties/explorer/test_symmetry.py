"""Symmetry: that numbers make no difference to the components that say so, and that the explorer finds the same."""

import random
from itertools import permutations

import attrs
import pytest

from tests.sampling import some
from tidegate.properties.cases.multiplexer import make_scope as make_multiplexer_scope
from tidegate.properties.cases.source_output import make_scope as make_source_scope
from tidegate.properties.drawing.scopes import small
from tidegate.properties.explorer import closures
from tidegate.properties.explorer.exploring import explore
from tidegate.reference.components import COMPONENTS
from tidegate.reference.gate import gate
from tidegate.reference.model import Invariant, Outcome, Property, Sometimes
from tidegate.reference.watermarks import combiner, multiplexer, valve

SYMMETRIC = [name for name, component in COMPONENTS.items() if component.symmetry is not None]

#: Small enough to be closed over with and without symmetry.
CLOSURES = {
    **{
        f"valve {size} {dated}": closures.of_valve(*size, dated)
        for size in ((3, 2), (4, 1))
        for dated in valve.SEMANTICS
    },
    **{f"combiner 3x2 {dated}": closures.of_combiner(3, 2, dated) for dated in combiner.SEMANTICS},
    **{f"multiplexer 2x2 {dated}": closures.of_multiplexer(2, 2, dated) for dated in multiplexer.SEMANTICS},
    "source_output 2x1": closures.of_scope(make_source_scope(2, 1, "flink-38454", every=1, lean=True)),
    "multiplexer 3x1": closures.of_scope(make_multiplexer_scope(3, 1, multiplexer.SEMANTICS[1], every=1, lean=True)),
    **{
        f"credit_loop {closure.note}": closure
        for closure in (
            *closures.of_credit_loop(2, (0, 1), (1, 2), [(1, 0), (1, 1), (0, 2)]),
            *closures.of_credit_loop(3, (0,), (1,), [(1, 0), (0, 1)]),
        )
    },
    **{
        f"{name} {scope.name}": closures.of_scope(scope)
        for name in SYMMETRIC
        for scope in small(name)
        if scope.symmetric
    },
}
each_closure = pytest.mark.parametrize("closure", some(CLOSURES.values(), 2), ids=CLOSURES)


def run(closure, *, symmetry, component=None):
    """What is found on the only config, and the states that were followed."""
    (config,) = closure.configs
    component = component or closure.component
    followed = []

    def alphabet(state):
        followed.append(state)
        return closure.alphabet(config, state)

    found = explore(component, config, alphabet, symmetry=component.symmetry if symmetry else None)
    assert found.complete
    return found, followed


def one_config_each(closure):
    return [attrs.evolve(closure, configs=(config,)) for config in closure.configs]


def count_parts(closure):
    (config,) = closure.configs
    symmetry = closure.component.symmetry
    (state, *_others) = closure.component.start(config)
    named = [getattr(event, symmetry.field, 0) or 0 for event in closure.alphabet(config, state)]
    return getattr(config, symmetry.parts, max(named) + 1)


def neighbours_swapped(parts):
    """Orders that swap two neighbours: all others are made of these."""
    every = tuple(range(parts))
    return [(*every[:index], index + 1, index, *every[index + 2 :]) for index in range(parts - 1)]


def rename_outcome(symmetry, outcome, order):
    seen = tuple(symmetry.rename(one, order) for one in outcome.observations)
    return Outcome(symmetry.rearrange(outcome.state, order), seen, outcome.rules)


def find_difference(component, alphabet, state, order):
    """What the numbers of the parts make a difference to, in this state."""
    symmetry = component.symmetry
    twin = symmetry.rearrange(state, order)
    events = list(alphabet(state))
    if {symmetry.rename(event, order) for event in events} != set(alphabet(twin)):
        return "events"
    if any(one.holds(state) != one.holds(twin) for one in component.invariants):
        return "invariants"
    for event in events:
        renamed = symmetry.rename(event, order)
        outcomes = component.step(state, event)
        expected = [rename_outcome(symmetry, outcome, order) for outcome in outcomes]
        if set(expected) != set(component.step(twin, renamed)):
            return "outcomes"
        for outcome, other in zip(outcomes, expected, strict=True):
            claims = (*component.properties, *component.sometimes)
            if any(one.holds(state, event, outcome) != one.holds(twin, renamed, other) for one in claims):
                return "properties"
    return None


# --- numbers make no difference ---------------------------------------------------------------------------------


def test_every_component_with_a_symmetry_is_looked_at():
    tried = {closure.component.name for closure in CLOSURES.values() if count_parts(one_config_each(closure)[0]) > 1}
    assert tried == set(SYMMETRIC)
    assert {"valve", "combiner", "multiplexer", "gate", "credit_receiver", "credit_loop"} <= tried


@each_closure
def test_numbers_make_no_difference(closure):
    """In every state of a small scope. It is enough to swap neighbours: any other order is reached by such swaps."""
    for one in one_config_each(closure):
        component, (config,) = one.component, one.configs
        assert not one.opening(config)
        _found, states = run(one, symmetry=False)
        for order in neighbours_swapped(count_parts(one)):
            starts = set(component.start(config))
            assert {component.symmetry.rearrange(state, order) for state in starts} == starts
            differences = {find_difference(component, one.alphabet_of(config), state, order) for state in states}
            assert differences == {None}


LARGE = {
    "valve": closures.of_valve(7, 4, "flink-7728"),
    "combiner": closures.of_combiner(7, 4, "flink-18934"),
    "multiplexer": closures.of_multiplexer(6, 4, "flink-17653"),
    "credit_loop": next(iter(closures.of_credit_loop(5, (0,), (3,), [(3, 2)]))),
}


@pytest.mark.parametrize("name", LARGE)
def test_numbers_make_no_difference_on_random_ways(name):
    closure, draw = LARGE[name], random.Random(name)
    component, (config,) = closure.component, closure.configs
    order = list(range(count_parts(closure)))
    for _way in range(30):
        (state,) = component.start(config)
        for _step in range(30):
            draw.shuffle(order)
            assert find_difference(component, closure.alphabet_of(config), state, tuple(order)) is None
            state = draw.choice(component.step(state, draw.choice(list(closure.alphabet(config, state))))).state


def favours_channel_0(state, event):
    """A valve that takes no watermark on any other channel while channel 0 is active."""
    if isinstance(event, valve.ChannelWatermark) and event.channel > 0 and state.channels[0].active:
        return (Outcome(state, (), ("VALVE-2",)),)
    return valve.step(state, event)


def polls_the_lowest(state, event):
    """A gate that serves the channel with the lowest number."""
    ordered = attrs.evolve(state, queue=tuple(sorted(state.queue)))
    return gate.step(ordered, event)


@pytest.mark.parametrize(
    ("closure", "changes", "difference"),
    [
        (CLOSURES["valve (3, 2) flink-7728"], {"step": favours_channel_0}, "outcomes"),
        (CLOSURES["gate 2x2"], {"step": polls_the_lowest}, "outcomes"),
        (
            CLOSURES["valve (3, 2) flink-7728"],
            {"claims": (Invariant("first", "", (), lambda state: state.channels[0].active),)},
            "invariants",
        ),
        (
            CLOSURES["valve (3, 2) flink-7728"],
            {"claims": (Property("first", "", (), lambda _before, event, _outcome: event.channel == 0),)},
            "properties",
        ),
    ],
)
def test_a_difference_is_noticed(closure, changes, difference):
    component, (config,) = attrs.evolve(closure.component, **changes), closure.configs
    _found, states = run(closure, symmetry=False, component=component)
    swapped = neighbours_swapped(count_parts(closure))[0]
    assert difference in {find_difference(component, closure.alphabet_of(config), one, swapped) for one in states}


def test_an_alphabet_that_prefers_a_channel_is_noticed():
    (state,) = valve.start(valve.Config(2))
    assert find_difference(valve.COMPONENT, lambda _state: [valve.ChannelWatermark(0, 1)], state, (1, 0)) == "events"


# --- the explorer finds the same --------------------------------------------------------------------------------


def find_orbit(symmetry, state, parts):
    """All states that differ from this one in the numbers of its parts."""
    return {symmetry.rearrange(state, order) for order in permutations(range(parts))}


@each_closure
def test_each_state_is_followed_or_another_that_differs_in_numbers(closure):
    for one in one_config_each(closure):
        symmetry, parts = one.component.symmetry, count_parts(one)
        _found, every = run(one, symmetry=False)
        _found, followed = run(one, symmetry=True)
        orbits = [find_orbit(symmetry, state, parts) for state in followed]
        assert set().union(*orbits) == set(every)
        assert sum(map(len, orbits)) == len(every)
        assert all(len(set(map(symmetry.canonical, orbit))) == 1 for orbit in orbits)


def replay(component, config, trace):
    """The states and outcomes that the trace may lead to at its last step."""
    before, outcomes = set(), [Outcome(state, (), ()) for state in component.start(config)]
    for event in trace:
        before = {outcome.state for outcome in outcomes}
        outcomes = [outcome for state in before for outcome in component.step(state, event)]
    return before, outcomes


def shows(component, config, shown):
    """Whether the trace, played from the start, ends with the claim broken; or with what must be reachable."""
    before, outcomes = replay(component, config, shown.trace)
    (claim,) = (one for one in component.claims if one.name == shown.name)
    if isinstance(claim, Invariant):
        return any(not claim.holds(outcome.state) for outcome in outcomes)
    last = [
        claim.holds(state, shown.trace[-1], outcome)
        for state in before
        for outcome in component.step(state, shown.trace[-1])
    ]
    return any(last) if isinstance(claim, Sometimes) else not all(last)


def measure(shown):
    return {one.name: len(one.trace) for one in shown}


@each_closure
def test_same_claims_are_broken_and_reached_by_traces_as_short(closure):
    for one in one_config_each(closure):
        whole, _states = run(one, symmetry=False)
        found, _states = run(one, symmetry=True)
        assert measure(found.broken) == measure(whole.broken)
        assert measure(found.reached) == measure(whole.reached)
        assert (found.depth, found.checked) == (whole.depth, whole.checked)
        assert found.states <= whole.states
        assert all(shows(one.component, one.configs[0], shown) for shown in (*found.broken, *found.reached))


@pytest.mark.parametrize("name", ["valve (3, 2) flink-7728", "combiner 3x2 flink-38454", "gate 3x1", "multiplexer 3x1"])
def test_every_kind_of_state_is_reached_as_soon(name):
    """Claims that one kind of state is never reached, and that no event does nothing there: all are broken."""
    closure = CLOSURES[name]
    symmetry, draw = closure.component.symmetry, random.Random(name)
    _found, followed = run(closure, symmetry=True)
    kinds = [symmetry.canonical(state) for state in draw.sample(followed, 12)]
    never = [
        Invariant(f"never {n}", "", (), lambda at, kind=kind: symmetry.canonical(at) != kind)
        for n, kind in enumerate(kinds)
    ]
    leaves = [
        Property(
            f"leaves {n}",
            "",
            (),
            lambda at, _event, outcome, kind=kind: symmetry.canonical(at) != kind or outcome.state != at,
        )
        for n, kind in enumerate(kinds)
    ]
    planted = attrs.evolve(closure.component, claims=(*never, *leaves))
    whole, _states = run(closure, symmetry=False, component=planted)
    found, _states = run(closure, symmetry=True, component=planted)
    assert len(whole.broken) >= len(kinds)
    assert measure(found.broken) == measure(whole.broken)
    assert all(shows(planted, closure.configs[0], broken) for broken in found.broken)


def test_five_channels_take_a_fiftieth_of_the_states():
    closure = closures.of_valve(5, 3, "flink-7728")
    found, followed = run(closure, symmetry=True)
    stood_for = sum(len(find_orbit(valve.SYMMETRY, state, 5)) for state in followed)
    assert (found.states, stood_for) == (1_868, 88_628)
    assert measure(found.broken) == {"no-pending-minimum": 9, "all-idle-puts-out-the-maximum": 9}
