"""The values of the mailbox: its config, state, events and observations."""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.elements import Nothing, Position, between, one_of

SEMANTICS = ("flink-35051", "flink-14304")

#: Below the priority of every operator: the main loop takes from here on, and deferrable mails stand here.
LEAST_PRIORITY = -1

MOST_PRIORITY = 2**31 - 1

FAILURES = "failures"
EXTENSIONS = (FAILURES,)

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """With the extension `failures` mails may fail or be put together, and the mailbox is asked whether it is idle."""

    semantics: Annotated[
        str,
        "`flink-35051` is the default, Flink 2.1 and later: urgent mails are first come, first served. "
        "`flink-14304` is 1.10 to 2.0: they are put first, the latest first.",
    ] = attrs.field(default=SEMANTICS[0], validator=one_of(*SEMANTICS))
    extension: Annotated[
        str | None,
        "With `failures` there are events `put_failing`, `put_together` and `ask_idle`. Only for engines that "
        "declare it.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*EXTENSIONS)))


# --- state ----------------------------------------------------------------------------------------------------


class Thread(StrEnum):
    """Who does it: the thread of the mailbox, or another one."""

    MAILBOX = "mailbox"
    OTHER = "other"


class Kind(StrEnum):
    NORMAL = "normal"
    URGENT = "urgent"
    DEFERRABLE = "deferrable"


class Life(StrEnum):
    OPEN = "open"
    QUIESCED = "quiesced"
    CLOSED = "closed"


class Order(StrEnum):
    """What a control mail does: resume the default action, end the loop for good, or leave it for now."""

    RESUME = "resume"
    COMPLETE = "complete"
    SUSPEND = "suspend"


@attrs.frozen
class Control:
    order: Order
    handle: int = -1


@attrs.frozen
class Mail:
    """A mail of a user, by its number, or a control mail. One that `fails` throws an exception when it is run."""

    content: int | Control
    priority: int
    kind: Kind = Kind.URGENT
    fails: bool = False


@attrs.frozen
class State:
    """`suspension` is the handle of the present suspension of the default action; `handles` were given out so far."""

    config: Config
    batch: tuple[Mail, ...] = ()
    queue: tuple[Mail, ...] = ()
    life: Life = Life.OPEN
    running: bool = True
    suspension: int | None = None
    handles: int = 0


# --- events ---------------------------------------------------------------------------------------------------

MailNumber = Annotated[int, "The number of a mail, chosen by the sender."]

Priority = Annotated[int, "The place of an operator in its chain; -1 is below all of them."]


@attrs.frozen
class Put:
    """A mail is put. An urgent one under `flink-14304` is one that is put first."""

    type: ClassVar[str] = "put"
    mail: MailNumber
    priority: Priority = attrs.field(validator=between(LEAST_PRIORITY, MOST_PRIORITY))
    kind: Annotated[
        Kind,
        "An `urgent` mail goes before all others; a `deferrable` one counts as priority -1, whatever its own.",
    ]
    thread: Thread


@attrs.frozen
class MakeBatch:
    """The mailbox's thread makes a batch of what is queued."""

    type: ClassVar[str] = "batch"


@attrs.frozen
class TakeFromBatch:
    """The mailbox's thread runs the next mail of the batch."""

    type: ClassVar[str] = "take_from_batch"


@attrs.frozen
class Take:
    """The mailbox's thread runs the next mail of at least that priority, as an operator does that yields."""

    type: ClassVar[str] = "take"
    priority: Priority = attrs.field(validator=between(LEAST_PRIORITY, MOST_PRIORITY))


@attrs.frozen
class Loop:
    """The loop is entered, and left after one default action, or where it would wait, or where it was stopped."""

    type: ClassVar[str] = "loop"


@attrs.frozen
class Step:
    """A single step: one mail, else one default action."""

    type: ClassVar[str] = "step"


@attrs.frozen
class SuspendDefault:
    """The default action is suspended."""

    type: ClassVar[str] = "suspend_default"
    thread: Thread


@attrs.frozen
class Resume:
    """The suspension of that handle is ended. Handles are counted from 0 in the order in which they were given."""

    type: ClassVar[str] = "resume"
    handle: Annotated[int, "The handle of a suspension, counted from 0. One that was not given is refused."]
    thread: Thread


@attrs.frozen
class CompleteAll:
    """All actions are completed: the loop is to end for good."""

    type: ClassVar[str] = "complete"
    thread: Thread


@attrs.frozen
class SuspendLoop:
    """The loop is to be left; it may be entered again."""

    type: ClassVar[str] = "suspend_loop"
    thread: Thread


@attrs.frozen
class Quiesce:
    """No more mails are accepted."""

    type: ClassVar[str] = "quiesce"
    thread: Thread


@attrs.frozen
class Close:
    """No more mails are accepted nor run; those that wait are dropped."""

    type: ClassVar[str] = "close"
    thread: Thread


@attrs.frozen
class Drain:
    """Everything that waits is run, once."""

    type: ClassVar[str] = "drain"


@attrs.frozen
class HasMail:
    """The mailbox is asked whether mail waits."""

    type: ClassVar[str] = "has_mail"


@attrs.frozen
class PutFailing:
    """A mail is put that will fail. With the extension `failures`."""

    type: ClassVar[str] = "put_failing"
    mail: MailNumber
    priority: Priority = attrs.field(validator=between(LEAST_PRIORITY, MOST_PRIORITY))
    thread: Thread


@attrs.frozen
class PutTogether:
    """Mails are put together: nothing comes in between. With the extension `failures`."""

    type: ClassVar[str] = "put_together"
    mails: Annotated[tuple[MailNumber, ...], "In their order."]
    priority: Priority = attrs.field(validator=between(LEAST_PRIORITY, MOST_PRIORITY))
    thread: Thread


@attrs.frozen
class AskIdle:
    """The mailbox is asked whether it is idle. With the extension `failures`."""

    type: ClassVar[str] = "ask_idle"


OfFailures = PutFailing | PutTogether | AskIdle
Event = (
    Put
    | MakeBatch
    | TakeFromBatch
    | Take
    | Loop
    | Step
    | SuspendDefault
    | Resume
    | CompleteAll
    | SuspendLoop
    | Quiesce
    | Close
    | Drain
    | HasMail
    | PutFailing
    | PutTogether
    | AskIdle
)

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class MailRun:
    """A mail is run."""

    type: ClassVar[str] = "run"
    mail: MailNumber


@attrs.frozen
class ControlRun:
    """A control mail is run: one that resumes the default action, or stops the loop."""

    type: ClassVar[str] = "control"


@attrs.frozen
class DefaultRun:
    """The default action is run."""

    type: ClassVar[str] = "default"


@attrs.frozen
class Waiting:
    """The default action is suspended and there is no mail: the loop waits."""

    type: ClassVar[str] = "wait"


@attrs.frozen
class Stopped:
    """The loop has ended without another default action."""

    type: ClassVar[str] = "stopped"


@attrs.frozen
class BatchMade:
    """Whether the batch holds a mail."""

    type: ClassVar[str] = "batch"
    available: Annotated[bool, "Whether it holds one."]


@attrs.frozen
class Suspended:
    """The default action is suspended, under this handle."""

    type: ClassVar[str] = "suspended"
    handle: Annotated[Position, "The handle, counted from 0."]


@attrs.frozen
class Dropped:
    """A mail is dropped, and whoever waits for it is told so."""

    type: ClassVar[str] = "dropped"
    mail: MailNumber


@attrs.frozen
class MailWaiting:
    """Whether mail waits, in the batch or in the queue."""

    type: ClassVar[str] = "has_mail"
    value: Annotated[bool, "Whether mail waits."]


@attrs.frozen
class MailFailed:
    """A mail is run and fails; whoever runs it gets the exception."""

    type: ClassVar[str] = "failed"
    mail: MailNumber


@attrs.frozen
class Idle:
    """Whether there is nothing to do."""

    type: ClassVar[str] = "idle"
    value: Annotated[bool, "Nothing is left to be done."]


Observation = (
    MailRun
    | ControlRun
    | DefaultRun
    | Waiting
    | Stopped
    | Nothing
    | BatchMade
    | Suspended
    | Dropped
    | MailWaiting
    | MailFailed
    | Idle
)
