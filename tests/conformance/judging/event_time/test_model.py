"""What Flink counts, what Spark should count, and what accounts for the difference; without Spark."""

from random import Random

import pytest

from tidegate.conformance.engines.spark.native.traces import Counted, read_trace
from tidegate.conformance.judging.event_time.differences import KINDS, differs, find_differences, make_traces
from tidegate.conformance.judging.event_time.drawing import draw_trace, draw_traces, make_corners
from tidegate.conformance.judging.event_time.model import WAYS, count, count_as_specified, explain, predict, subsets
from tidegate.reference.rules import all_rules


@pytest.mark.parametrize(
    ("text", "counted", "fired"),
    [
        ("0r11 0r1", {0, 1}, set()),  # source 1 has said nothing yet
        ("0r11 1r11 0r1", {0, 1}, set()),
        ("0r1 0r11 1i", {0, 1}, {0}),
        ("0r1 0i 1i", {0}, set()),
        ("1i 0r1 0r11 1r1", {0, 1}, {0}),
        ("0r1 0e 1e", {0}, {0}),
        ("0r1 0i 0e 1e", {0}, {0}),
        ("0r-5", {0}, set()),
    ],
)
def test_flink_counts_as_a_valve_says(text, counted, fired):
    assert count_as_specified(read_trace(text)) == Counted(frozenset(counted), frozenset(fired))


@pytest.mark.parametrize(
    ("text", "policy", "counted", "fired"),
    [
        ("0r11 | 0r1 | 0r1", "max", {0, 1}, {1}),
        ("0r11 | 0r1 | 0r1", "min", {0, 1, 2}, set()),
        ("0r10 | 0r1", "max", {0, 1}, {1}),
        ("0r9 | 0r1", "max", {0, 1}, set()),
        ("0r-5", "min", set(), set()),
    ],
)
def test_the_model_counts_as_spark_does(text, policy, counted, fired):
    assert predict(read_trace(text), policy) == Counted(frozenset(counted), frozenset(fired))


def test_flink_does_not_know_micro_batches():
    for trace in make_traces("with idleness", 3, (1, 11)):
        whole = read_trace(" ".join(str(trace).replace("|", "").split()))
        assert count_as_specified(trace) == count_as_specified(whole)


def test_spark_hears_records_alone():
    random = Random(5)
    for _ in range(200):
        trace = draw_trace(random)
        records = " ".join(one for one in str(trace).split() if one == "|" or "r" in one)
        for policy in WAYS:
            assert predict(trace, policy) == predict(read_trace(records, trace.sources), policy)


@pytest.mark.parametrize("policy", WAYS)
def test_the_fewest_ways_account_for_it(policy):
    random = Random(3)
    for _ in range(50):
        trace = draw_trace(random)
        ways = explain(trace, policy)
        assert count(trace, ways) == predict(trace, policy)
        fewer = [some for some in subsets(ways) if len(some) < len(ways)]
        assert all(count(trace, some) != predict(trace, policy) for some in fewer)


def test_every_way_is_needed_by_itself():
    """Else it would be no way of its own, or no trace would show it."""
    shown = {(one.policy, one.ways) for one in find_differences()}
    assert shown >= {(policy, (way,)) for policy, ways in WAYS.items() for way in ways}


def test_differences_are_there_and_none_is_longer_than_it_must_be():
    found = find_differences()
    assert {one.kind for one in found} == set(KINDS)
    for one in found:
        assert differs(one.trace, one.policy, one.kind)
        words = {event.kind for batch in one.trace.batches for event in batch} - {"r"}
        kinds = {"": "records alone", "i": "with idleness", "e": "with ends"}["".join(words)]
        events = sum(len(batch) for batch in one.trace.batches)
        times = tuple({event.time for batch in one.trace.batches for event in batch if event.kind == "r"})
        for trace in make_traces(kinds, events - 1, times):
            assert explain(trace, one.policy) != one.ways or not differs(trace, one.policy, one.kind)


def test_ways_name_rules_that_there_are():
    assert not {rule for ways in WAYS.values() for way in ways for rule in way.rules} - set(all_rules())


def test_the_trace_of_a_number_is_the_same_for_every_count():
    assert draw_traces(4, 3).items() <= draw_traces(4, 9).items()
    assert draw_traces(4, 3) != draw_traces(5, 3)


def test_nobody_speaks_behind_his_end():
    for trace in [*make_corners().values(), *draw_traces(1, 200).values()]:
        ended = set()
        for event in (event for batch in trace.batches for event in batch):
            assert event.source not in ended
            assert event.source < trace.sources
            ended |= {event.source} if event.kind == "e" else set()


def test_traces_are_read_and_written():
    for text in ("0r11 1i | 1r1", "0r-5", "0e 1a"):
        assert str(read_trace(text)) == text
    with pytest.raises(ValueError, match="is not an event"):
        read_trace("0x")
