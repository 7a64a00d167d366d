"""A local channel with recovered data, HAND-1 … HAND-3."""

from tidegate.conformance.engines import wire


class HandedOver:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("handed-over-")
        self.own = wire.get_at_least(config, "recovered", 0)
        self.queue: list[str] = []
        self.urgent = 0
        self.is_asked = self.is_told = self.is_dead = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind not in ("request", "data", "barrier", "tell", "poll", "count"):
            raise wire.unknown_type(event)
        if self.is_dead:
            return wire.rejected()
        if kind == "poll":
            return self.poll()
        if kind == "count":
            there = len(self.queue) + self.urgent
            mine = 0 if self.bug == "recovered-is-not-in-use" else self.own
            counts = self.is_asked or self.bug == "counts-before-it-has-asked"
            return [{"type": "in_use", "count": mine + (there if counts else 0)}]
        if kind == "request":
            known, self.is_asked = self.is_asked, True
            return wire.rejected() if known and self.bug != "asks-twice" else []
        if kind == "barrier" and not self.is_asked:
            return wire.rejected()
        if kind == "data":
            self.queue.append("data")
        elif kind == "barrier":
            self.urgent += 1
        self.is_told = self.is_told or kind in ("tell", "barrier")
        return []

    def poll(self) -> wire.Observations:
        if self.own and self.is_told and self.bug != "barrier-waits":
            return self.fetch()
        if self.own and not (self.bug == "newest-first" and self.is_asked and self.queue):
            self.own -= 1
            return [{"type": "polled", "kind": "recovered"}]
        if not self.is_asked:
            return wire.rejected()
        if self.urgent:
            self.urgent -= 1
            return [{"type": "polled", "kind": "barrier"}]
        return [{"type": "polled", "kind": self.queue.pop(0)}] if self.queue else [{"type": "none"}]

    def fetch(self) -> wire.Observations:
        if self.urgent:
            self.urgent -= 1
            self.is_told = self.urgent > 0 and self.bug != "one-barrier-per-notice"
            return [{"type": "polled", "kind": "barrier"}]
        if self.bug == "notice-is-forgiven":
            self.is_told = False
            return self.poll()
        if self.bug == "data-for-a-barrier" and self.queue and self.is_asked:
            return [{"type": "polled", "kind": self.queue.pop(0)}]
        self.is_dead = True
        missing = ("barrier" if self.queue else "item") if self.is_asked else "partition"
        return [{"type": "failed", "missing": missing}]


make = HandedOver
