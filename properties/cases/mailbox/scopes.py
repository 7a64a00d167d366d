"""Scopes of the mailbox: the order of mails, the loop with its suspensions, and the end, each on its own.

Mails are numbered by what they are, so that whichever is run can be told from the others.
"""

from collections.abc import Callable, Iterator

import attrs

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.mailbox.values import (
    SEMANTICS,
    Close,
    CompleteAll,
    Config,
    Drain,
    Event,
    HasMail,
    Kind,
    Loop,
    MakeBatch,
    Put,
    Quiesce,
    Resume,
    State,
    Step,
    SuspendDefault,
    SuspendLoop,
    Take,
    TakeFromBatch,
    Thread,
)

MAILBOX, OTHER = Thread.MAILBOX, Thread.OTHER
LOW, HIGH = Put(1, 0, Kind.NORMAL, OTHER), Put(2, 1, Kind.NORMAL, MAILBOX)
OWN, FOREIGN = Put(3, 0, Kind.URGENT, MAILBOX), Put(4, 1, Kind.URGENT, OTHER)
DEFERRED = Put(5, 1, Kind.DEFERRABLE, MAILBOX)
TAKING: tuple[Event, ...] = (MakeBatch(), TakeFromBatch(), Take(-1), Take(0), Take(1), HasMail())

ORDERS: tuple[Event, ...] = (LOW, HIGH, OWN, FOREIGN, DEFERRED, *TAKING, Loop())
LOOPS: tuple[Event, ...] = (
    LOW,
    OWN,
    *(MakeBatch(), TakeFromBatch(), Take(1), Loop(), Step()),
    *(make(thread) for make in (SuspendDefault, CompleteAll) for thread in Thread),
    SuspendLoop(OTHER),
    *(Resume(handle, thread) for handle in (0, 1) for thread in Thread),
    Resume(-1, OTHER),
)
ENDS: tuple[Event, ...] = (
    LOW,
    FOREIGN,
    *(MakeBatch(), TakeFromBatch(), Loop(), Step(), Drain()),
    *(make(thread) for make in (Quiesce, Close) for thread in Thread),
)
LATE: tuple[Event, ...] = (
    *(SuspendDefault(MAILBOX), CompleteAll(OTHER), SuspendLoop(MAILBOX), Quiesce(MAILBOX), Close(MAILBOX)),
    *(Loop(), Take(0), HasMail()),
    *(Resume(0, thread) for thread in Thread),
)


LATENESS = "the default action suspended and resumed, the loop stopped, both before and after it is quiesced or closed"


@attrs.frozen
class Part:
    """A part of what the mailbox does: what is played, and how much may wait."""

    name: str
    events: tuple[Event, ...]
    mails: int
    handles: int
    covers: str


def make_scope(part: Part, semantics: str) -> Scope:
    return Scope(
        name=f"{semantics}-{part.name}",
        component="mailbox",
        configs=(Config(semantics),),
        alphabet=lambda _config, _state: part.events,
        covers=f"{semantics}; {part.covers}",
        cap=f"at most {counted(part.mails, 'mail')} waiting and {counted(part.handles, 'suspension')} so far",
        expand=make_cap(part),
    )


def make_cap(part: Part) -> Callable[[State], bool]:
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
    yield Part(
        "ends",
        ENDS,
        ends,
        0,
        "a normal and an urgent mail, quiesced, drained and closed, by either thread; refused: what comes after that, "
        "and ending from outside",
    )


def make_scopes(orders: int, loops: int, handles: int, ends: int) -> Iterator[Scope]:
    for semantics in SEMANTICS:
        yield from (make_scope(part, semantics) for part in make_parts(orders, loops, handles, ends))


def small() -> Iterator[Scope]:
    return make_scopes(orders=2, loops=1, handles=2, ends=2)


def thorough() -> Iterator[Scope]:
    return make_scopes(orders=3, loops=2, handles=2, ends=3)
