"""The writer of many channels, rule by rule."""

import attrs
import pytest

from tests.reference.walking import begin, claim, law_holds, walk
from tidegate.reference.model import InvalidInputError, Outcome, Rejected
from tidegate.reference.spanning import builders
from tidegate.reference.spanning.builders import UNLIMITED, Builder, compute_capacity, enlarge
from tidegate.reference.spanning.dated_writers import write_to_shared_memory
from tidegate.reference.spanning.writer import step as writer
from tidegate.reference.spanning.writer import values
from tidegate.reference.spanning.writer.claims import get_open_builders
from tidegate.reference.spanning.writer.step import step

A, AB, CDEF = b"a", b"ab", b"cdef"


def selecting(channels=2, size=8, timeout=-1):
    return values.Config(values.Kind.SELECTING, channels, size, timeout)


def broadcast(channels=2, size=8, timeout=-1):
    return values.Config(values.Kind.BROADCAST, channels, size, timeout)


@pytest.mark.rule("SPAN-8")
def test_span_8_a_size_that_was_asked_for_is_named_where_it_limits():
    assert "SPAN-8" in walk("writer", selecting(1, 64), "0size10 0r6162")[-1].rules
    assert "SPAN-8" not in walk("writer", selecting(1, 64), "0r6162")[-1].rules


@pytest.mark.rule("SPAN-8")
@pytest.mark.parametrize(
    ("hints", "shared"),
    [((9, UNLIMITED), Builder(9, 5)), ((9, 7), Builder(7, 5)), ((0, 7), Builder(16, 5)), ((3, 4), None)],
)
def test_span_8_a_shared_buffer_follows_the_smallest_hint(hints, shared):
    (*_, outcome) = walk(
        "writer", broadcast(2, 16), (values.Hint(0, hints[0]), values.Hint(1, hints[1]), values.Broadcast(A))
    )
    assert outcome.state.shared == shared


@pytest.mark.rule("SPAN-8")
@pytest.mark.parametrize(
    ("size", "hint", "least", "capacity"),
    [(64, 10, 30, 30), (64, 10, 6, 10), (64, 0, 6, 64), (64, UNLIMITED, 6, 64), (8, 10, 30, 8), (8, 3, 30, 8)],
)
def test_span_8_capacities(size, hint, least, capacity):
    assert compute_capacity(size, hint, least) == capacity


@pytest.mark.rule("SPAN-9")
@pytest.mark.parametrize(
    ("builder", "needed", "capacity"),
    [(Builder(10, 4), 5, 10), (Builder(10, 4), 6, 11), (Builder(10, 4), 9, 14), (Builder(10, 4), 12, 16)],
)
def test_span_9_room_for_the_record_and_one_byte(builder, needed, capacity):
    assert enlarge(builder, 16, needed) == Builder(capacity, builder.filled)


@pytest.mark.rule("SPAN-11")
def test_span_11_a_failed_flusher_may_show_at_once_and_then_always():
    (*_, failed) = walk("writer", selecting(timeout=5), (values.Record(0, A), values.Fail()))
    surfaced, passed = step(failed.state, values.Record(0, A))
    assert surfaced.observations == (values.IoError(),)
    assert surfaced.state.pending == failed.state.pending
    assert passed.observations != (values.IoError(),)
    assert [outcome.observations for outcome in step(surfaced.state, values.Broadcast(A))] == [(values.IoError(),)]
    (stopped,) = step(failed.state, values.Elapse(100))
    assert stopped.observations == ()


@pytest.mark.rule("SPAN-11")
@pytest.mark.parametrize(("emits", "choices"), [(0, 2), (99, 2), (100, 1)])
def test_span_11_after_100_emits_it_must_show(emits, choices):
    (*_, outcome) = walk("writer", selecting(timeout=5), (values.Fail(), *[values.Record(0, b"")] * emits), choose=-1)
    assert len(step(outcome.state, values.Record(0, b""))) == choices


@pytest.mark.rule("SPAN-16")
def test_span_16_other_channels_go_on_behind_a_record_for_one():
    assert write_to_shared_memory(2, ((None, b"A"), (0, b"b"), (None, b"C"), (1, b"d"))) == (b"AbC", b"ACd")


@pytest.mark.parametrize(
    ("module", "name", "broken", "law"),
    [
        (builders, "compute_capacity", lambda size, hint, _least: min(size, hint or size), "hints-split-no-record"),
        (builders, "enlarge", lambda builder, *_: builder, "enlarged-by-one-byte-more"),
        (writer, "write_to_shared_memory", lambda *_: (b"", b""), "shared-memory-has-the-same-bytes"),
        (writer, "step", lambda state, event: step(state, event)[-1:], "a-failed-flusher-surfaces-in-time"),
    ],
)
def test_laws_can_fail(monkeypatch, module, name, broken, law):
    monkeypatch.setattr(module, name, broken)
    assert not law_holds("writer", law)


# --- claims, told of what is wrong ----------------------------------------------------------------------------

HALF, EMPTY, FULL = Builder(8, 4), Builder(8, 0), Builder(8, 8)


def make_state(timeout=-1, **changes):
    return attrs.evolve(begin("writer", broadcast(timeout=timeout)), **changes)


def holds(name, before, event, after, *seen):
    return claim("writer", name)(before, event, Outcome(after, seen, ()))


# --- buffers --------------------------------------------------------------------------------------------------


def test_all_open_buffers_count():
    assert get_open_builders(make_state(builders=(HALF, None), shared=EMPTY)) == [HALF, EMPTY]


@pytest.mark.parametrize(
    ("builders", "shared", "is_right"),
    [((HALF, HALF), None, True), ((None, None), HALF, True), ((HALF, None), HALF, False), ((HALF, HALF), HALF, False)],
)
def test_one_kind_of_buffer_is_open(builders, shared, is_right):
    after = make_state(builders=builders, shared=shared)
    assert holds("one-kind-of-buffer-is-open", make_state(), values.Flush(), after) == is_right


@pytest.mark.parametrize(("builder", "is_right"), [(HALF, True), (EMPTY, False), (FULL, False), (Builder(9, 4), False)])
@pytest.mark.parametrize("place", ["own", "shared"])
def test_an_open_buffer_holds_something_and_has_room(place, builder, is_right):
    after = make_state(builders=(None, builder)) if place == "own" else make_state(shared=builder)
    assert holds("open-buffers-have-room", make_state(), values.Flush(), after) == is_right


@pytest.mark.parametrize(("seen", "is_right"), [((0, 0), True), ((4, 4), False), ((0, 4), False)])
def test_a_buffer_that_begins_with_a_record_is_queued_empty(seen, is_right):
    event = values.Record(1, b"abcd")
    name = "continuations-are-queued-with-their-bytes"
    assert holds(name, make_state(), event, make_state(), values.Add(1, *seen)) == is_right


@pytest.mark.rule("SPAN-8")
def test_before_any_hint_a_buffer_is_as_large_as_an_int_can_say():
    assert make_state().hints == (2_147_483_647, 2_147_483_647)


def test_an_enlarged_buffer_without_a_byte_more_is_refused(monkeypatch):
    monkeypatch.setattr(builders, "enlarge", lambda builder, _size, needed: Builder(builder.filled + needed))
    assert not claim("writer", "enlarged-by-one-byte-more")(Builder(2), 8, 4)


# --- flushes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pending", "builder", "is_right"),
    [((b"", b""), HALF, True), ((b"", b"a"), HALF, False), ((b"", b""), None, False), ((b"a", b"a"), None, False)],
)
def test_a_flush_shows_all_and_closes_nothing(pending, builder, is_right):
    before = make_state(builders=(HALF, None), pending=(b"abcd", b""))
    after = attrs.evolve(before, builders=(builder, None), pending=pending)
    assert holds("flush-shows-all-and-closes-nothing", before, values.Flush(), after) == is_right


@pytest.mark.parametrize(
    ("timeout", "elapsed", "unaware", "is_due"),
    [(10, 9, None, True), (10, 8, None, False), (10, 9, 0, False), (0, 9, None, False), (-1, 9, None, False)],
)
def test_time_flushes_when_the_timeout_is_over_and_only_then(timeout, elapsed, unaware, is_due):
    before = make_state(timeout, pending=(b"a", b""), elapsed=elapsed, unaware=unaware)
    flushed = attrs.evolve(before, pending=(b"", b""))
    assert holds("flushes-as-the-timeout-says", before, values.Elapse(1), flushed) == is_due
    assert holds("flushes-as-the-timeout-says", before, values.Elapse(1), before) != is_due


@pytest.mark.parametrize(("pending", "is_right"), [((b"", b"x"), True), ((b"x", b""), False)])
def test_with_timeout_0_what_was_just_written_is_seen(pending, is_right):
    before = make_state(0, pending=(b"", b"x"))
    after = attrs.evolve(before, pending=pending)
    assert holds("flushes-as-the-timeout-says", before, values.Record(0, b"a"), after) == is_right


# --- failures -------------------------------------------------------------------------------------------------


@pytest.mark.rule("SPAN-11")
@pytest.mark.parametrize(("timeout", "can_fail"), [(-1, False), (0, False), (1, True), (2, True)])
def test_only_a_flusher_can_fail(timeout, can_fail):
    (outcome,) = step(make_state(timeout), values.Fail())
    assert (outcome.observations == ()) == can_fail
    assert (outcome.observations == (Rejected(),)) != can_fail


@pytest.mark.rule("SPAN-11")
def test_a_failed_flusher_has_no_clock():
    """It does not matter any more how much time had gone by."""
    (waited,) = step(make_state(100), values.Elapse(30))
    assert step(waited.state, values.Fail()) == step(make_state(100), values.Fail())


def never_surely(state, event):
    """A wrong writer: any emit may fail, none must."""
    failure = Outcome(attrs.evolve(state, unaware=writer.MOST_EMITS_UNAWARE), (values.IoError(),), ())
    if state.unaware == writer.MOST_EMITS_UNAWARE:
        return (failure,)
    return (failure, writer.write(state, event))


def not_for_good(state, event):
    """A wrong writer: after an emit that failed another one may pass."""
    failure = Outcome(attrs.evolve(state, unaware=0), (values.IoError(),), ())
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
    assert not claim("writer", "a-failed-flusher-surfaces-in-time")(values.Broadcast(b"a"))


def test_span_34_nobody_asks_without_the_extension():
    with pytest.raises(InvalidInputError, match="extension measures"):
        walk("writer", selecting(), "measure")


@pytest.mark.rule("SPAN-34")
@pytest.mark.parametrize(
    ("finished", "pending", "seen", "is_right"),
    [
        (False, (b"a", b""), values.Queued((1, 0)), True),
        (False, (b"a", b""), values.Queued((1, 1)), False),
        (False, (b"", b""), values.Queued((1, 0)), False),
        (True, (b"a", b""), Rejected(), True),
    ],
)
def test_span_34_who_asks_is_told_what_is_queued_and_changes_nothing(finished, pending, seen, is_right):
    before = make_state(pending=(b"a", b""), finished=finished)
    after = attrs.evolve(before, pending=pending)
    assert holds("queued-is-what-was-not-seen", before, values.Measure(), after, seen) == is_right
