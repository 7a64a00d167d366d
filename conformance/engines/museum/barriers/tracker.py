"""The barrier handler that counts and never blocks, BARR-7, BARR-9 … BARR-12."""

from collections.abc import Iterable

import attrs

from tidegate.conformance.engines.museum.barriers.gauge import Gauge
from tidegate.conformance.engines.wire import Host, Json, Observations

_MOST_PENDING = 50


@attrs.define
class Count:
    heard: set[int]
    wanted: int
    cancelled: bool = False


def say_trigger(checkpoint: int) -> Observations:
    return [{"type": "trigger", "checkpoint": str(checkpoint), "aligned": True}]


def say_aborts(checkpoints: Iterable[int], reason: str) -> Observations:
    return [{"type": "abort", "checkpoint": str(checkpoint), "reason": reason} for checkpoint in checkpoints]


class BarrierTracker:
    def __init__(self, config: Json, host: Host) -> None:
        self.bug = host.bug
        self.channels: int = config["channels"]
        self.ends_count = config["finished_channels"]
        self.ended: set[int] = set()
        #: By checkpoint, the oldest first.
        self.pending: dict[int, Count] = {}
        self.latest = -1
        self.clock = 0
        self.gauge = Gauge(host.bug)

    def is_blocked(self, _channel: int) -> bool:
        return False

    def on_advance(self, milliseconds: int, *, fires: bool) -> Observations:
        self.clock += milliseconds
        return []

    def on_close(self) -> Observations:
        return []

    def trigger(self, checkpoint: int) -> Observations:
        """The time of an alignment is known of the checkpoint that began last, BARR-21."""
        is_last = checkpoint == self.latest or self.bug == "tracker-any-trigger-ends-the-alignment"
        if is_last and self.gauge.began is not None:
            self.gauge.end(self.clock - self.gauge.began)
        self.gauge.trigger(checkpoint)
        return say_trigger(checkpoint)

    def on_announcement(self, channel: int, checkpoint: int, _sequence: int, created: int) -> Observations:
        if self.bug == "tracker-announcement-counts":
            return self.on_barrier(channel, checkpoint, "timeout", created)
        return []

    def count_open(self) -> int:
        return self.channels - (0 if self.bug == "tracker-ended-still-wanted" else len(self.ended))

    def on_barrier(self, channel: int, checkpoint: int, _mode: str, created: int) -> Observations:
        bug = self.bug
        if self.count_open() == 1 and checkpoint > self.latest:
            self.gauge.begin(checkpoint, created, self.clock)
            self.gauge.end(0)
            self.gauge.trigger(checkpoint)
            if bug == "tracker-lone-channel-remembers":
                self.latest = checkpoint
            return say_trigger(checkpoint)
        if checkpoint in self.pending:
            return self.count(channel, checkpoint)
        if checkpoint <= self.latest and bug != "tracker-old-barriers-begin-again":
            return []
        self.gauge.begin(checkpoint, created, self.clock)
        self.pending[checkpoint] = Count({channel}, self.count_open())
        self.latest = max(self.latest, checkpoint)
        most = _MOST_PENDING - 1 if bug == "tracker-forgets-early" else _MOST_PENDING
        if len(self.pending) > most and bug != "tracker-never-forgets":
            del self.pending[max(self.pending) if bug == "tracker-drops-the-newest" else min(self.pending)]
        return []

    def count(self, channel: int, checkpoint: int) -> Observations:
        bug, count = self.bug, self.pending[checkpoint]
        if bug == "tracker-counts-barriers-not-channels" and channel in count.heard:
            count.wanted -= 1
        count.heard.add(channel)
        if len(count.heard) < count.wanted:
            return []
        self.forget_to(checkpoint)
        return [] if count.cancelled and bug != "tracker-cancelled-triggers" else self.trigger(checkpoint)

    def forget_to(self, checkpoint: int) -> None:
        if self.bug == "tracker-older-stay-pending":
            del self.pending[checkpoint]
            return
        self.pending = {key: count for key, count in self.pending.items() if key > checkpoint}

    def on_cancel(self, channel: int, checkpoint: int) -> Observations:
        bug = self.bug
        if self.count_open() == 1 and checkpoint > self.latest:
            self.gauge.reset()
            return say_aborts([checkpoint], "cancelled")
        older = [key for key in self.pending if key < checkpoint]
        given_up = [key for key in older if not self.pending[key].cancelled or bug == "tracker-aborts-repeated"]
        if bug == "tracker-cancel-spares-older":
            older, given_up = [], []
        for key in older:
            del self.pending[key]
        if checkpoint in self.pending:
            count = self.pending[checkpoint]
            if not count.cancelled or bug == "tracker-aborts-repeated":
                given_up.append(checkpoint)
            count.cancelled = True
            count.heard.add(channel)
            if len(count.heard) >= count.wanted:
                del self.pending[checkpoint]
        elif checkpoint > self.latest:
            given_up.append(checkpoint)
            if bug != "tracker-unknown-cancel-not-remembered":
                self.latest = checkpoint
                self.pending[checkpoint] = Count({channel}, self.count_open(), cancelled=True)
        if bug == "tracker-cancel-settles-the-alignment" and given_up:
            self.gauge.reset()
        return say_aborts(given_up, "cancelled")

    def on_end(self, channel: int) -> Observations:
        bug = self.bug
        self.ended.add(channel)
        if not self.ends_count or bug == "tracker-end-is-fatal":
            given_up = [key for key, count in self.pending.items() if not count.cancelled]
            self.pending = {}
            self.gauge.reset()
            return say_aborts(given_up, "end_of_partition")
        if bug == "tracker-end-not-counted":
            return []
        for count in self.pending.values():
            count.heard.add(channel)
        complete = [key for key, count in self.pending.items() if len(count.heard) >= count.wanted]
        if not complete:
            return []
        newest = complete[0] if bug == "tracker-end-completes-the-oldest" else complete[-1]
        silent = self.pending[newest].cancelled
        live = [key for key in complete if not self.pending[key].cancelled]
        self.forget_to(newest)
        if bug == "tracker-end-triggers-all":
            return [one for key in live for one in self.trigger(key)]
        return [] if silent else self.trigger(newest)
