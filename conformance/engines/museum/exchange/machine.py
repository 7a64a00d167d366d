"""Push and pull, XCHG-1 … XCHG-4.

Items are counted, not kept: a result is how many there are, and a reader is how many it has taken. A pushed result has
one reader, so what is queued is the difference.
"""

import attrs

from tidegate.conformance.engines import wire

_PUSHED = ("pipelined", "pipelined_bounded")
_KINDS = (*_PUSHED, "blocking", "blocking_persistent", "hybrid_full", "hybrid_selective")
_OF_PRODUCER = ("register", "produce", "flush", "finish")
_OF_CONSUMER = ("request", "pull", "leave")


@attrs.define(eq=False)
class Reader:
    taken: int = 0
    left: bool = False


class Exchange:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("exchange-")
        self.kind = wire.get_choice(config, "result", _KINDS)
        self.pushed = self.kind in _PUSHED
        self.readers: list[Reader | None] = [None] * wire.get_at_least(config, "consumers", 1)
        self.limit = wire.get_at_least(config, "limit", 1)
        self.items = self.used = 0
        self.registered = self.finished = self.released = self.flushed = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind in _OF_PRODUCER:
            return self.on_producer(kind)
        if kind in {"release", "end_job"}:
            return self.on_scheduler(ends_job=kind == "end_job")
        if kind not in _OF_CONSUMER:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "consumer")
        credit = wire.get_boolean(event, "credit") if kind == "pull" else False
        if not 0 <= index < len(self.readers):
            return wire.rejected()
        if kind == "request":
            return self.on_request(index)
        reader = self.readers[index]
        if reader is None or (reader.left and not (kind == "pull" and self.bug == "who-left-pulls")):
            return wire.rejected()
        return self.on_pull(reader, credit=credit) if kind == "pull" else self.on_leave(reader)

    # --- the producer

    def on_producer(self, kind: str) -> wire.Observations:
        bug = self.bug
        if kind == "register":
            if self.released or (self.registered and bug != "registers-twice"):
                return wire.rejected()
            self.registered = True
            return []
        if self.released or not (self.registered or bug == "produces-unregistered"):
            return wire.rejected()
        if kind == "flush":
            return self.on_flush()
        if self.finished and not (kind == "finish" and bug == "finishes-twice"):
            return wire.rejected()
        if kind == "produce" and self.is_full():
            return wire.rejected() if bug == "full-is-an-error" else [{"type": "full"}]
        return self.add(ends=kind == "finish")

    def is_full(self) -> bool:
        bug = self.bug
        bounded = self.kind == "pipelined_bounded" or (self.pushed and bug == "everything-pushed-is-bounded")
        queued = self.items if bug == "bound-counts-what-was-read" else self.items - self.used
        limit = self.limit + 1 if bug == "one-buffer-too-many" else self.limit
        return bounded and queued >= limit and bug != "never-full"

    def add(self, *, ends: bool) -> wire.Observations:
        bug = self.bug
        before, self.items, self.finished = self.items, self.items + 1, ends
        if not self.pushed:
            waiting = [reader is not None and not reader.left and reader.taken == before for reader in self.readers]
            if bug == "early-readers-not-told":
                return []
            if bug == "all-readers-told":
                waiting = [reader is not None and not reader.left for reader in self.readers]
            return [{"type": "notified", "consumer": index} for index, waits in enumerate(waiting) if waits]
        if ends and self.has_left() and bug != "finish-forgets-who-left":
            return self.let_go()
        if ends and bug == "released-with-the-end":
            return self.let_go()
        queued = self.items - self.used
        wakes = queued <= 2 and not (self.flushed and bug != "flush-forgotten-by-adding")
        if bug == "told-of-the-first-alone":
            wakes = queued == 1
        elif bug == "told-of-each-buffer":
            wakes = True
        return self.notify() if wakes or (ends and bug != "end-told-like-a-buffer") else []

    def has_left(self) -> bool:
        return any(reader is not None and reader.left for reader in self.readers)

    def notify(self) -> wire.Observations:
        return [
            {"type": "notified", "consumer": index}
            for index, reader in enumerate(self.readers)
            if reader is not None and (not reader.left or self.bug == "who-left-is-told")
        ]

    def on_flush(self) -> wire.Observations:
        bug, queued = self.bug, self.items - self.used
        if not self.pushed or not queued or (self.flushed and bug != "each-flush-tells"):
            return []
        self.flushed = bug != "flush-not-remembered"
        return self.notify() if (queued == 1 and bug != "flush-tells-nobody") or bug == "flush-tells-always" else []

    def let_go(self) -> wire.Observations:
        self.released = True
        return [{"type": "released"}]

    # --- consumers

    def on_request(self, index: int) -> wire.Observations:
        bug, known = self.bug, self.readers[index]
        if known is not None and not (known.left and bug == "who-left-asks-again"):
            return wire.rejected()
        if not self.registered or self.released:
            return wire.rejected() if bug == "early-request-fails" else [{"type": "retry", "consumer": index}]
        early = self.kind.startswith("hybrid") and bug != "hybrid-waits-for-the-end"
        if not (self.pushed or early or self.finished or bug == "blocking-read-early"):
            return wire.rejected()
        if any(self.readers) and not self.is_repeatable():
            return wire.rejected()
        start = max((reader.taken for reader in self.readers if reader), default=0)
        self.readers[index] = Reader(start if bug == "next-goes-on-where-another-was" else 0)
        return [{"type": "connected", "consumer": index}]

    def is_repeatable(self) -> bool:
        bug = self.bug
        if bug == "next-may-follow" and self.pushed:
            return self.has_left()
        often = {"selective-read-again": ("hybrid_selective",), "pipelined-read-by-two": _PUSHED}.get(bug, ())
        once = {"hybrid-read-once": "hybrid_full", "blocking-read-once": "blocking"}.get(bug)
        return self.kind in often or (self.kind not in (*_PUSHED, "hybrid_selective") and self.kind != once)

    def on_pull(self, reader: Reader, *, credit: bool) -> wire.Observations:
        bug = self.bug
        number = self.used if self.pushed else reader.taken
        is_end = self.finished and number == self.items - 1
        needs_credit = not is_end if bug != "end-needs-credit" else True
        if self.released and not (bug == "released-is-read" and not self.pushed):
            return [{"type": "none"}]
        if number == self.items or (needs_credit and not credit and bug != "data-needs-no-credit"):
            return [{"type": "none"}]
        for one in self.readers if bug == "readers-share-a-place" else [reader]:
            if one is not None:
                one.taken += 1
        self.used += self.pushed
        self.flushed = self.flushed and (self.used < self.items or bug == "flush-request-stays")
        return [{"type": "item", "number": number, "end": is_end}]

    def on_leave(self, reader: Reader) -> wire.Observations:
        bug = self.bug
        reader.left = True
        if self.released:
            return []
        if not self.pushed:
            done = bug == "reader-releases" and self.finished
        else:
            done = (self.finished or bug == "released-before-the-end") and bug != "leaving-releases-nothing"
        return self.let_go() if done else []

    # --- the scheduler

    def on_scheduler(self, *, ends_job: bool) -> wire.Observations:
        bug = self.bug
        if not ends_job and self.pushed:
            return [] if bug == "scheduler-may-release-all" else wire.rejected()
        if self.released:
            return [{"type": "released"}] if bug == "released-twice" else []
        if ends_job and self.kind == "blocking_persistent" and bug != "persistent-ends-with-the-job":
            return []
        if ends_job and self.kind == "blocking" and bug == "blocking-outlives-the-job":
            return []
        if not ends_job and self.kind == "blocking_persistent" and bug == "persistent-for-ever":
            return []
        told = self.let_go()
        return told if self.registered or bug == "unknown-is-released" else []


make = Exchange
