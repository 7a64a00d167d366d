"""The network buffer, rule by rule."""

import attrs
import pytest

from tests.reference import walking
from tests.reference.walking import broken_claims, refuses
from tidegate.reference.model import Outcome
from tidegate.reference.subpartition.buffer import values


def play(trace, capacity=4):
    return walking.play("buffer", {"capacity": capacity}, trace)


def last(trace, capacity=4):
    return walking.ending("buffer", {"capacity": capacity}, trace)


@pytest.mark.rule("SUBP-1")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("append:616263", "written 3"),
        ("append:616263 append:6465", "written 1"),
        ("append:61626364 append:65", "written 0"),
        ("append:61 finish", "written 1"),
        ("append:61 finish finish", "written 1"),
        ("finish append:61", "rejected"),
        ("finish commit", ""),
        ("consume consume", "rejected"),
        ("close append:61", "rejected"),
        ("close consume", "rejected"),
        ("0build", "rejected"),
        ("consume 1copy", "rejected"),
    ],
)
def test_subp_1_one_builder_appends(trace, shown):
    assert last(trace)[0] == shown


@pytest.mark.rule("SUBP-1", "SUBP-3")
def test_subp_3_what_is_committed_is_read_once():
    assert play("consume append:61 0build commit 0build 0build append:62 finish 0build")[2:] == [
        "slice ",
        "",
        "slice 61",
        "slice ",
        "written 1",
        "written 2",
        "slice 62",
    ]


@pytest.mark.rule("SUBP-2")
def test_subp_2_a_consumer_learns_of_the_end_when_it_reads_or_is_made():
    assert last("consume append:61 finish 0inspect") == ("knowledge False True", ("SUBP-2",))
    assert last("consume append:61 finish 0build") == ("slice 61", ("SUBP-3", "SUBP-2"))
    assert last("consume append:61 finish 0build 0inspect")[0] == "knowledge True False"
    assert last("finish consume 0inspect")[0] == "knowledge True False"
    assert last("consume finish 0copy 1inspect")[0] == "knowledge True False"
    assert last("consume finish 0copy 0inspect")[0] == "knowledge False False"


@pytest.mark.rule("SUBP-40")
def test_subp_40_copies_read_the_same_memory_at_their_own_pace():
    trace = "consume 0copy append:6162 commit 0build 0copy append:63 commit 1build 2build 0build"
    assert play(trace)[8:] == ["slice 616263", "slice 63", "slice 63"]


@pytest.mark.rule("SUBP-41")
@pytest.mark.parametrize(
    "trace",
    [
        "close",
        "consume close 0close",
        "consume 0close close",
        "consume 0build close 0close 0recycle",
        "consume 0build 0recycle close 0close",
        "consume 0copy 0build 1build close 0close 1close 1recycle 0recycle",
    ],
)
def test_subp_41_the_last_to_let_go_frees_the_memory(trace):
    *earlier, freed = play(trace)
    assert freed == "recycled"
    assert "recycled" not in earlier


@pytest.mark.rule("SUBP-41")
@pytest.mark.parametrize("word", ["0build", "0copy", "0inspect", "0close", "0recycle"])
def test_subp_41_who_has_let_go_does_nothing_more(word):
    assert last(f"consume 0close {word}") == ("rejected", ("SUBP-41",))


def test_properties_notice_what_they_forbid():
    state = values.State(
        values.Config(4),
        b"ab",
        2,
        consumers=(values.Consumer(1, known_finished=False), values.Consumer(0, known_finished=False)),
    )
    read = attrs.evolve(state, consumers=(values.Consumer(2, known_finished=False, slices=1), state.consumers[1]))
    assert not broken_claims("buffer", state, values.Build(0), Outcome(read, (values.Slice(b"b"),), ()))
    again = Outcome(read, (values.Slice(b"ab"),), ())
    assert refuses("buffer", "reads-what-was-committed", state, values.Build(0), again)
    assert refuses("buffer", "readers-are-independent", state, values.Build(1), Outcome(read, (), ()))
    changed = Outcome(attrs.evolve(state, written=b"xb"), (), ())
    assert refuses("buffer", "append-only", state, values.Append(b""), changed)
    early = Outcome(state, (values.Recycled(),), ())
    assert refuses("buffer", "freed-once", state, values.CloseConsumer(0), early)
    believing = attrs.evolve(state, consumers=(values.Consumer(0, known_finished=True),))
    assert refuses("buffer", "believed-finished-is-finished", believing)
