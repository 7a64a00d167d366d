"""Where mails wait (the queue that every thread puts into, the batch that the mailbox's own thread works off), and
what running one does.

Urgent mails stand in front of the queue, the latest first; moved one by one to the front of the batch they come out
in the order in which they were put. They are moved only while the batch does not begin with an urgent mail, for the
same reason.
"""

import attrs

from tidegate.reference.mailbox import values
from tidegate.reference.mailbox.values import Kind, Order, State, Thread
from tidegate.reference.tuples import without

#: Nobody who takes mails passes over a control mail.
CONTROL_PRIORITY = values.MOST_PRIORITY


def is_urgent_first(mails: tuple[values.Mail, ...]) -> bool:
    return bool(mails) and mails[0].kind is Kind.URGENT


def is_latest_urgent_first(state: State) -> bool:
    """Whether urgent mails are last come, first served: what 2.0 and before do."""
    return state.config.semantics == "flink-14304"


def put_mail(state: State, mail: values.Mail, thread: Thread) -> State:
    """MBOX-3: a normal mail goes to the end of the queue, an urgent one to the front of queue or batch."""
    if mail.kind is not Kind.URGENT:
        return attrs.evolve(state, queue=(*state.queue, mail))
    if is_latest_urgent_first(state):
        into_batch = thread is Thread.MAILBOX
    else:
        no_urgent_waits = not is_urgent_first(state.batch) and not is_urgent_first(state.queue)
        into_batch = thread is Thread.MAILBOX and bool(state.batch) and no_urgent_waits
    if into_batch:
        return attrs.evolve(state, batch=(mail, *state.batch))
    return attrs.evolve(state, queue=(mail, *state.queue))


def compute_batch(state: State) -> State:
    """MBOX-1: the queue moves into the batch. From 2.1 on a batch that is not empty lets in only urgent company."""
    if is_latest_urgent_first(state):
        return attrs.evolve(state, batch=state.batch + state.queue, queue=())
    if state.batch and (is_urgent_first(state.batch) or not is_urgent_first(state.queue)):
        return state
    moved = move_urgent(state)
    return attrs.evolve(moved, batch=moved.batch + moved.queue, queue=())


def let_urgent_in(state: State) -> State:
    """MBOX-3: before each mail, the urgent mails of the queue go to the front of the batch."""
    if is_latest_urgent_first(state) or is_urgent_first(state.batch):
        return state
    return move_urgent(state)


def move_urgent(state: State) -> State:
    urgent = tuple(mail for mail in state.queue if mail.kind is Kind.URGENT)
    return attrs.evolve(state, batch=urgent[::-1] + state.batch, queue=state.queue[len(urgent) :])


def take_from_batch(state: State) -> tuple[values.Mail | None, State]:
    """MBOX-5: the first of the batch, whatever its priority; the queue is not looked at."""
    ready = let_urgent_in(state)
    if not ready.batch:
        return None, ready
    return ready.batch[0], attrs.evolve(ready, batch=ready.batch[1:])


def take_mail(state: State, priority: int) -> tuple[values.Mail | None, State]:
    """MBOX-4: the first mail of at least that priority, of the batch, then of the queue."""
    ready = let_urgent_in(state)
    for index, mail in enumerate(ready.batch):
        if compute_priority(mail) >= priority:
            return mail, attrs.evolve(ready, batch=without(ready.batch, index))
    for index, mail in enumerate(ready.queue):
        if compute_priority(mail) >= priority:
            return mail, attrs.evolve(ready, queue=without(ready.queue, index))
    return None, ready


def compute_priority(mail: values.Mail) -> int:
    """MBOX-4: a deferrable mail is for the main loop alone."""
    return values.LEAST_PRIORITY if mail.kind is Kind.DEFERRABLE else mail.priority


# --- what a mail does -------------------------------------------------------------------------------------------


def resume(state: State, handle: int) -> State:
    """MBOX-7: only the handle of the present suspension ends it."""
    return attrs.evolve(state, suspension=None) if state.suspension == handle else state


def run_mail(state: State, mail: values.Mail) -> tuple[State, bool]:
    """The state after the mail has run, and whether it stops the loop (MBOX-9)."""
    if isinstance(mail.content, int):
        return state, False
    if mail.content.order is Order.RESUME:
        return resume(state, mail.content.handle), False
    running = state.running and mail.content.order is Order.SUSPEND
    return attrs.evolve(state, running=running), True


def show(mail: values.Mail) -> values.MailRun | values.MailFailed | values.ControlRun:
    if not isinstance(mail.content, int):
        return values.ControlRun()
    return values.MailFailed(mail.content) if mail.fails else values.MailRun(mail.content)
