"""Records written into buffers of fixed size, SPAN-1 … SPAN-14.

Bytes stay in the hex form that the protocol gives and wants, two characters a byte.
"""

from tidegate.conformance.engines.museum.wrong import changed, wrong
from tidegate.conformance.engines.wire import Host, Json, Observations, get_at_least, get_hex, rejected, unknown_type


class Serializer:
    def __init__(self, config: Json, host: Host) -> None:
        self.capacity = 2 * get_at_least(config, "buffer_size", 1)
        self.open = ""
        #: How much of the open buffer was handed out by flushes.
        self.handed = 0
        self.finished = False

    def step(self, event: Json) -> Observations:
        kind = event.get("type")
        if kind == "record":
            payload = get_hex(event, "payload")
            return rejected() if self.finished else self.on_record(payload)
        if kind == "flush":
            return [] if self.finished else self.on_flush()
        if kind == "event":
            return rejected() if self.finished else self.on_event()
        if kind == "finish":
            return rejected() if self.finished else self.on_finish()
        raise unknown_type(event)

    def encode(self, payload: str) -> str:
        length = len(payload) // 2
        return f"{length:08x}{payload}"

    def on_record(self, payload: str) -> Observations:
        encoded = self.encode(payload)
        out: Observations = []
        while encoded:
            if len(self.open) == self.capacity:
                out += self.close()
            room = self.capacity - len(self.open)
            self.open += encoded[:room]
            encoded = encoded[room:]
            if len(self.open) == self.capacity:
                out += self.close()
        return out

    def close(self) -> Observations:
        """Finish the open buffer and hand out what is left of it."""
        left = self.open[self.handed :]
        self.open = ""
        self.handed = 0
        return [{"type": "buffer", "data": left}] if left else []

    def on_flush(self) -> Observations:
        left = self.open[self.handed :]
        self.handed = len(self.open)
        return [{"type": "buffer", "data": left}] if left else []

    def on_event(self) -> Observations:
        return self.close()

    def on_finish(self) -> Observations:
        self.finished = True
        return self.close()


make = Serializer

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("SPAN-1", "SPAN-3")
class SerializerLengthLittleEndian(Serializer):
    """The length comes in the byte order of the machine."""

    def encode(self, payload: str) -> str:
        return (len(payload) // 2).to_bytes(4, "little").hex() + payload


@wrong("SPAN-1", "SPAN-3")
class SerializerLengthCountsHeader(Serializer):
    """The length counts its own four bytes."""

    encode = changed(Serializer.encode, "{length:08x}", "{length + 4:08x}")


@wrong("SPAN-1", "SPAN-3")
class SerializerLengthInOneByte(Serializer):
    """The length goes through a single byte: records of 256 bytes and more lie about it."""

    encode = changed(Serializer.encode, "{length:08x}", "{length & 0xFF:08x}")


@wrong("SPAN-1", "SPAN-3", "SPAN-4")
class SerializerEmptyRecordSkipped(Serializer):
    """A record without payload leaves no trace."""

    def encode(self, payload: str) -> str:
        return super().encode(payload) if payload else ""


@wrong("SPAN-1", "SPAN-3", origin="FLINK-40335")
class SerializerScratchNotTruncated(Serializer):
    """The scratch buffer is reused without being cut: a short record carries the tail of a longer one before it."""

    scratch = ""

    def encode(self, payload: str) -> str:
        self.scratch = payload + self.scratch[len(payload) :]
        return super().encode(self.scratch)


@wrong("SPAN-3", "SPAN-4", "SPAN-8")
class SerializerHeaderKeptWhole(Serializer):
    """A header that does not fit the rest of the buffer starts a new one."""

    def on_record(self, payload: str) -> Observations:
        fits = not self.capacity - len(self.open) < 8 <= self.capacity
        return ([] if fits else self.close()) + super().on_record(payload)


@wrong("SPAN-3", "SPAN-4", "SPAN-8", origin="FLINK-24190")
class SerializerRecordKeptWhole(Serializer):
    """A record that would fit an empty buffer is never split; right for trimmed buffers, wrong in general."""

    def on_record(self, payload: str) -> Observations:
        fits = not self.capacity - len(self.open) < len(payload) + 8 <= self.capacity
        return ([] if fits else self.close()) + super().on_record(payload)


@wrong("SPAN-3", "SPAN-4")
class SerializerRecordEndsBuffer(Serializer):
    """Every record ends its buffer."""

    def on_record(self, payload: str) -> Observations:
        return super().on_record(payload) + self.close()


@wrong("SPAN-3", "SPAN-1")
class SerializerHeaderByteLost(Serializer):
    """The first byte of a header that has to be split gets lost."""

    on_record = changed(
        Serializer.on_record,
        "self.open += encoded[:room]",
        "if 0 < room < 8 and len(encoded) == len(payload) + 8:\n    encoded = encoded[2:]\nself.open += encoded[:room]",
    )


@wrong("SPAN-3", "SPAN-1", "SPAN-4", "SPAN-10", "SPAN-14")
class SerializerBytesSurviveCase(Serializer):
    """The open buffer lives in the engine: what one writer left open is sent by the next."""

    def __init__(self, config: Json, host: Host) -> None:
        super().__init__(config, host)
        self.memory = host.memory
        self.open = self.memory.pop("open", "")[: self.capacity - 2]

    def on_record(self, payload: str) -> Observations:
        out = super().on_record(payload)
        self.memory["open"] = self.open
        return out


@wrong("SPAN-4", "SPAN-3", "SPAN-14")
class SerializerFullBufferKeptOpen(Serializer):
    """A buffer filled to the last byte by the end of a record stays open until the next byte comes."""

    on_record = changed(
        Serializer.on_record,
        "encoded = encoded[room:]\n        if len(self.open) == self.capacity:",
        "encoded = encoded[room:]\nif len(self.open) == self.capacity and encoded:",
    )


@wrong("SPAN-14", "SPAN-4")
class SerializerEmptyBufferSent(Serializer):
    """An event or the end with nothing open sends an empty buffer."""

    close = changed(Serializer.close, " if left else []", "")


@wrong("SPAN-6", "SPAN-3", "SPAN-4", "SPAN-10", "SPAN-14", origin="FLINK-8588")
class SerializerFlushedBytesRepeated(Serializer):
    """A finished buffer is handed out from its start, although a flush has already handed out the first part."""

    close = changed(Serializer.close, "self.open[self.handed :]", "self.open")


@wrong("SPAN-6", "SPAN-3", "SPAN-10", origin="FLINK-8588")
class SerializerFlushFromStart(Serializer):
    """Every flush hands out the open buffer from its start."""

    on_flush = changed(Serializer.on_flush, "self.open[self.handed :]", "self.open")


@wrong("SPAN-6", "SPAN-3", "SPAN-4", "SPAN-10", "SPAN-14")
class SerializerFlushNotRemembered(Serializer):
    """A flush does not note how far it came, so its bytes are handed out again."""

    on_flush = changed(Serializer.on_flush, "self.handed = len(self.open)", "")


@wrong("SPAN-6", "SPAN-3", "SPAN-4", "SPAN-10")
class SerializerFlushClosesBuffer(Serializer):
    """A flush ends the buffer; what follows starts a new one and every later cut moves."""

    def on_flush(self) -> Observations:
        return self.close()


@wrong("SPAN-6", "SPAN-3", "SPAN-4", "SPAN-10", "SPAN-14")
class SerializerFlushPositionKept(Serializer):
    """The flush position is not reset with a new buffer, so its first bytes get lost."""

    close = changed(Serializer.close, "self.handed = 0", "")


@wrong("SPAN-6", "SPAN-3", "SPAN-10")
class SerializerFlushHoldsPartialHeader(Serializer):
    """Fewer than four unread bytes are not handed out by a flush."""

    def on_flush(self) -> Observations:
        return [] if len(self.open) - self.handed < 8 else super().on_flush()


@wrong("SPAN-14", "SPAN-6", "SPAN-10")
class SerializerFlushAfterFinishRejected(Serializer):
    """A flush after the end is refused; it should do nothing."""

    step = changed(Serializer.step, "[] if self.finished", "rejected() if self.finished")


@wrong("SPAN-14", "SPAN-3", "SPAN-4")
class SerializerEventLeavesBufferOpen(Serializer):
    """An event passes without finishing the open buffer, so a record may span it."""

    def on_event(self) -> Observations:
        return []


@wrong("SPAN-14", "SPAN-3", "SPAN-4")
class SerializerEventFlushesOnly(Serializer):
    """An event hands out the open buffer without finishing it."""

    def on_event(self) -> Observations:
        return self.on_flush()


@wrong("SPAN-14", "SPAN-3", "SPAN-4")
class SerializerEventDropsOpenBuffer(Serializer):
    """An event discards the open buffer."""

    def on_event(self) -> Observations:
        self.close()
        return []


@wrong("SPAN-14", "SPAN-3", "SPAN-4", origin="FLINK-21951")
class SerializerFinishLosesTail(Serializer):
    """What the open buffer holds at the end is never handed out."""

    def on_finish(self) -> Observations:
        super().on_finish()
        return []


@wrong("SPAN-14", "SPAN-1", "SPAN-3")
class SerializerRecordAfterFinish(Serializer):
    """Records are accepted after the end."""

    step = changed(
        Serializer.step, "rejected() if self.finished else self.on_record(payload)", "self.on_record(payload)"
    )


@wrong("SPAN-14", "SPAN-3")
class SerializerEventAfterFinish(Serializer):
    """Events are accepted after the end."""

    step = changed(Serializer.step, "rejected() if self.finished else self.on_event()", "self.on_event()")


@wrong("SPAN-14", "SPAN-3")
class SerializerFinishAfterFinish(Serializer):
    """A second end is accepted."""

    step = changed(Serializer.step, "rejected() if self.finished else self.on_finish()", "self.on_finish()")
