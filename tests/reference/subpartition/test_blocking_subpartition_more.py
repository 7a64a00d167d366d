"""The blocking subpartition in corners that no trace comes to."""

import pytest

from tests.reference import words


@pytest.mark.rule("SUBP-1")
@pytest.mark.parametrize("again", ["append:62", "close"])
def test_a_buffer_that_is_finished_takes_no_more(again):
    trace = f"open:61 close {again}"
    assert words.last("blocking_subpartition", {"store": "file"}, trace) == ("rejected", ("SUBP-1",))


@pytest.mark.rule("SUBP-36")
def test_the_last_reader_of_what_was_released_deletes_it():
    trace = "finish view view release 0leave 1leave"
    assert words.last("blocking_subpartition", {"store": "file"}, trace) == ("deleted", ("SUBP-36",))
