"""What the mailbox does: where it starts, and what each event leads to."""

from collections.abc import Iterator
from itertools import product

import attrs

from tidegate.reference.claims import law
from tidegate.reference.mailbox.mails import (
    CONTROL_PRIORITY,
    compute_batch,
    put_mail,
    resume,
    run_mail,
    show,
    take_from_batch,
    take_mail,
)
from tidegate.reference.mailbox.values import (
    LEAST_PRIORITY,
    SEMANTICS,
    BatchMade,
    Close,
    CompleteAll,
    Config,
    Control,
    DefaultRun,
    Drain,
    Dropped,
    Event,
    HasMail,
    Kind,
    Life,
    Loop,
    Mail,
    MailRun,
    MailWaiting,
    MakeBatch,
    Nothing,
    Observation,
    Order,
    Put,
    Quiesce,
    Resume,
    State,
    Step,
    Stopped,
    SuspendDefault,
    Suspended,
    SuspendLoop,
    Take,
    TakeFromBatch,
    Thread,
    Waiting,
)
from tidegate.reference.model import Outcome, Rejected, follow, rejected

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Open, empty, with a default action that may run."""
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------

Outcomes = tuple[Outcome[State, Observation], ...]


def step(state: State, event: Event) -> Outcomes:
    match event:
        case Put():
            return on_put(state, event)
        case MakeBatch():
            batched = compute_batch(state)
            return (Outcome(batched, (BatchMade(bool(batched.batch)),), ("MBOX-1", "MBOX-2")),)
        case TakeFromBatch():
            return on_take_from_batch(state)
        case Take():
            return on_take(state, event.priority)
        case Loop():
            return on_loop(state)
        case Step():
            return (on_step(state),)
        case SuspendDefault() | Resume():
            return on_suspension(state, event)
        case CompleteAll():
            return (put_poison(state, Control(Order.COMPLETE), event.thread),)
        case SuspendLoop():
            return (put_poison(state, Control(Order.SUSPEND), event.thread),)
        case Quiesce() | Close():
            return on_end(state, event)
        case Drain():
            return (on_drain(state),)
        case HasMail():
            return (Outcome(state, (MailWaiting(bool(state.batch or state.queue)),), ("MBOX-12",)),)


def on_put(state: State, event: Put) -> Outcomes:
    if state.life is not Life.OPEN:
        return rejected(state, "MBOX-10")
    return (Outcome(put_mail(state, Mail(event.mail, event.priority, event.kind), event.thread), (), ("MBOX-3",)),)


def on_take_from_batch(state: State) -> Outcomes:
    if state.life is Life.CLOSED:
        return rejected(state, "MBOX-10")
    mail, taken = take_from_batch(state)
    if mail is None:
        return (Outcome(state, (Nothing(),), ("MBOX-5", "MBOX-2")),)
    ran, _stopped = run_mail(taken, mail)
    return (Outcome(ran, (show(mail),), ("MBOX-5", "MBOX-3")),)


def on_take(state: State, priority: int) -> Outcomes:
    if state.life is Life.CLOSED:
        return rejected(state, "MBOX-10")
    mail, taken = take_mail(state, priority)
    if mail is None:
        return (Outcome(taken, (Nothing(),), ("MBOX-4",)),)
    ran, _stopped = run_mail(taken, mail)
    return (Outcome(ran, (show(mail),), ("MBOX-4", "MBOX-3")),)


def on_loop(state: State) -> Outcomes:
    """One turn of the loop: the batch, then single mails while the default action is suspended, then that action."""
    if state.life is not Life.OPEN:
        return rejected(state, "MBOX-10")
    stopped = not state.running
    if stopped:
        return (Outcome(state, (Stopped(),), ("MBOX-9",)),)
    seen: list[Observation] = []
    now = compute_batch(state)
    mail, now = take_from_batch(now)
    while mail is not None:
        now, stopped = run_mail(now, mail)
        seen.append(show(mail))
        mail, now = (None, now) if stopped else take_from_batch(now)
    while not stopped and now.suspension is not None:
        mail, now = take_mail(now, LEAST_PRIORITY)
        if mail is None:
            return (Outcome(now, (*seen, Waiting()), ("MBOX-1", "MBOX-6")),)
        now, stopped = run_mail(now, mail)
        seen.append(show(mail))
    if stopped:
        return (Outcome(now, (*seen, Stopped()), ("MBOX-9", "MBOX-1")),)
    rules = ("MBOX-1", "MBOX-7") if state.suspension is not None else ("MBOX-1",)
    return (Outcome(now, (*seen, DefaultRun()), rules),)


def on_step(state: State) -> Outcome[State, Observation]:
    """One mail if there is one, else the default action if it may run."""
    if state.running:
        batched = compute_batch(state)
        if batched.batch:
            mail, taken = take_from_batch(batched)
            assert mail is not None
            return Outcome(run_mail(taken, mail)[0], (show(mail),), ("MBOX-8", "MBOX-3"))
        if state.suspension is None:
            return Outcome(state, (DefaultRun(),), ("MBOX-8",))
        return Outcome(state, (Nothing(),), ("MBOX-8", "MBOX-6"))
    return Outcome(compute_batch(state), (Nothing(),), ("MBOX-8", "MBOX-9"))


def on_suspension(state: State, event: SuspendDefault | Resume) -> Outcomes:
    if isinstance(event, SuspendDefault):
        if event.thread is Thread.OTHER or state.suspension is not None:
            return rejected(state, "MBOX-6")
        suspended = attrs.evolve(state, suspension=state.handles, handles=state.handles + 1)
        return (Outcome(suspended, (Suspended(state.handles),), ("MBOX-6",)),)
    if not 0 <= event.handle < state.handles:
        return rejected(state, "MBOX-7")
    if event.thread is Thread.MAILBOX:
        return (Outcome(resume(state, event.handle), (), ("MBOX-7",)),)
    if state.life is not Life.OPEN:
        return (Outcome(state, (), ("MBOX-7", "MBOX-10")),)
    order = Mail(Control(Order.RESUME, event.handle), CONTROL_PRIORITY)
    return (Outcome(put_mail(state, order, event.thread), (), ("MBOX-7", "MBOX-3")),)


def put_poison(state: State, control: Control, thread: Thread) -> Outcome[State, Observation]:
    if state.life is not Life.OPEN:
        return Outcome(state, (), ("MBOX-9", "MBOX-10"))
    return Outcome(put_mail(state, Mail(control, CONTROL_PRIORITY), thread), (), ("MBOX-9", "MBOX-3"))


def on_end(state: State, event: Quiesce | Close) -> Outcomes:
    if event.thread is Thread.OTHER:
        return rejected(state, "MBOX-10")
    if isinstance(event, Quiesce):
        life = Life.QUIESCED if state.life is Life.OPEN else state.life
        return (Outcome(attrs.evolve(state, life=life), (), ("MBOX-10",)),)
    undelivered = [mail.content for mail in state.batch + state.queue]
    dropped = tuple(Dropped(content) for content in undelivered if isinstance(content, int))
    return (Outcome(attrs.evolve(state, life=Life.CLOSED, batch=(), queue=()), dropped, ("MBOX-10",)),)


def on_drain(state: State) -> Outcome[State, Observation]:
    now = attrs.evolve(state, batch=(), queue=())
    mails = state.batch + state.queue
    for mail in mails:
        now, _stopped = run_mail(now, mail)
    return Outcome(now, tuple(map(show, mails)), ("MBOX-11",))


# --- laws -----------------------------------------------------------------------------------------------------


def play(state: State, *events: Event) -> tuple[State, tuple[Observation, ...]]:
    seen: list[Observation] = []
    for outcome in follow(step, state, events):
        state = outcome.state
        seen += [one for one in outcome.observations if not isinstance(one, BatchMade | Nothing | Rejected)]
    return state, tuple(seen)


def semantics_and_counts() -> Iterator[tuple[str, int]]:
    yield from product(SEMANTICS, range(5))


@law("MBOX-2", "MBOX-1", samples=semantics_and_counts)
def each_turn_ends(semantics: str, mails: int) -> bool:
    """Mails that put themselves again run once a turn each, and do not keep the default action from its turn."""
    now = State(Config(semantics))
    now, _seen = play(now, *(Put(mail, 0, Kind.NORMAL, Thread.OTHER) for mail in range(mails)), MakeBatch())
    turn = []
    while now.batch:
        now, (ran,) = play(now, TakeFromBatch())
        assert isinstance(ran, MailRun)
        turn.append(ran.mail)
        now, _seen = play(now, Put(ran.mail, 0, Kind.NORMAL, Thread.MAILBOX))
        if len(turn) > mails:
            return False
    return turn == list(range(mails)) and play(now, Loop())[1][-1] == DefaultRun()


def semantics_and_putters() -> Iterator[tuple[str, tuple[Thread, ...]]]:
    for semantics, count in product(SEMANTICS, range(4)):
        yield from ((semantics, putters) for putters in product(Thread, repeat=count))


@law("MBOX-3", samples=semantics_and_putters)
def urgent_come_in_order(semantics: str, putters: tuple[Thread, ...]) -> bool:
    """Urgent mails run before all normal ones in the order in which they were put; those put first, before the batch or
    after it, the latest first.

    Urgent mails, put into a mailbox whose batch holds normal ones, by these threads; then everything is run.
    """
    normal = (Put(10, 0, Kind.NORMAL, Thread.OTHER), Put(11, 0, Kind.NORMAL, Thread.OTHER), MakeBatch())
    urgent = (Put(mail, 0, Kind.URGENT, thread) for mail, thread in enumerate(putters))
    _state, seen = play(State(Config(semantics)), *normal, *urgent, *[Take(LEAST_PRIORITY)] * (len(putters) + 2))
    ran = [one.mail for one in seen if isinstance(one, MailRun)]
    own = [mail for mail, thread in enumerate(putters) if thread is Thread.MAILBOX]
    others = [mail for mail, thread in enumerate(putters) if thread is Thread.OTHER]
    if semantics == "flink-14304":
        return ran == [*own[::-1], 10, 11, *others[::-1]]
    return ran == [*range(len(putters)), 10, 11]
