"""The receiving end of credit: `RemoteInputChannel` and `BufferManager` in a `SingleInputGate`.

The adapter is the network thread. For incoming data it takes a buffer from the channel, as the message decoder
does, and it builds a credit message on demand. Arriving data is polled from the gate at once, and kept until
it is recycled. A broken connection takes no credit; data on its channel after that, or on a released
channel, is refused here.
"""

from typing import Any

from tidegate.conformance.engines.flink.adapters.remote_gate import NETWORK, REMOTE, RemoteGate
from tidegate.conformance.engines.flink.jvm import Jvm
from tidegate.conformance.engines.wire import (
    Json,
    Observations,
    get_at_least,
    get_extension,
    get_integer,
    rejected,
    unknown_type,
)

EXTENSIONS = ("failures",)
_KINDS = ("data", "event", "backlog", "recycle", "announce", "barrier", "resume")
_LOWEST_BACKLOG = {"data": 0, "event": 0, "backlog": 1}


def declare(jvm: Jvm) -> Json | None:
    """Channels without exclusive buffers, and everything that follows from them, exist since 1.14."""
    return (
        {"extensions": list(EXTENSIONS)}
        if jvm.has(REMOTE, "onBlockingUpstream") and jvm.has(REMOTE, "resumeConsumption")
        else None
    )


class CreditReceiver:
    def __init__(self, jvm: Jvm, channels: int, exclusive: int, floating: int) -> None:
        self._shown: Observations = []
        handlers = {
            "notifyCreditAvailable": self._notify,
            "resumeConsumption": lambda channel: self._show("resume", channel),
        }
        self._rig = RemoteGate(jvm, channels, exclusive, floating, handlers)
        self._held: list[list[Any]] = [[] for _ in range(channels)]
        self._event = jvm.cls(NETWORK + "api.EndOfSuperstepEvent").INSTANCE
        options = jvm.cls("org.apache.flink.runtime.checkpoint.CheckpointOptions").forCheckpointWithDefaultLocation()
        self._jvm = jvm
        self.may_fail = False
        #: Per channel: the connection broke; that was noticed; released.
        self._broken, self._failed, self._released = set[int](), set[int](), set[int]()
        self._barrier = jvm.cls(NETWORK + "api.CheckpointBarrier")(1, 0, options)

    def _show(self, kind: str, channel: Any) -> None:
        self._shown.append({"type": kind, "channel": int(channel.getChannelIndex())})

    def _notify(self, channel: Any) -> None:
        if int(channel.getChannelIndex()) in self._broken:
            raise self._jvm.cls("java.lang.IllegalStateException")("the connection broke")
        self._show("notify", channel)

    def step(self, event: Json) -> Observations:
        kind = event.get("type")
        if kind not in _KINDS and not (self.may_fail and kind in ("fail", "release")):
            raise unknown_type(event)
        channel = get_integer(event, "channel")
        backlog = get_integer(event, "backlog") if kind in _LOWEST_BACKLOG else 0
        if not 0 <= channel < len(self._held) or backlog < _LOWEST_BACKLOG.get(kind, 0):
            return rejected()
        if channel in self._released and kind == "release":
            return []
        gone = channel in self._released or (channel in self._failed and kind not in ("fail", "release"))
        if gone and kind != "recycle":
            return rejected()
        self._shown = []
        try:
            if not self._handle(kind, channel, backlog):
                return rejected()
        except self._jvm.JavaError:
            if channel not in self._broken:
                raise
            self._fail(channel, "caller")
        self._consume()
        return self._shown

    def _fail(self, channel: int, told: str) -> None:
        self._failed.add(channel)
        self._shown.append({"type": "failed", "channel": channel, "told": told})

    def _handle(self, kind: str, channel: int, backlog: int) -> bool:
        """Whether the channel takes it."""
        remote = self._rig.channels[channel]
        if kind == "data":
            # A failed request would reduce the number of awaited buffers: the channel is broken, but ours goes on.
            if not remote.getNumberOfAvailableBuffers():
                return False
            buffer = remote.requestBuffer()
            buffer.setSize(4)
            self._rig.receive(channel, buffer, backlog)
        elif kind == "fail":
            self._broken.add(channel)
        elif kind == "release":
            self._released.add(channel)
            self._jvm.call(remote, "releaseAllResources")
        elif kind == "recycle":
            if not self._held[channel]:
                return False
            self._held[channel].pop(0).recycleBuffer()
        elif kind == "event":
            self._rig.receive_event(channel, self._event, backlog)
        elif kind == "barrier":
            self._rig.receive_event(channel, self._barrier)
        elif kind == "backlog":
            remote.onSenderBacklog(backlog)
        elif kind == "announce":
            amount = int(remote.getAndResetUnannouncedCredit())
            if amount:
                self._shown.append({"type": "credit", "channel": channel, "amount": amount})
        else:
            self._rig.gate.resumeConsumption(remote.getChannelInfo())
        return True

    def _consume(self) -> None:
        while (found := self._poll()) is not None:
            if found.isBuffer():
                self._held[int(found.getChannelInfo().getInputChannelIdx())].append(found.getBuffer())

    def _poll(self) -> Any:
        """Channels that failed meanwhile fail the poll."""
        while True:
            try:
                return self._rig.poll()
            except self._jvm.JavaError:
                causes = [self._jvm.field(remote, "cause").get() for remote in self._rig.channels]
                fresh = {index for index, cause in enumerate(causes) if cause is not None} - self._failed
                if not fresh:
                    raise
                for index in sorted(fresh):
                    self._fail(index, "reader")

    def close(self) -> None:
        self._broken.clear()
        self._shown = []  # effects of recycling now belong to no step
        for buffers in self._held:
            for buffer in buffers:
                buffer.recycleBuffer()
        self._rig.close()


def make(jvm: Jvm, config: Json) -> CreditReceiver:
    exclusive, floating = get_at_least(config, "exclusive", 0), get_at_least(config, "floating", 1)
    receiver = CreditReceiver(jvm, get_at_least(config, "channels", 1), exclusive, floating)
    receiver.may_fail = get_extension(config, EXTENSIONS) is not None
    return receiver
