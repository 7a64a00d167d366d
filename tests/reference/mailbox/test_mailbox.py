"""The mailbox, rule by rule."""

import pytest

from tests.reference.walking import broken_claims, claim, last, seen, walk
from tidegate.reference.input.network_input.values import InputStatus
from tidegate.reference.mailbox import default_action, values
from tidegate.reference.mailbox import mails as mailboxes
from tidegate.reference.mailbox import step as mailbox
from tidegate.reference.mailbox.default_action import Decision, compute_decision
from tidegate.reference.mailbox.step import step
from tidegate.reference.model import InvalidInputError, Outcome

NEW, OLD = "flink-35051", "flink-14304"


def short(seen):
    """A mail by its number, `x3` if it is dropped; a batch by + or -, and the others by their first letter."""
    match seen:
        case values.MailRun(mail=mail):
            return str(mail)
        case values.Dropped(mail=mail):
            return f"x{mail}"
        case values.BatchMade(available=value) | values.MailWaiting(value=value):
            return "+" if value else "-"
        case values.Suspended(handle=handle):
            return f"h{handle}"
    return seen.type[0]


def run(trace, semantics=NEW):
    """What each event shows, without a gap; `~` for nothing, `r` rejected, `d` default, `w` wait, `s` stopped."""
    return " ".join(
        "".join(map(short, one.observations)) or "~" for one in walk("mailbox", values.Config(semantics), trace)
    )


@pytest.mark.rule("MBOX-1", "MBOX-2", "MBOX-5")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("loop loop", "d d"),
        ("put1@0 put2@0 loop loop", "~ ~ 12d d"),
        ("put1@0 batch next own2@0 next loop", "~ + 1 ~ n 2d"),
        ("batch put1@0 batch batch next next", "- ~ + + 1 n"),
        ("put1@0 batch put2@0 batch loop loop", "~ + ~ + 1d 2d"),
    ],
)
def test_mbox_1_a_turn_is_a_batch_and_one_default_action(trace, shown):
    assert run(trace) == shown


@pytest.mark.rule("MBOX-3")
@pytest.mark.parametrize(
    ("trace", "new", "old"),
    [
        ("put1@0 put2@0 loop", "~ ~ 12d", "~ ~ 12d"),
        ("put1@0 urgent2@0 urgent3@0 loop", "~ ~ ~ 231d", "~ ~ ~ 321d"),
        ("put1@0 ownurgent2@0 ownurgent3@0 loop", "~ ~ ~ 231d", "~ ~ ~ 321d"),
        ("put1@0 batch urgent2@0 ownurgent3@0 next next next", "~ + ~ ~ 2 3 1", "~ + ~ ~ 3 1 n"),
        ("put1@0 put2@0 batch next urgent3@0 next next", "~ ~ + 1 ~ 3 2", "~ ~ + 1 ~ 2 n"),
        ("put1@0 batch put2@0 urgent3@0 batch next next next", "~ + ~ ~ + 3 1 2", "~ + ~ ~ + 1 3 2"),
    ],
)
def test_mbox_3_urgent_mails_go_first(trace, new, old):
    assert (run(trace), run(trace, OLD)) == (new, old)


@pytest.mark.rule("MBOX-4")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("put1@0 put2@1 put3@5 take1 take1 take1 take0", "~ ~ ~ 2 3 n 1"),
        ("put1@0 put2@2 batch put3@2 take1 take1 take1", "~ ~ + ~ 2 3 n"),
        ("later1@9 take0 take-1", "~ n 1"),
        ("urgent1@0 batch urgent2@1 urgent3@1 take1 take1 take-1", "~ + ~ ~ 3 2 1"),
        ("suspend resume0 take2147483647", "h0 ~ c"),
    ],
)
def test_mbox_4_the_first_of_sufficient_priority_is_taken(trace, shown):
    assert run(trace) == shown


@pytest.mark.rule("MBOX-6", "MBOX-7")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("suspend loop put1@0 loop", "h0 w ~ 1w"),
        ("suspend put1@0 resume0 loop", "h0 ~ ~ c1d"),
        ("suspend ownresume0 loop", "h0 ~ d"),
        ("suspend ownresume0 suspend ownresume0 loop ownresume1 loop", "h0 ~ h1 ~ w ~ d"),
        ("suspend ownresume0 suspend resume0 loop", "h0 ~ h1 ~ cw"),
        ("suspend suspend", "h0 r"),
        ('{"type":"suspend_default","thread":"other"}', "r"),
        ("resume0 suspend resume1 ownresume-1", "r h0 r r"),
        ("suspend quiesce resume0 step ownresume0 step", "h0 ~ ~ n ~ d"),
    ],
)
def test_mbox_7_only_the_present_handle_resumes(trace, shown):
    assert run(trace) == shown


@pytest.mark.rule("MBOX-8", "MBOX-9")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("put1@0 step step suspend step", "~ 1 d h0 n"),
        ("complete put1@0 loop loop step mail?", "~ ~ cs s n +"),
        ("leave put1@0 loop loop", "~ ~ cs 1d"),
        ("complete leave loop", "~ ~ cs"),
        ("owncomplete step step", "~ c n"),
        ("quiesce complete leave mail?", "~ ~ ~ -"),
        ("leave take-1 loop", "~ c d"),
    ],
)
def test_mbox_9_the_loop_ends_before_its_next_default_action(trace, shown):
    assert run(trace) == shown


@pytest.mark.rule("MBOX-10", "MBOX-11", "MBOX-12")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("put1@0 quiesce put2@0 take-1 loop step", "~ ~ r 1 r d"),
        ("put1@0 batch put2@0 urgent3@0 complete close close", "~ + ~ ~ ~ x1x3x2 ~"),
        ("close put1@0 take-1 next batch drain step quiesce", "~ r r r - ~ d ~"),
        ('{"type":"close","thread":"other"} {"type":"quiesce","thread":"other"}', "r r"),
        ("put1@0 batch put2@0 urgent3@0 drain drain", "~ + ~ ~ 132 ~"),
        ("mail? put1@0 mail? batch mail? next mail?", "- ~ + + + 1 -"),
    ],
)
def test_mbox_10_open_quiesced_closed(trace, shown):
    assert run(trace) == shown


@pytest.mark.parametrize(
    ("trace", "rules"),
    [
        ("put1@0", ("MBOX-3",)),
        ("batch", ("MBOX-1", "MBOX-2")),
        ("next", ("MBOX-5", "MBOX-2")),
        ("put1@0 batch next", ("MBOX-5", "MBOX-3")),
        ("take0", ("MBOX-4",)),
        ("suspend loop", ("MBOX-1", "MBOX-6")),
        ("suspend resume0 loop", ("MBOX-1", "MBOX-7")),
        ("complete loop", ("MBOX-9", "MBOX-1")),
        ("complete loop loop", ("MBOX-9",)),
        ("suspend step", ("MBOX-8", "MBOX-6")),
        ("complete step step", ("MBOX-8", "MBOX-9")),
        ("quiesce complete", ("MBOX-9", "MBOX-10")),
        ("suspend close resume0", ("MBOX-7", "MBOX-10")),
        ("drain", ("MBOX-11",)),
        ("mail?", ("MBOX-12",)),
    ],
)
def test_outcomes_name_their_rules(trace, rules):
    assert walk("mailbox", values.Config(), trace)[-1].rules == rules


@pytest.mark.parametrize("trace", ["put1@0 quiesce put2@0", "suspend suspend", "put1@0 close take-1", "resume0"])
def test_refused_events(trace):
    assert run(trace).endswith("r")


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


# --- corners --------------------------------------------------------------------------------------------------

NEW, OLD = "flink-35051", "flink-14304"


def put(number, kind=values.Kind.NORMAL, thread=values.Thread.OTHER, priority=0):
    return values.Put(number, priority, kind, thread)


def test_a_single_step_makes_a_batch_even_of_a_mailbox_that_has_come_to_its_end():
    assert run("complete loop put7@0 step next").split()[-2:] == ["n", "7"]


def test_who_takes_nothing_has_let_urgent_mails_into_the_batch_all_the_same():
    """A batch that begins with an urgent mail is complete: normal mails wait for the next one."""
    assert run("urgent1@0 put2@0 batch next next").split()[-2:] == ["1", "2"]
    assert run("urgent1@0 put2@0 take5 batch next next").split()[-2:] == ["1", "n"]


def test_an_urgent_mail_does_not_overtake_one_that_the_batch_begins_with():
    assert run("urgent1@0 put2@0 batch ownurgent3@0 next next next").split()[-3:] == ["1", "3", "2"]


def test_a_mailbox_that_is_closed_stays_closed():
    assert run("close quiesce next").split()[-1] == "r"


def test_a_turn_is_put_down_to_a_resumption_only_if_the_default_action_was_suspended():
    assert last("mailbox", values.Config(), "loop") == ("default", "MBOX-1")


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


FAILURES = {"extension": "failures"}


@pytest.mark.rule("MBOX-16")
@pytest.mark.parametrize(
    ("trace", "told"),
    [
        ("put1@0 fail2@0 put3@0 loop", "run(mail 1), failed(mail 2)"),
        ("put1@0 fail2@0 put3@0 loop loop", "run(mail 3), default"),
        ("suspend fail1@0 loop", "failed(mail 1)"),
        ("put1@0 batch fail2@0 put3@0 suspend loop", "run(mail 1), failed(mail 2)"),
        ("put1@0 batch fail2@0 suspend loop mail?", "has_mail(value false)"),
        ("fail1@0 step", "failed(mail 1)"),
        ("fail1@0 take0", "failed(mail 1)"),
        ("put1@0 fail2@0 put3@0 drain", "run(mail 1), failed(mail 2)"),
        ("fail2@0 put3@0 drain mail?", "has_mail(value false)"),
    ],
)
def test_mbox_16_a_failure_ends_what_ran_the_mail(trace, told):
    assert seen("mailbox", FAILURES, trace)[-1] == told


@pytest.mark.rule("MBOX-17")
@pytest.mark.parametrize(
    ("trace", "idle"), [("", "false"), ("suspend", "true"), ("suspend put1@0", "false"), ("suspend quiesce", "false")]
)
def test_mbox_17_idle(trace, idle):
    assert seen("mailbox", FAILURES, f"{trace} idle?")[-1] == f"idle(value {idle})"


@pytest.mark.rule("MBOX-18")
def test_mbox_18_together():
    assert (
        seen("mailbox", FAILURES, "put1@0 together2,3@0 loop")[-1] == "run(mail 1), run(mail 2), run(mail 3), default"
    )
    assert seen("mailbox", FAILURES, "quiesce together2,3@0 mail?")[1:] == ["rejected", "has_mail(value false)"]


def test_failures_belong_to_the_extension():
    with pytest.raises(InvalidInputError, match="extension failures"):
        seen("mailbox", {}, "idle?")
