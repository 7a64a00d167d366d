"""The mailbox, MBOX-1 … MBOX-12, MBOX-16 … MBOX-18.

Two lists: `queue`, which everybody puts into, and `batch`, which the loop works off. Their front is the end of the
list, so that urgent mails are appended and what comes next is popped.
"""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

SEMANTICS = ("flink-35051", "flink-14304")
EXTENSIONS = ("failures",)

_LOWEST = -1
_HIGHEST = 2**31 - 1
_THREADS = ("mailbox", "other")
_KINDS = ("normal", "urgent", "deferrable")
_ORDERS = {"complete": "end", "suspend_loop": "leave"}
_DEFAULT: wire.Json = {"type": "default"}
_NOTHING: wire.Json = {"type": "none"}


@attrs.define(eq=False)
class Mail:
    """A mail; one with an order is the mailbox's own, and tells the loop what to do."""

    number: int
    priority: int
    urgent: bool = False
    order: str = ""
    fails: bool = False

    def show(self) -> wire.Json:
        if self.order:
            return {"type": "control"}
        return {"type": "failed" if self.fails else "run", "mail": self.number}


def get_priority(event: wire.Json) -> int:
    priority = wire.get_integer(event, "priority")
    if not _LOWEST <= priority <= _HIGHEST:
        raise wire.BadRequestError(f"no priority: {priority}")
    return priority


def is_urgent_first(mails: list[Mail]) -> bool:
    return bool(mails) and mails[-1].urgent


class Mailbox:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.latest_first = wire.get_semantics(config, SEMANTICS) == "flink-14304"
        self.may_fail = wire.get_extension(config, EXTENSIONS) is not None
        self.queue: list[Mail] = []
        self.batch: list[Mail] = []
        self.gives = True
        self.accepts = True
        self.ended = False
        self.left = False
        self.suspension: int | None = None
        self.handles = 0

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "put":
            mail, thread = self.read_mail(event), wire.get_choice(event, "thread", _THREADS)
            return self.put(mail, thread) if self.accepts else wire.rejected()
        if kind in {"put_failing", "put_together", "ask_idle"} and self.may_fail:
            return self.on_extension(kind, event)
        if kind == "take":
            return self.on_take(get_priority(event))
        if kind in {"suspend_default", "quiesce", "close"}:
            return self.on_own(kind, wire.get_choice(event, "thread", _THREADS))
        if kind == "resume":
            return self.on_resume(wire.get_integer(event, "handle"), wire.get_choice(event, "thread", _THREADS))
        if kind in _ORDERS:
            return self.on_order(_ORDERS[kind], wire.get_choice(event, "thread", _THREADS))
        return self.on_plain(event)

    def read_mail(self, event: wire.Json) -> Mail:
        kind, priority = wire.get_choice(event, "kind", _KINDS), get_priority(event)
        if kind == "deferrable":
            priority = _LOWEST
        return Mail(wire.get_integer(event, "mail"), priority, urgent=kind == "urgent")

    def on_extension(self, kind: str, event: wire.Json) -> wire.Observations:
        if kind == "ask_idle":
            return [{"type": "idle", "value": self.suspension is not None and self.accepts and not self.has_mail()}]
        priority, thread = get_priority(event), wire.get_choice(event, "thread", _THREADS)
        numbers = wire.get_integers(event, "mails") if kind == "put_together" else [wire.get_integer(event, "mail")]
        if not self.accepts:
            return wire.rejected()
        for number in numbers:
            self.put(Mail(number, priority, fails=kind == "put_failing"), thread)
        return []

    def on_plain(self, event: wire.Json) -> wire.Observations:
        match event.get("type"):
            case "batch":
                self.make_batch()
                return [{"type": "batch", "available": bool(self.batch)}]
            case "take_from_batch":
                return self.run_one(self.take_from_batch()) if self.gives else wire.rejected()
            case "loop":
                return self.on_loop() if self.accepts else wire.rejected()
            case "step":
                return self.on_step()
            case "drain":
                return self.on_drain()
            case "has_mail":
                return [{"type": "has_mail", "value": self.has_mail()}]
        raise wire.unknown_type(event)

    # --- where mails wait

    def put(self, mail: Mail, thread: str) -> wire.Observations:
        own = thread == "mailbox"
        if not mail.urgent:
            self.queue.insert(0, mail)
        elif self.latest_first:
            (self.batch if own else self.queue).append(mail)
        else:
            overtakes = own and self.batch and not is_urgent_first(self.batch) and not is_urgent_first(self.queue)
            (self.batch if overtakes else self.queue).append(mail)
        return []

    def let_urgent_in(self) -> None:
        """The urgent mails of the queue, which stand there the latest first, go to the front of the batch."""
        while is_urgent_first(self.queue):
            self.batch.append(self.queue.pop())

    def make_room(self) -> None:
        if not self.latest_first and not is_urgent_first(self.batch):
            self.let_urgent_in()

    def make_batch(self) -> None:
        if not self.latest_first:
            if self.batch and (is_urgent_first(self.batch) or not is_urgent_first(self.queue)):
                return
            self.let_urgent_in()
        self.batch[:0] = self.queue
        self.queue.clear()

    def take_from_batch(self) -> Mail | None:
        self.make_room()
        return self.batch.pop() if self.batch else None

    def take(self, priority: int) -> Mail | None:
        self.make_room()
        places = (self.batch, self.queue)
        found = [(mails, mail) for mails in places for mail in reversed(mails) if mail.priority >= priority]
        if not found:
            return None
        mails, mail = found[0]
        mails.remove(mail)
        return mail

    def has_mail(self) -> bool:
        return bool(self.batch or self.queue)

    # --- what runs them

    def run(self, mail: Mail) -> wire.Json:
        if mail.order == "resume":
            if mail.number == self.suspension:
                self.suspension = None
        elif mail.order:
            self.left = True
            self.ended = self.ended or mail.order == "end"
        return mail.show()

    def run_one(self, mail: Mail | None) -> wire.Observations:
        return [dict(_NOTHING)] if mail is None else [self.run(mail)]

    def on_take(self, priority: int) -> wire.Observations:
        return self.run_one(self.take(priority)) if self.gives else wire.rejected()

    def on_loop(self) -> wire.Observations:
        if self.ended:
            return [{"type": "stopped"}]
        self.left = False
        out: wire.Observations = []
        self.make_batch()
        while not self.left and (mail := self.take_from_batch()):
            out.append(self.run(mail))
            if mail.fails:
                return out
        while not self.left and self.suspension is not None:
            if not (mail := self.take(_LOWEST)):
                return [*out, {"type": "wait"}]
            out.append(self.run(mail))
            if mail.fails:
                return out
        return [*out, {"type": "stopped"} if self.left else dict(_DEFAULT)]

    def on_step(self) -> wire.Observations:
        self.make_batch()
        if self.ended:
            return [dict(_NOTHING)]
        if self.batch or self.suspension is not None:
            return self.run_one(self.take_from_batch())
        return [dict(_DEFAULT)]

    def on_drain(self) -> wire.Observations:
        mails = [*self.batch[::-1], *self.queue[::-1]]
        self.batch, self.queue = [], []
        out: wire.Observations = []
        for mail in mails:
            out.append(self.run(mail))
            if mail.fails:
                break
        return out

    # --- who may do what

    def on_own(self, kind: str, thread: str) -> wire.Observations:
        if thread == "other":
            return wire.rejected()
        if kind == "suspend_default":
            return self.on_suspend_default()
        self.accepts = False
        return self.on_close() if kind == "close" else []

    def on_suspend_default(self) -> wire.Observations:
        if self.suspension is not None:
            return wire.rejected()
        self.suspension = self.handles
        self.handles += 1
        return [{"type": "suspended", "handle": self.suspension}]

    def on_close(self) -> wire.Observations:
        self.gives = False
        waiting = [*self.batch[::-1], *self.queue[::-1]]
        self.batch, self.queue = [], []
        return [{"type": "dropped", "mail": mail.number} for mail in waiting if not mail.order]

    def on_resume(self, handle: int, thread: str) -> wire.Observations:
        if not 0 <= handle < self.handles:
            return wire.rejected()
        mail = Mail(handle, _HIGHEST, urgent=True, order="resume")
        if thread == "mailbox":
            self.run(mail)
            return []
        return self.put(mail, thread) if self.accepts else []

    def on_order(self, order: str, thread: str) -> wire.Observations:
        return self.put(Mail(-1, _HIGHEST, urgent=True, order=order), thread) if self.accepts else []


make = Mailbox

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("MBOX-1", "MBOX-6", "MBOX-7", "MBOX-9")
class MailboxSleeperAsksTheBatchOnly(Mailbox):
    """While the default action is suspended the loop looks for mail in the batch alone, and sleeps on a full
    queue.
    """

    on_loop = changed(Mailbox.on_loop, "self.take(_LOWEST)", "self.take_from_batch()")


@wrong("MBOX-1", "MBOX-6", "MBOX-7")
class MailboxResumedByAnyMail(Mailbox):
    """Any mail wakes a suspended default action."""

    on_loop = changed(
        Mailbox.on_loop, "while not self.left and self.suspension", "if not self.left and self.suspension"
    )


@wrong("MBOX-2", "MBOX-1", "MBOX-5", "MBOX-3", semantics="flink-35051")
class MailboxBatchGrows(Mailbox):
    """What was put meanwhile joins a batch that is being run, so that mails can keep the default action from its
    turn.
    """

    make_batch = changed(Mailbox.make_batch, "not self.latest_first", "False")


@wrong("MBOX-3", "MBOX-1", "MBOX-5", "MBOX-8")
class MailboxNewBatchFirst(Mailbox):
    """What is new goes in front of what is left of the batch."""

    make_batch = changed(Mailbox.make_batch, "self.batch[:0] = self.queue", "self.batch += self.queue")


@wrong("MBOX-5", "MBOX-2", "MBOX-1")
class MailboxBatchTakesFromQueue(Mailbox):
    """When the batch is used up, taking from it goes on with the queue."""

    def take_from_batch(self) -> Mail | None:
        return super().take_from_batch() or (self.queue.pop() if self.queue else None)


@wrong("MBOX-3", "MBOX-5", "MBOX-4", "MBOX-1", "MBOX-8", origin="FLINK-35051", semantics="flink-35051")
class MailboxUrgentBehindTheBatch(Mailbox):
    """Urgent mails stand in front of the queue alone: a barrier waits behind a whole batch of normal mails."""

    put = changed(Mailbox.put, "self.batch if overtakes else self.queue", "self.queue")

    def make_room(self) -> None:
        return


@wrong("MBOX-3", "MBOX-5", "MBOX-4", "MBOX-1", "MBOX-8", origin="Flink 1.10 to 2.0", semantics="flink-35051")
class MailboxUrgentLatestFirst(Mailbox):
    """Of several urgent mails the latest runs first."""

    def let_urgent_in(self) -> None:
        end = len(self.batch)
        while is_urgent_first(self.queue):
            self.batch.insert(end, self.queue.pop())


@wrong("MBOX-3", "MBOX-5", "MBOX-4", "MBOX-1", "MBOX-8", semantics="flink-35051")
class MailboxUrgentPushesIn(Mailbox):
    """Urgent mails are let into a batch that begins with urgent ones, and so overtake them."""

    make_room = changed(Mailbox.make_room, " and not is_urgent_first(self.batch)", "")


@wrong("MBOX-3", "MBOX-5", "MBOX-4", "MBOX-1", "MBOX-8", semantics="flink-35051")
class MailboxOwnUrgentOvertakesUrgent(Mailbox):
    """An urgent mail of the mailbox's own thread goes to the front of the batch, past urgent ones that wait."""

    put = changed(Mailbox.put, " and not is_urgent_first(self.batch) and not is_urgent_first(self.queue)", "")


@wrong("MBOX-3", "MBOX-5", "MBOX-4", "MBOX-2", "MBOX-1", "MBOX-10", "MBOX-8", semantics="flink-14304")
class MailboxOthersPutFirstIntoBatch(Mailbox):
    """What another thread puts first goes into the running batch."""

    put = changed(Mailbox.put, "self.batch if own else self.queue", "self.batch")


@wrong("MBOX-4", "MBOX-3", origin="Flink 1.10, hotfix cc309c5f583")
class MailboxBatchHeedsNoPriority(Mailbox):
    """Taking with a priority gives the head of an open batch whatever its priority: an operator that yields runs
    mails of those before it.
    """

    def take(self, priority: int) -> Mail | None:
        return self.take_from_batch() or super().take(priority)


@wrong("MBOX-4", "MBOX-3")
class MailboxHighestPriorityFirst(Mailbox):
    """Taking with a priority gives the mail of the highest priority instead of the first one that is high enough."""

    take = changed(Mailbox.take, "found[0]", "max(found, key=lambda pair: pair[1].priority)")


@wrong("MBOX-4")
class MailboxStrictlyHigherPriority(Mailbox):
    """Taking with a priority passes over mails of just that priority."""

    take = changed(Mailbox.take, "mail.priority >= priority", "(mail.priority > priority or priority == _LOWEST)")


@wrong("MBOX-4", "MBOX-3")
class MailboxQueueBeforeBatch(Mailbox):
    """Taking with a priority looks into the queue before the batch."""

    take = changed(Mailbox.take, "(self.batch, self.queue)", "(self.queue, self.batch)")


@wrong("MBOX-4")
class MailboxDeferrableKeepsPriority(Mailbox):
    """A deferrable mail has its own priority, and is run by operators that yield."""

    read_mail = changed(Mailbox.read_mail, 'kind == "deferrable"', "False")


@wrong("MBOX-6")
class MailboxSuspendedTwice(Mailbox):
    """A suspended default action can be suspended again, and the first handle is void."""

    on_suspend_default = changed(Mailbox.on_suspend_default, "self.suspension is not None", "False")


@wrong("MBOX-6")
class MailboxOthersSuspendDefault(Mailbox):
    """Another thread may suspend the default action."""

    on_own = changed(Mailbox.on_own, 'thread == "other"', 'thread == "other" and kind != "suspend_default"')


@wrong("MBOX-6", "MBOX-8")
class MailboxStepRunsSuspended(Mailbox):
    """A single step runs the default action although it is suspended."""

    on_step = changed(Mailbox.on_step, " or self.suspension is not None", "")


@wrong("MBOX-7", "MBOX-6", "MBOX-1", "MBOX-8")
class MailboxStaleHandleResumes(Mailbox):
    """The handle of an earlier suspension ends the present one."""

    run = changed(Mailbox.run, "mail.number == self.suspension", "True")


@wrong("MBOX-7", "MBOX-6", "MBOX-12", "MBOX-1", "MBOX-5", "MBOX-4", "MBOX-8")
class MailboxOthersResumeAtOnce(Mailbox):
    """A handle that is used by another thread ends the suspension at once, without a mail."""

    on_resume = changed(Mailbox.on_resume, 'thread == "mailbox"', 'thread == "mailbox" or self.accepts')


@wrong("MBOX-7", "MBOX-3", origin="FLINK-35051")
class MailboxResumeWaitsItsTurn(Mailbox):
    """The mail that resumes the default action is not urgent, and waits behind all others."""

    on_resume = changed(Mailbox.on_resume, "urgent=True", "urgent=False")


@wrong("MBOX-7", "MBOX-10")
class MailboxLateResumeRefused(Mailbox):
    """A handle that is used from outside after the mailbox was quiesced is refused instead of ignored."""

    on_resume = changed(Mailbox.on_resume, "else []", "else wire.rejected()")


@wrong("MBOX-8", "MBOX-3")
class MailboxStepRunsDefaultFirst(Mailbox):
    """A single step prefers the default action to a mail that waits."""

    on_step = changed(Mailbox.on_step, "self.batch or ", "")


@wrong("MBOX-8", "MBOX-9")
class MailboxStepAfterTheEnd(Mailbox):
    """A single step goes on after all actions were completed."""

    on_step = changed(Mailbox.on_step, "self.ended", "False")


@wrong("MBOX-9", "MBOX-1")
class MailboxDefaultBeforeTheEnd(Mailbox):
    """A loop that is told to end runs its default action once more."""

    on_loop = changed(Mailbox.on_loop, '{"type": "stopped"} if self.left else dict(_DEFAULT)', "dict(_DEFAULT)")


@wrong("MBOX-9", "MBOX-1")
class MailboxBatchOutrunsTheEnd(Mailbox):
    """A loop that is told to end runs the rest of its batch before it does."""

    on_loop = changed(Mailbox.on_loop, "not self.left and (mail", "(mail")


@wrong("MBOX-9", "MBOX-1", "MBOX-8")
class MailboxLeftForGood(Mailbox):
    """A loop that was left cannot be entered again."""

    run = changed(Mailbox.run, 'self.ended or mail.order == "end"', "True")


@wrong("MBOX-9", "MBOX-3", "MBOX-1", "MBOX-5", "MBOX-4", "MBOX-8")
class MailboxEndWaitsItsTurn(Mailbox):
    """The mail that ends the loop is not urgent."""

    on_order = changed(Mailbox.on_order, "urgent=True", "urgent=False")


@wrong("MBOX-9", "MBOX-4", "MBOX-3")
class MailboxEndOfNoPriority(Mailbox):
    """An operator that yields passes over the mail that ends the loop."""

    on_order = changed(Mailbox.on_order, "_HIGHEST", "0")


@wrong("MBOX-9", "MBOX-10", origin="FLINK-14544")
class MailboxLateEndRefused(Mailbox):
    """Completing a mailbox that is closed already fails, and with it the cancellation."""

    on_order = changed(Mailbox.on_order, "else []", "else wire.rejected()")


@wrong("MBOX-10")
class MailboxQuiescedAccepts(Mailbox):
    """A quiesced mailbox takes in mails that nobody will run."""

    step = changed(
        Mailbox.step, "self.put(mail, thread) if self.accepts else wire.rejected()", "self.put(mail, thread)"
    )


@wrong("MBOX-10", "MBOX-4")
class MailboxQuiescedGivesNothing(Mailbox):
    """A quiesced mailbox does not give the mails that it has accepted."""

    on_take = changed(Mailbox.on_take, "self.gives", "self.gives and self.accepts")


@wrong("MBOX-10")
class MailboxQuiescedLoops(Mailbox):
    """The loop of a quiesced mailbox can be entered."""

    on_plain = changed(
        Mailbox.on_plain, "self.on_loop() if self.accepts", "self.on_loop() if self.accepts or self.gives"
    )


@wrong("MBOX-10")
class MailboxClosedStillGives(Mailbox):
    """A closed mailbox says that it has no mail instead of refusing."""

    on_close = changed(Mailbox.on_close, "self.gives = False", "")


@wrong("MBOX-10")
class MailboxDropsSilently(Mailbox):
    """Those who wait for a mail that is dropped are not told."""

    def on_close(self) -> wire.Observations:
        super().on_close()
        return []


@wrong("MBOX-10")
class MailboxDropsTheQueueFirst(Mailbox):
    """Closing drops the queue before the batch."""

    on_close = changed(Mailbox.on_close, "*self.batch[::-1], *self.queue[::-1]", "*self.queue[::-1], *self.batch[::-1]")


@wrong("MBOX-10")
class MailboxOthersQuiesce(Mailbox):
    """Another thread may quiesce the mailbox."""

    on_own = changed(Mailbox.on_own, 'thread == "other"', 'thread == "other" and kind != "quiesce"')


@wrong("MBOX-10")
class MailboxOthersClose(Mailbox):
    """Another thread may close the mailbox."""

    on_own = changed(Mailbox.on_own, 'thread == "other"', 'thread == "other" and kind != "close"')


@wrong("MBOX-11")
class MailboxDrainsTheQueueOnly(Mailbox):
    """Draining leaves the batch."""

    def on_drain(self) -> wire.Observations:
        mails, self.queue = self.queue[::-1], []
        return [self.run(mail) for mail in mails]


@wrong("MBOX-11", semantics="flink-35051")
class MailboxDrainsUrgentFirst(Mailbox):
    """Draining runs urgent mails first instead of everything as it stands."""

    on_drain = changed(
        Mailbox.on_drain,
        "self.batch, self.queue = [], []",
        "self.batch, self.queue = [], []\nif not self.latest_first:\n    mails.sort(key=lambda mail: not mail.urgent)",
    )


@wrong("MBOX-12")
class MailboxAsksTheQueueOnly(Mailbox):
    """Whether mail waits is answered from the queue alone."""

    def has_mail(self) -> bool:
        return bool(self.queue)


@wrong("MBOX-12")
class MailboxAsksTheBatchOnly(Mailbox):
    """Whether mail waits is answered from the batch alone."""

    def has_mail(self) -> bool:
        return bool(self.batch)


@wrong("MBOX-16")
class MailboxFailuresSwallowed(Mailbox):
    """A mail that fails is forgotten, and the loop goes on."""

    def run(self, mail: Mail) -> wire.Json:
        shown = super().run(mail)
        mail.fails = False
        return shown


@wrong("MBOX-17")
class MailboxIdleWithMail(Mailbox):
    """A mailbox is idle although mail waits."""

    on_extension = changed(Mailbox.on_extension, " and not self.has_mail()", "")


@wrong("MBOX-17")
class MailboxIdleAtTheEnd(Mailbox):
    """A mailbox that is quiesced is taken for an idle one."""

    on_extension = changed(Mailbox.on_extension, " and self.accepts", "")


@wrong("MBOX-18")
class MailboxTogetherBackwards(Mailbox):
    """Mails that are put together are put the last first."""

    on_extension = changed(Mailbox.on_extension, "for number in numbers:", "numbers.reverse()\nfor number in numbers:")


@wrong("MBOX-7", "MBOX-6", "MBOX-8")
class MailboxHandlesInAByte(Mailbox):
    """Handles are numbered in one byte, so an old one is taken for a new one."""

    on_suspend_default = changed(
        Mailbox.on_suspend_default, "self.suspension = self.handles", "self.suspension = self.handles & 0xFF"
    )
