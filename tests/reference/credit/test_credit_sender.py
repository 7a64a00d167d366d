"""The credit sender, rule by rule."""

import attrs
import pytest

from tests.reference.walking import claim
from tidegate.reference.credit import credit_sender as sender
from tidegate.reference.credit import readers
from tidegate.reference.credit.readers import QUEUED, Added, Backlog, BufferSent, MessageKind, Reader
from tidegate.reference.model import Outcome
from tidegate.reference.subpartition import queue as queues
from tidegate.reference.subpartition.queue import Queue
from tidegate.reference.subpartition.values import Flush

DATA, EMPTY = QUEUED[Added.DATA], QUEUED[Added.EMPTY]


@pytest.mark.rule("CREDIT-28")
def test_credit_28_empty_buffers_are_sent_only_without_initial_credit():
    queue = Queue((EMPTY, DATA))
    first, message = readers.read(readers.Reader(0, 2, queue))
    assert message == BufferSent(MessageKind.DATA, 0, 0)
    assert first.credit == 1
    skipped, message = readers.read(readers.Reader(2, 2, queue))
    assert message == BufferSent(MessageKind.DATA, 0, 0)
    assert skipped.subpartition.items == ()


# --- a reader ----------------------------------------------------------------------------------------------


@pytest.mark.rule("CREDIT-24", "CREDIT-25")
@pytest.mark.parametrize(("initial", "credit", "announced"), [(0, 0, 1), (0, 1, 0), (0, 2, 0), (1, 0, 0), (2, 1, 0)])
def test_a_backlog_is_announced_without_any_credit(initial, credit, announced):
    reader = Reader(initial, credit, Queue((DATA, DATA)))
    assert readers.compute_announcement(reader) == announced


def test_what_is_refused_wakes_nobody():
    change = readers.on_resume(Reader(0, 0))
    assert (change.refused, change.woken) == (True, False)


@pytest.mark.rule("SUBP-7")
@pytest.mark.parametrize(
    ("queue", "is_requested", "wakes"),
    [
        ((), False, False),
        ((EMPTY,), False, False),
        ((DATA,), True, True),
        ((EMPTY, DATA), True, False),
        ((DATA, EMPTY), True, False),
    ],
)
def test_a_flush_of_nothing_is_not_requested(queue, is_requested, wakes):
    after, woken = queues.flush(Queue(queue))
    assert (after.flush_requested, woken) == (is_requested, wakes)


def test_a_flush_that_outlives_an_empty_item_is_refused(monkeypatch):
    right = queues.take

    def go_on_behind_an_empty_one(subpartition, *, keeps_empty):
        after, item = right(subpartition, keeps_empty=keeps_empty)
        stays = subpartition.flush_requested and item == EMPTY
        return attrs.evolve(after, flush_requested=after.flush_requested or stays), item

    holds = claim("credit_sender", "a-flush-ends-with-the-last-item")
    assert holds(Queue((DATA, EMPTY)))
    monkeypatch.setattr(queues, "take", go_on_behind_an_empty_one)
    assert not holds(Queue((DATA, EMPTY)))


# --- a sender ----------------------------------------------------------------------------------------------


def make_sender(queue=(), *, credit=0, blocked=False, **changes):
    return sender.State(Reader(0, credit, Queue(queue, blocked=blocked)), **changes)


def test_credit_is_never_negative():
    after = make_sender(credit=-1)
    outcome = Outcome(after, (BufferSent(MessageKind.DATA, 0, 0),), ())
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
    after = make_sender((DATA,) * queued, blocked=blocked)
    outcome = Outcome(after, (Backlog(backlog),), ())
    holds = claim("credit_sender", "backlog-is-what-is-queued")
    assert holds(make_sender(), Flush(), outcome) == is_right


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
    state = make_sender((DATA,) if sendable else (), credit=1, queued=queued, writable=writable)
    assert claim("credit_sender", "nothing-sendable-is-left-behind")(state) == is_right
