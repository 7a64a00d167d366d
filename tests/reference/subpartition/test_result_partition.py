"""The result partition and its manager, rule by rule."""

import attrs
import pytest

from tests.reference import walking
from tests.reference.walking import begin, claim
from tidegate.reference.model import Outcome
from tidegate.reference.subpartition.blocking_subpartition import values as blocking_values
from tidegate.reference.subpartition.blocking_subpartition.stores import Store
from tidegate.reference.subpartition.queue import Item, Kind, Queue, open_buffer
from tidegate.reference.subpartition.result_partition import union, values, writing
from tidegate.reference.subpartition.result_partition.claims import broadcast_to_all, data_ends_once
from tidegate.reference.subpartition.subpartition import values as pipelined_values


def play(trace, kind="pipelined", subpartitions=2):
    return walking.play("result_partition", {"kind": kind, "subpartitions": subpartitions}, trace)


def last(trace, kind="pipelined", subpartitions=2):
    return walking.ending("result_partition", {"kind": kind, "subpartitions": subpartitions}, trace)


@pytest.mark.rule("SUBP-20")
@pytest.mark.parametrize("trace", ["setup setup", "shutdown setup", "setup drop setup", "flush", "close", "0poll"])
def test_subp_20_one_partition_under_an_id(trace):
    assert last(trace) == ("rejected", ("SUBP-20",))


@pytest.mark.rule("SUBP-20")
def test_subp_20_after_a_release_the_id_is_free():
    assert play("setup 0request release setup 0request shutdown")[2:] == ["released", "", "view 0", "released"]


@pytest.mark.rule("SUBP-21")
def test_subp_21_who_listens_is_told():
    assert play("0request 1listen 0listen 1listen setup 1listen") == [
        "not_found",
        "",
        "",
        "rejected",
        "created 0, created 1",
        "view 0",
    ]
    for word in ("expire", "release", "shutdown"):
        assert last(f"1listen {word}")[0] == "timed_out 1"
    assert last("shutdown 1listen expire") == ("", ("SUBP-21",))


@pytest.mark.rule("SUBP-22")
@pytest.mark.parametrize(
    "trace", ["2request", "setup 2request", "setup -1listen", "setup 2emit:61", "setup 0poll", "setup drop 0request"]
)
def test_subp_22_what_is_not_there_is_refused(trace):
    assert last(trace) == ("rejected", ("SUBP-22",))


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


@pytest.mark.rule("SUBP-23", "SUBP-17")
@pytest.mark.parametrize(("word", "mode"), [("drain", "00"), ("stop", "01")])
@pytest.mark.parametrize("kind", ["pipelined", "blocking"])
def test_subp_23_data_ends_once_and_then_the_partition(word, mode, kind):
    trace = f"setup 0emit:61 {word} drain finish stop 0request 0poll 0poll 0poll 0poll"
    assert [poll.split(" ")[:3] for poll in play(trace, kind)[-4:]] == [
        ["item", "data", "61"],
        ["item", "end_of_data", f"00000008{mode}"],
        ["item", "end_of_partition", "00000000"],
        ["none"],
    ]


@pytest.mark.rule("SUBP-23")
@pytest.mark.parametrize("word", ["0emit:61", "broadcast:61", "drain", "finish"])
def test_subp_23_nothing_behind_the_end(word):
    assert last(f"setup finish {word}") == ("rejected", ("SUBP-23",))
    assert last(f"setup close {word}") == ("rejected", ("SUBP-23",))


@pytest.mark.rule("SUBP-24")
@pytest.mark.parametrize(
    "trace",
    [
        "setup 0request 1request 0leave 1leave finish close",
        "setup close 0request 1request 1leave 0leave",
        "setup 0request 0leave 0leave 0leave close 1request 1leave",
    ],
)
def test_subp_24_the_last_user_releases(trace):
    *earlier, final = play(trace)
    assert final == "released"
    assert "released" not in earlier
    assert last(f"{trace} 0request") == ("not_found", ("SUBP-21",))


@pytest.mark.rule("SUBP-24")
def test_subp_24_a_blocking_partition_is_released_by_nobodys_leaving():
    assert play("setup finish close 0request 0leave 0request 1poll", "blocking", 1)[3:] == [
        "view 0",
        "",
        "view 1",
        "item end_of_partition 00000000 0 none 0",
    ]
    assert last("setup close close") == ("rejected", ("SUBP-24",))
    assert last("setup 0request 0leave 0poll") == ("rejected", ("SUBP-24",))


@pytest.mark.rule("SUBP-25", "SUBP-18")
def test_subp_25_readers_learn_of_a_failure():
    assert play("setup 0request 0emit:61 fail 0poll 0request fail")[3:] == ["released", "gone True", "not_found", ""]
    assert last("setup 0request drop 0poll") == ("gone False", ("SUBP-18",))
    assert last("setup 0request drop fail 0poll")[0] == "gone False"
    assert last("setup fail 0emit:61")[0] == "rejected"


@pytest.mark.rule("SUBP-26", "SUBP-30")
def test_subp_26_a_flush_ends_buffers_that_go_to_a_file():
    trace = "setup 0emit:61 flush 0emit:62 finish 0request 0poll 0poll 0poll"
    assert [poll.split(" ")[2] for poll in play(trace, "blocking", 1)[-3:]] == ["61", "62", "00000000"]
    assert [poll.split(" ")[2:3] for poll in play(trace, "pipelined", 1)[-3:]] == [["6162"], ["00000000"], []]
    assert last("setup drop finish", "blocking", 1) == ("rejected", ("SUBP-30",))
    assert last("setup drop finish", "pipelined", 1) == ("", ("SUBP-23",))


@pytest.mark.rule("SUBP-40")
def test_subp_40_a_broadcast_goes_to_all_in_order():
    trace = "setup broadcast:61 1emit:62 broadcast:63 0request 1request 0poll 0poll 1poll 1poll 1poll"
    assert [poll.split(" ")[2] for poll in play(trace)[-5:]] == ["61", "63", "61", "62", "63"]
    assert last("setup broadcast:61") == ("", ("SUBP-40",))


def test_all_subpartitions_are_told_at_once(monkeypatch):
    """With many of them, a copy of the partition for each would take minutes."""
    make, copies = writing.Progress, []
    monkeypatch.setattr(writing, "Progress", lambda *parts: copies.append(parts) or make(*parts))
    counts = []
    for subpartitions in (1, 99):
        play("setup broadcast:61 drain finish", subpartitions=subpartitions)
        counts.append(len(copies))
        copies.clear()
    assert counts[0] == counts[1] > 0


# --- claims, told of what is wrong ----------------------------------------------------------------------------

END, DATA, OPEN = Item(Kind.END_OF_DATA), Item(Kind.DATA, b"a"), open_buffer(b"ab")


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
