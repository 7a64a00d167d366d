"""The credit sender, rule by rule."""

import attrs
import pytest

from tests.reference.walking import claim, last, walk
from tidegate.reference.credit import credit_sender as sender
from tidegate.reference.credit import readers
from tidegate.reference.credit.credit_sender import Config
from tidegate.reference.credit.readers import QUEUED, Added, Backlog, BufferSent, MessageKind, Reader
from tidegate.reference.model import Outcome, Rejected
from tidegate.reference.subpartition import queue as queues
from tidegate.reference.subpartition.queue import Queue
from tidegate.reference.subpartition.values import Flush

DATA, EMPTY = QUEUED[Added.DATA], QUEUED[Added.EMPTY]


def short(seen):
    """`d0/1` is data number 0 with backlog 1, `e1/0` an event, `!2` an announcement, `x` refused."""
    match seen:
        case BufferSent():
            return f"{seen.kind[0]}{seen.sequence}/{seen.backlog}"
        case Backlog():
            return f"!{seen.backlog}"
    return "x"


def run(initial_credit, trace):
    """One word an event, `~` where nothing is seen."""
    return " ".join(
        ",".join(map(short, one.observations)) or "~" for one in walk("credit_sender", Config(initial_credit), trace)
    )


@pytest.mark.rule("CREDIT-19", "CREDIT-21", "CREDIT-23", "SUBP-10")
@pytest.mark.parametrize(
    ("credit", "trace", "shown"),
    [
        (1, "data data", "d0/0 ~"),
        (2, "data event data", "d0/0 e1/0 d2/0"),
        (1, "data data data credit1", "d0/0 ~ ~ d1/0"),
        (1, "data data data data credit2", "d0/0 ~ ~ ~ d1/1,d2/0"),
        (0, "event data event credit1", "e0/0 ~ !1 d1/0,e2/0"),
        (1, "data data event event", "d0/0 ~ ~ ~"),
    ],
)
def test_credit_21_data_costs_credit_and_events_none(credit, trace, shown):
    assert run(credit, trace) == shown


@pytest.mark.rule("SUBP-5", "SUBP-6", "CREDIT-24")
def test_subp_6_only_the_first_finished_item_wakes():
    assert run(0, "data data data data") == "~ !1 ~ ~"


@pytest.mark.rule("SUBP-6")
def test_subp_6_a_lone_item_wakes_and_is_sent():
    assert run(1, "data") == "d0/0"
    assert walk("credit_sender", Config(0), "data data data")[-1].rules == ("SUBP-6", "SUBP-5")


@pytest.mark.rule("SUBP-11", "CREDIT-23")
@pytest.mark.parametrize(
    ("trace", "backlog"),
    [
        ("data data data credit1", 1),
        ("data data event credit1", 1),
        ("data event data credit1", 0),
        ("data data flush credit1", 1),
        ("data data finish credit1", 1),
        ("data barrier credit1", 0),
        ("data event data barrier credit1", 1),
    ],
)
def test_subp_11_the_last_buffer_counts_only_if_it_is_known_to_be_complete(trace, backlog):
    sent = walk("credit_sender", Config(0), trace)[-1].observations
    assert sent[0] == BufferSent(MessageKind.DATA, 0, backlog)


@pytest.mark.rule("SUBP-7")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("flush data", "~ ~"),
        ("data flush", "~ !1"),
        ("data flush flush", "~ !1 ~"),
        ("data flush data data", "~ !1 ~ ~"),
        ("data data flush", "~ !1 ~"),
        ("data data flush credit1", "~ !1 ~ d0/1"),
        ("data flush credit1 data data", "~ !1 d0/0 ~ !1"),
    ],
)
def test_subp_7_a_flush_counts_once_until_the_queue_is_empty(trace, shown):
    assert run(0, trace) == shown


@pytest.mark.rule("SUBP-7", "SUBP-13")
def test_subp_7_a_flush_is_recorded_while_blocked():
    assert run(0, "barrier data flush resume") == "e0/0 ~ ~ !1"
    assert run(0, "barrier data resume") == "e0/0 ~ ~"


@pytest.mark.rule("CREDIT-22")
def test_credit_22_what_cannot_be_written_waits():
    assert run(2, "writable- data event writable- writable+ writable+") == "~ ~ ~ ~ d0/0,e1/0 ~"
    assert run(0, "writable- data data credit2 writable+") == "~ ~ !1 ~ d0/0,d1/0"


@pytest.mark.rule("CREDIT-20", "CREDIT-24")
def test_credit_24_no_announcement_while_queued_or_from_writing():
    assert run(0, "writable- event data data writable+ data") == "~ ~ ~ ~ e0/1 ~"
    assert walk("credit_sender", Config(0), "data data")[-1].rules[0] == "CREDIT-24"


@pytest.mark.rule("CREDIT-20")
def test_credit_20_a_queued_reader_is_not_queued_again():
    outcome = walk("credit_sender", Config(1), "writable- data credit1")[-1]
    assert outcome.rules[0] == "CREDIT-20"
    assert outcome.state.queued


@pytest.mark.rule("CREDIT-20")
@pytest.mark.parametrize("amount", [0, -1, -(2**31)])
def test_credit_20_credit_below_one_is_refused(amount):
    assert last("credit_sender", Config(0), f"credit{amount}") == ("rejected", "CREDIT-20")


@pytest.mark.rule("CREDIT-25")
def test_credit_25_a_reader_that_started_with_credit_never_announces():
    outcomes = walk("credit_sender", Config(1), "data data data flush")
    assert [one.observations for one in outcomes[1:]] == [(), (), ()]
    assert walk("credit_sender", Config(1), "data data event")[-1].rules[0] == "CREDIT-25"
    assert walk("credit_sender", Config(1), "data barrier data data resume")[-1].rules[0] == "CREDIT-25"


@pytest.mark.rule("CREDIT-26", "SUBP-13")
@pytest.mark.parametrize(
    ("credit", "trace", "shown", "left"),
    [
        (2, "barrier data credit1 resume", "e0/0 ~ ~ d1/0", 2),
        (0, "credit3 data barrier data data credit1 resume", "~ d0/0 e1/0 ~ ~ ~ !1", 0),
        (0, "credit3 barrier resume data", "~ e0/0 ~ ~", 0),
        (1, "data data barrier barrier credit1 resume resume", "d0/0 ~ ~ ~ d1/0,e2/0 e3/0 ~", 0),
        (3, "barrier event finish resume", "e0/0 ~ ~ e1/0,e2/0", 3),
    ],
)
def test_credit_26_a_barrier_blocks_until_resume(credit, trace, shown, left):
    assert run(credit, trace) == shown
    assert walk("credit_sender", Config(credit), trace)[-1].state.reader.credit == left


@pytest.mark.rule("SUBP-13")
@pytest.mark.parametrize("trace", ["resume", "credit2 resume", "writable- barrier resume", "data barrier resume"])
def test_subp_13_resume_is_refused_unless_blocked(trace):
    outcome = walk("credit_sender", Config(0), trace)[-1]
    assert (outcome.observations, outcome.rules) == ((Rejected(),), ("SUBP-13",))


@pytest.mark.rule("SUBP-12", "SUBP-13")
def test_subp_12_a_blocked_reader_that_is_woken_finds_nothing():
    outcome = walk("credit_sender", Config(0), "barrier finish")[-1]
    assert outcome.rules[:2] == ("SUBP-12", "SUBP-13")
    assert outcome.observations == ()
    assert not outcome.state.queued
    assert run(0, "barrier writable- finish writable+ resume") == "e0/0 ~ ~ ~ e1/0"


@pytest.mark.rule("SUBP-17", "SUBP-6")
def test_subp_17_finish_wakes_and_is_the_end():
    assert run(0, "data finish credit1 data event barrier finish flush credit1") == "~ !1 d0/0,e1/0 x x x x ~ ~"
    assert run(0, "data data data finish") == "~ !1 ~ !3"
    assert walk("credit_sender", Config(0), "finish data")[-1].rules == ("SUBP-17",)


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
