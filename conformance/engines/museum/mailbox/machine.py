"""The mailbox, MBOX-1 … MBOX-12, MBOX-16 … MBOX-18.

Two lists: `queue`, which everybody puts into, and `batch`, which the loop works off. Their front is the end of the
list, so that urgent mails are appended and what comes next is popped.
"""

import attrs

from tidegate.conformance.engines import wire

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


def read_mail(event: wire.Json, bug: str) -> Mail:
    kind, priority = wire.get_choice(event, "kind", _KINDS), get_priority(event)
    if kind == "deferrable" and bug != "mailbox-deferrable-keeps-priority":
        priority = _LOWEST
    return Mail(wire.get_integer(event, "mail"), priority, urgent=kind == "urgent")


class Mailbox:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug
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
            mail, thread = read_mail(event, self.bug), wire.get_choice(event, "thread", _THREADS)
            return self.put(mail, thread) if self.accepts or self.bug == "mailbox-quiesced-accepts" else wire.rejected()
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

    def on_extension(self, kind: str, event: wire.Json) -> wire.Observations:
        bug = self.bug
        if kind == "ask_idle":
            accepts = self.accepts or bug == "mailbox-idle-at-the-end"
            idle = self.suspension is not None and accepts
            return [{"type": "idle", "value": idle and (not self.has_mail() or bug == "mailbox-idle-with-mail")}]
        priority, thread = get_priority(event), wire.get_choice(event, "thread", _THREADS)
        numbers = wire.get_integers(event, "mails") if kind == "put_together" else [wire.get_integer(event, "mail")]
        if not self.accepts:
            return wire.rejected()
        if bug == "mailbox-together-backwards":
            numbers.reverse()
        for number in numbers:
            self.put(Mail(number, priority, fails=kind == "put_failing"), thread)
        return []

    def has_failed(self, mail: Mail) -> bool:
        return mail.fails and self.bug != "mailbox-failures-swallowed"

    def on_plain(self, event: wire.Json) -> wire.Observations:
        match event.get("type"):
            case "batch":
                self.make_batch()
                return [{"type": "batch", "available": bool(self.batch)}]
            case "take_from_batch":
                return self.run_one(self.take_from_batch()) if self.gives else wire.rejected()
            case "loop":
                return self.on_loop()
            case "step":
                return self.on_step()
            case "drain":
                return self.on_drain()
            case "has_mail":
                return [{"type": "has_mail", "value": self.has_mail()}]
        raise wire.unknown_type(event)

    # --- where mails wait

    def put(self, mail: Mail, thread: str) -> wire.Observations:
        bug, own = self.bug, thread == "mailbox"
        if not mail.urgent:
            self.queue.insert(0, mail)
        elif self.latest_first:
            (self.batch if own or bug == "mailbox-others-put-first-into-batch" else self.queue).append(mail)
        elif bug == "mailbox-urgent-behind-the-batch":
            self.queue.append(mail)
        else:
            overtakes = own and bool(self.batch)
            if bug != "mailbox-own-urgent-overtakes-urgent":
                overtakes = overtakes and not self.begins_urgent(self.batch) and not self.begins_urgent(self.queue)
            (self.batch if overtakes else self.queue).append(mail)
        return []

    def begins_urgent(self, mails: list[Mail]) -> bool:
        return bool(mails) and mails[-1].urgent

    def let_urgent_in(self) -> None:
        """The urgent mails of the queue, which stand there the latest first, go to the front of the batch."""
        moved = []
        while self.begins_urgent(self.queue):
            moved.append(self.queue.pop())
        self.batch += moved[::-1] if self.bug == "mailbox-urgent-latest-first" else moved

    def make_room(self) -> None:
        if self.latest_first or self.bug == "mailbox-urgent-behind-the-batch":
            return
        if not self.begins_urgent(self.batch) or self.bug == "mailbox-urgent-pushes-in":
            self.let_urgent_in()

    def make_batch(self) -> None:
        bug = self.bug
        if not self.latest_first and bug != "mailbox-batch-grows":
            if self.batch and (self.begins_urgent(self.batch) or not self.begins_urgent(self.queue)):
                return
            self.let_urgent_in()
        if bug == "mailbox-new-batch-first":
            self.batch += self.queue
        else:
            self.batch[:0] = self.queue
        self.queue.clear()

    def take_from_batch(self) -> Mail | None:
        self.make_room()
        if self.bug == "mailbox-batch-takes-from-queue" and not self.batch:
            return self.queue.pop() if self.queue else None
        return self.batch.pop() if self.batch else None

    def take(self, priority: int) -> Mail | None:
        bug = self.bug
        self.make_room()
        if bug == "mailbox-batch-heeds-no-priority" and self.batch:
            return self.batch.pop()
        places = [self.queue, self.batch] if bug == "mailbox-queue-before-batch" else [self.batch, self.queue]
        found = [(mails, mail) for mails in places for mail in reversed(mails) if mail.priority >= priority]
        if bug == "mailbox-strictly-higher-priority" and priority > _LOWEST:
            found = [(mails, mail) for mails, mail in found if mail.priority > priority]
        if not found:
            return None
        if bug == "mailbox-highest-priority-first":
            found.sort(key=lambda pair: -pair[1].priority)
        mails, mail = found[0]
        mails.remove(mail)
        return mail

    def has_mail(self) -> bool:
        if self.bug == "mailbox-asks-the-queue-only":
            return bool(self.queue)
        return bool(self.batch or (self.queue and self.bug != "mailbox-asks-the-batch-only"))

    # --- what runs them

    def run(self, mail: Mail) -> wire.Json:
        bug = self.bug
        if mail.order == "resume":
            if mail.number == self.suspension or bug == "mailbox-stale-handle-resumes":
                self.suspension = None
        elif mail.order:
            self.left = True
            self.ended = self.ended or mail.order == "end" or bug == "mailbox-left-for-good"
        return mail.show()

    def run_one(self, mail: Mail | None) -> wire.Observations:
        return [dict(_NOTHING)] if mail is None else [self.run(mail)]

    def on_take(self, priority: int) -> wire.Observations:
        if not self.gives or (not self.accepts and self.bug == "mailbox-quiesced-gives-nothing"):
            return wire.rejected()
        return self.run_one(self.take(priority))

    def on_loop(self) -> wire.Observations:
        bug = self.bug
        if not self.accepts and not (bug == "mailbox-quiesced-loops" and self.gives):
            return wire.rejected()
        if self.ended:
            return [{"type": "stopped"}]
        self.left = False
        out: wire.Observations = []
        self.make_batch()
        while (not self.left or bug == "mailbox-batch-outruns-the-end") and (mail := self.take_from_batch()):
            out.append(self.run(mail))
            if self.has_failed(mail):
                return out
        while not self.left and self.suspension is not None:
            mail = self.take_from_batch() if bug == "mailbox-sleeper-asks-the-batch-only" else self.take(_LOWEST)
            if mail is None:
                return [*out, {"type": "wait"}]
            out.append(self.run(mail))
            if self.has_failed(mail):
                return out
            if bug == "mailbox-resumed-by-any-mail":
                break
        if self.left and bug != "mailbox-default-before-the-end":
            return [*out, {"type": "stopped"}]
        return [*out, dict(_DEFAULT)]

    def on_step(self) -> wire.Observations:
        bug = self.bug
        self.make_batch()
        if self.ended and bug != "mailbox-step-after-the-end":
            return [dict(_NOTHING)]
        if self.batch and bug != "mailbox-step-runs-default-first":
            return self.run_one(self.take_from_batch())
        if self.suspension is None or bug == "mailbox-step-runs-suspended":
            return [dict(_DEFAULT)]
        return self.run_one(self.take_from_batch())

    def on_drain(self) -> wire.Observations:
        bug = self.bug
        mails = [*self.batch[::-1], *self.queue[::-1]]
        if bug == "mailbox-drains-the-queue-only":
            mails = self.queue[::-1]
            self.queue = []
            return [self.run(mail) for mail in mails]
        if bug == "mailbox-drains-urgent-first" and not self.latest_first:
            mails.sort(key=lambda mail: not mail.urgent)
        self.batch, self.queue = [], []
        failing = next((place for place, mail in enumerate(mails, start=1) if self.has_failed(mail)), len(mails))
        return [self.run(mail) for mail in mails[:failing]]

    # --- who may do what

    def on_own(self, kind: str, thread: str) -> wire.Observations:
        bug = self.bug
        if thread == "other" and bug != f"mailbox-others-{kind.replace('_', '-')}":
            return wire.rejected()
        if kind == "suspend_default":
            if self.suspension is not None and bug != "mailbox-suspended-twice":
                return wire.rejected()
            self.suspension = self.handles
            self.handles += 1
            if bug == "mailbox-handles-in-a-byte":
                self.suspension &= 0xFF
            return [{"type": "suspended", "handle": self.suspension}]
        self.accepts = False
        if kind == "quiesce":
            return []
        self.gives = bug == "mailbox-closed-still-gives"
        waiting = [*self.batch[::-1], *self.queue[::-1]]
        if bug == "mailbox-drops-the-queue-first":
            waiting = [*self.queue[::-1], *self.batch[::-1]]
        self.batch, self.queue = [], []
        if bug == "mailbox-drops-silently":
            return []
        return [{"type": "dropped", "mail": mail.number} for mail in waiting if not mail.order]

    def on_resume(self, handle: int, thread: str) -> wire.Observations:
        bug = self.bug
        if not 0 <= handle < self.handles:
            return wire.rejected()
        if thread == "mailbox":
            self.run(Mail(handle, _HIGHEST, order="resume"))
            return []
        if not self.accepts:
            return wire.rejected() if bug == "mailbox-late-resume-refused" else []
        if bug == "mailbox-others-resume-at-once":
            self.run(Mail(handle, _HIGHEST, order="resume"))
            return []
        return self.put(Mail(handle, _HIGHEST, urgent=bug != "mailbox-resume-waits-its-turn", order="resume"), thread)

    def on_order(self, order: str, thread: str) -> wire.Observations:
        bug = self.bug
        if not self.accepts:
            return wire.rejected() if bug == "mailbox-late-end-refused" else []
        priority = 0 if bug == "mailbox-end-of-no-priority" else _HIGHEST
        return self.put(Mail(-1, priority, urgent=bug != "mailbox-end-waits-its-turn", order=order), thread)


make = Mailbox
