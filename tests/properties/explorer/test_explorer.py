"""The explorer: whole closures, shortest counterexamples, and the properties that the specification claims."""

import attrs
import pytest

from tidegate.properties.cases.multiplexer import make_scope as make_multiplexer_scope
from tidegate.properties.cases.source_alignment import make_split_scope
from tidegate.properties.drawing import scopes
from tidegate.properties.explorer import closures, cut_streams
from tidegate.properties.explorer.exploring import explore
from tidegate.reference.components import COMPONENTS
from tidegate.reference.credit import credit_loop as loop
from tidegate.reference.model import Component, Invariant, Outcome, Property, Sometimes
from tidegate.reference.spanning.deserializer.step import Buffer, Partial, Record
from tidegate.reference.spanning.reading import RecordReader, Result
from tidegate.reference.watermarks import combiner, valve
from tidegate.traces.notation.text import write_trace


def explore_all(closure, **options):
    return [closure.explore(config, symmetry=False, **options) for config in closure.configs]


def counter(most, *claims):
    """Counts up to `most`, or back to 0."""

    def step(state, event):
        after = 0 if event == "reset" else min(most, state + 1)
        return (Outcome(after, (after,), ()),)

    return Component(
        name="counter",
        title="",
        config=int,
        events=(),
        observations=(),
        start=lambda _config: (0,),
        step=step,
        claims=claims,
    )


def test_closes_over_every_state():
    found = explore(counter(5), 0, lambda _state: ("up", "reset"))
    assert (found.states, found.transitions, found.depth, found.complete) == (6, 12, 5, True)
    assert found.broken == ()


def test_counterexamples_are_shortest():
    below_three = Invariant("below-three", "", (), lambda state: state < 3)
    never_resets = Property("no-reset-at-two", "", (), lambda before, event, _: (before, event) != (2, "reset"))
    found = explore(counter(9, never_resets, below_three), 0, lambda _state: ("reset", "up"))
    traces = {one.name: one.trace for one in found.broken}
    assert traces == {"below-three": ("up",) * 3, "no-reset-at-two": ("up", "up", "reset")}
    assert found.checked == ("no-reset-at-two", "below-three")


def test_an_alphabet_may_end_the_way():
    found = explore(counter(100), 0, lambda state: ("up",) if state < 4 else ())
    assert (found.states, found.transitions) == (5, 4)


def test_a_limit_is_told():
    found = explore(counter(100), 0, lambda _state: ("up",), limit=10)
    assert not found.complete
    assert found.states == 10


def test_progress_is_told():
    seen = []
    explore(counter(3), 0, lambda _state: ("up",), progress=lambda *counts: seen.append(counts))
    assert seen[-1] == (4, 4)


# --- what the specification claims ------------------------------------------------------------------------------


@pytest.mark.rule("VALVE-12", "VALVE-13")
def test_valve_of_flink_7728_loses_and_stalls_watermarks():
    (found,) = explore_all(closures.of_valve(3, 3, "flink-7728"))
    assert (found.states, found.transitions) == (980, 14_700)
    assert {one.name for one in found.broken} == {"no-pending-minimum", "all-idle-puts-out-the-maximum"}
    assert [len(one.trace) for one in found.broken] == [7, 7]
    assert all(write_trace("valve", one.trace).count(" ") == 6 for one in found.broken)


@pytest.mark.rule("VALVE-12", "VALVE-13")
@pytest.mark.parametrize(("channels", "timestamps"), [(1, 3), (2, 3), (3, 3), (4, 2)])
def test_valve_of_flink_40475_keeps_every_property(channels, timestamps):
    (found,) = explore_all(closures.of_valve(channels, timestamps, "flink-40475"))
    assert found.complete
    assert found.broken == ()


@pytest.mark.rule("COMB-3")
def test_combiner_of_flink_18934_keeps_the_maximum_back():
    (found,) = explore_all(closures.of_combiner(3, 2, combiner.SEMANTICS[1]))
    assert [one.name for one in found.broken] == ["all-idle-puts-out-the-maximum"]
    (found,) = explore_all(closures.of_combiner(3, 2, combiner.SEMANTICS[0]))
    assert (found.states, found.broken) == (396, ())


@pytest.mark.rule("MUX-7", "MUX-10")
@pytest.mark.parametrize(
    ("semantics", "broken"),
    [
        ("flink-38454", {"idle-only-with-outputs": "add0 0i drop0 emit"}),
        (
            "flink-18934",
            {
                "idle-only-with-outputs": "add0 0i drop0 emit",
                "idle-has-put-out-the-maximum": "add0 0later-w1 0i",
            },
        ),
        ("flink-17653", {"idle-has-put-out-the-maximum": "add0 0later-w1 0i"}),
    ],
)
def test_multiplexer_loses_watermarks_or_is_idle_without_splits(semantics, broken):
    (found,) = explore_all(closures.of_scope(make_multiplexer_scope(2, 2, semantics, every=1)))
    assert found.complete
    assert {one.name: write_trace("multiplexer", one.trace) for one in found.broken} == broken


@pytest.mark.parametrize(("semantics", "broken"), [("flink-39073", {"nobody-is-forgotten": 5}), ("flink-40093", {})])
def test_flink_40093_is_found(semantics, broken):
    (found,) = explore_all(closures.of_scope(make_split_scope(1, 0, 2, semantics, every=1)))
    assert {one.name: len(one.trace) for one in found.broken} == broken


@pytest.mark.rule("CREDIT-17", "CREDIT-18")
@pytest.mark.parametrize("load", [(2, 0), (1, 1)])
def test_credit_loop_conserves_credit_and_is_never_stuck(load):
    for closure in closures.of_credit_loop(2, (0, 1, 2), (1, 2), [load]):
        (found,) = explore_all(closure)
        assert found.complete
        assert {"credit-is-conserved", "never-stuck"} <= set(found.checked)
        assert found.broken == ()


def test_credit_loop_without_announcements_gets_stuck():
    """The property has teeth: leave a choice out, and a run ends early."""
    (closure,) = closures.of_credit_loop(1, (0,), (1,), [(2, 0)])
    deaf = attrs.evolve(
        closure.component,
        claims=(Invariant("never-stuck", "", (), lambda state: loop.is_done(state) or any(without_credit(state))),),
    )
    found = explore(deaf, closure.configs[0], lambda state: list(without_credit(state)))
    assert [one.name for one in found.broken] == ["never-stuck"]


def without_credit(state):
    return (choice for choice in loop.enabled(state) if choice.action is not loop.Action.ANNOUNCE)


@pytest.mark.parametrize("component", ["gate", "serializer", "partitioner", "wiring", "credit_sender"])
def test_properties_hold_on_the_small_scopes(component):
    for closure in closures.of_small_scopes(component):
        for found in explore_all(closure):
            assert found.complete
            assert found.broken == ()


def test_an_opening_is_played_first():
    """What is written before anything is read belongs to the scope, and to the traces."""
    (scope,) = [one for one in scopes.small("blocking_subpartition") if one.opening(one.configs[0])]
    closure = closures.of_scope(scope)
    config = scope.configs[0]
    begun = attrs.evolve(closure, component=attrs.evolve(closure.component, claims=(Invariant("none", "", (), never),)))
    (broken,) = begun.explore(config).broken
    assert broken.trace == scope.opening(config)
    assert closure.explore(config).states > attrs.evolve(closure, opening=lambda _config: ()).explore(config).states


# --- what must be reachable -------------------------------------------------------------------------------------


def never(*_about):
    return False


@pytest.mark.parametrize("component", COMPONENTS)
def test_what_must_be_reachable_is_reached_on_the_small_scopes(component):
    """And not on every transition: that would say nothing."""
    sometimes = COMPONENTS[component].sometimes
    always = tuple(Property(one.name, one.statement, one.rules, one.holds) for one in sometimes)
    assert sometimes, "there is something that must be reachable, so that no claim holds for want of a case"
    found = [
        exploration
        for closure in closures.of_small_scopes(component)
        for exploration in explore_all(
            attrs.evolve(closure, component=attrs.evolve(closure.component, claims=(*sometimes, *always)))
        )
    ]
    names = {one.name for one in sometimes}
    assert {one.name for exploration in found for one in exploration.reached} == names
    assert {one.name for exploration in found for one in exploration.broken} == names


def test_the_way_to_what_must_be_reachable_is_a_shortest_one():
    at_three = Sometimes("at-three", "", (), lambda _before, _event, outcome: outcome.state == 3)
    nowhere = Sometimes("nowhere", "", (), never)
    found = explore(counter(9, at_three, nowhere), 0, lambda _state: ("reset", "up"))
    assert [(one.name, one.trace) for one in found.reached] == [("at-three", ("up",) * 3)]
    assert found.broken == ()
    assert found.checked == ()


# --- streams that are cut anywhere ------------------------------------------------------------------------------


@pytest.mark.rule("SPAN-20", "SPAN-21", "SPAN-27")
def test_every_cut_of_a_stream_gives_its_records():
    closure = closures.of_deserializer(2)
    found = explore_all(closure)
    assert len(found) == 9
    assert all(one.broken == () for one in found)
    # However the stream was cut so far, the state is the same: one for each position.
    assert [one.states for one in found] == [len(config.stream) + 1 for config in closure.configs]


def test_a_record_out_of_order_is_found():
    config = cut_streams.Config((b"a", b"b"))
    (state,) = cut_streams.start(config)
    wrong = Outcome(state, (Record(b"b", Result.LAST),), ())
    assert not cut_streams.records_come_out_in_order.holds(state, Buffer(config.stream), wrong)


@pytest.mark.parametrize(
    ("records", "reader", "fine"),
    [(1, RecordReader(), True), (0, RecordReader(), False), (1, RecordReader(b"a"), False)],
)
def test_an_end_that_keeps_something_is_found(records, reader, fine):
    config = cut_streams.Config((b"a",))
    assert cut_streams.ends_as_it_began.holds(cut_streams.State(config, len(config.stream), records, reader)) == fine


def test_properties_of_the_deserializer_are_checked_behind_a_stream():
    config = cut_streams.Config((b"a",))
    (state,) = cut_streams.start(config)
    kept = cut_streams.State(config, 5, 0, RecordReader())
    lost = Outcome(kept, (Partial(),), ())
    broken = [one.name for one in cut_streams.COMPONENT.properties if not one.holds(state, Buffer(config.stream), lost)]
    assert "records-are-the-bytes-received" in broken


def test_valve_closure_is_the_one_of_the_specification():
    closure = closures.of_valve(2, 1, "flink-7728")
    assert closure.component is valve.COMPONENT
    assert closure.note == "2 channels × 1 timestamp, flink-7728"
