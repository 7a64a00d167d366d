"""The mailbox, rule by rule."""

import pytest

from tests.reference.walking import broken_claims, claim, seen, walk
from tidegate.reference.input.network_input.values import InputStatus
from tidegate.reference.mailbox import default_action, values
from tidegate.reference.mailbox import mails as mailboxes
from tidegate.reference.mailbox import step as mailbox
from tidegate.reference.mailbox.default_action import Decision, compute_decision
from tidegate.reference.mailbox.step import step
from tidegate.reference.model import InvalidInputError, Outcome

NEW, OLD = "flink-35051", "flink-14304"


@pytest.mark.rule("MBOX-7")
def test_mbox_7_a_turn_names_the_resumption_that_it_is_put_down_to():
    assert walk("mailbox", values.Config(), "suspend resume0 loop")[-1].rules == ("MBOX-1", "MBOX-7")


@pytest.mark.rule("MBOX-2")
def test_mbox_2_law_fails_where_the_queue_is_run_as_well(monkeypatch):
    def from_both(state):
        return mailboxes.take_mail(state, -1)

    monkeypatch.setattr(mailboxes, "take_from_batch", from_both)
    monkeypatch.setattr(mailboxes, "put_mail", lambda state, mail, _thread: batch_it(state, mail))
    assert not mailbox.each_turn_ends.holds(NEW, 1)


def batch_it(state, mail):
    return mailbox.State(state.config, (*state.batch, mail), state.queue)


@pytest.mark.rule("MBOX-13")
@pytest.mark.parametrize(
    ("status", "there", "decision"),
    [
        ("more_available", (True, True, True), "again"),
        ("more_available", (False, True, True), "wait_for_output"),
        ("nothing_available", (False, False, True), "wait_for_output"),
        ("nothing_available", (True, False, True), "wait_for_input"),
        ("nothing_available", (True, True, False), "wait_for_changelog"),
        ("nothing_available", (True, True, True), "again"),
        ("stopped", (False, False, False), "finish_without_drain"),
        ("end_of_data", (True, True, True), "finish_with_drain"),
        ("end_of_input", (False, True, True), "complete"),
    ],
)
def test_mbox_13_what_the_default_action_decides(status, there, decision):
    output, more_input, changelog = there
    made = default_action.compute_decision(
        InputStatus(status), output=output, more_input=more_input, changelog=changelog
    )
    assert made == decision


# --- the default action ---------------------------------------------------------------------------------------

LAW = default_action.waits_for_what_is_missing
MORE, NOTHING = InputStatus.MORE_AVAILABLE, InputStatus.NOTHING_AVAILABLE


@pytest.mark.rule("MBOX-13")
def test_an_input_that_says_it_has_more_is_not_asked_again_whether_it_has():
    assert compute_decision(MORE, output=True, more_input=False, changelog=True) is Decision.AGAIN
    assert compute_decision(NOTHING, output=True, more_input=False, changelog=True) is Decision.WAIT_FOR_INPUT


@pytest.mark.rule("MBOX-13")
@pytest.mark.parametrize("status", [MORE, NOTHING])
def test_without_a_changelog_nobody_waits_for_it(status):
    assert compute_decision(status, output=True, more_input=True) is Decision.AGAIN


@pytest.mark.parametrize(
    ("status", "there", "decision", "is_right"),
    [
        (InputStatus.STOPPED, (True, True, True), Decision.FINISH_WITHOUT_DRAIN, True),
        (InputStatus.STOPPED, (True, True, True), Decision.AGAIN, False),
        (InputStatus.STOPPED, (False, True, True), Decision.WAIT_FOR_OUTPUT, False),
        (InputStatus.END_OF_DATA, (True, False, True), Decision.WAIT_FOR_INPUT, False),
        (InputStatus.END_OF_INPUT, (True, True, False), Decision.WAIT_FOR_CHANGELOG, False),
        (MORE, (True, False, True), Decision.AGAIN, True),
        (NOTHING, (True, True, True), Decision.AGAIN, True),
        (NOTHING, (True, False, True), Decision.AGAIN, False),
        (MORE, (False, True, True), Decision.AGAIN, False),
        (MORE, (True, True, False), Decision.AGAIN, False),
        (NOTHING, (True, False, True), Decision.WAIT_FOR_INPUT, True),
        (NOTHING, (True, False, True), Decision.WAIT_FOR_OUTPUT, False),
        (NOTHING, (False, False, True), Decision.WAIT_FOR_INPUT, False),
        (NOTHING, (True, True, True), Decision.WAIT_FOR_INPUT, False),
    ],
)
def test_what_is_there_is_not_waited_for_and_the_end_waits_for_nothing(monkeypatch, status, there, decision, is_right):
    monkeypatch.setattr(default_action, "compute_decision", lambda _status, **_there: decision)
    assert LAW.holds(status, *there) == is_right


def put(number, kind=values.Kind.NORMAL, thread=values.Thread.OTHER, priority=0):
    return values.Put(number, priority, kind, thread)


# --- claims, told of what is right and of what is wrong ---------------------------------------------------------


def mail(number, priority=0, kind=values.Kind.NORMAL):
    return values.Mail(number, priority, kind)


def make(batch=(), queue=(), semantics=NEW, **more):
    return values.State(values.Config(semantics), tuple(batch), tuple(queue), **more)


def holds(name, before, event, after, *seen):
    return claim("mailbox", name)(before, event, Outcome(after, seen, ()))


ORDER = values.Mail(values.Control(values.Order.COMPLETE), 0)
URGENT, DEFERRABLE = mail(8, kind=values.Kind.URGENT), mail(9, 9, values.Kind.DEFERRABLE)
LOW, HIGH, HIGHER = mail(0), mail(1, 5), mail(2, 5)
STATES = [
    make(),
    make([LOW, HIGH, HIGHER]),
    make([], [LOW, HIGH], suspension=0, handles=1),
    make([URGENT, mail(7, kind=values.Kind.URGENT), LOW], [HIGH]),
    make([ORDER, LOW], [DEFERRABLE, HIGH]),
    make([DEFERRABLE, LOW], [URGENT], OLD),
    make([LOW], [URGENT], OLD),
    make([LOW], [HIGH], running=False),
]
EVENTS = [
    *(
        values.Loop(),
        values.Step(),
        values.MakeBatch(),
        values.TakeFromBatch(),
        values.Take(-1),
        values.Take(0),
        values.Take(5),
        values.Drain(),
    ),
    *(
        event(thread)
        for event in (values.SuspendDefault, values.Quiesce, values.Close, values.CompleteAll)
        for thread in values.Thread
    ),
    *(put(3, kind, thread) for kind in values.Kind for thread in values.Thread),
]


@pytest.mark.parametrize("before", STATES)
@pytest.mark.parametrize("event", EVENTS)
def test_every_claim_holds_of_what_the_mailbox_does(before, event):
    (outcome,) = step(before, event)
    assert not broken_claims("mailbox", before, event, outcome)


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
        assert holds("first-that-may", before, values.Take(priority), make(after), values.MailRun(taken)) == is_right


def test_a_turn_without_the_default_action_is_no_turn(monkeypatch):
    assert mailbox.each_turn_ends.holds(NEW, 2)
    monkeypatch.setattr(mailbox, "on_loop", lambda state: (Outcome(state, (values.Waiting(),), ()),))
    assert not mailbox.each_turn_ends.holds(NEW, 2)


def test_failures_belong_to_the_extension():
    with pytest.raises(InvalidInputError, match="extension failures"):
        seen("mailbox", {}, "idle?")
