"""The receiving end of a connection: `CreditBasedPartitionRequestClientHandler` and `NettyPartitionRequestClient`.

The connection is an embedded channel of Netty with the adapter at its other end. Channels are real ones of a real gate,
during a checkpoint; the writer of channel state is the adapter's and fails on demand. Messages are read from bytes, so
that their memory belongs to the channel.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.buffer_parts import buffers_of, events_of
from tidegate.conformance.engines.flink.adapters.channel_state import WRITER
from tidegate.conformance.engines.flink.adapters.output_partition import recycle_all
from tidegate.conformance.engines.flink.adapters.remote_gate import NETWORK, RemoteGate, make_connection_id
from tidegate.conformance.engines.flink.jvm import Jvm

NETTY = NETWORK + "netty."
SHADED = "org.apache.flink.shaded.netty4.io.netty."
HANDLER = NETTY + "CreditBasedPartitionRequestClientHandler"
CLIENT = NETTY + "NettyPartitionRequestClient"
FACTORY = NETTY + "PartitionRequestClientFactory"
MESSAGE = NETTY + "NettyMessage"
FILLED = NETWORK + "buffer.FullyFilledBuffer"
#: more than a case needs
FLOATING = 256
MOST = 5
#: how the connection breaks
BREAKS = ("error", "reset", "closed", "fatal")
KINDS = ("request", "data", "unsaved", "backlog", "not_found", "error", "release", "measure")


def declare(jvm: Jvm) -> wire.Json | None:
    return {} if jvm.has(FILLED) and jvm.has(CLIENT, "validateClientAndIncrementReferenceCounter") else None


class ReceivingConnection:
    def __init__(self, jvm: Jvm, channels: int, exclusive: int) -> None:
        self.jvm, self.buffers, self.events = jvm, buffers_of(jvm), events_of(jvm)
        self.seen: wire.Observations = []
        self.handler = jvm.new(HANDLER)
        self.netty: Any = None
        self.client: Any = None
        self.fails = self.is_left = False
        self.asked: set[int] = set()
        self.released: set[int] = set()
        writer = jvm.implement(WRITER, {"addInputData": self.save, "addOutputData": recycle_all})
        provider = {"requestPartitionProducerState": self.ask_state}
        self.rig = RemoteGate(
            jvm,
            channels,
            exclusive,
            FLOATING,
            {},
            writer,
            jvm.implement(NETWORK + "partition.PartitionProducerStateProvider", provider),
            is_requested=False,
        )
        connections = {"createPartitionRequestClient": lambda _connection: self.client}
        manager = jvm.implement(NETWORK + "ConnectionManager", connections)
        for channel in self.rig.channels:
            jvm.set_field(channel, "connectionManager", manager)
        self.partitions = [str(channel.getPartitionId()) for channel in self.rig.channels]
        self.allocator = jvm.new(NETTY + "NetworkBufferAllocator", self.handler)

    def step(self, event: wire.Json) -> wire.Observations:
        self.seen = []
        kind = str(event.get("type"))
        plain = {"open": self.open, "writable": self.set_writable, "break": self.break_all, "cancel": self.cancel}
        if kind in plain:
            return self.take() if plain[kind](event) else wire.rejected()
        if kind not in KINDS:
            raise wire.unknown_type(event)
        channel = wire.get_integer(event, "channel")
        least = {"parts": 0, "backlog": 0} if kind == "data" else {"backlog": 1} if kind == "backlog" else {}
        numbers = [get_amount(event, name, lowest) for name, lowest in least.items()]
        if self.netty is None or not 0 <= channel < len(self.partitions):
            return wire.rejected()
        before = self.errors()
        if not getattr(self, "on_" + kind)(channel, *numbers):
            return wire.rejected()
        return self.take(before)

    # The connection

    def open(self, _event: wire.Json) -> bool:
        if self.netty is not None:
            return False
        jvm = self.jvm
        handlers = jvm.jpype.JArray(jvm.cls(SHADED + "channel.ChannelHandler"))([self.handler])
        self.netty = jvm.cls(SHADED + "channel.embedded.EmbeddedChannel")(handlers)
        factory = jvm.bare(FACTORY)
        jvm.set_field(factory, "clients", jvm.cls("java.util.concurrent.ConcurrentHashMap")())
        self.client = jvm.new(CLIENT, self.netty, self.handler, make_connection_id(jvm), factory)
        return True

    def set_writable(self, event: wire.Json) -> bool:
        value = wire.get_boolean(event, "value")
        if self.netty is None:
            return False
        if self.netty.isOpen():
            self.netty.unsafe().outboundBuffer().setUserDefinedWritability(1, value)
        return True

    def break_all(self, event: wire.Json) -> bool:
        how = wire.get_choice(event, "how", BREAKS)
        if self.netty is None:
            return False
        before, was_open = self.errors(), bool(self.netty.isOpen())
        if not was_open:
            return True
        if how == "closed":
            self.netty.pipeline().fireChannelInactive()
        elif how == "fatal":
            self.read(self.jvm.new(MESSAGE + "$ErrorResponse", self.make_error("failed")))
        else:
            text = "Connection reset by peer" if how == "reset" else "some error"
            self.netty.pipeline().fireExceptionCaught(self.jvm.cls("java.io.IOException")(text))
        self.netty.runPendingTasks()
        self.note_errors(before)
        if not self.netty.isOpen():
            self.seen.append({"type": "closed"})
        return True

    def cancel(self, event: wire.Json) -> bool:
        channel = wire.get_integer(event, "channel")
        if not -1 <= channel < len(self.partitions):
            return False
        self.handler.cancelRequestFor(self.rig.channels[channel].getInputChannelId() if channel >= 0 else None)
        return True

    def read(self, message: Any) -> None:
        self.netty.pipeline().fireChannelRead(message)

    def take(self, before: dict[int, str] | None = None) -> wire.Observations:
        """The messages sent, and, on request, which channels met an error."""
        if self.netty is None:
            return self.seen
        self.netty.runPendingTasks()
        while (message := self.netty.readOutbound()) is not None:
            self.seen.append(self.describe(message, str(message.getClass().getSimpleName())))
        if before is not None:
            self.note_errors(before)
        return self.seen

    def describe(self, message: Any, name: str) -> wire.Json:
        if name == "CloseRequest":
            return {"type": "close_sent"}
        receiver = self.jvm.field(message, "receiverId")
        channel = next(n for n, one in enumerate(self.rig.channels) if one.getInputChannelId().equals(receiver))
        if name == "CancelPartitionRequest":
            return {"type": "cancelled", "channel": channel}
        amount = int(self.jvm.field(message, "credit"))
        if name == "PartitionRequest":
            return {"type": "requested", "channel": channel, "credit": amount}
        if name == "AddCredit":
            return {"type": "credit", "channel": channel, "amount": amount}
        raise RuntimeError(f"the connection sent {name}: {message}")

    # Channels

    def on_request(self, channel: int) -> bool:
        if channel in self.asked or self.is_left:
            return False
        if not self.jvm.call(self.client, "validateClientAndIncrementReferenceCounter"):
            return False
        self.asked.add(channel)
        remote = self.rig.channels[channel]
        self.jvm.call(remote, "requestSubpartitions")
        remote.checkpointStarted(self.events.barrier(1, unaligned=True))
        return True

    def on_data(self, channel: int, parts: int, backlog: int) -> bool:
        self.receive(channel, parts, backlog)
        return True

    def on_unsaved(self, channel: int) -> bool:
        self.fails = True
        self.receive(channel, 0, 0)
        self.fails = False
        return True

    def receive(self, channel: int, parts: int, backlog: int) -> None:
        """A message that is written to bytes and read from them."""
        jvm, remote = self.jvm, self.rig.channels[channel]
        buffer = self.make_parts(parts) if parts else self.buffers.network_buffer(b"data")
        sequence = jvm.integer(jvm.field(remote, "expectedSequenceNumber"))
        numbers = (jvm.integer(0), jvm.integer(parts), jvm.integer(backlog))
        message = jvm.new(MESSAGE + "$BufferResponse", buffer, sequence, remote.getInputChannelId(), *numbers)
        written = jvm.call(message, "write", jvm.cls(SHADED + "buffer.UnpooledByteBufAllocator").DEFAULT)
        written.skipBytes(int(jvm.field(jvm.cls(MESSAGE), "FRAME_HEADER_LENGTH")))
        read = jvm.call(jvm.cls(MESSAGE + "$BufferResponse"), "readFrom", written, self.allocator)
        if read.getBuffer() is not None:
            read.getBuffer().setSize(4 * max(parts, 1))
        for _ in range(parts):
            read.getPartialBufferSizes().add(jvm.integer(4))
        self.read(read)
        written.release()

    def make_parts(self, parts: int) -> Any:
        kind = self.jvm.cls(NETWORK + "buffer.Buffer$DataType").DATA_BUFFER
        filled = self.jvm.cls(FILLED)(kind, 4 * parts, False)
        for _ in range(parts):
            filled.addPartialBuffer(self.buffers.network_buffer(b"data"))
        return filled

    def on_backlog(self, channel: int, backlog: int) -> bool:
        identity = self.rig.channels[channel].getInputChannelId()
        self.read(self.jvm.new(MESSAGE + "$BacklogAnnouncement", self.jvm.integer(backlog), identity))
        return True

    def on_not_found(self, channel: int) -> bool:
        missing = self.jvm.cls(NETWORK + "partition.PartitionNotFoundException")
        return self.tell(channel, missing(self.rig.channels[channel].getPartitionId()))

    def on_error(self, channel: int) -> bool:
        return self.tell(channel, self.make_error("failed"))

    def tell(self, channel: int, cause: Any) -> bool:
        identity = self.rig.channels[channel].getInputChannelId()
        self.read(self.jvm.new(MESSAGE + "$ErrorResponse", cause, identity))
        return True

    def on_release(self, channel: int) -> bool:
        if channel not in self.asked - self.released:
            return False
        self.released.add(channel)
        self.is_left = self.asked == self.released
        self.jvm.call(self.rig.channels[channel], "releaseAllResources")
        return True

    def on_measure(self, channel: int) -> bool:
        remote = self.rig.channels[channel]
        self.seen.append(
            {
                "type": "measured",
                "queued": int(remote.getNumberOfQueuedBuffers()),
                "required": max(int(remote.getNumberOfRequiredBuffers()), 0),
                "held": self.count_memory(),
            }
        )
        return True

    def count_memory(self) -> int:
        """The exclusive buffers of channels, and the floating ones that they hold."""
        network, floating = self.rig.network, self.rig.gate.getBufferPool()
        own = int(network.getNumberOfUsedMemorySegments()) - int(floating.getNumberOfRequestedMemorySegments())
        return own + int(floating.bestEffortGetNumOfUsedBuffers())

    # Errors

    def make_error(self, text: str) -> Any:
        return self.jvm.cls("java.lang.RuntimeException")(text)

    def errors(self) -> dict[int, str]:
        return {number: found for number, one in enumerate(self.rig.channels) if (found := self.find_error(one))}

    def find_error(self, remote: Any) -> str:
        cause = self.jvm.field(remote, "cause").get()
        if cause is None:
            return ""
        name = str(cause.getClass().getSimpleName())
        return {"LocalTransportException": "local", "RemoteTransportException": "remote"}.get(name, "own")

    def note_errors(self, before: dict[int, str]) -> None:
        found = sorted(self.errors().items())
        self.seen += [{"type": "failed", "channel": n, "cause": cause} for n, cause in found if n not in before]

    def ask_state(self, _dataset: Any, partition: Any, *_rest: Any) -> None:
        self.seen.append({"type": "state_asked", "channel": self.partitions.index(str(partition))})

    def save(self, _checkpoint: Any, _info: Any, _sequence: Any, data: Any) -> None:
        data.close()
        if self.fails:
            raise self.make_error("not saved")

    def close(self) -> None:
        if self.netty is not None:
            self.jvm.set_field(self.handler, "ctx", None)
        self.rig.close()


def get_amount(source: wire.Json, name: str, least: int) -> int:
    found = wire.get_at_least(source, name, least)
    if found > MOST:
        raise wire.BadRequestError(f"{name} is at most {MOST}")
    return found


def make(jvm: Jvm, config: wire.Json) -> ReceivingConnection:
    return ReceivingConnection(jvm, wire.get_at_least(config, "channels", 1), get_amount(config, "exclusive", 0))
