"""A local channel with recovered data, rule by rule."""

import pytest

from tests.reference.walking import seen


def run(trace, recovered=2):
    return seen("handed_over", {"recovered": recovered}, trace)


@pytest.mark.rule("HAND-1")
def test_hand_1_barriers_then_recovered_data_then_the_producer():
    assert run("barrier request data barrier barrier poll poll poll poll poll poll")[5:] == [
        *["polled(kind barrier)"] * 2,
        *["polled(kind recovered)"] * 2,
        "polled(kind data)",
        "none",
    ]
    assert run("poll request request", recovered=0) == ["rejected", "nothing", "rejected"]


@pytest.mark.rule("HAND-2")
@pytest.mark.parametrize(
    ("trace", "missing"),
    [("tell poll", "partition"), ("request tell poll", "item"), ("data request tell poll", "barrier")],
)
def test_hand_2_a_notice_without_a_barrier_is_an_error(trace, missing):
    assert run(f"{trace} poll")[-2:] == [f"failed(missing {missing})", "rejected"]


@pytest.mark.rule("HAND-3")
def test_hand_3_recovered_buffers_are_in_use():
    counts = ["in_use(count 2)", "in_use(count 3)", "in_use(count 2)"]
    assert [one for one in run("data count request count poll count") if "in_use" in one] == counts
