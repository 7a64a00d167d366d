"""The result partition in corners that no trace comes to, and claims, told of what is wrong."""

import attrs
import pytest

from tests.reference import words
from tidegate.reference.model import Outcome
from tidegate.reference.subpartition.blocking_subpartition import values as blocking_values
from tidegate.reference.subpartition.blocking_subpartition.stores import Store
from tidegate.reference.subpartition.queue import Item, Kind, Queue, open_buffer
from tidegate.reference.subpartition.result_partition.claims import broadcast_to_all, data_ends_once
from tidegate.reference.subpartition.result_partition.values import Broadcast, Config, Partition, PartitionKind, State
from tidegate.reference.subpartition.subpartition import step as pipelined
from tidegate.reference.subpartition.subpartition import values as pipelined_values

END, DATA, OPEN = Item(Kind.END_OF_DATA), Item(Kind.DATA, b"a"), open_buffer(b"ab")


@pytest.mark.parametrize(
    ("written", "pending", "is_right"),
    [((DATA, END), None, True), ((END, DATA, END), None, False), ((END,), END, False), ((DATA,), DATA, True)],
)
def test_in_a_blocking_subpartition_all_counts_that_is_written_or_pending(written, pending, is_right):
    one = blocking_values.State(blocking_values.Config(Store.FILE), written, pending)
    assert data_ends_once.holds(State(Config(PartitionKind.BLOCKING, 1), Partition((one,)))) == is_right


def make_pipelined(*queues):
    (empty,) = pipelined.start(pipelined_values.Config())
    inner = tuple(attrs.evolve(empty, queue=Queue(items)) for items in queues)
    return State(Config(PartitionKind.PIPELINED, len(queues)), Partition(inner))


@pytest.mark.parametrize(
    ("queues", "is_right"),
    [
        (((OPEN,), (DATA, OPEN)), True),
        (((OPEN,), ()), False),
        (((OPEN,), (OPEN, DATA)), False),
        (((OPEN,), (DATA,)), False),
    ],
)
def test_a_broadcast_is_the_last_in_every_queue(queues, is_right):
    outcome = Outcome(make_pipelined(*queues), (), ())
    assert broadcast_to_all.holds(make_pipelined((), ()), Broadcast(b"b"), outcome) == is_right


def last(trace, kind="pipelined"):
    return words.last("result_partition", {"kind": kind, "subpartitions": 2}, trace)


@pytest.mark.rule("SUBP-21")
def test_where_somebody_waited_the_set_up_names_it():
    assert last("setup") == ("", ("SUBP-20",))
    assert last("1listen setup") == ("created 1", ("SUBP-21", "SUBP-20"))


@pytest.mark.rule("SUBP-26", "SUBP-40")
def test_behind_a_flush_to_a_file_a_broadcast_opens_a_buffer_of_its_own():
    trace = "setup broadcast:61 flush broadcast:62 finish 1request 0poll 0poll"
    assert last(trace, "blocking")[0].startswith("item data 62")


@pytest.mark.rule("SUBP-23")
@pytest.mark.parametrize("kind", ["pipelined", "blocking"])
def test_the_end_of_data_names_its_rule_where_it_is_read(kind):
    seen, rules = last("setup drain finish 0request 0poll", kind)
    assert seen.startswith("item end_of_data")
    assert rules[0] == "SUBP-23"
    assert "SUBP-23" not in last("setup 0emit:61 finish 0request 0poll", kind)[1]
