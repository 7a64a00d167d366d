"""The claims about credit refuse what they are there to refuse; and buffers, readers and connections, in corners."""

import attrs
import pytest

from tidegate.reference.credit import (
    backpressure,
    buffers,
    readers,
    subpartitions,
)
from tidegate.reference.credit import (
    credit_connection as connection,
)
from tidegate.reference.credit import (
    credit_loop as loop,
)
from tidegate.reference.credit import (
    credit_receiver as receiver,
)
from tidegate.reference.credit import (
    credit_sender as sender,
)
from tidegate.reference.credit.buffers import Buffer, Change, Channel, Gate
from tidegate.reference.credit.credit_connection import Life
from tidegate.reference.credit.readers import Backlog, Kind, Reader, Send
from tidegate.reference.credit.subpartitions import Item, Subpartition
from tidegate.reference.model import InvalidInputError, Outcome



# --- the buffers of a gate ------------------------------------------------------------------------------------

FLOATING = Gate(0, (Channel(0, floating=1), Channel(0, required=1)), 0, waiting=(1,))
NONE_LEFT = Gate(0, (Channel(0), Channel(0)), 1)


def lose(gate, _index, _kind):
    return Change(gate)


def test_a_gate_that_loses_a_floating_buffer_is_refused(monkeypatch):
    monkeypatch.setattr(buffers, "give_back", lose)
    holds = claim("credit_receiver", "empty-data-loses-no-buffer")
    assert not holds(FLOATING, 0, 0)
    assert not holds(Gate(0, (Channel(0, floating=2), Channel(0)), 0), 0, 0)
    # Nothing is sent to a channel that has no buffer, so nothing is said about it.
    assert holds(NONE_LEFT, 0, 0)


@pytest.mark.parametrize(
    "changes",
    [{"free": 5}, {"waiting": (0,)}, {"channels": (Channel(0, required=7), Channel(0))}],
    ids=["frees", "queues", "plans"],
)
def test_a_plan_that_is_changed_without_information_is_refused(monkeypatch, changes):
    monkeypatch.setattr(
        buffers, "learn_backlog", lambda change, _index, _backlog: Change(attrs.evolve(change.gate, **changes))
    )
    holds = claim("credit_receiver", "no-information-changes-no-plan")
    gate = Gate(0, (Channel(0, floating=1, required=1), Channel(0)), 0)
    assert not holds(gate, 0, 0)
    assert not holds(attrs.evolve(gate, channels=(Channel(0, floating=2, required=1), Channel(0))), 0, 0)
    assert holds(NONE_LEFT, 0, 0)


def test_a_notification_without_information_is_refused(monkeypatch):
    monkeypatch.setattr(buffers, "learn_backlog", lambda change, _index, _backlog: attrs.evolve(change, notified=(0,)))
    gate = Gate(0, (Channel(0, floating=1, required=1), Channel(0)), 0)
    assert not claim("credit_receiver", "no-information-changes-no-plan")(gate, 0, 0)


def test_a_released_channel_that_loses_what_was_in_use_is_refused(monkeypatch):
    gate = Gate(0, (Channel(0, held=(Buffer.FLOATING,)), Channel(0)), 1)
    holds = claim("credit_receiver", "release-gives-everything-back")
    assert holds(gate, 0, 1)

    def forget(gate, index):
        channel = attrs.evolve(gate.channels[index], held=gate.channels[index].held[1:])
        return Change(buffers.with_channel(gate, index, channel))

    monkeypatch.setattr(buffers, "recycle", forget)
    assert not holds(gate, 0, 1)


@pytest.mark.rule("CREDIT-13")
def test_minus_one_is_no_information():
    assert buffers.learn_backlog(Change(NONE_LEFT), 0, -1).rules == ("CREDIT-13",)
    assert buffers.learn_backlog(Change(NONE_LEFT), 0, -1).gate == NONE_LEFT


@pytest.mark.rule("CREDIT-9")
def test_a_buffer_that_is_handed_over_brings_others_that_are_free():
    gate = Gate(0, (Channel(0, required=3),), 5, waiting=(0,))
    change = buffers.return_floating(Change(gate))
    assert change.gate == Gate(0, (Channel(0, floating=3, required=3, unannounced=3),), 3)
    assert change.notified == (0,)


@pytest.mark.rule("CREDIT-14")
def test_a_blocked_channel_wants_nothing():
    blocked = buffers.block(FLOATING, 0).gate
    assert blocked.channels[0] == Channel(0, required=0)
    assert Channel(2).required == 0


def test_a_barrier_of_a_channel_with_exclusive_buffers_changes_no_promise():
    config = receiver.Config(1, 1, 1)
    (before,) = receiver.start(config)
    after = receiver.State(config, attrs.evolve(before.gate, channels=(Channel(1, floating=1),), free=0))
    holds = claim("credit_receiver", "promises-only-what-it-has")
    assert not holds(before, receiver.Barrier(0), Outcome(after, (), ()))
    assert not holds(before, receiver.Backlog(0, 1), Outcome(after, (), ()))
    without = receiver.Config(1, 0, 1)
    (bare,) = receiver.start(without)
    gained = receiver.State(without, attrs.evolve(bare.gate, channels=(Channel(0, floating=1),), free=0))
    assert holds(bare, receiver.Barrier(0), Outcome(gained, (), ()))
    assert not holds(bare, receiver.Backlog(0, 1), Outcome(gained, (), ()))


# --- a reader -------------------------------------------------------------------------------------------------


@pytest.mark.rule("CREDIT-24", "CREDIT-25")
@pytest.mark.parametrize(("initial", "credit", "announced"), [(0, 0, 1), (0, 1, 0), (0, 2, 0), (1, 0, 0), (2, 1, 0)])
def test_a_backlog_is_announced_without_any_credit(initial, credit, announced):
    reader = Reader(initial, credit, Subpartition((Item.DATA, Item.DATA)))
    assert readers.compute_announcement(reader) == announced


def test_what_is_refused_wakes_nobody():
    change = readers.on_resume(Reader(0, 0))
    assert (change.refused, change.woken) == (True, False)


@pytest.mark.rule("SUBP-7")
@pytest.mark.parametrize(
    ("queue", "is_requested", "wakes"),
    [
        ((), False, False),
        ((Item.EMPTY,), False, False),
        ((Item.DATA,), True, True),
        ((Item.EMPTY, Item.DATA), True, False),
        ((Item.DATA, Item.EMPTY), True, False),
    ],
)
def test_a_flush_of_nothing_is_not_requested(queue, is_requested, wakes):
    after, woken = subpartitions.flush(Subpartition(queue))
    assert (after.flush_requested, woken) == (is_requested, wakes)


def test_a_flush_that_ends_early_is_refused(monkeypatch):
    right = subpartitions.take

    def forget_the_flush(subpartition, *, keeps_empty):
        after, item = right(subpartition, keeps_empty=keeps_empty)
        return attrs.evolve(after, flush_requested=False), item

    holds = claim("credit_sender", "a-flush-ends-with-the-last-item")
    assert holds(Subpartition((Item.DATA,) * 3))
    monkeypatch.setattr(subpartitions, "take", forget_the_flush)
    assert not holds(Subpartition((Item.DATA,) * 3))


def test_a_flush_that_outlives_an_empty_item_is_refused(monkeypatch):
    right = subpartitions.take

    def go_on_behind_an_empty_one(subpartition, *, keeps_empty):
        after, item = right(subpartition, keeps_empty=keeps_empty)
        stays = subpartition.flush_requested and item is Item.EMPTY
        return attrs.evolve(after, flush_requested=after.flush_requested or stays), item

    holds = claim("credit_sender", "a-flush-ends-with-the-last-item")
    assert holds(Subpartition((Item.DATA, Item.EMPTY)))
    monkeypatch.setattr(subpartitions, "take", go_on_behind_an_empty_one)
    assert not holds(Subpartition((Item.DATA, Item.EMPTY)))


# --- a sender -------------------------------------------------------------------------------------------------


def make_sender(queue=(), *, credit=0, blocked=False, **changes):
    return sender.State(Reader(0, credit, Subpartition(queue, blocked=blocked)), **changes)


def test_credit_is_never_negative():
    after = make_sender(credit=-1)
    outcome = Outcome(after, (Send(Kind.DATA, 0, 0),), ())
    assert not claim("credit_sender", "data-costs-credit")(make_sender(), sender.Data(), outcome)


@pytest.mark.parametrize(
    ("queued", "blocked", "backlog", "is_right"),
    [
        (3, False, 3, True),
        (3, False, 2, True),
        (3, False, 1, False),
        (3, False, 4, False),
        (0, False, -1, False),
        (3, True, 0, True),
        (3, True, 1, False),
    ],
)
def test_the_backlog_is_what_is_queued_or_one_less(queued, blocked, backlog, is_right):
    after = make_sender((Item.DATA,) * queued, blocked=blocked)
    outcome = Outcome(after, (Backlog(backlog),), ())
    holds = claim("credit_sender", "backlog-is-what-is-queued")
    assert holds(make_sender(), sender.Flush(), outcome) == is_right


@pytest.mark.parametrize(
    ("sendable", "queued", "writable", "is_right"),
    [
        (False, False, True, True),
        (False, True, True, False),
        (True, False, True, False),
        (True, True, True, False),
        (True, True, False, True),
        (True, False, False, False),
        (False, False, False, True),
    ],
)
def test_what_can_be_sent_is_sent_or_queued(sendable, queued, writable, is_right):
    state = make_sender((Item.DATA,) if sendable else (), credit=1, queued=queued, writable=writable)
    assert claim("credit_sender", "nothing-sendable-is-left-behind")(state) == is_right


# --- a connection ---------------------------------------------------------------------------------------------

WAITING = Reader(1, 1, Subpartition((Item.DATA,)))
TWO = connection.State((WAITING, WAITING), (Life.SERVED, Life.SERVED), queue=(1, 0), writable=False)


@pytest.mark.rule("CREDIT-27")
def test_who_is_cancelled_leaves_the_queue():
    (outcome,) = connection.step(TWO, connection.Cancel(1))
    assert outcome.state.queue == (0,)


@pytest.mark.rule("CREDIT-29")
def test_who_fails_stays_in_the_queue_and_a_break_empties_it():
    (failed,) = connection.step(TWO, connection.Fail(1))
    assert failed.state.queue == (1, 0)
    (broken,) = connection.step(TWO, connection.Break())
    assert (broken.state.queue, broken.state.closed) == ((), True)


@pytest.mark.parametrize(
    ("turns", "is_right"),
    [("", True), ("00", True), ("0101", True), ("0110", False), ("010", True), ("001", False), ("01001", False)],
)
def test_nobody_sends_twice_while_another_waits(turns, is_right):
    seen = tuple(connection.Send(int(turn), Kind.DATA, 0, 0) for turn in turns)
    holds = claim("credit_connection", "takes-turns")
    assert holds(TWO, connection.Flush(0), Outcome(TWO, seen, ())) == is_right


@pytest.mark.parametrize(
    ("lives", "queue", "is_right"),
    [
        ((Life.SERVED, Life.SERVED), (0, 1), True),
        ((Life.SERVED, Life.SERVED), (0,), False),
        ((Life.SERVED, Life.SERVED), (0, 1, 0), False),
        ((Life.SERVED, Life.FAILED), (0,), True),
        ((Life.CANCELLED, Life.FAILED), (), True),
    ],
)
def test_whoever_is_served_and_can_send_is_queued(lives, queue, is_right):
    state = attrs.evolve(TWO, lives=lives, queue=queue)
    assert claim("credit_connection", "whoever-can-send-is-queued")(state) == is_right


# --- the closed loop ------------------------------------------------------------------------------------------


def start_loop(**changes):
    (state,) = loop.start(loop.Config(**{"channels": 2, "exclusive": 1, "floating": 1, "data": 0, **changes}))
    return state


def test_a_loop_has_no_barriers_and_two_buffers_unless_it_says_so():
    config = loop.Config(1, 1, 1, 1)
    assert (config.barriers, config.output) == (0, 2)
    with pytest.raises(InvalidInputError):
        loop.Config(1, 1, 1, 1, barriers=-1)


@pytest.mark.parametrize(
    "left",
    [
        {"data": 1},
        {"barriers": 1},
        {"down": (Backlog(1),)},
        {"inbox": (Kind.DATA,)},
        {"sender": sender.State(Reader(1, 1, Subpartition((Item.DATA,))))},
    ],
    ids=lambda left: next(iter(left)),
)
def test_a_loop_with_something_left_on_one_channel_is_not_done(left):
    state = start_loop()
    assert loop.is_done(state)
    for place in (0, 1):
        links = list(state.links)
        links[place] = attrs.evolve(links[place], **left)
        assert not loop.is_done(attrs.evolve(state, links=tuple(links)))


def with_credit(state, place, credit, unannounced):
    link = state.links[place]
    reader = attrs.evolve(link.sender.reader, credit=credit)
    gate = state.receiver.gate
    channel = attrs.evolve(gate.channels[place], unannounced=unannounced)
    return attrs.evolve(
        loop.with_link(state, place, attrs.evolve(link, sender=attrs.evolve(link.sender, reader=reader))),
        receiver=receiver.State(state.receiver.config, buffers.with_channel(gate, place, channel)),
    )


@pytest.mark.parametrize("place", [0, 1])
def test_credit_below_zero_is_not_conserved_even_if_the_sum_is_right(place):
    holds = claim("credit_loop", "credit-is-conserved")
    assert holds(start_loop())
    assert holds(with_credit(start_loop(), place, 0, 1))
    assert not holds(with_credit(start_loop(), place, -1, 2))
    assert not holds(with_credit(start_loop(), place, 1, 1))


def test_a_lost_buffer_is_not_conserved_even_if_no_channel_lacks_it():
    state = start_loop()
    lost = receiver.State(state.receiver.config, attrs.evolve(state.receiver.gate, free=0))
    assert not claim("credit_loop", "credit-is-conserved")(attrs.evolve(state, receiver=lost))


@pytest.mark.parametrize(
    ("blocked", "down", "is_right"),
    [(True, (), True), (False, (), False), (True, (Backlog(1),), False), (False, (Backlog(1),), False)],
)
def test_only_a_barrier_that_has_arrived_leaves_stale_credit(blocked, down, is_right):
    state = start_loop(exclusive=0)
    stale = attrs.evolve(state.links[0].sender, reader=Reader(0, 1, Subpartition(blocked=blocked)))
    link = attrs.evolve(state.links[0], sender=stale, down=down)
    assert claim("credit_loop", "credit-is-conserved")(loop.with_link(state, 0, link)) == is_right


# --- backpressure ---------------------------------------------------------------------------------------------


def test_a_writer_without_a_limit_for_one_channel_is_refused(monkeypatch):
    monkeypatch.setattr(backpressure, "is_writer_blocked", lambda free, _queued, _limit: free == 0)
    assert not backpressure.credit_keeps_the_writer_going.holds(4, 1, 0, 4)


def test_a_writer_that_credit_does_not_help_is_refused(monkeypatch):
    monkeypatch.setattr(backpressure, "write_until_blocked", lambda _pool, _limit, _initial: (1, 1))
    assert not backpressure.credit_keeps_the_writer_going.holds(2, 2, 0, 0)
