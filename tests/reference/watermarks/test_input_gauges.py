"""The gauges of inputs, rule by rule."""

import pytest

from tests.reference.walking import seen, walk
from tidegate.reference.model import InvalidInputError


def run(inputs, trace, **config):
    return seen("input_gauges", {"inputs": inputs.split(), **config}, trace)


@pytest.mark.rule("GAUGE-1")
def test_gauge_1_shows_what_came_last():
    (shown,) = walk("input_gauges", {"inputs": ["network"]}, "0w5 0w3 measure")[-1].observations
    assert (shown.inputs, shown.input) == ((3,), 3)


@pytest.mark.rule("GAUGE-2")
def test_gauge_2_the_lowest_is_shown_and_handed_on():
    assert run("network network", "0w4 1w2 1w3 0w9")[:4] == [
        "nothing",
        "emitted(timestamp 2)",
        "emitted(timestamp 3)",
        "nothing",
    ]
    (shown,) = walk("input_gauges", {"inputs": ["network", "network"]}, "0w4 1w2 measure")[-1].observations
    assert (shown.inputs, shown.input) == ((4, 2), 2)


@pytest.mark.rule("GAUGE-3")
def test_gauge_3_records_of_a_source_in_the_task_did_not_come_to_the_task():
    config = {"inputs": ["network", "source"], "extension": "records"}
    (shown,) = walk("input_gauges", config, "0r 1r 1r measure")[-1].observations
    assert (shown.records, shown.task_records) == (3, 1)


@pytest.mark.rule("GAUGE-4")
def test_gauge_4_a_backlog_of_one_is_one_of_all():
    told = run("network network", "0backlog 1live 1live 0live")
    assert ["true" in one.lower() for one in told] == [True, True, True, False]


def test_records_belong_to_the_extension():
    with pytest.raises(InvalidInputError, match="extension records"):
        walk("input_gauges", {"inputs": ["network"]}, "0r")
