"""The pipelined subpartition: flushes and holds, and claims told of what is wrong."""

import pytest

from tests.reference.walking import brief, walk
from tidegate.reference.model import InvalidInputError
from tidegate.reference.spanning.builders import UNLIMITED
from tidegate.reference.subpartition import queue as queues
from tidegate.reference.subpartition.queue import Item, ItemKind, Queue
from tidegate.reference.subpartition.subpartition import COMPONENT
from tidegate.reference.subpartition.subpartition.values import AddEvent, Config, State

USUAL = {"exclusive": 2, "size_hint": UNLIMITED}


@pytest.mark.rule("SUBP-7")
@pytest.mark.parametrize(
    ("trace", "wakes", "requested"),
    [
        ("view flush", False, False),
        ("view open: flush", False, False),
        ("view open:61 flush", True, True),
        ("view open:61 flush flush", False, True),
        ("view data:61 data:62 flush", False, True),
        ("view data: open: flush", False, True),
        ("view event flush", True, True),
        ("view barrier poll open:61 flush", False, True),
        ("open:61 flush", False, True),
        ("view open:61 flush poll", False, False),
        ("view open:61 poll flush", False, False),
    ],
)
def test_subp_7_a_flush_is_recorded_and_wakes_for_a_lone_item(trace, wakes, requested):
    outcome = walk("subpartition", USUAL, trace)[-1]
    assert ("data_available" in brief(outcome)) == wakes
    assert outcome.state.queue.flush_requested == requested


@pytest.mark.parametrize("kind", [ItemKind.DATA, ItemKind.END_OF_PARTITION, ItemKind.NONE])
def test_only_events_are_added_as_events(kind):
    with pytest.raises(InvalidInputError):
        AddEvent(kind)


@pytest.mark.parametrize(
    ("queue", "name"),
    [
        (Queue((queues.open_buffer(b""), Item(ItemKind.EVENT))), "only-the-last-is-open"),
        (Queue((Item(ItemKind.DATA, finished=False),)), "believed-finished-is-finished"),
        (Queue((Item(ItemKind.EVENT), Item(ItemKind.PRIORITY))), "priority-first"),
        (Queue((Item(ItemKind.END_OF_PARTITION), Item(ItemKind.DATA))), "nothing-behind-the-end"),
        (Queue(flush_requested=True), "flush-of-something"),
        (Queue((Item(ItemKind.DATA),), released=True), "released-is-empty"),
    ],
)
def test_invariants_notice_what_they_forbid(queue, name):
    state = State(Config(), UNLIMITED, queue)
    assert [claim.name for claim in COMPONENT.invariants if not claim.holds(state)] == [name]


# --- corners --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("event", "rules"), [("flush", ("SUBP-7", "SUBP-13")), ("poll", ("SUBP-13", "SUBP-8"))])
def test_a_hold_is_named_where_it_decides(event, rules):
    assert walk("subpartition", USUAL, f"view barrier poll {event}")[-1].rules == rules
