"""What is saved of an output, rule by rule."""

import pytest

from tests.reference.walking import seen


def run(trace):
    return seen("output_state", {}, trace)


@pytest.mark.rule("SAVE-1")
def test_save_1_an_unaligned_barrier_saves_what_it_overtakes():
    told = run("data data event data u0 poll poll")
    assert told[4:] == ["saved(checkpoint 0, data [0,1,2])", "barrier(checkpoint 0, unaligned true)", "data(number 0)"]
    assert run("event u1")[-1] == "nothing"


@pytest.mark.rule("SAVE-2")
def test_save_2_read_in_time_nothing_is_saved():
    told = run("data t6 poll poll poll resume timeout6")
    assert told[3:] == [
        "saved(checkpoint 6, data []), barrier(checkpoint 6, unaligned false)",
        "none",
        "nothing",
        "nothing",
    ]


@pytest.mark.rule("SAVE-3")
def test_save_3_timed_out_the_data_before_it_is_saved():
    told = run("data t8 data timeout9 timeout8 poll poll poll")
    assert told[3:] == [
        "nothing",
        "saved(checkpoint 8, data [0])",
        "barrier(checkpoint 8, unaligned true)",
        "data(number 0)",
        "data(number 1)",
    ]


@pytest.mark.rule("SAVE-4", "SAVE-5", "SAVE-6")
def test_save_4_to_6_a_promise_that_is_broken():
    assert run("t10 t11")[-1] == "saving_failed(checkpoint 10)"
    assert run("t10 abort11 abort10 abort10")[1:] == ["nothing", "saving_failed(checkpoint 10)", "nothing"]
    assert run("data t10 release data poll")[2:] == ["saving_failed(checkpoint 10)", "rejected", "none"]


@pytest.mark.rule("SAVE-7")
def test_save_7_counts_what_is_queued():
    assert run("data event t1 u2 measure poll measure")[4::2] == ["queued(count 4)", "queued(count 3)"]
