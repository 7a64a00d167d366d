"""The claims about the writer refuse what they are there to refuse; and the writer, in corners."""

import attrs
import pytest

from tidegate.reference.model import Outcome, Rejected
from tidegate.reference.spanning import builders
from tidegate.reference.spanning.builders import Builder
from tidegate.reference.spanning.writer import COMPONENT
from tidegate.reference.spanning.writer import step as writer
from tidegate.reference.spanning.writer.claims import get_open_builders
from tidegate.reference.spanning.writer.step import start, step
from tidegate.reference.spanning.writer.values import (
    Add,
    Broadcast,
    Config,
    Elapse,
    Fail,
    Flush,
    IoError,
    Kind,
    Record,
)

CLAIMS = {claim.name: claim for claim in COMPONENT.claims}
HALF, EMPTY, FULL = Builder(8, 4), Builder(8, 0), Builder(8, 8)


def make_state(timeout=-1, **changes):
    (state,) = start(Config(Kind.BROADCAST, 2, 8, timeout))
    return attrs.evolve(state, **changes)


def holds(name, before, event, after, *seen):
    return CLAIMS[name].holds(before, event, Outcome(after, seen, ()))


# --- buffers --------------------------------------------------------------------------------------------------


def test_all_open_buffers_count():
    assert get_open_builders(make_state(builders=(HALF, None), shared=EMPTY)) == [HALF, EMPTY]


@pytest.mark.parametrize(
    ("builders", "shared", "is_right"),
    [((HALF, HALF), None, True), ((None, None), HALF, True), ((HALF, None), HALF, False), ((HALF, HALF), HALF, False)],
)
def test_one_kind_of_buffer_is_open(builders, shared, is_right):
    after = make_state(builders=builders, shared=shared)
    assert holds("one-kind-of-buffer-is-open", make_state(), Flush(), after) == is_right


@pytest.mark.parametrize(("builder", "is_right"), [(HALF, True), (EMPTY, False), (FULL, False), (Builder(9, 4), False)])
@pytest.mark.parametrize("place", ["own", "shared"])
def test_an_open_buffer_holds_something_and_has_room(place, builder, is_right):
    after = make_state(builders=(None, builder)) if place == "own" else make_state(shared=builder)
    assert holds("open-buffers-have-room", make_state(), Flush(), after) == is_right


@pytest.mark.parametrize(("seen", "is_right"), [((0, 0), True), ((4, 4), False), ((0, 4), False)])
def test_a_buffer_that_begins_with_a_record_is_queued_empty(seen, is_right):
    event = Record(1, b"abcd")
    name = "continuations-are-queued-with-their-bytes"
    assert holds(name, make_state(), event, make_state(), Add(1, *seen)) == is_right


@pytest.mark.parametrize(("seen", "is_right"), [((4, 4), True), ((0, 0), False), ((4, 0), False), ((4, 3), False)])
def test_a_buffer_that_continues_a_record_is_queued_with_its_bytes(seen, is_right):
    before = make_state(builders=(None, HALF))
    event = Record(1, b"abcd")
    name = "continuations-are-queued-with-their-bytes"
    assert holds(name, before, event, before, Add(1, *seen)) == is_right


@pytest.mark.rule("SPAN-8")
def test_before_any_hint_a_buffer_is_as_large_as_an_int_can_say():
    assert make_state().hints == (2_147_483_647, 2_147_483_647)


def test_an_enlarged_buffer_without_a_byte_more_is_refused(monkeypatch):
    monkeypatch.setattr(builders, "enlarge", lambda builder, _size, needed: Builder(builder.filled + needed))
    assert not CLAIMS["enlarged-by-one-byte-more"].holds(Builder(2), 8, 4)


# --- flushes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pending", "builder", "is_right"),
    [((b"", b""), HALF, True), ((b"", b"a"), HALF, False), ((b"", b""), None, False), ((b"a", b"a"), None, False)],
)
def test_a_flush_shows_all_and_closes_nothing(pending, builder, is_right):
    before = make_state(builders=(HALF, None), pending=(b"abcd", b""))
    after = attrs.evolve(before, builders=(builder, None), pending=pending)
    assert holds("flush-shows-all-and-closes-nothing", before, Flush(), after) == is_right


@pytest.mark.parametrize(
    ("timeout", "elapsed", "unaware", "is_due"),
    [(10, 9, None, True), (10, 8, None, False), (10, 9, 0, False), (0, 9, None, False), (-1, 9, None, False)],
)
def test_time_flushes_when_the_timeout_is_over_and_only_then(timeout, elapsed, unaware, is_due):
    before = make_state(timeout, pending=(b"a", b""), elapsed=elapsed, unaware=unaware)
    flushed = attrs.evolve(before, pending=(b"", b""))
    assert holds("flushes-as-the-timeout-says", before, Elapse(1), flushed) == is_due
    assert holds("flushes-as-the-timeout-says", before, Elapse(1), before) != is_due


@pytest.mark.parametrize(("pending", "is_right"), [((b"", b"x"), True), ((b"x", b""), False)])
def test_with_timeout_0_what_was_just_written_is_seen(pending, is_right):
    before = make_state(0, pending=(b"", b"x"))
    after = attrs.evolve(before, pending=pending)
    assert holds("flushes-as-the-timeout-says", before, Record(0, b"a"), after) == is_right


# --- failures -------------------------------------------------------------------------------------------------


@pytest.mark.rule("SPAN-11")
@pytest.mark.parametrize(("timeout", "can_fail"), [(-1, False), (0, False), (1, True), (2, True)])
def test_only_a_flusher_can_fail(timeout, can_fail):
    (outcome,) = step(make_state(timeout), Fail())
    assert (outcome.observations == ()) == can_fail
    assert (outcome.observations == (Rejected(),)) != can_fail


@pytest.mark.rule("SPAN-11")
def test_a_failed_flusher_has_no_clock():
    """It does not matter any more how much time had gone by."""
    (waited,) = step(make_state(100), Elapse(30))
    assert step(waited.state, Fail()) == step(make_state(100), Fail())


def never_surely(state, event):
    """A wrong writer: any emit may fail, none must."""
    failure = Outcome(attrs.evolve(state, unaware=writer.MOST_EMITS_UNAWARE), (IoError(),), ())
    if state.unaware == writer.MOST_EMITS_UNAWARE:
        return (failure,)
    return (failure, writer.write(state, event))


def not_for_good(state, event):
    """A wrong writer: after an emit that failed another one may pass."""
    failure = Outcome(attrs.evolve(state, unaware=0), (IoError(),), ())
    if state.unaware == writer.MOST_EMITS_UNAWARE:
        return (failure,)
    return (failure, writer.write(attrs.evolve(state, unaware=state.unaware + 1), event))


def too_late(state, event):
    """A wrong writer: the first emit after the failure always passes."""
    if state.unaware == 0:
        return (writer.write(attrs.evolve(state, unaware=1), event),)
    return never_surely(state, event)


@pytest.mark.parametrize("wrong", [never_surely, not_for_good, too_late])
def test_a_failure_that_does_not_surface_is_refused(monkeypatch, wrong):
    monkeypatch.setattr(writer, "on_emit", wrong)
    assert not CLAIMS["a-failed-flusher-surfaces-in-time"].holds(Broadcast(b"a"))
