"""The pipelined subpartition, rule by rule; and that it agrees with the simpler queue of the credit sender."""

import pytest

from tests.reference import walking
from tests.reference.walking import brief, walk
from tidegate.reference.model import InvalidInputError
from tidegate.reference.spanning.builders import UNLIMITED
from tidegate.reference.subpartition import queue as queues
from tidegate.reference.subpartition.queue import Item, ItemKind, Queue
from tidegate.reference.subpartition.subpartition import COMPONENT
from tidegate.reference.subpartition.subpartition.values import AddEvent, Config, State

HOLDS = {"barrier": "barrier", "recovered": "recovery_completion", "watermark": "aligned_watermark"}
USUAL = {"exclusive": 2, "size_hint": UNLIMITED}


def play(trace, **config):
    return walking.play("subpartition", USUAL | config, trace)


def last(trace, **config):
    return walking.ending("subpartition", USUAL | config, trace)


@pytest.mark.rule("SUBP-1")
@pytest.mark.parametrize("trace", ["append:61", "close", "data:61 append:62", "open:61 close close"])
def test_subp_1_only_an_open_buffer_is_written(trace):
    assert last(trace) == ("rejected", ("SUBP-1",))


@pytest.mark.rule("SUBP-2", "SUBP-5", "SUBP-12")
def test_subp_2_a_lone_finished_buffer_counts_as_open_until_it_is_read():
    assert last("view open:61 close query+")[0] == "availability False 0"
    assert last("view open:61 close open:62 query+")[0] == "availability True 1"
    assert last("view open:61 close poll")[1] == ("SUBP-8", "SUBP-2", "SUBP-3", "SUBP-10", "SUBP-11")
    assert last("view data:61 query+")[0] == "availability True 0"


@pytest.mark.rule("SUBP-3", "SUBP-9")
def test_subp_9_an_open_buffer_is_read_in_pieces():
    seen = play("view open:61 poll append:6263 poll poll close poll")
    assert [seen[2], seen[4], seen[5], seen[7]] == ["item data 61 0 none 0", "item data 6263 0 none 1", "none", "none"]
    assert last("view open:61 poll")[1] == ("SUBP-9", "SUBP-8", "SUBP-3", "SUBP-10", "SUBP-11")


@pytest.mark.rule("SUBP-4", "SUBP-17", "SUBP-18")
@pytest.mark.parametrize(
    ("trace", "shown", "rules"),
    [
        ("data:61", f"added {UNLIMITED}", ("SUBP-6", "SUBP-4", "SUBP-5")),
        ("view size7 event", "added 7, data_available", ("SUBP-6", "SUBP-4", "SUBP-5")),
        ("view size0 event", "added 0, data_available", ("SUBP-6", "SUBP-4", "SUBP-5")),
        ("view size-1", "rejected", ("SUBP-4",)),
        ("finish data:61", "rejected", ("SUBP-4", "SUBP-17")),
        ("finish priority", "rejected", ("SUBP-4", "SUBP-17")),
        ("release event", "rejected", ("SUBP-4", "SUBP-18")),
        ("finish release event", "rejected", ("SUBP-4", "SUBP-18")),
    ],
)
def test_subp_4_adding_answers_with_the_size_or_is_refused(trace, shown, rules):
    assert last(trace) == (shown, rules)


@pytest.mark.rule("SUBP-5")
@pytest.mark.parametrize("word", ["data:62", "open:", "event", "barrier", "finish"])
def test_subp_5_an_open_buffer_is_finished_before_anything_is_added(word):
    assert last(f"open:61 {word}") == ("rejected", ("SUBP-5", "SUBP-8"))
    assert last(f"open:61 close {word}")[0] != "rejected"


@pytest.mark.rule("SUBP-6")
@pytest.mark.parametrize(
    ("trace", "wakes"),
    [
        ("data:61", False),
        ("view data:61", True),
        ("view open:61", False),
        ("view open:61 close data:62", True),
        ("view data:61 data:62", True),
        ("view data:61 data:62 data:63", False),
        ("view open:61 flush close data:62", False),
        ("view barrier poll data:61", False),
        ("view open:61 flush close finish", True),
        ("view barrier poll finish", True),
        ("finish", False),
    ],
)
def test_subp_6_the_first_finished_item_wakes(trace, wakes):
    assert ("data_available" in last(trace)[0]) == wakes


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


@pytest.mark.rule("SUBP-8")
@pytest.mark.parametrize(
    ("trace", "exclusive", "shown"),
    [
        ("view poll", 2, "none"),
        ("view data: poll", 2, "none"),
        ("view data: data:61 poll", 2, "item data 61 0 none 0"),
        ("view data: open: poll", 2, "none"),
        ("view data: poll", 0, "item data  0 none 0"),
        ("view open: poll", 0, "none"),
        ("view open: close poll", 0, "item data  0 none 0"),
    ],
)
def test_subp_8_empty_buffers(trace, exclusive, shown):
    assert last(trace, exclusive=exclusive)[0] == shown


@pytest.mark.rule("SUBP-10", "SUBP-11", "SUBP-12")
def test_subp_11_the_last_buffer_is_presumed_open():
    assert play("view data:61 data:62 data:63 poll poll poll")[4:] == [
        "item data 61 1 data 0",
        "item data 62 0 data 1",
        "item data 63 0 none 2",
    ]
    for word in ("flush", "event", "finish"):
        assert last(f"view data:61 data:62 {word} query+")[0] == "availability True 2"
    assert last("view data:61 query-") == ("availability False 0", ("SUBP-12", "SUBP-11"))
    assert last("view barrier poll event query-")[0] == "availability True 0"
    assert last("view barrier poll event query+")[0] == "availability False 0"


@pytest.mark.rule("SUBP-13")
@pytest.mark.parametrize("word", ["barrier", "recovered", "watermark"])
def test_subp_13_some_events_hold_what_is_behind_them(word):
    assert play(f"view {word} data:61 resume poll poll data:62 resume poll resume")[3:] == [
        "rejected",
        f"item {HOLDS[word]}  0 none 0",
        "none",
        f"added {UNLIMITED}",
        "",
        "item data 61 0 data 1",
        "rejected",
    ]


@pytest.mark.rule("SUBP-14")
def test_subp_14_priority_events_overtake_and_pass_a_hold():
    assert last("view data:61 data:62 data:63 priority")[0] == f"added {UNLIMITED}, priority_available 0"
    assert last("view priority")[0] == f"added {UNLIMITED}, priority_available 0, data_available"
    assert last("view priority priority")[0] == f"added {UNLIMITED}, data_available"
    assert last("view barrier event poll priority") == (
        f"added {UNLIMITED}, priority_available 1",
        ("SUBP-14", "SUBP-6", "SUBP-4", "SUBP-5"),
    )
    assert play("view barrier event poll priority poll poll")[5:] == ["item priority  0 none 1", "none"]


@pytest.mark.rule("SUBP-15", "SUBP-16")
def test_subp_15_there_is_one_view_and_making_it_wakes_nobody():
    assert last("data:61 flush view") == ("", ("SUBP-16", "SUBP-15"))
    assert last("view view") == ("rejected", ("SUBP-15",))
    assert last("release view") == ("rejected", ("SUBP-15", "SUBP-18"))
    for word in ("poll", "query+", "resume", "size5"):
        assert last(word) == ("rejected", ("SUBP-15",))


@pytest.mark.rule("SUBP-17", "SUBP-18")
def test_subp_17_the_end_is_read_and_a_release_is_not():
    assert play("view data:61 finish finish poll poll poll")[2:] == [
        "data_available",
        "rejected",
        "item data 61 0 end_of_partition 0",
        "item end_of_partition  0 none 1",
        "none",
    ]
    assert play("view data:61 release poll release finish")[2:] == ["", "none", "", "rejected"]
    assert last("view event release poll")[1] == ("SUBP-18", "SUBP-8")
    assert play("view event flush release query+ poll query+")[4:] == [
        "availability True 0",
        "none",
        "availability False 0",
    ]


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
    assert last(f"view barrier poll {event}")[1] == rules
