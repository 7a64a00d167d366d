"""One reader over one pipelined subpartition: CREDIT-19 … CREDIT-26, SUBP-5 … SUBP-7, SUBP-10 … SUBP-13, SUBP-17.

`wake` is what a notification does, `write` the write loop of the connection; everything else only changes the queue.
"""

from collections import deque

from tidegate.conformance.engines import wire


class CreditSender:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug
        self.initial = wire.get_at_least(config, "initial_credit", 0)
        self.credit = self.initial
        self.queue: deque[str] = deque()
        #: How many of the queued items are data.
        self.data = 0
        self.flush_requested = False
        self.blocked = False
        self.finished = False
        self.writable = True
        self.registered = False
        self.sequence = 0

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind in {"data", "event", "barrier"}:
            return wire.rejected() if self.is_over(kind) else self.on_add(kind)
        if kind == "flush":
            return self.on_flush()
        if kind == "credit":
            return self.on_credit(wire.get_integer(event, "amount"))
        if kind == "resume":
            return self.on_resume()
        if kind == "writable":
            return self.on_writable(value=wire.get_boolean(event, "value"))
        if kind == "finish":
            return wire.rejected() if self.is_over("finish") else self.on_finish()
        raise wire.unknown_type(event)

    def is_over(self, kind: str) -> bool:
        return self.finished and self.bug != f"sender-{kind}-after-finish"

    def count_finished(self) -> int:
        """How many queued items the reader knows to be finished."""
        queued = len(self.queue)
        if queued == 1:
            return int(self.queue[0] != "data" or self.bug != "sender-single-buffer-unfinished")
        return max(0, queued - 1)

    def count_backlog(self) -> int:
        bug = self.bug
        if not self.queue or (self.blocked and bug != "sender-backlog-while-blocked"):
            return 0
        if bug == "sender-backlog-counts-events":
            return max(0, len(self.queue) - (self.queue[-1] == "data" and not self.flush_requested))
        whole = self.flush_requested or self.finished or self.queue[-1] != "data"
        if bug == "sender-backlog-counts-open-buffer":
            whole = True
        elif bug == "sender-backlog-ignores-last-event":
            whole = self.flush_requested or self.finished
        elif bug == "sender-backlog-ignores-flush":
            whole = self.finished or self.queue[-1] != "data"
        elif bug == "sender-backlog-forgets-end":
            whole = self.flush_requested or self.queue[-1] not in {"data", "end"}
        return self.data if whole else max(0, self.data - 1)

    def is_sendable(self) -> bool:
        bug = self.bug
        if self.blocked or not self.queue:
            return False
        if not (self.flush_requested or self.count_finished()):
            return False
        if self.queue[0] != "data" and bug != "sender-events-wait-for-credit":
            return True
        return self.credit >= 0 if bug == "sender-credit-off-by-one" else self.credit > 0

    def wake(self) -> wire.Observations:
        bug = self.bug
        if self.registered:
            return self.announce() if bug == "sender-announces-while-queued" else []
        if self.is_sendable():
            if self.writable or bug != "sender-unwritable-wake-lost":
                self.registered = True
            return self.write()
        if bug == "sender-announcement-waits-for-writable" and not self.writable:
            return []
        return self.announce()

    def announce(self) -> wire.Observations:
        bug = self.bug
        backlog = self.count_backlog()
        if backlog == 0 or bug == "sender-never-announces" or self.credit > 0:
            return []
        if self.initial > 0 and bug != "sender-announces-with-initial-credit":
            return []
        return [{"type": "backlog", "backlog": backlog & 0xFF if bug == "sender-announces-in-a-byte" else backlog}]

    def write(self) -> wire.Observations:
        bug = self.bug
        out: wire.Observations = []
        while self.registered and (self.writable or bug == "sender-writes-unwritable"):
            self.registered = False
            if not self.queue or self.blocked:
                break
            out.append(self.take())
            self.registered = self.is_sendable()
            if bug == "sender-one-item-per-wake":
                self.registered = False
            elif bug == "sender-announces-from-write-loop" and not self.registered:
                out += self.announce()
        return out

    def take(self) -> wire.Json:
        bug = self.bug
        if len(self.queue) == 1 or bug == "sender-flush-ends-at-first-item":
            self.flush_requested = bug == "sender-flush-never-ends" and self.flush_requested
        item = self.queue.popleft()
        if item == "data":
            self.data -= 1
            self.credit -= 1
        elif bug == "sender-events-cost-credit":
            self.credit = max(0, self.credit - 1)
        backlog = self.count_backlog()
        if item == "barrier" and bug != "sender-barrier-does-not-block":
            self.blocked = True
            if bug != "sender-barrier-reports-backlog":
                backlog = self.count_backlog()
        elif item == "event" and bug == "sender-every-event-blocks":
            self.blocked = True
            backlog = 0
        sequence = self.sequence
        if item == "data" or bug != "sender-events-unnumbered":
            self.sequence += 1
        if bug == "sender-sequence-in-5-bits":
            self.sequence &= 31
        return {"type": "send", "kind": "data" if item == "data" else "event", "sequence": sequence, "backlog": backlog}

    def on_add(self, kind: str) -> wire.Observations:
        bug = self.bug
        self.queue.append(kind)
        self.data += kind == "data"
        if kind == "barrier" and bug == "sender-barrier-blocks-when-queued":
            self.blocked = True
        if self.blocked or (self.flush_requested and bug != "sender-add-wakes-during-flush"):
            return []
        finished = self.count_finished()
        if finished == 1 or (finished > 1 and bug == "sender-every-add-wakes"):
            return self.wake()
        return []

    def on_flush(self) -> wire.Observations:
        bug = self.bug
        if not self.queue or self.flush_requested:
            return []
        single = len(self.queue) == 1
        if bug == "sender-flush-while-blocked-lost" and self.blocked:
            return []
        if bug == "sender-flush-single-only" and not single:
            return []
        if bug == "sender-flush-needs-data" and self.queue[-1] != "data":
            return []
        self.flush_requested = True
        if self.blocked or not (single or bug == "sender-every-flush-wakes"):
            return []
        return [] if bug == "sender-flush-does-not-wake" else self.wake()

    def on_credit(self, amount: int) -> wire.Observations:
        bug = self.bug
        if amount < 1 and not (amount == 0 and bug == "sender-zero-credit-accepted"):
            if bug == "sender-rejected-credit-counts":
                self.credit = max(0, self.credit + amount)
            return wire.rejected()
        lost = (
            (bug == "sender-credit-while-blocked-lost" and self.blocked)
            or (bug == "sender-credit-while-unwritable-lost" and not self.writable)
            or (bug == "sender-credit-after-finish-lost" and self.finished)
        )
        if lost:
            return []
        self.credit = amount if bug == "sender-credit-replaces" else self.credit + amount
        return [] if bug == "sender-credit-does-not-wake" else self.wake()

    def on_resume(self) -> wire.Observations:
        bug = self.bug
        if not self.blocked:
            if bug == "sender-rejected-resume-clears-credit" and self.initial == 0:
                self.credit = 0
            return wire.rejected()
        self.blocked = False
        if bug == "sender-resume-clears-all-credit" or (self.initial == 0 and bug != "sender-resume-keeps-credit"):
            self.credit = 0
        elif bug == "sender-resume-restores-initial":
            self.credit = self.initial
        if bug == "sender-resume-restarts-sequence":
            self.sequence = 0
        return [] if bug == "sender-resume-does-not-wake" else self.wake()

    def on_writable(self, *, value: bool) -> wire.Observations:
        self.writable = value
        return self.write() if value else []

    def on_finish(self) -> wire.Observations:
        bug = self.bug
        self.finished = True
        self.queue.append("end")
        if bug == "sender-finish-drops-queue":
            self.queue = deque(["end"])
            self.data = 0
        if bug == "sender-finish-wakes-as-add":
            if self.flush_requested or self.blocked or self.count_finished() != 1:
                return []
        elif bug == "sender-finish-resumes":
            self.blocked = False
        return self.wake()


make = CreditSender
