"""The end of an input, rule by rule."""

import pytest

from tests.reference.walking import last, seen


def run(trace, channels=2):
    return seen("input_close", {"channels": channels}, trace)


@pytest.mark.rule("CLOSE-1", "CLOSE-4")
def test_close_1_each_is_released_once():
    assert run("0end 0end snapshot close close") == [
        "released(channel 0)",
        "nothing",
        "snapshotted(channels [1])",
        "released(channel 1)",
        "nothing",
    ]


@pytest.mark.rule("CLOSE-2")
@pytest.mark.parametrize(
    ("trace", "told"),
    [
        ("0error 0break:transport close", "released(channel 1)"),
        ("0break:transport close", "released(channel 1), failed(causes [transport])"),
        ("0error 0break:other close", "released(channel 1), failed(causes [other])"),
        ("0break:other 1break:transport close", "failed(causes [other,transport])"),
    ],
)
def test_close_2_what_is_known_is_no_news(trace, told):
    assert run(trace)[-1].replace('"', "") == told


@pytest.mark.rule("CLOSE-3")
def test_close_3_while_it_runs_a_failure_is_told():
    assert run("0error 0break:transport 0end snapshot")[2:] == [
        'failed(causes ["transport"])',
        "snapshotted(channels [0,1])",
    ]


@pytest.mark.parametrize(("trace", "rule"), [("close", "CLOSE-1"), ("0break:other close", "CLOSE-2")])
def test_close_2_decides_where_something_fails(trace, rule):
    assert last("input_close", {"channels": 2}, trace)[1] == rule
