"""The input gate over remote channels, GATE-1 … GATE-5, GATE-7 … GATE-9, GATE-15 … GATE-17."""

from collections import deque

from tidegate.conformance.engines import wire

_ITEMS = ("data", "end_of_data", "end_of_partition")


class Gate:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug
        self.channels = wire.get_at_least(config, "channels", 1)
        self.queue: deque[int] = deque()
        self.received: list[deque[str]] = [deque() for _ in range(self.channels)]
        self.data_ended: set[int] = set()
        #: Channels on which the end of the partition has arrived, and those on which it was polled.
        self.closing: set[int] = set()
        self.closed: set[int] = set()
        self.finished = False
        self.available = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "arrive":
            channel = wire.get_integer(event, "channel")
            item = wire.get_choice(event, "item", _ITEMS)
            return self.on_arrive(channel, item)
        if kind == "poll":
            return self.on_poll()
        raise wire.unknown_type(event)

    def is_refused(self, channel: int, item: str) -> bool:
        bug = self.bug
        if channel in (self.closed if bug == "gate-open-until-end-polled" else self.closing):
            return True
        if item == "end_of_data":
            if bug == "gate-end-of-data-once-per-gate":
                return bool(self.data_ended)
            return channel in self.data_ended and bug != "gate-end-of-data-twice"
        if item == "data":
            return channel in self.data_ended and bug == "gate-data-after-end-of-data-refused"
        return channel not in self.data_ended and bug == "gate-end-of-partition-needs-end-of-data"

    def on_arrive(self, channel: int, item: str) -> wire.Observations:
        bug = self.bug
        if not 0 <= channel < self.channels or self.is_refused(channel, item):
            return wire.rejected()
        received = self.received[channel]
        was_empty = not received
        if item == "end_of_data":
            self.data_ended.add(channel)
        elif item == "end_of_partition":
            self.closing.add(channel)
            if bug == "gate-end-of-partition-drops-data":
                received.clear()
        if item == "end_of_data" and bug == "gate-end-of-data-overtakes":
            received.appendleft(item)
        else:
            received.append(item)
        return self.notify(channel) if was_empty or bug == "gate-queued-at-every-arrival" else []

    def notify(self, channel: int) -> wire.Observations:
        bug = self.bug
        if bug == "gate-queued-in-four-lanes" and any(queued % 4 == channel % 4 for queued in self.queue):
            return []
        was_empty = not self.queue
        if bug == "gate-newcomer-first":
            self.queue.appendleft(channel)
        else:
            self.queue.append(channel)
        if bug == "gate-available-at-every-channel":
            was_empty = True
        elif bug == "gate-available-only-if-polled-empty":
            was_empty = was_empty and not self.available
            self.available = True
        return [{"type": "available"}] if was_empty else []

    def choose(self) -> int:
        bug = self.bug
        if bug == "gate-lowest-channel-first":
            channel = min(self.queue)
            self.queue.remove(channel)
            return channel
        if bug == "gate-newest-channel-first":
            return self.queue.pop()
        return self.queue.popleft()

    def on_poll(self) -> wire.Observations:
        bug = self.bug
        if self.finished and bug == "gate-finished-repeated":
            return [{"type": "none"}, {"type": "finished"}]
        if not self.queue:
            self.available = False
            return [{"type": "none"}]
        channel = self.choose()
        received = self.received[channel]
        if not received:
            return [{"type": "none"}] if bug == "gate-queued-at-every-arrival" else self.on_poll()
        item = received.popleft()
        more_before = bool(self.queue)
        if received and bug != "gate-not-requeued":
            if bug == "gate-channel-drained-first":
                self.queue.appendleft(channel)
            elif bug != "gate-queued-at-every-arrival":
                self.queue.append(channel)
        more = bool(self.queue)
        if bug == "gate-more-before-requeue":
            more = more_before
        elif bug == "gate-more-means-own-channel":
            more = bool(received)
        elif bug == "gate-end-of-partition-has-no-more" and item == "end_of_partition":
            more = False
        out: wire.Observations = [{"type": "item", "channel": channel, "item": item, "more": more}]
        if item == "end_of_partition":
            self.closed.add(channel)
        if self.is_finished(item):
            self.finished = True
            out.append({"type": "finished"})
            if bug == "gate-last-item-promises-more":
                out[0]["more"] = True
            elif bug == "gate-finished-before-item":
                out.reverse()
        return out

    def is_finished(self, item: str) -> bool:
        bug = self.bug
        if bug == "gate-finished-at-first-end":
            return item == "end_of_partition" and len(self.closed) == 1
        if bug == "gate-finished-at-end-of-data":
            return item == "end_of_data" and len(self.data_ended) == self.channels
        if bug == "gate-finished-when-all-ends-arrived":
            return item == "end_of_partition" and len(self.closing) == self.channels
        return item == "end_of_partition" and len(self.closed) == self.channels


make = Gate
