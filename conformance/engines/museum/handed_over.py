"""A local channel with recovered data, HAND-1 … HAND-3."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong


class HandedOver:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
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
            there = len(self.queue) + self.urgent if self.is_asked else 0
            return [{"type": "in_use", "count": self.own + there}]
        if kind == "request":
            known, self.is_asked = self.is_asked, True
            return wire.rejected() if known else []
        if kind == "barrier" and not self.is_asked:
            return wire.rejected()
        if kind == "data":
            self.queue.append("data")
        elif kind == "barrier":
            self.urgent += 1
        self.is_told = self.is_told or kind in ("tell", "barrier")
        return []

    def poll(self) -> wire.Observations:
        if self.own and self.is_told:
            return self.fetch()
        if self.own:
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
            self.is_told = self.urgent > 0
            return [{"type": "polled", "kind": "barrier"}]
        self.is_dead = True
        missing = ("barrier" if self.queue else "item") if self.is_asked else "partition"
        return [{"type": "failed", "missing": missing}]


make = HandedOver

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("HAND-1", "HAND-2")
class HandedOverBarrierWaits(HandedOver):
    """A barrier waits until all recovered data was read."""

    poll = changed(HandedOver.poll, "self.own and self.is_told", "False")


@wrong("HAND-1")
class HandedOverNewestFirst(HandedOver):
    """What the producer has is read before recovered data."""

    poll = changed(HandedOver.poll, "if self.own:", "if self.own and not (self.is_asked and self.queue):")


@wrong("HAND-1")
class HandedOverOneBarrierPerNotice(HandedOver):
    """Of two barriers the second waits for the recovered data."""

    fetch = changed(HandedOver.fetch, "self.urgent > 0", "False")


@wrong("HAND-1")
class HandedOverAsksTwice(HandedOver):
    """The partition is asked for a second time."""

    step = changed(HandedOver.step, "wire.rejected() if known else []", "[]")


@wrong("HAND-2")
class HandedOverNoticeIsForgiven(HandedOver):
    """A notice without a barrier is forgotten, and reading goes on."""

    def fetch(self) -> wire.Observations:
        if self.urgent:
            return super().fetch()
        self.is_told = False
        return self.poll()


@wrong("HAND-2")
class HandedOverDataForABarrier(HandedOver):
    """Data is taken for the barrier, and overtakes recovered data."""

    def fetch(self) -> wire.Observations:
        if self.urgent or not self.queue or not self.is_asked:
            return super().fetch()
        return [{"type": "polled", "kind": self.queue.pop(0)}]


@wrong("HAND-3")
class HandedOverRecoveredIsNotInUse(HandedOver):
    """Recovered buffers do not count as in use."""

    step = changed(HandedOver.step, "self.own + there", "there")


@wrong("HAND-3")
class HandedOverCountsBeforeItHasAsked(HandedOver):
    """Buffers of a producer that nobody reads yet count as in use."""

    step = changed(HandedOver.step, " if self.is_asked else 0", "")
