"""What the mailbox does: where it starts, and what each event leads to."""

from collections.abc import Iterator
from itertools import product

import attrs

from tidegate.reference import elements
from tidegate.reference.claims import law
from tidegate.reference.mailbox import mails, values
from tidegate.reference.mailbox.values import Config, Event, Kind, Life, Observation, Order, State, Thread
from tidegate.reference.model import InvalidInputError, Outcome, Rejected, follow, rejected

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Open, empty, with a default action that may run."""
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------

Outcomes = tuple[Outcome[State, Observation], ...]


def step(state: State, event: Event) -> Outcomes:
    if isinstance(event, values.OfFailures):
        if state.config.extension != values.FAILURES:
            raise InvalidInputError(f"{event.type} belongs to the extension {values.FAILURES}")
        return on_extension(state, event)
    match event:
        case values.Put():
            return on_put(state, event)
        case values.MakeBatch():
            batched = mails.compute_batch(state)
            return (Outcome(batched, (values.BatchMade(bool(batched.batch)),), ("MBOX-1", "MBOX-2")),)
        case values.TakeFromBatch():
            return on_take_from_batch(state)
        case values.Take():
            return on_take(state, event.priority)
        case values.Loop():
            return on_loop(state)
        case values.Step():
            return (on_step(state),)
        case values.SuspendDefault() | values.Resume():
            return on_suspension(state, event)
        case values.CompleteAll():
            return (put_poison(state, values.Control(Order.COMPLETE), event.thread),)
        case values.SuspendLoop():
            return (put_poison(state, values.Control(Order.SUSPEND), event.thread),)
        case values.Quiesce() | values.Close():
            return on_end(state, event)
        case values.Drain():
            return (on_drain(state),)
        case values.HasMail():
            return (Outcome(state, (values.MailWaiting(bool(state.batch or state.queue)),), ("MBOX-12",)),)


def on_extension(state: State, event: values.OfFailures) -> Outcomes:
    if isinstance(event, values.AskIdle):
        has_nothing = state.suspension is not None and not (state.batch or state.queue)
        return (Outcome(state, (values.Idle(has_nothing and state.life is Life.OPEN),), ("MBOX-17",)),)
    if state.life is not Life.OPEN:
        return rejected(state, "MBOX-10")
    if isinstance(event, values.PutFailing):
        failing = values.Mail(event.mail, event.priority, Kind.NORMAL, fails=True)
        return (Outcome(mails.put_mail(state, failing, event.thread), (), ("MBOX-16", "MBOX-3")),)
    together = tuple(values.Mail(mail, event.priority, Kind.NORMAL) for mail in event.mails)
    return (Outcome(attrs.evolve(state, queue=state.queue + together), (), ("MBOX-18", "MBOX-3")),)


def on_put(state: State, event: values.Put) -> Outcomes:
    if state.life is not Life.OPEN:
        return rejected(state, "MBOX-10")
    mail = values.Mail(event.mail, event.priority, event.kind)
    return (Outcome(mails.put_mail(state, mail, event.thread), (), ("MBOX-3",)),)


def on_take_from_batch(state: State) -> Outcomes:
    if state.life is Life.CLOSED:
        return rejected(state, "MBOX-10")
    mail, taken = mails.take_from_batch(state)
    if mail is None:
        return (Outcome(state, (elements.Nothing(),), ("MBOX-5", "MBOX-2")),)
    ran, _stopped = mails.run_mail(taken, mail)
    return (Outcome(ran, (mails.show(mail),), ("MBOX-5", "MBOX-3")),)


def on_take(state: State, priority: int) -> Outcomes:
    if state.life is Life.CLOSED:
        return rejected(state, "MBOX-10")
    mail, taken = mails.take_mail(state, priority)
    if mail is None:
        return (Outcome(taken, (elements.Nothing(),), ("MBOX-4",)),)
    ran, _stopped = mails.run_mail(taken, mail)
    return (Outcome(ran, (mails.show(mail),), ("MBOX-4", "MBOX-3")),)


def on_loop(state: State) -> Outcomes:
    """One turn of the loop: the batch, then single mails while the default action is suspended, then that action."""
    if state.life is not Life.OPEN:
        return rejected(state, "MBOX-10")
    stopped = not state.running
    if stopped:
        return (Outcome(state, (values.Stopped(),), ("MBOX-9",)),)
    seen: list[Observation] = []
    now = mails.compute_batch(state)
    mail, now = mails.take_from_batch(now)
    while mail is not None:
        now, stopped = mails.run_mail(now, mail)
        seen.append(mails.show(mail))
        if mail.fails:
            return (Outcome(now, tuple(seen), ("MBOX-16", "MBOX-1")),)
        mail, now = (None, now) if stopped else mails.take_from_batch(now)
    while not stopped and now.suspension is not None:
        mail, now = mails.take_mail(now, values.LEAST_PRIORITY)
        if mail is None:
            return (Outcome(now, (*seen, values.Waiting()), ("MBOX-1", "MBOX-6")),)
        now, stopped = mails.run_mail(now, mail)
        seen.append(mails.show(mail))
        if mail.fails:
            return (Outcome(now, tuple(seen), ("MBOX-16", "MBOX-6")),)
    if stopped:
        return (Outcome(now, (*seen, values.Stopped()), ("MBOX-9", "MBOX-1")),)
    rules = ("MBOX-1", "MBOX-7") if state.suspension is not None else ("MBOX-1",)
    return (Outcome(now, (*seen, values.DefaultRun()), rules),)


def on_step(state: State) -> Outcome[State, Observation]:
    """One mail if there is one, else the default action if it may run."""
    if state.running:
        batched = mails.compute_batch(state)
        if batched.batch:
            mail, taken = mails.take_from_batch(batched)
            assert mail is not None
            return Outcome(mails.run_mail(taken, mail)[0], (mails.show(mail),), ("MBOX-8", "MBOX-3"))
        if state.suspension is None:
            return Outcome(state, (values.DefaultRun(),), ("MBOX-8",))
        return Outcome(state, (elements.Nothing(),), ("MBOX-8", "MBOX-6"))
    return Outcome(mails.compute_batch(state), (elements.Nothing(),), ("MBOX-8", "MBOX-9"))


def on_suspension(state: State, event: values.SuspendDefault | values.Resume) -> Outcomes:
    if isinstance(event, values.SuspendDefault):
        if event.thread is Thread.OTHER or state.suspension is not None:
            return rejected(state, "MBOX-6")
        suspended = attrs.evolve(state, suspension=state.handles, handles=state.handles + 1)
        return (Outcome(suspended, (values.Suspended(state.handles),), ("MBOX-6",)),)
    if not 0 <= event.handle < state.handles:
        return rejected(state, "MBOX-7")
    if event.thread is Thread.MAILBOX:
        return (Outcome(mails.resume(state, event.handle), (), ("MBOX-7",)),)
    if state.life is not Life.OPEN:
        return (Outcome(state, (), ("MBOX-7", "MBOX-10")),)
    order = values.Mail(values.Control(Order.RESUME, event.handle), mails.CONTROL_PRIORITY)
    return (Outcome(mails.put_mail(state, order, event.thread), (), ("MBOX-7", "MBOX-3")),)


def put_poison(state: State, control: values.Control, thread: Thread) -> Outcome[State, Observation]:
    if state.life is not Life.OPEN:
        return Outcome(state, (), ("MBOX-9", "MBOX-10"))
    poison = values.Mail(control, mails.CONTROL_PRIORITY)
    return Outcome(mails.put_mail(state, poison, thread), (), ("MBOX-9", "MBOX-3"))


def on_end(state: State, event: values.Quiesce | values.Close) -> Outcomes:
    if event.thread is Thread.OTHER:
        return rejected(state, "MBOX-10")
    if isinstance(event, values.Quiesce):
        life = Life.QUIESCED if state.life is Life.OPEN else state.life
        return (Outcome(attrs.evolve(state, life=life), (), ("MBOX-10",)),)
    undelivered = [mail.content for mail in state.batch + state.queue]
    dropped = tuple(values.Dropped(content) for content in undelivered if isinstance(content, int))
    return (Outcome(attrs.evolve(state, life=Life.CLOSED, batch=(), queue=()), dropped, ("MBOX-10",)),)


def on_drain(state: State) -> Outcome[State, Observation]:
    now = attrs.evolve(state, batch=(), queue=())
    waiting = state.batch + state.queue
    for place, mail in enumerate(waiting):
        now, _stopped = mails.run_mail(now, mail)
        if mail.fails:
            return Outcome(now, tuple(map(mails.show, waiting[: place + 1])), ("MBOX-16", "MBOX-11"))
    return Outcome(now, tuple(map(mails.show, waiting)), ("MBOX-11",))


# --- laws -----------------------------------------------------------------------------------------------------


def play(state: State, *events: Event) -> tuple[State, tuple[Observation, ...]]:
    seen: list[Observation] = []
    for outcome in follow(step, state, events):
        state = outcome.state
        quiet = values.BatchMade | elements.Nothing | Rejected
        seen += [one for one in outcome.observations if not isinstance(one, quiet)]
    return state, tuple(seen)


def semantics_and_counts() -> Iterator[tuple[str, int]]:
    yield from product(values.SEMANTICS, range(5))


@law("MBOX-2", "MBOX-1", samples=semantics_and_counts)
def each_turn_ends(semantics: str, count: int) -> bool:
    """Mails that put themselves again run once a turn each, and do not keep the default action from its turn."""
    now = State(Config(semantics))
    now, _seen = play(
        now, *(values.Put(mail, 0, Kind.NORMAL, Thread.OTHER) for mail in range(count)), values.MakeBatch()
    )
    turn = []
    while now.batch:
        now, (ran,) = play(now, values.TakeFromBatch())
        assert isinstance(ran, values.MailRun)
        turn.append(ran.mail)
        now, _seen = play(now, values.Put(ran.mail, 0, Kind.NORMAL, Thread.MAILBOX))
        if len(turn) > count:
            return False
    return turn == list(range(count)) and play(now, values.Loop())[1][-1] == values.DefaultRun()


def semantics_and_putters() -> Iterator[tuple[str, tuple[Thread, ...]]]:
    for semantics, count in product(values.SEMANTICS, range(4)):
        yield from ((semantics, putters) for putters in product(Thread, repeat=count))


@law("MBOX-3", samples=semantics_and_putters)
def urgent_come_in_order(semantics: str, putters: tuple[Thread, ...]) -> bool:
    """Urgent mails run before all normal ones in the order in which they were put; those put first, before the batch or
    after it, the latest first.

    Urgent mails, put into a mailbox whose batch holds normal ones, by these threads; then everything is run.
    """
    normal = (
        values.Put(10, 0, Kind.NORMAL, Thread.OTHER),
        values.Put(11, 0, Kind.NORMAL, Thread.OTHER),
        values.MakeBatch(),
    )
    urgent = (values.Put(mail, 0, Kind.URGENT, thread) for mail, thread in enumerate(putters))
    _state, seen = play(
        State(Config(semantics)), *normal, *urgent, *[values.Take(values.LEAST_PRIORITY)] * (len(putters) + 2)
    )
    ran = [one.mail for one in seen if isinstance(one, values.MailRun)]
    own = [mail for mail, thread in enumerate(putters) if thread is Thread.MAILBOX]
    others = [mail for mail, thread in enumerate(putters) if thread is Thread.OTHER]
    if semantics == "flink-14304":
        return ran == [*own[::-1], 10, 11, *others[::-1]]
    return ran == [*range(len(putters)), 10, 11]
