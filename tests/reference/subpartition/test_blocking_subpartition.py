"""The bounded blocking subpartition, rule by rule, over its stores."""

import attrs
import pytest

from tests.reference import walking
from tests.reference.walking import broken_claims, claim, ending, refuses
from tidegate.reference.model import InvalidInputError, Outcome
from tidegate.reference.subpartition.blocking_subpartition import stores
from tidegate.reference.subpartition.blocking_subpartition.stores import Reader, Store
from tidegate.reference.subpartition.blocking_subpartition.values import Config, Deleted, Recycled, State, WriteFailed
from tidegate.reference.subpartition.queue import Item, ItemKind
from tidegate.reference.subpartition.values import Append, Flush, Poll, Polled, Release, ViewCreated

ALL = [store.value for store in Store]


def play(store, trace):
    return walking.play("blocking_subpartition", {"store": store}, trace)


def last(store, trace):
    return walking.ending("blocking_subpartition", {"store": store}, trace)


@pytest.mark.rule("SUBP-30")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("open:61 append:62 data:63", ["6162", "63"]),
        ("open:61 flush open:62 append:63", ["61", "6263"]),
        ("data: data:61", ["", "61"]),
        ("open:61", ["61"]),
        ("flush", []),
    ],
)
@pytest.mark.parametrize("store", ALL)
def test_subp_30_the_pending_buffer_is_written_by_what_comes_next(store, trace, shown):
    polls = play(store, f"{trace} finish view {'0poll 0recycle ' * 4}")[-8::2]
    assert [poll.split(" ")[2] for poll in polls if poll.startswith("item data")] == shown


@pytest.mark.rule("SUBP-32", "SUBP-33")
@pytest.mark.parametrize("store", ALL)
def test_subp_32_every_view_is_complete(store):
    turns = "1poll 1recycle 0poll 0recycle " * 3
    seen = play(store, f"data:61 data:62 finish view view {turns} 0leave 1poll view 2poll")
    assert seen[5:17:4] == seen[7:18:4]
    assert [poll.split(" ")[2] for poll in seen[5:13:4]] == ["61", "62"]
    assert seen[-1].startswith("item data 61 1 data 0")
    assert last(store, "finish view 0leave 0poll") == ("rejected", ("SUBP-32",))


@pytest.mark.rule("SUBP-33")
@pytest.mark.parametrize(
    ("store", "query"),
    [("file", "availability False 1"), ("mmap", "availability False 1"), ("file_region", "availability False 1")],
)
def test_subp_33_the_backlog_is_exact(store, query):
    assert last(store, "data:61 finish view 0query-") == (query, ("SUBP-33",))
    assert last(store, "data:61 finish view 0poll 0query-")[0] == "availability True 0"
    assert last(store, "data:61 finish view 0poll 0recycle 0poll 0query+")[0] == "availability False 0"


@pytest.mark.rule("SUBP-34")
def test_subp_34_only_a_plain_file_is_read_with_two_buffers():
    for store in ("mmap", "file_mmap", "file_region"):
        assert last(store, "data:61 data:62 data:63 finish view 0poll 0poll 0poll")[0].startswith("item data 63")
        assert last(store, "data:61 finish view 0recycle") == ("rejected", ("SUBP-34",))


@pytest.mark.rule("SUBP-34", "SUBP-35", "SUBP-37")
def test_laws_notice_what_they_forbid(monkeypatch):
    monkeypatch.setattr(stores, "choose_store", lambda _bits: Store.FILE)
    assert refuses("blocking_subpartition", "mapped-with-address-space", 64)
    monkeypatch.setattr(stores, "uses_sort_merge", lambda subpartitions, threshold: subpartitions > threshold)
    assert refuses("blocking_subpartition", "sort-merge-instead", "2.3", 1, 1)
    monkeypatch.setattr(stores, "remember", lambda _store, _kind: ItemKind.EVENT)
    assert refuses("blocking_subpartition", "data-and-events-apart", Store.FILE, ItemKind.END_OF_DATA)


def test_claims_notice_what_they_forbid():
    written = (Item(ItemKind.DATA, b"a"), Item(ItemKind.END_OF_PARTITION))
    state = State(Config(Store.FILE), written, finished=True, complete=True, readers=(Reader(), Reader()))
    moved = attrs.evolve(state, readers=(Reader(1, 1), Reader()))
    polled = Polled(ItemKind.DATA, b"a", 0, ItemKind.END_OF_PARTITION, 0)
    right = Outcome(moved, (polled,), ())
    assert not broken_claims("blocking_subpartition", state, Poll(0), right)
    for change, name in (
        ({"observations": (attrs.evolve(polled, data=b"b"),)}, "each-view-is-complete"),
        ({"observations": (attrs.evolve(polled, backlog=1),)}, "backlog-is-exact"),
        ({"state": attrs.evolve(moved, written=())}, "written-stays-written"),
        ({"observations": (polled, Deleted())}, "deleted-by-the-last"),
    ):
        assert refuses("blocking_subpartition", name, state, Poll(0), attrs.evolve(right, **change))
    for change in ({"kind": ItemKind.END_OF_DATA}, {"data": b"b"}, {"sequence": 1}):
        twice = attrs.evolve(right, observations=(attrs.evolve(polled, **change), polled))
        assert refuses("blocking_subpartition", "each-view-is-complete", state, Poll(0), twice)
    twice = attrs.evolve(right, observations=(attrs.evolve(polled, backlog=1), polled))
    assert refuses("blocking_subpartition", "backlog-is-exact", state, Poll(0), twice)
    for event in (Poll(0), Flush()):
        other = attrs.evolve(right, state=attrs.evolve(moved, written=written[::-1]))
        assert refuses("blocking_subpartition", "written-stays-written", state, event, other)
    assert refuses("blocking_subpartition", "views-are-independent", state, Poll(1), right)
    unfinished = State(Config(Store.FILE))
    assert refuses(
        "blocking_subpartition", "read-when-finished", unfinished, Release(), Outcome(unfinished, (ViewCreated(0),), ())
    )
    assert refuses("blocking_subpartition", "two-read-buffers", attrs.evolve(state, readers=(Reader(0, 2),)))
    assert refuses("blocking_subpartition", "ends-once-finished", attrs.evolve(state, finished=False))


# --- a disk that fails ----------------------------------------------------------------------------------------


@pytest.mark.rule("SUBP-46", "SUBP-47")
@pytest.mark.parametrize("store", ALL)
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("data:61 fail data:62", ["nothing", "nothing", "recycled, write_failed"]),
        ("data:61 fail flush flush data:62", [*["nothing"] * 2, "recycled, write_failed", *["write_failed"] * 2]),
        ("fail data:61 finish finish data:62", [*["nothing"] * 2, "recycled, write_failed", *["rejected"] * 2]),
        ("fail finish release", ["nothing", "write_failed", "deleted"]),
        ("data:61 fail release", ["nothing", "nothing", "recycled, deleted"]),
        ("fail data:61 flush release flush", [*["nothing"] * 2, "recycled, write_failed", "deleted", "nothing"]),
        ("release flush", ["deleted", "nothing"]),
        ("data:61 data:62 flush fail flush", ["nothing", "recycled", "recycled", "nothing", "nothing"]),
    ],
)
def test_a_write_that_fails_is_told_and_its_memory_goes_back(store, trace, shown):
    assert walking.seen("blocking_subpartition", {"store": store, "extension": "failures"}, trace) == shown


@pytest.mark.rule("SUBP-46")
@pytest.mark.parametrize("store", ALL)
def test_only_regions_of_a_result_with_a_hole_may_be_read(store):
    config = {"store": store, "extension": "failures"}
    assert ending("blocking_subpartition", config, "fail finish view") == ("rejected", ("SUBP-46",))
    last_choice = ending("blocking_subpartition", config, "fail finish view", choose=-1)[0]
    assert last_choice == ("view 0" if store == "file_region" else "rejected")


@pytest.mark.rule("SUBP-46", "SUBP-32")
def test_a_view_of_a_result_is_named_by_whether_the_result_has_a_hole():
    config = {"store": "file_region", "extension": "failures"}
    assert ending("blocking_subpartition", config, "fail finish view", choose=-1)[1] == ("SUBP-46", "SUBP-32")
    assert ending("blocking_subpartition", config, "finish view", choose=-1)[1] == ("SUBP-32", "SUBP-31")


def test_a_disk_fails_in_the_extension_only():
    with pytest.raises(InvalidInputError, match="belongs to the extension failures"):
        play("file", "fail")


KEPT, END = Item(ItemKind.DATA, b"a"), Item(ItemKind.END_OF_PARTITION)


def make_state(*written, extension="failures", **more):
    return State(Config(Store.FILE, extension), written, **more)


@pytest.mark.rule("SUBP-46")
@pytest.mark.parametrize(
    ("before", "event", "seen", "after", "holds"),
    [
        (make_state(pending=KEPT), Flush(), (), make_state(KEPT), True),
        (make_state(pending=KEPT), Flush(), (WriteFailed(),), make_state(stuck=True), True),
        (make_state(pending=KEPT), Append(b"b"), (), make_state(pending=KEPT), True),
        (make_state(pending=KEPT), Release(), (), make_state(released=True), True),
        (make_state(stuck=True), Flush(), (WriteFailed(),), make_state(stuck=True), True),
        (make_state(), Flush(), (), make_state(), True),
        (make_state(pending=KEPT), Flush(), (), make_state(), False),
        (make_state(pending=KEPT), Flush(), (WriteFailed(),), make_state(KEPT), False),
        (make_state(pending=KEPT, stuck=True), Flush(), (), make_state(KEPT, stuck=True), False),
        (make_state(), Release(), (WriteFailed(),), make_state(released=True), False),
    ],
)
def test_what_is_kept_is_written_or_the_producer_is_told(before, event, seen, after, holds):
    assert claim("blocking_subpartition", "failures-are-told")(before, event, Outcome(after, seen, ())) == holds


@pytest.mark.rule("SUBP-47")
@pytest.mark.parametrize(
    ("before", "after", "goes_back"),
    [
        (make_state(pending=KEPT), make_state(KEPT), True),
        (make_state(pending=KEPT), make_state(KEPT, pending=KEPT), True),
        (make_state(pending=KEPT), make_state(), True),
        (make_state(pending=KEPT), make_state(pending=KEPT), False),
        (make_state(), make_state(pending=KEPT), False),
        (make_state(), make_state(END), False),
        (make_state(), make_state(), False),
        (make_state(pending=KEPT, extension=None), make_state(KEPT, extension=None), False),
    ],
)
def test_the_memory_of_what_was_kept_goes_back_when_it_is_kept_no_more(before, after, goes_back):
    holds = claim("blocking_subpartition", "memory-goes-back-once")
    assert holds(before, Flush(), Outcome(after, (Recycled(),), ())) == goes_back
    assert holds(before, Flush(), Outcome(after, (), ())) != goes_back


@pytest.mark.parametrize(
    ("state", "holds"),
    [
        (make_state(KEPT, END, finished=True, complete=True), True),
        (make_state(KEPT, finished=True), True),
        (make_state(KEPT), True),
        (make_state(KEPT, finished=True, complete=True), False),
        (make_state(END, KEPT, finished=True, complete=True), False),
        (make_state(END, END, finished=True, complete=True), False),
        (make_state(KEPT, END, finished=True), False),
        (make_state(KEPT, END, complete=True), False),
    ],
)
def test_a_subpartition_ends_once_and_only_where_its_end_was_written(state, holds):
    assert claim("blocking_subpartition", "ends-once-finished")(state) == holds
