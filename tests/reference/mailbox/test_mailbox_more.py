"""The mailbox in corners that no trace comes to."""

import pytest

from tidegate.reference.mailbox import COMPONENT
from tidegate.reference.mailbox import step as mailbox
from tidegate.reference.mailbox.step import start, step
from tidegate.reference.mailbox.values import (
    Close,
    CompleteAll,
    Config,
    Control,
    ControlRun,
    DefaultRun,
    Drain,
    Kind,
    Loop,
    Mail,
    MailRun,
    MakeBatch,
    Nothing,
    Order,
    Put,
    Quiesce,
    State,
    Step,
    Stopped,
    SuspendDefault,
    Take,
    TakeFromBatch,
    Thread,
    Waiting,
)
from tidegate.reference.model import InvalidInputError, Outcome, Rejected

NEW, OLD = "flink-35051", "flink-14304"
CLAIMS = {claim.name: claim for claim in COMPONENT.claims}


def play(*events):
    (state,) = start(Config())
    seen = []
    for event in events:
        (outcome,) = step(state, event)
        state = outcome.state
        seen.append(outcome.observations)
    return seen


def put(number, kind=Kind.NORMAL, thread=Thread.OTHER, priority=0):
    return Put(number, priority, kind, thread)


def test_a_single_step_makes_a_batch_even_of_a_mailbox_that_has_come_to_its_end():
    *_, stepped, taken = play(CompleteAll(Thread.MAILBOX), Loop(), put(7), Step(), TakeFromBatch())
    assert stepped == (Nothing(),)
    assert taken == (MailRun(7),)


def test_who_takes_nothing_has_let_urgent_mails_into_the_batch_all_the_same():
    """A batch that begins with an urgent mail is complete: normal mails wait for the next one."""
    mails = put(1, Kind.URGENT), put(2)
    batch = MakeBatch(), TakeFromBatch(), TakeFromBatch()
    assert play(*mails, *batch)[-2:] == [(MailRun(1),), (MailRun(2),)]
    assert play(*mails, Take(5), *batch)[-2:] == [(MailRun(1),), (Nothing(),)]


def test_an_urgent_mail_does_not_overtake_one_that_the_batch_begins_with():
    own = put(3, Kind.URGENT, Thread.MAILBOX)
    seen = play(put(1, Kind.URGENT), put(2), MakeBatch(), own, *[TakeFromBatch()] * 3)
    assert seen[-3:] == [(MailRun(1),), (MailRun(3),), (MailRun(2),)]


def test_a_mailbox_that_is_closed_stays_closed():
    assert play(Close(Thread.MAILBOX), Quiesce(Thread.MAILBOX), TakeFromBatch())[-1] == (Rejected(),)


def test_a_turn_is_put_down_to_a_resumption_only_if_the_default_action_was_suspended():
    (state,) = start(Config())
    assert step(state, Loop())[0].rules == ("MBOX-1",)


@pytest.mark.parametrize(("priority", "is_one"), [(-2, False), (-1, True), (2**31 - 1, True), (2**31, False)])
def test_priorities_are_ints_of_java_from_minus_1_on(priority, is_one):
    if is_one:
        assert Take(priority).priority == put(1, priority=priority).priority == priority
        return
    with pytest.raises(InvalidInputError):
        Take(priority)
    with pytest.raises(InvalidInputError):
        put(1, priority=priority)


# --- claims, told of what is right and of what is wrong ---------------------------------------------------------


def mail(number, priority=0, kind=Kind.NORMAL):
    return Mail(number, priority, kind)


def make(batch=(), queue=(), semantics=NEW, **more):
    return State(Config(semantics), tuple(batch), tuple(queue), **more)


def holds(name, before, event, after, *seen):
    return CLAIMS[name].holds(before, event, Outcome(after, seen, ()))


ORDER = Mail(Control(Order.COMPLETE), 0)
URGENT, DEFERRABLE = mail(8, kind=Kind.URGENT), mail(9, 9, Kind.DEFERRABLE)
LOW, HIGH, HIGHER = mail(0), mail(1, 5), mail(2, 5)
STATES = [
    make(),
    make([LOW, HIGH, HIGHER]),
    make([], [LOW, HIGH], suspension=0, handles=1),
    make([URGENT, mail(7, kind=Kind.URGENT), LOW], [HIGH]),
    make([ORDER, LOW], [DEFERRABLE, HIGH]),
    make([DEFERRABLE, LOW], [URGENT], OLD),
    make([LOW], [URGENT], OLD),
    make([LOW], [HIGH], running=False),
]
EVENTS = [
    *(Loop(), Step(), MakeBatch(), TakeFromBatch(), Take(-1), Take(0), Take(5), Drain()),
    *(event(thread) for event in (SuspendDefault, Quiesce, Close, CompleteAll) for thread in Thread),
    *(put(3, kind, thread) for kind in Kind for thread in Thread),
]


@pytest.mark.parametrize("before", STATES)
@pytest.mark.parametrize("event", EVENTS)
def test_every_claim_holds_of_what_the_mailbox_does(before, event):
    (outcome,) = step(before, event)
    assert [claim.name for claim in COMPONENT.properties if not claim.holds(before, event, outcome)] == []


def test_who_is_refused_may_not_run_anything_either():
    assert not holds("other-threads-only-put", make(), put(1), make(), Rejected(), DefaultRun())


def test_control_mails_are_no_mails_of_users():
    assert holds("no-mail-is-lost", make([ORDER]), TakeFromBatch(), make(), ControlRun())


@pytest.mark.parametrize("seen", [(DefaultRun(), MailRun(0)), (DefaultRun(), DefaultRun())])
def test_a_default_action_that_is_not_the_one_last_thing_is_refused(seen):
    assert holds("default-once-and-last", make([LOW]), Loop(), make(), MailRun(0), DefaultRun())
    assert not holds("default-once-and-last", make([LOW]), Loop(), make(), *seen)


@pytest.mark.parametrize("event", [Loop(), Step()])
def test_a_default_action_of_a_mailbox_at_its_end_is_refused(event):
    ended = make(running=False)
    assert not holds("no-default-once-completed", ended, event, ended, DefaultRun())
    assert holds("no-default-once-completed", ended, event, ended, Stopped())
    assert holds("no-default-once-completed", ended, event, ended, Waiting())


def test_normal_mails_in_another_order_are_refused():
    before = make([LOW, HIGH], [HIGHER])
    assert holds("normal-mails-in-order", before, TakeFromBatch(), make([HIGH], [HIGHER]), MailRun(0))
    assert not holds("normal-mails-in-order", before, TakeFromBatch(), make([LOW], [HIGHER]), MailRun(1))
    assert holds("normal-mails-in-order", before, Take(5), make([LOW], [HIGHER]), MailRun(1))


@pytest.mark.parametrize("event", [Loop(), Step(), TakeFromBatch()])
def test_a_normal_mail_that_runs_before_an_urgent_one_is_refused_from_2_1_on(event):
    for semantics in (NEW, OLD):
        before, after = make([LOW], [URGENT], semantics), make([], [URGENT], semantics)
        assert holds("urgent-mails-first", before, event, after, MailRun(0)) == (semantics == OLD)
    assert holds("urgent-mails-first", make([HIGH, URGENT]), Take(5), make([URGENT]), MailRun(1))


@pytest.mark.parametrize(
    ("batch", "priority", "taken", "is_right"),
    [
        ((LOW, HIGH, HIGHER), 5, 1, True),
        ((LOW, HIGH, HIGHER), 5, 2, False),
        ((LOW, HIGH, HIGHER), 5, 0, False),
        ((LOW, HIGH), 0, 0, True),
        ((LOW, HIGH), 0, 1, False),
        ((LOW,), 5, 0, False),
        ((DEFERRABLE, HIGH), 5, 1, True),
        ((DEFERRABLE, LOW), -1, 9, True),
        ((HIGH, URGENT), 0, 8, True),
    ],
)
def test_who_takes_another_mail_than_the_first_that_may_be_taken_is_refused(batch, priority, taken, is_right):
    after = [one for one in batch if one.content != taken]
    for split in range(len(batch) + 1):
        before = make(batch[:split], batch[split:])
        assert holds("first-that-may", before, Take(priority), make(after), MailRun(taken)) == is_right


@pytest.mark.parametrize(("batch", "queue"), [((LOW,), ()), ((), (LOW,)), ((LOW,), (HIGH,))])
def test_whoever_drains_and_leaves_something_is_refused(batch, queue):
    before = make([LOW, HIGH])
    assert not holds("draining-leaves-nothing", before, Drain(), make(batch, queue))
    assert holds("draining-leaves-nothing", before, Drain(), make())


def test_a_turn_without_the_default_action_is_no_turn(monkeypatch):
    assert CLAIMS["each-turn-ends"].holds(NEW, 2)
    monkeypatch.setattr(mailbox, "on_loop", lambda state: (Outcome(state, (Waiting(),), ()),))
    assert not CLAIMS["each-turn-ends"].holds(NEW, 2)
