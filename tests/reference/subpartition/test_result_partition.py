"""Unions and claims of the result partition; the directed traces say what it shows."""

import attrs
import pytest

from tests.reference.walking import begin, claim, walk
from tidegate.reference.model import Outcome
from tidegate.reference.subpartition.blocking_subpartition import values as blocking_values
from tidegate.reference.subpartition.blocking_subpartition.stores import Store
from tidegate.reference.subpartition.queue import Item, ItemKind, Queue, open_buffer
from tidegate.reference.subpartition.result_partition import union, values, writing
from tidegate.reference.subpartition.result_partition.claims import broadcast_to_all, data_ends_once
from tidegate.reference.subpartition.subpartition import values as pipelined_values


@pytest.mark.rule("SUBP-22")
def test_subp_22_a_union_is_read_in_rounds_of_records():
    assert union.merge(((True, True), (False, True), ())) == ((0, 0), (1, 0), (1, 1), (0, 1))
    assert union.merge(((False,), (True,))) == ((0, 0),)


@pytest.mark.rule("SUBP-22")
@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("union-keeps-order", lambda parts: tuple((0, position) for position in reversed(range(len(parts[0]))))),
        ("union-splits-no-record", lambda _parts: ((0, 0), (1, 0), (0, 1))),
        ("union-in-rounds", lambda _parts: ((0, 0), (0, 1), (1, 0))),
        ("union-loses-nothing", lambda _parts: ()),
    ],
)
def test_union_laws_notice_what_they_forbid(monkeypatch, name, broken):
    holds = claim("result_partition", name)
    sample = ((False, True), (True,)) if "splits" in name else ((True, True), (True,))
    assert holds(*sample)
    monkeypatch.setattr(union, "merge", broken)
    assert not holds(*sample)


def test_all_subpartitions_are_told_at_once(monkeypatch):
    """With many of them, a copy of the partition for each would take minutes."""
    make, copies = writing.Progress, []
    monkeypatch.setattr(writing, "Progress", lambda *parts: copies.append(parts) or make(*parts))
    counts = []
    for subpartitions in (1, 99):
        walk(
            "result_partition", {"kind": "pipelined", "subpartitions": subpartitions}, "setup broadcast:61 drain finish"
        )
        counts.append(len(copies))
        copies.clear()
    assert counts[0] == counts[1] > 0


# --- claims, told of what is wrong ----------------------------------------------------------------------------

END, DATA, OPEN = Item(ItemKind.END_OF_DATA), Item(ItemKind.DATA, b"a"), open_buffer(b"ab")


@pytest.mark.parametrize(
    ("written", "pending", "is_right"),
    [((DATA, END), None, True), ((END, DATA, END), None, False), ((END,), END, False), ((DATA,), DATA, True)],
)
def test_in_a_blocking_subpartition_all_counts_that_is_written_or_pending(written, pending, is_right):
    one = blocking_values.State(blocking_values.Config(Store.FILE), written, pending)
    assert (
        data_ends_once.holds(values.State(values.Config(values.PartitionKind.BLOCKING, 1), values.Partition((one,))))
        == is_right
    )


def make_pipelined(*queues):
    empty = begin("subpartition", pipelined_values.Config())
    inner = tuple(attrs.evolve(empty, queue=Queue(items)) for items in queues)
    return values.State(values.Config(values.PartitionKind.PIPELINED, len(queues)), values.Partition(inner))


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
    assert broadcast_to_all.holds(make_pipelined((), ()), values.Broadcast(b"b"), outcome) == is_right
