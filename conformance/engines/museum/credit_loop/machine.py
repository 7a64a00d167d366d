"""Senders, the wire and a gate that receives, closed to a loop: CREDIT-1 … CREDIT-30 as far as a consumer sees them.

The machines are the museum's own. A bug is one of the loop, or one of theirs: `loop-sender-never-announces` puts
senders that never announce into a loop that is right.
"""

from collections import deque

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.credit_receiver import CreditReceiver
from tidegate.conformance.engines.museum.credit_sender.machine import CreditSender

_ACTIONS = ("write", "barrier", "flush", "deliver", "consume", "announce", "deliver_credit")


class Channel:
    """What is still to be written, what is on the wire both ways, and what waits to be read."""

    def __init__(self, sender: CreditSender, data: int, barriers: int) -> None:
        self.sender = sender
        self.data = data
        self.barriers = barriers
        self.down: deque[wire.Json] = deque()
        self.up: deque[wire.Json] = deque()
        self.inbox: deque[str] = deque()
        self.is_aligned = False
        #: Data written and not read yet.
        self.unread = 0

    def tell_sender(self, event: wire.Json) -> wire.Observations:
        self.down += [seen for seen in self.sender.step(event) if seen["type"] != "rejected"]
        return []


class CreditLoop:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("loop-")
        config = {"barriers": 0, "output": 2, **config}
        count = wire.get_at_least(config, "channels", 1)
        data, barriers = wire.get_at_least(config, "data", 0), wire.get_at_least(config, "barriers", 0)
        self.output = wire.get_at_least(config, "output", 1)
        inside = wire.Host(bug=self.bug)
        gate = {name: config.get(name) for name in ("channels", "exclusive", "floating")}
        self.receiver = CreditReceiver(gate, inside)
        exclusive = self.receiver.exclusive
        granted = {"initial_credit": exclusive + 1 if self.bug == "one-credit-too-many" else exclusive}
        self.channels = [Channel(CreditSender(granted, inside), data, barriers) for _ in range(count)]

    def step(self, event: wire.Json) -> wire.Observations:
        if event.get("type") != "choice":
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "channel")
        action = wire.get_choice(event, "action", _ACTIONS)
        if not 0 <= index < len(self.channels) or not self.is_enabled(index, action):
            return wire.rejected()
        return self.play(index, self.channels[index], action)

    def is_enabled(self, index: int, action: str) -> bool:
        channel = self.channels[index]
        sender = channel.sender
        unannounced = self.receiver.channels[index].unannounced
        return {
            "write": channel.data > 0 and self.has_buffer(channel),
            "barrier": channel.barriers > 0,
            "flush": bool(sender.queue) and not sender.flush_requested,
            "deliver": bool(channel.down),
            "consume": bool(channel.inbox),
            "announce": unannounced > 0,
            "deliver_credit": bool(channel.up),
        }[action]

    def has_buffer(self, channel: Channel) -> bool:
        """The producer's pool, CREDIT-30."""
        bug = self.bug
        if bug == "writes-without-a-buffer":
            return True
        used = len(channel.sender.queue) if bug == "barriers-take-buffers" else channel.sender.data
        if bug == "buffer-back-when-read":
            used = channel.unread
        elif bug == "pool-shared-by-producers":
            used = sum(one.sender.data for one in self.channels)
        return used < self.output + (bug == "one-buffer-too-many")

    def play(self, index: int, channel: Channel, action: str) -> wire.Observations:
        if action == "write":
            channel.data -= 1
            channel.unread += 1
            return channel.tell_sender({"type": "data"})
        if action == "barrier":
            channel.barriers -= 1
            return channel.tell_sender({"type": "barrier"})
        if action == "flush":
            return channel.tell_sender({"type": "flush"})
        if action == "deliver":
            return self.deliver(index, channel)
        if action == "consume":
            return self.consume(index, channel)
        if action == "announce":
            return self.tell_receiver(index, {"type": "announce"})
        message = channel.up.pop() if self.bug == "resume-overtakes-credit" else channel.up.popleft()
        return channel.tell_sender({key: value for key, value in message.items() if key != "channel"})

    def tell_receiver(self, index: int, event: wire.Json) -> wire.Observations:
        """What it sends is on the wire; it never has to refuse anything, CREDIT-18."""
        seen = self.receiver.step({**event, "channel": index})
        self.channels[index].up += [one for one in seen if one["type"] in {"credit", "resume"}]
        if {"type": "rejected"} in seen:
            return [{"type": "overrun", "channel": index}]
        return []

    def deliver(self, index: int, channel: Channel) -> wire.Observations:
        message = channel.down.pop() if self.bug == "messages-overtake" else channel.down.popleft()
        if self.bug == "backlog-in-a-byte" and "backlog" in message:
            message["backlog"] %= 256
        if message["type"] == "backlog":
            return self.tell_receiver(index, {"type": "backlog", "backlog": message["backlog"]})
        channel.inbox.append(message["kind"])
        if message["kind"] == "event":
            return self.tell_receiver(index, {"type": "barrier"})
        return self.tell_receiver(index, {"type": "data", "backlog": message["backlog"]})

    def consume(self, index: int, channel: Channel) -> wire.Observations:
        bug = self.bug
        kind = channel.inbox.popleft()
        consumed = {"type": "consumed", "channel": index, "kind": kind}
        if kind == "data":
            channel.unread -= 1
            if bug != "never-recycles":
                self.tell_receiver(index, {"type": "recycle"})
            return [consumed]
        channel.is_aligned = True
        if bug == "resumes-alone":
            self.resume(index)
        elif all(one.is_aligned for one in self.channels) and bug != "never-resumes":
            for each in (index,) if bug == "last-one-resumed" else range(len(self.channels)):
                self.resume(each)
        return [consumed]

    def resume(self, index: int) -> None:
        self.channels[index].is_aligned = False
        self.tell_receiver(index, {"type": "resume"})


make = CreditLoop
