"""The outputs of an operator, rule by rule."""

from functools import partial

import attrs
import pytest

from tests.reference.walking import walk
from tidegate.reference import elements
from tidegate.reference.elements import MAX, MIN, Status, StatusChange, Watermark
from tidegate.reference.model import Rejected
from tidegate.reference.outputs import claims as output_claims
from tidegate.reference.outputs import values
from tidegate.reference.outputs.claims import changes_stay_private_without_reuse, ways_to_change
from tidegate.reference.outputs.handing import emit
from tidegate.reference.outputs.step import start, step

NET = values.Network(unaligned=False)
PLAIN = values.Chained(keyed=False, changes=values.Change.NOTHING)
KEYED = values.Chained(keyed=True, changes=values.Change.NOTHING)
COUNTING = values.Chained(keyed=False, changes=values.Change.VALUE)
LATE = values.Tag("late", "string")
IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)


def config_of(*parts, reuse=True):
    return values.Config(parts, reuse)


def old(*parts, selectors=False, reuse=True):
    return values.Config(parts, reuse, selectors, "flink-1.5")


def last(config, *events):
    outcome = walk("outputs", config, events)[-1]
    return list(outcome.observations), outcome.rules


@pytest.mark.rule("OUT-1")
def test_out_1_network_outputs_come_first():
    config = config_of(PLAIN, NET, PLAIN, NET, reuse=False)
    seen, rules = last(config, values.Record(1))
    assert [one.output for one in seen] == [1, 3, 0, 2]
    assert rules == ("OUT-3", "OUT-2", "OUT-4", "OUT-1")
    assert last(config, Watermark(5))[0] == [values.WatermarkOut(index, 5) for index in (1, 3, 0, 2)]


@pytest.mark.rule("OUT-1", "OUT-11")
@pytest.mark.parametrize(
    "event",
    [
        values.Record(1),
        values.Record(1, LATE),
        Watermark(1),
        IDLE,
        elements.LatencyMarker(),
        values.RecordAttributes(),
        values.EndOfData(),
    ],
)
def test_out_1_without_outputs_everything_is_dropped(event):
    assert last(config_of(), event)[0] == []


@pytest.mark.rule("OUT-2")
def test_out_2_a_keyed_operator_is_told_the_key_first():
    assert last(config_of(KEYED), values.Record(3)) == (
        [values.KeyContext(0), values.Process(0, 0, 0, 3)],
        ("OUT-3", "OUT-2", "OUT-1"),
    )
    assert last(config_of(PLAIN), values.Record(3))[0] == [values.Process(0, 0, 0, 3)]
    assert last(old(PLAIN), values.Record(3))[0] == [values.KeyContext(0), values.Process(0, 0, 0, 3)]


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


@pytest.mark.rule("OUT-3", "OUT-4")
@pytest.mark.parametrize(("reuse", "contents"), [(True, [5, 5, 6]), (False, [5, 5, 5])])
def test_out_4_a_shared_value_may_change_but_not_for_the_network(reuse, contents):
    seen, _rules = last(config_of(COUNTING, PLAIN, NET, reuse=reuse), values.Record(5))
    assert [one.content for one in seen] == contents
    assert isinstance(seen[0], values.Write)


@pytest.mark.rule("OUT-5")
@pytest.mark.parametrize(
    ("tag", "outputs_seen"),
    [
        (None, [0]),
        (LATE, [1, 2]),
        (values.Tag("late", "int"), [1, 2]),
        (values.Tag("Late", "string"), []),
        (values.Tag("x", "string"), []),
    ],
)
def test_out_5_a_tag_is_its_id(tag, outputs_seen):
    config = config_of(NET, attrs.evolve(NET, tag=LATE), attrs.evolve(PLAIN, tag=values.Tag("late", "any")))
    seen, rules = last(config, values.Record(1, tag))
    assert [one.output for one in seen] == outputs_seen
    assert "OUT-5" in rules


@pytest.mark.rule("OUT-5", "OUT-7")
def test_out_7_a_watermark_passes_every_tag_and_in_any_order():
    config = config_of(attrs.evolve(NET, tag=LATE), PLAIN)
    for timestamp in (3, 1, 1, MIN, MAX):
        assert last(config, Watermark(3), Watermark(timestamp))[0] == [
            values.WatermarkOut(0, timestamp),
            values.WatermarkOut(1, timestamp),
        ]
    assert last(config, IDLE, Watermark(4)) == ([], ("OUT-7", "OUT-8", "OUT-1"))


@pytest.mark.rule("OUT-6")
@pytest.mark.parametrize("hops", [1, 2, 5])
def test_out_6_a_chained_failure_is_wrapped_once_a_hop_and_ends_it(hops):
    seen, rules = last(config_of(NET, KEYED, PLAIN, reuse=False), values.Fault(1, hops), values.Record(7))
    assert seen == [
        values.Write(0, 7),
        values.KeyContext(1),
        values.Process(1, 1, 1, 7),
        values.Failed(1, values.Error.CHAINED, hops),
    ]
    assert rules[0] == "OUT-6"


@pytest.mark.rule("OUT-6", "OUT-14")
@pytest.mark.parametrize(
    ("event", "wrapped"),
    [
        (values.Record(1), 1),
        (Watermark(1), 1),
        (IDLE, 1),
        (elements.LatencyMarker(), 1),
        (values.RecordAttributes(), 1),
        (values.Barrier(unaligned=True), 0),
        (values.EndOfData(), 0),
    ],
)
def test_out_6_a_writer_fails_before_it_writes(event, wrapped):
    assert last(config_of(NET), values.Fault(0, 1), event)[0] == [values.Failed(0, values.Error.IO, wrapped)]
    assert last(config_of(NET), values.Fault(0, 1), values.Fault(0, 0), event)[0] != [
        values.Failed(0, values.Error.IO, wrapped)
    ]


@pytest.mark.rule("OUT-6", "OUT-9")
def test_out_6_a_status_that_failed_counts_as_announced():
    config = config_of(PLAIN, PLAIN)
    assert last(config, values.Fault(0, 1), IDLE)[0] == [
        values.StatusOut(0, Status.IDLE),
        values.Failed(0, values.Error.CHAINED, 1),
    ]
    assert last(config, values.Fault(0, 1), IDLE, IDLE)[0] == [values.StatusOut(1, Status.IDLE)]


@pytest.mark.rule("OUT-1", "OUT-6")
@pytest.mark.parametrize("event", [values.Fault(2, 1), values.Fault(-1, 0), values.Fault(0, 2)])
def test_out_6_refused_faults(event):
    assert last(config_of(NET, PLAIN), event)[0] == [Rejected()]


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


@pytest.mark.rule("OUT-9")
def test_out_9_only_news_passes():
    config = config_of(NET, PLAIN)
    assert last(config, ACTIVE) == ([], ("OUT-9", "OUT-1"))
    assert last(config, IDLE)[0] == [values.StatusOut(0, Status.IDLE), values.StatusOut(1, Status.IDLE)]
    assert last(config, IDLE, IDLE)[0] == []


@pytest.mark.rule("OUT-9")
def test_out_9_in_1_5_only_the_network_is_told():
    assert last(old(PLAIN, NET), IDLE) == ([values.StatusOut(1, Status.IDLE)], ("OUT-9",))
    assert last(old(PLAIN, NET), IDLE, IDLE)[0] == []
    assert last(old(PLAIN, NET), IDLE, Watermark(1))[0] == []


@pytest.mark.rule("OUT-10")
def test_out_10_records_pass_while_idle_and_change_nothing():
    outcomes = walk("outputs", config_of(NET), (IDLE, values.Record(1), Watermark(2)))
    assert outcomes[1].observations == (values.Write(0, 1),)
    assert outcomes[1].rules == ("OUT-4", "OUT-10", "OUT-1")
    assert outcomes[2].observations == ()


@pytest.mark.rule("OUT-11")
def test_out_11_a_marker_may_take_any_output():
    (state,) = start(config_of(NET, attrs.evolve(PLAIN, tag=LATE), PLAIN))
    allowed = step(step(state, IDLE)[0].state, elements.LatencyMarker())
    assert [outcome.observations for outcome in allowed] == [(values.MarkerOut(index),) for index in range(3)]


@pytest.mark.rule("OUT-13")
def test_out_13_where_the_consumers_are_unknown():
    config = config_of(values.Network(unaligned=False, subpartitions=2), NET, PLAIN)
    assert last(config, Watermark(4)) == (
        [
            values.WatermarkOut(0, 4, 0),
            values.WatermarkOut(0, 4, 1),
            values.WatermarkOut(1, 4),
            values.WatermarkOut(2, 4),
        ],
        ("OUT-13", "OUT-7", "OUT-8", "OUT-1"),
    )
    assert last(config, values.RecordAttributes())[0] == [values.AttributesOut(1), values.AttributesOut(2)]
    assert last(old(NET), values.RecordAttributes()) == ([Rejected()], ("OUT-13",))


@pytest.mark.rule("OUT-14")
def test_out_14_a_barrier_overtakes_only_where_it_may():
    config = config_of(PLAIN, NET, values.Network(unaligned=True))
    lame = values.BarrierOut(1, unaligned=False, priority=False)
    assert last(config, values.Barrier(unaligned=True)) == (
        [lame, values.BarrierOut(2, unaligned=True, priority=True)],
        ("OUT-14",),
    )
    assert last(config, values.Barrier(unaligned=False))[0] == [
        lame,
        values.BarrierOut(2, unaligned=False, priority=False),
    ]
    assert last(config, values.EndOfData())[0] == [values.EndOfDataOut(1), values.EndOfDataOut(2)]


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


def orders(config, event):
    (state,) = start(config)
    return {tuple(one.output for one in outcome.observations) for outcome in step(state, event)}


@pytest.mark.rule("OUT-16")
@pytest.mark.parametrize(
    ("selected", "allowed"),
    [
        ((), {(2,)}),
        (("x",), {(2,)}),
        (("a",), {(0, 2), (2, 0)}),
        (("a", "b", "b"), {(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)}),
    ],
)
def test_out_16_the_chosen_outputs_in_any_order(selected, allowed):
    config = old(*(values.Network(unaligned=False, names=names) for names in (("a", "b"), ("b",), ())), selectors=True)
    assert orders(config, values.Record(1, selected=selected)) == allowed


@pytest.mark.rule("OUT-16")
def test_out_16_side_records_are_refused():
    config = old(values.Network(unaligned=False, names=()), selectors=True)
    assert last(config, values.Record(1, LATE, ())) == ([Rejected()], ("OUT-16",))
    assert last(config, elements.LatencyMarker())[1] == ("OUT-11", "OUT-16")


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
