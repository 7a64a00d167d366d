"""What holds of the mailbox at every event."""

from tidegate.reference import elements
from tidegate.reference.claims import always, sometimes
from tidegate.reference.mailbox import values
from tidegate.reference.mailbox.values import Event, Kind, Life, Observation, State, Thread
from tidegate.reference.model import Outcome, Rejected

Seen = Outcome[State, Observation]


def numbers(mails: tuple[values.Mail, ...], *kinds: Kind) -> list[int]:
    return [mail.content for mail in mails if isinstance(mail.content, int) and mail.kind in (kinds or Kind)]


def waiting(state: State, *kinds: Kind) -> list[int]:
    """The numbers of the mails that wait, in the order of batch and queue."""
    return numbers(state.batch + state.queue, *kinds)


def ran(outcome: Seen) -> list[int]:
    return [seen.mail for seen in outcome.observations if isinstance(seen, values.MailRun | values.MailFailed)]


def put_by(event: Event) -> list[int]:
    if isinstance(event, values.PutTogether):
        return list(event.mails)
    return [event.mail] if isinstance(event, values.Put | values.PutFailing) else []


@always("MBOX-14", "MBOX-6", "MBOX-10")
def other_threads_only_put(before: State, event: Event, outcome: Seen) -> bool:
    """Nothing runs and nothing changes at once in the name of another thread: it can only put mails."""
    if getattr(event, "thread", Thread.MAILBOX) is Thread.MAILBOX:
        return True
    same = (before.suspension, before.running, before.life)
    quiet = all(isinstance(seen, Rejected) for seen in outcome.observations)
    return quiet and (outcome.state.suspension, outcome.state.running, outcome.state.life) == same


@always("MBOX-10")
def no_mail_is_lost(before: State, event: Event, outcome: Seen) -> bool:
    """Every mail that was put waits, runs or is dropped; but for those behind one that fails while all are drained."""
    put = put_by(event) if before.life is Life.OPEN else []
    if isinstance(event, values.Drain) and any(isinstance(seen, values.MailFailed) for seen in outcome.observations):
        return True
    gone = ran(outcome) + [seen.mail for seen in outcome.observations if isinstance(seen, values.Dropped)]
    return sorted(waiting(before) + put) == sorted(waiting(outcome.state) + gone)


@always("MBOX-1", "MBOX-6")
def default_once_and_last(before: State, event: Event, outcome: Seen) -> bool:
    """The default action runs at most once a turn, after the mails, and never while it is suspended."""
    count = outcome.observations.count(values.DefaultRun())
    if not count:
        return True
    last = outcome.observations[-1] == values.DefaultRun()
    return (
        count == 1
        and last
        and outcome.state.suspension is None
        and before.running
        and isinstance(event, values.Loop | values.Step)
    )


@always("MBOX-9")
def no_default_once_completed(before: State, event: Event, outcome: Seen) -> bool:
    """Once all actions are completed the default action does not run again."""
    stopped = values.Stopped() in outcome.observations
    return (
        stopped or before.running or not isinstance(event, values.Loop | values.Step)
    ) or values.DefaultRun() not in outcome.observations


@always("MBOX-3", "MBOX-11")
def normal_mails_in_order(before: State, event: Event, outcome: Seen) -> bool:
    """Normal mails run in the order in which they were put.

    What ran of them is a beginning of what waited, unless priorities leave some out.
    """
    if isinstance(event, values.Take):
        return True
    waited = waiting(before, Kind.NORMAL, Kind.DEFERRABLE)
    left = waiting(outcome.state, Kind.NORMAL, Kind.DEFERRABLE)
    return bool(put_by(event)) or isinstance(event, values.Close) or waited[len(waited) - len(left) :] == left


@always("MBOX-3")
def urgent_mails_first(before: State, event: Event, outcome: Seen) -> bool:
    """From 2.1 on no normal mail runs while an urgent one waits."""
    takes = (
        isinstance(event, values.Loop | values.Step | values.TakeFromBatch) and before.config.semantics == "flink-35051"
    )
    if not takes or not outcome.observations:
        return True
    ran_normal = len(waiting(outcome.state, Kind.NORMAL)) < len(waiting(before, Kind.NORMAL))
    return not (ran_normal and waiting(outcome.state, Kind.URGENT))


@always("MBOX-4")
def first_that_may(before: State, event: Event, outcome: Seen) -> bool:
    """Among normal mails the first of sufficient priority is taken, not the one of the highest.

    Nothing of at least the priority asked for waits before the mail that is taken, urgent ones aside.
    """
    if not isinstance(event, values.Take) or not ran(outcome):
        return True
    (taken,) = ran(outcome)
    eligible = [
        mail.content
        for mail in before.batch + before.queue
        if mail.kind is Kind.NORMAL and mail.priority >= event.priority
    ]
    urgent = taken in waiting(before, Kind.URGENT)
    return urgent or event.priority < 0 or (bool(eligible) and eligible[0] == taken)


@always("MBOX-11")
def draining_leaves_nothing(_before: State, event: Event, outcome: Seen) -> bool:
    """After draining no mail waits."""
    return not isinstance(event, values.Drain) or not outcome.state.batch + outcome.state.queue


@sometimes("MBOX-3")
def an_urgent_mail_overtakes(before: State, _event: Event, outcome: Seen) -> bool:
    """An urgent mail runs although a normal one was put before it."""
    first = ran(outcome)[:1]
    return bool(set(first) & set(waiting(before, Kind.URGENT))) and bool(waiting(before, Kind.NORMAL))


@sometimes("MBOX-4")
def no_mail_is_important_enough(before: State, event: Event, outcome: Seen) -> bool:
    """Mails wait, and none of them has the priority that is asked for."""
    return isinstance(event, values.Take) and elements.Nothing() in outcome.observations and bool(waiting(before))


@always("MBOX-16")
def a_failure_is_the_last(_before: State, _event: Event, outcome: Seen) -> bool:
    """Nothing runs behind a mail that fails."""
    failed = [isinstance(seen, values.MailFailed) for seen in outcome.observations]
    return not any(failed[:-1])


@always("MBOX-17")
def whoever_is_idle_has_no_mail(_before: State, _event: Event, outcome: Seen) -> bool:
    """An idle mailbox has no mail, and is open."""
    idle = values.Idle(value=True) in outcome.observations
    return not idle or (not waiting(outcome.state) and outcome.state.life is Life.OPEN)


@sometimes("MBOX-16")
def a_mail_fails_in_the_loop(_before: State, event: Event, outcome: Seen) -> bool:
    """The loop is left by a failure."""
    return isinstance(event, values.Loop) and any(isinstance(seen, values.MailFailed) for seen in outcome.observations)
