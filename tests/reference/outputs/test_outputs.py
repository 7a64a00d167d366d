"""The outputs of an operator, where what is shown depends on the config alone, and what is claimed of them."""

from functools import partial

import attrs
import pytest

from tests.reference.walking import walk
from tidegate.reference import elements
from tidegate.reference.elements import Status, StatusChange, Watermark
from tidegate.reference.outputs import claims as output_claims
from tidegate.reference.outputs import values
from tidegate.reference.outputs.claims import changes_stay_private_without_reuse, ways_to_change
from tidegate.reference.outputs.handing import emit

NET = values.Network(unaligned=False)
PLAIN = values.Chained(keyed=False, changes=values.Change.NOTHING)
LATE = values.Tag("late", "string")
IDLE = StatusChange(Status.IDLE)


def config_of(*parts, reuse=True):
    return values.Config(parts, reuse)


def old(*parts, selectors=False, reuse=True):
    return values.Config(parts, reuse, selectors, "flink-1.5")


def last(config, *events):
    outcome = walk("outputs", config, events)[-1]
    return list(outcome.observations), outcome.rules


@pytest.mark.rule("OUT-3")
@pytest.mark.parametrize(
    ("parts", "reuse", "objects"),
    [
        ((PLAIN,), True, [(0, 0)]),
        ((PLAIN,), False, [(1, 1)]),
        ((PLAIN, PLAIN, PLAIN), True, [(1, 0), (2, 0), (0, 0)]),
        ((PLAIN, PLAIN, PLAIN), False, [(1, 1), (2, 2), (3, 3)]),
        ((NET, PLAIN, NET), True, [(0, 0)]),
        ((PLAIN, attrs.evolve(PLAIN, tag=LATE)), True, [(1, 0)]),
    ],
)
def test_out_3_who_gets_which_object(parts, reuse, objects):
    seen, _rules = last(config_of(*parts, reuse=reuse), values.Record(0))
    assert [(one.record, one.value) for one in seen if isinstance(one, values.Process)] == objects


def gauges(config, *events):
    (seen,) = last(config, *events, values.ReadMetrics())[0]
    return seen.watermark, list(seen.output_watermarks)


@pytest.mark.rule("OUT-8")
@pytest.mark.parametrize(
    ("config", "shown"),
    [
        (config_of(PLAIN), (3, [3])),
        (config_of(NET), (3, [3])),
        (config_of(NET, PLAIN), (5, [3, 3])),
        (config_of(), (5, [])),
        (old(PLAIN), (5, [5])),
        (old(NET, PLAIN), (5, [3, 3])),
        (old(values.Network(unaligned=False, names=()), attrs.evolve(PLAIN, names=()), selectors=True), (5, [5, 5])),
    ],
)
def test_out_8_gauges_while_idle(config, shown):
    assert gauges(config, Watermark(3), IDLE, Watermark(5)) == shown


@pytest.mark.rule("OUT-15")
@pytest.mark.parametrize(
    ("config", "events", "counted"),
    [
        (config_of(), [values.Record(1)], (1, 0)),
        (config_of(NET), [values.Record(1), values.Record(1, LATE)], (2, 1)),
        (config_of(PLAIN), [values.Record(1)], (1, 0)),
        (config_of(NET, NET, PLAIN, PLAIN), [values.Record(1)], (1, 1)),
        (config_of(NET, attrs.evolve(PLAIN, tag=LATE)), [values.Record(1), values.Record(1, LATE)], (1, 1)),
        (config_of(attrs.evolve(NET, tag=LATE), PLAIN), [values.Record(1), values.Record(1, LATE)], (1, 1)),
        (config_of(NET, PLAIN), [values.Fault(1, 1), values.Record(1)], (1, 0)),
        (config_of(NET, PLAIN), [values.Fault(0, 1), values.Record(1)], (0, 0)),
        (config_of(NET, NET), [values.Fault(1, 1), values.Record(1)], (1, 0)),
        (old(NET, NET), [values.Record(1), values.Record(1, LATE)], (2, 2)),
        (old(NET, PLAIN), [values.Record(1), values.Record(1, LATE)], (2, 0)),
    ],
)
def test_out_15_a_record_counts_once(config, events, counted):
    (metrics,) = last(config, *events, values.ReadMetrics())[0]
    assert isinstance(metrics, values.Metrics)
    assert (metrics.records_out, metrics.task_records_out) == counted


def test_the_law_of_copies_sees_a_shared_value(monkeypatch):
    shared = partial(attrs.evolve, object_reuse=True)
    monkeypatch.setattr(
        "tidegate.reference.outputs.claims.Config", lambda *parts, **more: shared(values.Config(*parts, **more))
    )
    assert not all(changes_stay_private_without_reuse.holds(*sample) for sample in ways_to_change())


# --- claims, told of what is wrong ----------------------------------------------------------------------------


def test_the_law_of_copies_sees_a_change_on_the_network(monkeypatch):
    """Every chained operator finds what was emitted, and only what is written to the network is another."""

    def emit_wrong(state, event, order):
        outcome = emit(state, event, order)
        seen = [attrs.evolve(one, content=9) if isinstance(one, values.Write) else one for one in outcome.observations]
        return attrs.evolve(outcome, observations=tuple(seen))

    assert changes_stay_private_without_reuse.holds((values.Change.VALUE,), 7)
    monkeypatch.setattr(output_claims, "emit", emit_wrong)
    assert not changes_stay_private_without_reuse.holds((values.Change.VALUE,), 7)


@pytest.mark.rule("OUT-6")
@pytest.mark.parametrize(
    "event", [Watermark(1), StatusChange(Status.IDLE), elements.LatencyMarker(), values.Barrier(unaligned=False)]
)
def test_what_fails_names_the_rule_of_failures_first(event):
    seen, rules = last(config_of(NET), values.Fault(0, 1), event)
    assert isinstance(seen[-1], values.Failed)
    assert rules == ("OUT-6", *last(config_of(NET), event)[1])
