"""The blocking subpartition of Flink 2.3.0 does what the specification says, whatever it keeps its data in."""

import pytest

from tests.conformance.engines.flink.replaying import answer, is_bad_request

WRITE = ({"type": "buffer", "data": "6162", "finished": True}, {"type": "finish"}, {"type": "view"})


@pytest.mark.parametrize("store", ["file", "file_region", "mmap", "file_mmap"])
def test_every_store_gives_the_bytes_back_and_deletes_them_with_the_last_reader(flink, store):
    ending = ({"type": "poll", "view": 0}, {"type": "release"}, {"type": "release_view", "view": 0})
    steps = answer(flink, "blocking_subpartition", {"store": store}, *WRITE, *ending)
    assert steps[3][0]["data"] == "6162"
    assert steps[4:] == [[], [{"type": "deleted"}]]


def test_a_file_that_was_lost_is_not_found(flink):
    lose = (*WRITE[:2], {"type": "lose_file"}, {"type": "view"}, {"type": "release"})
    assert answer(flink, "blocking_subpartition", {"store": "file"}, *lose)[3:] == [
        [{"type": "not_found"}],
        [{"type": "deleted"}],
    ]


def test_what_is_no_store_is_a_bad_request(flink):
    assert is_bad_request(flink, "blocking_subpartition", {"store": "tape"})
    assert is_bad_request(flink, "blocking_subpartition", {"store": "file"}, {"type": "poll"})


@pytest.mark.parametrize("store", ["file", "file_region", "mmap", "file_mmap"])
def test_a_buffer_that_cannot_be_written_is_given_back(flink, store):
    config = {"store": store, "extension": "failures"}
    fail = (WRITE[0], {"type": "fail_disk"}, {"type": "flush"}, {"type": "finish"}, {"type": "release"})
    assert answer(flink, "blocking_subpartition", config, *fail)[2:] == [
        [{"type": "recycled"}, {"type": "write_failed"}],
        [{"type": "write_failed"}],
        [{"type": "deleted"}],
    ]
