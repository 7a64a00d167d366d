"""How elements cross from one subtask to the next: through memory, or as bytes in buffers against credit.

`write` is what the producer calls, `take` and `resume` what the consumer calls. In between, what a channel through
memory does at once waits on the wire for the scheduler.
"""

from collections import deque
from typing import TYPE_CHECKING, Any

from tidegate.conformance.engines.museum.credit_sender import CreditSender
from tidegate.conformance.engines.museum.deserializer import Deserializer
from tidegate.conformance.engines.museum.job.program import Element, Wire
from tidegate.conformance.engines.museum.serializer import Serializer
from tidegate.conformance.engines.wire import Host, Json

if TYPE_CHECKING:
    from tidegate.conformance.engines.museum.job import Job
    from tidegate.conformance.engines.museum.job.layout import Route

_WORD = 2**64
_EVENTS = ("barrier", "end_of_data", "end_of_partition")
#: What lies in a channel: a buffer as hex characters, or an element that no buffer holds.
Payload = str | Element


def encode(element: Element) -> str:
    """A tag, then fields of fixed size, then the key; as hex characters."""
    if element.kind == "watermark":
        return f"02{element.number % _WORD:016x}"
    if element.kind == "status":
        return "04ffffffff" if element.status == "idle" else "0400000000"
    numbers = (element.number, element.id, element.value)
    return "00" + "".join(f"{number % _WORD:016x}" for number in numbers) + element.key.encode().hex()


def decode(payload: str) -> Element:
    tag, rest = payload[:2], payload[2:]
    if tag == "04":
        return Element("status", status="idle" if rest == "ffffffff" else "active")
    numbers = [to_long(int(rest[start : start + 16], 16)) for start in (0, 16, 32) if rest[start : start + 16]]
    if tag == "02":
        return Element("watermark", numbers[0])
    number, identity, value = numbers[:3]
    return Element("record", number, bytes.fromhex(payload[50:]).decode(), value, identity)


def to_long(number: int) -> int:
    """The low 64 bits as a signed number."""
    return (number + _WORD // 2) % _WORD - _WORD // 2


class Channel:
    """A channel through memory. `waiting` has arrived in the gate of the consumer, `unsent` not yet."""

    def __init__(self, job: "Job", number: int, route: "Route") -> None:
        self.job = job
        self.number = number
        self.route = route
        self.unsent: deque[Payload] = deque()
        self.waiting: deque[Payload] = deque()
        self.blocked = False
        #: How much of what waits a barrier has overtaken.
        self.overtaken = 0

    def write(self, element: Element) -> None:
        self.job.log_element(self.route, "out", element)
        recovery = self.job.recovery
        if element.kind == "barrier" and recovery is not None and recovery.unaligned:
            recovery.overtake(self, element)
            return
        self.unsent.append(element)
        self.pass_on()

    def pass_on(self) -> None:
        """Whatever no barrier holds back arrives."""
        while self.unsent and not self.blocked:
            payload = self.unsent.popleft()
            assert isinstance(payload, Element)
            self.blocked = payload.kind == "barrier"
            self.arrive(payload)

    def arrive(self, payload: Payload) -> None:
        is_end = isinstance(payload, Element) and payload.kind.startswith("end")
        item = payload.kind if is_end and isinstance(payload, Element) else "data"
        if self.job.recovery is not None and isinstance(payload, Element):
            self.job.recovery.save(self, payload)
        self.waiting.append(payload)
        self.job.subtasks[self.route.target].gate.step({"type": "arrive", "channel": self.route.place, "item": item})

    def take(self) -> list[Element]:
        """What the consumer polled: all elements that it holds or completes."""
        payload = self.waiting.popleft()
        assert isinstance(payload, Element)
        if payload.kind != "barrier":
            self.overtaken = max(self.overtaken - 1, 0)
        return [payload]

    def resume(self) -> None:
        self.blocked = False
        self.pass_on()

    def count_queued(self) -> int:
        return 0

    def is_possible(self, _action: str) -> bool:
        """Whether there is something for the scheduler to do."""
        return False

    def act(self, action: str) -> None:
        raise NotImplementedError(action)


class RemoteChannel(Channel):
    """A channel between machines. `down` and `up` are the messages on the wire, both ways."""

    def __init__(self, job: "Job", number: int, route: "Route", wire: Wire) -> None:
        super().__init__(job, number, route)
        self.serializer = Serializer({"buffer_size": wire.buffer_size}, Host())
        self.sender = CreditSender({"initial_credit": wire.exclusive}, Host())
        self.reader = Deserializer({}, Host())
        self.down: deque[tuple[Json, Payload]] = deque()
        self.up: deque[Json] = deque()

    def write(self, element: Element) -> None:
        self.job.log_element(self.route, "out", element)
        if element.kind not in _EVENTS:
            self.serialize({"type": "record", "payload": encode(element)})
            return
        is_end = element.kind == "end_of_partition"
        self.serialize({"type": "finish" if is_end else "event"})
        kind = "finish" if is_end else "barrier" if element.kind == "barrier" else "event"
        self.to_sender({"type": kind}, element)

    def serialize(self, event: Json) -> None:
        for buffer in self.serializer.step(event):
            self.to_sender({"type": "data"}, buffer["data"])

    def to_sender(self, event: Json, payload: Payload | None = None) -> None:
        """What the sender says is on the wire, each message with its payload."""
        if payload is not None:
            self.unsent.append(payload)
        for message in self.sender.step(event):
            sent: Payload = ""
            if message["type"] == "send":
                sent = self.unsent.popleft()
                if isinstance(sent, str):
                    self.job.log_amount(self.route, "out", "buffer", len(sent) // 2)
            if message["type"] != "rejected":
                self.down.append((message, sent))

    def take(self) -> list[Element]:
        payload = self.waiting.popleft()
        if isinstance(payload, Element):
            return [payload]
        read = self.reader.step({"type": "buffer", "data": payload})
        return [decode(seen["payload"]) for seen in read if seen["type"] == "record"]

    def recycle(self) -> None:
        self.to_receiver("recycle")

    def resume(self) -> None:
        self.to_receiver("resume")

    def to_receiver(self, kind: str, **fields: Any) -> None:
        receiver = self.job.subtasks[self.route.target].receiver
        assert receiver is not None
        for seen in receiver.step({"type": kind, "channel": self.route.place, **fields}):
            if seen["type"] == "rejected":
                self.job.seen.append({"type": "overrun", "channel": self.number})
            elif seen["type"] in {"credit", "resume"}:
                self.up.append(seen)
                if seen["type"] == "credit":
                    self.job.log_amount(self.route, "out", "credit", seen["amount"])

    def count_queued(self) -> int:
        return self.sender.data

    # --- the scheduler

    def is_possible(self, action: str) -> bool:
        if action == "flush":
            has_open = len(self.serializer.open) > self.serializer.handed
            return has_open or (bool(self.sender.queue) and not self.sender.flush_requested)
        if action == "announce":
            receiver = self.job.subtasks[self.route.target].receiver
            return receiver is not None and receiver.channels[self.route.place].unannounced > 0
        return bool(self.down if action == "deliver" else self.up)

    def act(self, action: str) -> None:
        if action == "flush":
            self.flush()
        elif action == "announce":
            self.to_receiver("announce")
        elif action == "deliver":
            self.deliver(*self.down.popleft())
        else:
            self.deliver_credit(self.up.popleft())

    def flush(self) -> None:
        self.serialize({"type": "flush"})
        self.to_sender({"type": "flush"})

    def deliver(self, message: Json, payload: Payload) -> None:
        if message["type"] == "backlog":
            self.to_receiver("backlog", backlog=message["backlog"])
            return
        if isinstance(payload, str):
            self.job.log_amount(self.route, "in", "buffer", len(payload) // 2)
            self.to_receiver("data", backlog=message["backlog"])
        elif payload.kind == "barrier":
            self.to_receiver("barrier")
        else:
            self.to_receiver("event", backlog=message["backlog"])
        self.arrive(payload)

    def deliver_credit(self, message: Json) -> None:
        if message["type"] == "resume":
            self.to_sender({"type": "resume"})
            return
        self.job.log_amount(self.route, "in", "credit", message["amount"])
        self.to_sender({"type": "credit", "amount": message["amount"]})
