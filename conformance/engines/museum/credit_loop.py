"""Senders, the wire and a gate that receives, closed to a loop: CREDIT-1 … CREDIT-30 as far as a consumer sees them.

The machines are the museum's own. An engine is wrong in the loop, or has wrong ones of them:
`loop-sender-never-announces` puts senders that never announce into a loop that is right.
"""

from collections import deque

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum import credit_receiver, credit_sender
from tidegate.conformance.engines.museum.credit_sender import CreditSender
from tidegate.conformance.engines.museum.wrong import changed, wrong

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

    def tell_sender(self, event: wire.Json) -> wire.Observations:
        self.down += [seen for seen in self.sender.step(event) if seen["type"] != "rejected"]
        return []


class CreditLoop:
    sender = CreditSender
    receiver = credit_receiver.CreditReceiver

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        config = {"barriers": 0, "output": 2, **config}
        count = wire.get_at_least(config, "channels", 1)
        data, barriers = wire.get_at_least(config, "data", 0), wire.get_at_least(config, "barriers", 0)
        self.output = wire.get_at_least(config, "output", 1)
        gate = {name: config.get(name) for name in ("channels", "exclusive", "floating")}
        self.gate = self.receiver(gate, host)
        granted = {"initial_credit": self.gate.exclusive}
        self.channels = [Channel(self.sender(granted, host), data, barriers) for _ in range(count)]

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
        unannounced = self.gate.channels[index].unannounced
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
        return channel.sender.data < self.output

    def play(self, index: int, channel: Channel, action: str) -> wire.Observations:
        if action == "write":
            channel.data -= 1
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
        message = channel.up.popleft()
        return channel.tell_sender({key: value for key, value in message.items() if key != "channel"})

    def tell_receiver(self, index: int, event: wire.Json) -> wire.Observations:
        """What it sends is on the wire; it never has to refuse anything, CREDIT-18."""
        seen = self.gate.step({**event, "channel": index})
        self.channels[index].up += [one for one in seen if one["type"] in {"credit", "resume"}]
        if {"type": "rejected"} in seen:
            return [{"type": "overrun", "channel": index}]
        return []

    def deliver(self, index: int, channel: Channel) -> wire.Observations:
        message = channel.down.popleft()
        if message["type"] == "backlog":
            return self.tell_receiver(index, {"type": "backlog", "backlog": message["backlog"]})
        channel.inbox.append(message["kind"])
        if message["kind"] == "event":
            return self.tell_receiver(index, {"type": "barrier"})
        return self.tell_receiver(index, {"type": "data", "backlog": message["backlog"]})

    def consume(self, index: int, channel: Channel) -> wire.Observations:
        kind = channel.inbox.popleft()
        consumed = {"type": "consumed", "channel": index, "kind": kind}
        if kind == "data":
            self.tell_receiver(index, {"type": "recycle"})
            return [consumed]
        channel.is_aligned = True
        if all(one.is_aligned for one in self.channels):
            for each in range(len(self.channels)):
                self.resume(each)
        return [consumed]

    def resume(self, index: int) -> None:
        self.channels[index].is_aligned = False
        self.tell_receiver(index, {"type": "resume"})


make = CreditLoop

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("CREDIT-1", "CREDIT-18", "CREDIT-20", "CREDIT-19", "CREDIT-24")
class LoopOneCreditTooMany(CreditLoop):
    """Senders start with one credit more than their receivers have exclusive buffers: data arrives that has no
    buffer.
    """

    __init__ = changed(CreditLoop.__init__, "self.gate.exclusive", "self.gate.exclusive + 1")


@wrong("CREDIT-30")
class LoopWritesWithoutABuffer(CreditLoop):
    """A producer writes on although its pool has no buffer left: nothing slows it down."""

    def has_buffer(self, channel: Channel) -> bool:
        return True


@wrong("CREDIT-30")
class LoopOneBufferTooMany(CreditLoop):
    """A producer stops one buffer too late."""

    has_buffer = changed(CreditLoop.has_buffer, "<", "<=")


@wrong("CREDIT-30", "SUBP-6")
class LoopBarriersTakeBuffers(CreditLoop):
    """A barrier that is queued counts as a buffer of the pool, and the producer stops too early."""

    has_buffer = changed(CreditLoop.has_buffer, "channel.sender.data", "len(channel.sender.queue)")


@wrong("CREDIT-30", "SUBP-6")
class LoopBufferBackWhenRead(CreditLoop):
    """A producer gets its buffer back when the consumer has read it, not when it is sent."""

    def has_buffer(self, channel: Channel) -> bool:
        sent = [message.get("kind") for message in channel.down]
        return channel.sender.data + sent.count("data") + channel.inbox.count("data") < self.output


@wrong("CREDIT-30", "SUBP-6")
class LoopPoolSharedByProducers(CreditLoop):
    """Producers share one pool: a slow consumer of one stops all of them."""

    has_buffer = changed(CreditLoop.has_buffer, "channel.sender.data", "sum(one.sender.data for one in self.channels)")


@wrong("CREDIT-8", "CREDIT-7", "CREDIT-6", "CREDIT-20", "CREDIT-9")
class LoopNeverRecycles(CreditLoop):
    """The consumer never gives a buffer back, and the loop runs dry."""

    consume = changed(CreditLoop.consume, 'self.tell_receiver(index, {"type": "recycle"})', "pass")


@wrong("CREDIT-4", "CREDIT-18", "CREDIT-20", "CREDIT-7", "CREDIT-8", "CREDIT-14", "CREDIT-15", "CREDIT-30", "CREDIT-21")
class LoopMessagesOvertake(CreditLoop):
    """On the wire the newest message of a sender arrives first."""

    deliver = changed(CreditLoop.deliver, "channel.down.popleft", "channel.down.pop")


@wrong("CREDIT-15", "CREDIT-14", "CREDIT-20")
class LoopResumesAlone(CreditLoop):
    """A channel resumes when it has met the barrier, without waiting for the others: the cut is lost."""

    consume = changed(
        CreditLoop.consume,
        "all(one.is_aligned for one in self.channels)",
        "True",
        "range(len(self.channels))",
        "(index,)",
    )


@wrong("CREDIT-15", "CREDIT-20", "CREDIT-26")
class LoopNeverResumes(CreditLoop):
    """When all have met the barrier nobody resumes, and all are stuck."""

    def resume(self, index: int) -> None:
        pass


@wrong("CREDIT-15", "CREDIT-20", "CREDIT-26")
class LoopLastOneResumed(CreditLoop):
    """When all have met the barrier only the last one resumes."""

    consume = changed(CreditLoop.consume, "range(len(self.channels))", "(index,)")


@wrong("CREDIT-19", "CREDIT-18", "CREDIT-20", "CREDIT-21", "CREDIT-24", "CREDIT-1")
class LoopSenderCreditOffByOne(CreditLoop):
    """A sender without credit sends one more data buffer."""

    sender = credit_sender.SenderCreditOffByOne


@wrong("CREDIT-19", "CREDIT-20", "CREDIT-3")
class LoopSenderEventsWaitForCredit(CreditLoop):
    """A barrier waits for credit behind which it should pass."""

    sender = credit_sender.SenderEventsWaitForCredit


@wrong("CREDIT-21", "CREDIT-3", "CREDIT-17", "CREDIT-20", "CREDIT-30", "CREDIT-18")
class LoopSenderEventsCostCredit(CreditLoop):
    """A barrier costs credit, which its receiver never gets back."""

    sender = credit_sender.SenderEventsCostCredit


@wrong("CREDIT-20", "CREDIT-21", "CREDIT-30", "CREDIT-18")
class LoopSenderCreditDoesNotWake(CreditLoop):
    """Credit that arrives wakes nobody."""

    sender = credit_sender.SenderCreditDoesNotWake


@wrong("CREDIT-20", "CREDIT-17", "CREDIT-21", "CREDIT-30", "CREDIT-18")
class LoopSenderCreditReplaces(CreditLoop):
    """New credit takes the place of what was left."""

    sender = credit_sender.SenderCreditReplaces


@wrong("CREDIT-24", "CREDIT-20", "CREDIT-4", origin="Flink before 1.14")
class LoopSenderNeverAnnounces(CreditLoop):
    """Senders that start without credit never announce, and their receivers never grant: nothing moves."""

    sender = credit_sender.SenderNeverAnnounces


@wrong("CREDIT-24", "CREDIT-20")
class LoopSenderAnnouncesFromWriteLoop(CreditLoop):
    """A sender announces behind a message what the message has told."""

    sender = credit_sender.SenderAnnouncesFromWriteLoop


@wrong("CREDIT-25", "CREDIT-20", "CREDIT-19")
class LoopSenderAnnouncesWithInitialCredit(CreditLoop):
    """A sender that started with credit announces its backlog when it has used it up."""

    sender = credit_sender.SenderAnnouncesWithInitialCredit


@wrong("CREDIT-23", "CREDIT-4", "CREDIT-6", "CREDIT-20", "CREDIT-24", origin="FLINK-11082")
class LoopSenderBacklogCountsOpenBuffer(CreditLoop):
    """The backlog counts the buffer that is not finished: receivers reserve floating buffers that others need."""

    sender = credit_sender.SenderBacklogCountsOpenBuffer


@wrong("CREDIT-26", "CREDIT-20", "CREDIT-14", "CREDIT-18", "CREDIT-30", "SUBP-13")
class LoopSenderBarrierDoesNotBlock(CreditLoop):
    """A sender goes on behind a barrier, while its receiver gives the buffers back."""

    sender = credit_sender.SenderBarrierDoesNotBlock


@wrong("CREDIT-26", "CREDIT-18", "CREDIT-20", "CREDIT-21", "CREDIT-4", origin="FLINK-16404")
class LoopSenderResumeKeepsCredit(CreditLoop):
    """A sender keeps its credit across a barrier although its receiver gave the buffers back: its data meets none."""

    sender = credit_sender.SenderResumeKeepsCredit


@wrong("CREDIT-26", "CREDIT-20", "CREDIT-18", "CREDIT-4")
class LoopSenderResumeDoesNotWake(CreditLoop):
    """Resume lifts the barrier and wakes nobody."""

    sender = credit_sender.SenderResumeDoesNotWake


@wrong("CREDIT-20", "CREDIT-26", "SUBP-7", "SUBP-13", "CREDIT-4", origin="FLINK-23223")
class LoopSenderFlushWhileBlockedLost(CreditLoop):
    """A flush is forgotten while a barrier blocks."""

    sender = credit_sender.SenderFlushWhileBlockedLost


@wrong("CREDIT-1", "CREDIT-6", "CREDIT-20")
class LoopReceiverInitialCreditAnnouncedAgain(CreditLoop):
    """The exclusive buffers are announced although the request has brought credit for them."""

    receiver = credit_receiver.ReceiverInitialCreditAnnouncedAgain


@wrong("CREDIT-4", "CREDIT-12", "CREDIT-6", "CREDIT-20", "CREDIT-18")
class LoopReceiverBacklogOfDataIgnored(CreditLoop):
    """The backlog that comes with data is not looked at."""

    receiver = credit_receiver.ReceiverBacklogOfDataIgnored


@wrong("CREDIT-6", "CREDIT-20", "CREDIT-18")
class LoopReceiverAnnouncesAgain(CreditLoop):
    """What was announced is announced again: the same buffer is promised twice."""

    receiver = credit_receiver.ReceiverAnnouncesAgain


@wrong("CREDIT-6", "CREDIT-20", "CREDIT-18")
class LoopReceiverAnnouncesOneByOne(CreditLoop):
    """A credit message carries a single credit, however many have gathered."""

    receiver = credit_receiver.ReceiverAnnouncesOneByOne


@wrong("CREDIT-7", "CREDIT-6", "CREDIT-20", "CREDIT-18", "CREDIT-9")
class LoopReceiverSurplusKept(CreditLoop):
    """A channel keeps a floating buffer that it does not need."""

    receiver = credit_receiver.ReceiverSurplusKept


@wrong("CREDIT-7", "CREDIT-6", "CREDIT-20", "CREDIT-18", "CREDIT-25")
class LoopReceiverSurplusAlsoCredited(CreditLoop):
    """A channel that gives a floating buffer back grants credit for it all the same."""

    receiver = credit_receiver.ReceiverSurplusAlsoCredited


@wrong("CREDIT-8", "CREDIT-6", "CREDIT-20", "CREDIT-9", "CREDIT-7")
class LoopReceiverFloatingStaysWithChannel(CreditLoop):
    """A floating buffer stays with the channel that used it; the others starve."""

    receiver = credit_receiver.ReceiverFloatingStaysWithChannel


@wrong("CREDIT-9", "CREDIT-6", "CREDIT-20", "CREDIT-4", "CREDIT-8")
class LoopReceiverPoolForgetsWaiters(CreditLoop):
    """A floating buffer that comes back is free although channels wait for it."""

    receiver = credit_receiver.ReceiverPoolForgetsWaiters


@wrong("CREDIT-9", "CREDIT-4", "CREDIT-6", "CREDIT-20", "CREDIT-8", origin="FLINK-23466")
class LoopReceiverOneHandOverOnly(CreditLoop):
    """A channel takes the buffer that is handed over and does not wait for what it still lacks."""

    receiver = credit_receiver.ReceiverOneHandOverOnly


@wrong(
    "CREDIT-9",
    "CREDIT-10",
    "CREDIT-4",
    "CREDIT-6",
    "CREDIT-20",
    "CREDIT-8",
    "CREDIT-12",
    "CREDIT-18",
    origin="FLINK-8747",
)
class LoopReceiverDeclinerKeepsWaitingFlag(CreditLoop):
    """A channel that declined a buffer goes on to believe that it waits, and never asks again."""

    receiver = credit_receiver.ReceiverDeclinerKeepsWaitingFlag


@wrong("CREDIT-12", "CREDIT-4", "CREDIT-6", "CREDIT-20", "CREDIT-18", "CREDIT-7")
class LoopReceiverExclusiveNotToppedUp(CreditLoop):
    """A channel borrows for the backlog alone, and its sender loses credit while the consumer reads."""

    receiver = credit_receiver.ReceiverExclusiveNotToppedUp


@wrong("CREDIT-14", "CREDIT-6", "CREDIT-20", "CREDIT-9", "CREDIT-18", origin="FLINK-16404")
class LoopReceiverBarrierKeepsFloating(CreditLoop):
    """A blocked channel keeps its floating buffers, and the others cannot reach the barrier."""

    receiver = credit_receiver.ReceiverBarrierKeepsFloating


@wrong("CREDIT-26", "CREDIT-20", "CREDIT-18", "CREDIT-21")
class LoopResumeOvertakesCredit(CreditLoop):
    """The messages of a receiver overtake each other: credit that the barrier has ended arrives behind the word to
    resume, and counts.
    """

    play = changed(CreditLoop.play, "channel.up.popleft", "channel.up.pop")


@wrong("CREDIT-4", "CREDIT-18", "CREDIT-20")
class LoopBacklogInAByte(CreditLoop):
    """The backlog travels in a byte: of 257 buffers that wait the receiver hears of one."""

    deliver = changed(
        CreditLoop.deliver,
        'if message["type"] == "backlog":',
        'if "backlog" in message:\n    message["backlog"] %= 256\nif message["type"] == "backlog":',
    )
