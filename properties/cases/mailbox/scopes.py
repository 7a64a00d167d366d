"""Scopes of the mailbox: the order of mails, the loop with its suspensions, and the end, each on its own.

Mails are numbered by what they are, so that whichever is run can be told from the others.
"""

from collections.abc import Callable, Iterator

import attrs

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.mailbox import values as mailbox

MAILBOX, OTHER = mailbox.Thread.MAILBOX, mailbox.Thread.OTHER
LOW, HIGH = mailbox.Put(1, 0, mailbox.Kind.NORMAL, OTHER), mailbox.Put(2, 1, mailbox.Kind.NORMAL, MAILBOX)
OWN, FOREIGN = mailbox.Put(3, 0, mailbox.Kind.URGENT, MAILBOX), mailbox.Put(4, 1, mailbox.Kind.URGENT, OTHER)
DEFERRED = mailbox.Put(5, 1, mailbox.Kind.DEFERRABLE, MAILBOX)
TAKING: tuple[mailbox.Event, ...] = (
    mailbox.MakeBatch(),
    mailbox.TakeFromBatch(),
    mailbox.Take(-1),
    mailbox.Take(0),
    mailbox.Take(1),
    mailbox.HasMail(),
)

ORDERS: tuple[mailbox.Event, ...] = (LOW, HIGH, OWN, FOREIGN, DEFERRED, *TAKING, mailbox.Loop())
LOOPS: tuple[mailbox.Event, ...] = (
    LOW,
    OWN,
    *(mailbox.MakeBatch(), mailbox.TakeFromBatch(), mailbox.Take(1), mailbox.Loop(), mailbox.Step()),
    *(make(thread) for make in (mailbox.SuspendDefault, mailbox.CompleteAll) for thread in mailbox.Thread),
    mailbox.SuspendLoop(OTHER),
    *(mailbox.Resume(handle, thread) for handle in (0, 1) for thread in mailbox.Thread),
    mailbox.Resume(-1, OTHER),
)
ENDS: tuple[mailbox.Event, ...] = (
    LOW,
    FOREIGN,
    *(mailbox.MakeBatch(), mailbox.TakeFromBatch(), mailbox.Loop(), mailbox.Step(), mailbox.Drain()),
    *(make(thread) for make in (mailbox.Quiesce, mailbox.Close) for thread in mailbox.Thread),
)
LATE: tuple[mailbox.Event, ...] = (
    *(
        mailbox.SuspendDefault(MAILBOX),
        mailbox.CompleteAll(OTHER),
        mailbox.SuspendLoop(MAILBOX),
        mailbox.Quiesce(MAILBOX),
        mailbox.Close(MAILBOX),
    ),
    *(mailbox.Loop(), mailbox.Take(0), mailbox.HasMail()),
    *(mailbox.Resume(0, thread) for thread in mailbox.Thread),
)


FAILING: tuple[mailbox.Event, ...] = (
    LOW,
    mailbox.PutFailing(6, 0, OTHER),
    mailbox.PutTogether((7, 8), 0, MAILBOX),
    mailbox.SuspendDefault(MAILBOX),
    mailbox.Quiesce(MAILBOX),
    *(mailbox.Loop(), mailbox.Step(), mailbox.Drain(), mailbox.AskIdle()),
)

LATENESS = "the default action suspended and resumed, the loop stopped, both before and after it is quiesced or closed"


@attrs.frozen
class Part:
    """A part of what the mailbox does: what is played, and how much may wait."""

    name: str
    events: tuple[mailbox.Event, ...]
    mails: int
    handles: int
    covers: str
    extension: str | None = None


def make_scope(part: Part, semantics: str) -> Scope:
    return Scope(
        name=f"{semantics}-{part.name}",
        component="mailbox",
        configs=(mailbox.Config(semantics, part.extension),),
        alphabet=lambda _config, _state: part.events,
        covers=f"{semantics}; {part.covers}",
        cap=f"at most {counted(part.mails, 'mail')} waiting and {counted(part.handles, 'suspension')} so far",
        expand=make_cap(part),
    )


def make_cap(part: Part) -> Callable[[mailbox.State], bool]:
    return lambda state: len(state.batch) + len(state.queue) <= part.mails and state.handles <= part.handles


def make_parts(orders: int, loops: int, handles: int, ends: int) -> Iterator[Part]:
    yield Part(
        "orders",
        ORDERS,
        orders,
        0,
        "mails of two priorities, deferrable ones, urgent ones of either thread; batches, takes of three priorities",
    )
    yield Part(
        "loops",
        LOOPS,
        loops,
        handles,
        "a normal and an urgent mail, the loop and single steps, the default action suspended and resumed, the loop "
        "stopped for now and for good, by either thread; refused: suspending twice or from outside, unknown handles",
    )
    yield Part("late", LATE, 1, 1, LATENESS)
    told = "mails that fail, mails that are put together, and whether the mailbox is idle; refused: what comes too late"
    yield Part("failing", FAILING, 2, 1, told, mailbox.FAILURES)
    yield Part(
        "ends",
        ENDS,
        ends,
        0,
        "a normal and an urgent mail, quiesced, drained and closed, by either thread; refused: what comes after that, "
        "and ending from outside",
    )


def make_scopes(orders: int, loops: int, handles: int, ends: int) -> Iterator[Scope]:
    for semantics in mailbox.SEMANTICS:
        yield from (make_scope(part, semantics) for part in make_parts(orders, loops, handles, ends))


def small() -> Iterator[Scope]:
    return make_scopes(orders=2, loops=1, handles=2, ends=2)


def thorough() -> Iterator[Scope]:
    return make_scopes(orders=3, loops=2, handles=2, ends=3)
