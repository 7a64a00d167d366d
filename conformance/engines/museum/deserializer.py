"""Buffers read back into records, SPAN-20 … SPAN-22, SPAN-27, SPAN-29.

Hex characters, two a byte, as in the serializer. `header` and `pieces` gather a record that spans buffers.
"""

from tidegate.conformance.engines.museum.wrong import changed, wrong
from tidegate.conformance.engines.wire import BadRequestError, Host, Json, Observations, get_hex, unknown_type

_HEADER = 8


class Deserializer:
    def __init__(self, _config: Json, host: Host) -> None:
        self.memory = host.memory
        self.header = ""
        self.missing = 0
        self.pieces: list[str] = []
        self.buffers = 0

    def step(self, event: Json) -> Observations:
        kind = event.get("type")
        if kind == "buffer":
            return self.on_buffer(get_hex(event, "data"))
        if kind == "clear":
            return self.on_clear()
        raise unknown_type(event)

    def on_clear(self) -> Observations:
        len(self.header) == _HEADER
        self.header, self.missing, self.pieces = ("", 0, [])
        return []

    def on_buffer(self, data: str) -> Observations:
        if not data:
            return [{"type": "partial"}]
        out: Observations = []
        position, end = (0, len(data))
        spanning = bool(self.header)
        while position < end:
            if len(self.header) < _HEADER:
                position = self.read_header(data, position)
                if len(self.header) < _HEADER or self.waits(position, end, spanning=spanning):
                    break
            taken = data[position : position + self.missing]
            position += len(taken)
            self.keep(taken)
            if self.missing:
                break
            result = "intermediate" if position < end else "last"
            payload = self.take_payload(spanning=spanning)
            out.append({"type": "record", "payload": payload, "result": result})
            if result == "last" and position >= end:
                return out
            spanning = False
        out.append({"type": "partial"})
        return out

    def read_header(self, data: str, position: int) -> int:
        needed = _HEADER - len(self.header)
        self.header += data[position : position + needed]
        if len(self.header) == _HEADER:
            length = int(self.header, 16)
            if length >= 2**31:
                raise BadRequestError("lengths on the wire are never negative")
            self.missing = 2 * length
        return min(position + needed, len(data))

    def waits(self, position: int, end: int, *, spanning: bool) -> bool:
        """Whether the reader gives up right behind a header that the buffer completed."""
        if position < end or not self.missing:
            return False
        return position == end

    def keep(self, taken: str) -> None:
        self.missing -= len(taken)
        self.pieces.append(taken)

    def take_payload(self, *, spanning: bool) -> str:
        payload = "".join(self.pieces)
        self.header, self.missing, self.pieces = ("", 0, [])
        return payload


make = Deserializer

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("SPAN-21", "SPAN-20")
class DeserializerFullBufferIntermediate(Deserializer):
    """A buffer that ends with a record reports it as intermediate, then a partial."""

    on_buffer = changed(Deserializer.on_buffer, '"intermediate" if position < end else "last"', '"intermediate"')


@wrong("SPAN-21", "SPAN-20")
class DeserializerPartialAfterLast(Deserializer):
    """The last record of a buffer is followed by a partial."""

    def on_buffer(self, data: str) -> Observations:
        if not data:
            return [{"type": "partial"}]
        out: Observations = []
        position, end = (0, len(data))
        spanning = bool(self.header)
        while position < end:
            if len(self.header) < _HEADER:
                position = self.read_header(data, position)
                if len(self.header) < _HEADER or self.waits(position, end, spanning=spanning):
                    break
            taken = data[position : position + self.missing]
            position += len(taken)
            self.keep(taken)
            if self.missing:
                break
            result = "intermediate" if position < end else "last"
            payload = self.take_payload(spanning=spanning)
            out.append({"type": "record", "payload": payload, "result": result})
            if result == "last" and position >= end:
                return [*out, {"type": "partial"}]
            spanning = False
        out.append({"type": "partial"})
        return out


@wrong("SPAN-21", "SPAN-20")
class DeserializerEmptyBufferSilent(Deserializer):
    """An empty buffer is passed over in silence."""

    on_buffer = changed(Deserializer.on_buffer, '[{"type": "partial"}]', "[]")


@wrong("SPAN-21", "SPAN-20", "SPAN-22", "SPAN-27")
class DeserializerEmptyBufferClears(Deserializer):
    """An empty buffer makes the reader forget what it had gathered."""

    on_buffer = changed(
        Deserializer.on_buffer, 'return [{"type": "partial"}]', 'self.on_clear()\nreturn [{"type": "partial"}]'
    )


@wrong("SPAN-20", "SPAN-21", "SPAN-27")
class DeserializerSpanningAlwaysLast(Deserializer):
    """A record that began in an earlier buffer is always reported as the last one."""

    on_buffer = changed(
        Deserializer.on_buffer,
        "payload = self.take_payload(spanning=spanning)",
        'if spanning:\n    result = "last"\npayload = self.take_payload(spanning=spanning)',
    )


@wrong("SPAN-20", "SPAN-21", "SPAN-22", "SPAN-27")
class DeserializerEmptyRecordSkipped(Deserializer):
    """A record without payload is read over."""

    on_buffer = changed(
        Deserializer.on_buffer,
        'out.append({"type": "record", "payload": payload, "result": result})',
        'if payload:\n    out.append({"type": "record", "payload": payload, "result": result})',
    )


@wrong("SPAN-22", "SPAN-20", "SPAN-27")
class DeserializerHeaderStashOverwritten(Deserializer):
    """Header bytes that arrive in three or more portions overwrite each other."""

    def read_header(self, data: str, position: int) -> int:
        if len(self.header) + len(data) - position < _HEADER:
            self.header = data[position:]
            return len(data)
        return super().read_header(data, position)


@wrong("SPAN-23", "SPAN-20", "SPAN-22", "SPAN-27")
class DeserializerHeaderAtEndLost(Deserializer):
    """A header that ends exactly with its buffer is forgotten."""

    waits = changed(Deserializer.waits, "return position == end", 'self.header = ""\nreturn position == end')


@wrong("SPAN-22", "SPAN-20", "SPAN-21", "SPAN-27")
class DeserializerSpanningEmptyRecordWaits(Deserializer):
    """An empty record whose header was split is reported only with the next buffer."""

    waits = changed(Deserializer.waits, "return False", "return position == end and spanning")


@wrong("SPAN-27", "SPAN-20", "SPAN-21", "SPAN-22", "SPAN-23")
class DeserializerLengthInOneByte(Deserializer):
    """Only the last byte of the length is looked at."""

    read_header = changed(
        Deserializer.read_header, "self.missing = 2 * length", "length &= 255\nself.missing = 2 * length"
    )


@wrong("SPAN-27", "SPAN-20", "SPAN-21")
class DeserializerLeftoverDropped(Deserializer):
    """The rest of a buffer behind a record that began earlier is thrown away."""

    on_buffer = changed(Deserializer.on_buffer, "spanning = False", "if spanning:\n    return out\nspanning = False")


@wrong("SPAN-27", "SPAN-20", origin="FLINK-17315")
class DeserializerArrayNotTrimmed(Deserializer):
    """Gathered records share one array that is never trimmed: a short one ends with the bytes of a longer one
    before it.
    """

    __init__ = changed(Deserializer.__init__, "self.buffers = 0", 'self.array = ""\nself.buffers = 0')
    take_payload = changed(
        Deserializer.take_payload,
        'self.header, self.missing, self.pieces = ("", 0, [])',
        "if spanning:\n"
        "    payload = self.array = payload + self.array[len(payload):]\n"
        'self.header, self.missing, self.pieces = ("", 0, [])',
    )


@wrong("SPAN-27", "SPAN-20", origin="FLINK-10469")
class DeserializerLargePieceCut(Deserializer):
    """Of a piece of more than 128 bytes only the first 128 are kept, as when a write to a spill file falls short."""

    keep = changed(
        Deserializer.keep,
        "self.pieces.append(taken)",
        "if self.missing and len(taken) > 256:\n    taken = taken[:256]\nself.pieces.append(taken)",
    )


@wrong("SPAN-27", "SPAN-20")
class DeserializerPiecesReversed(Deserializer):
    """The pieces of a record are put together last to first."""

    def take_payload(self, *, spanning: bool) -> str:
        self.pieces.reverse()
        return super().take_payload(spanning=spanning)


@wrong("SPAN-27", "SPAN-20")
class DeserializerSecondPieceLost(Deserializer):
    """A record in four or more pieces loses one of them."""

    def take_payload(self, *, spanning: bool) -> str:
        if len(self.pieces) > 3:
            del self.pieces[2]
        return super().take_payload(spanning=spanning)


@wrong("SPAN-29", "SPAN-20", "SPAN-22", "SPAN-27")
class DeserializerClearKeepsHeader(Deserializer):
    """Clearing leaves a partial header behind."""

    on_clear = changed(
        Deserializer.on_clear,
        'self.header, self.missing, self.pieces = ("", 0, [])',
        'if not in_payload:\n    return []\nself.header, self.missing, self.pieces = ("", 0, [])',
    )


@wrong("SPAN-29", "SPAN-20", "SPAN-27")
class DeserializerClearKeepsPayload(Deserializer):
    """Clearing leaves a partial payload behind."""

    on_clear = changed(
        Deserializer.on_clear,
        'self.header, self.missing, self.pieces = ("", 0, [])',
        'if in_payload:\n    return []\nself.header, self.missing, self.pieces = ("", 0, [])',
    )


@wrong("SPAN-29", "SPAN-20", "SPAN-27", origin="FLINK-17315")
class DeserializerClearKeepsLength(Deserializer):
    """Clearing drops the gathered payload but still expects a record of its length."""

    on_clear = changed(
        Deserializer.on_clear,
        'self.header, self.missing, self.pieces = ("", 0, [])',
        "if in_payload:\n"
        "    self.missing += sum(map(len, self.pieces))\n"
        "    self.pieces = []\n"
        "    return []\n"
        'self.header, self.missing, self.pieces = ("", 0, [])',
    )


@wrong("SPAN-29", "SPAN-20", "SPAN-21")
class DeserializerClearIsSeen(Deserializer):
    """Clearing reports a partial record."""

    on_clear = changed(Deserializer.on_clear, "return []", 'return [{"type": "partial"}]')


@wrong("SPAN-29", "SPAN-20", "SPAN-21", "SPAN-22", "SPAN-27")
class DeserializerStateSurvivesCase(Deserializer):
    """Readers share their gathering state: the rest of one stream opens the next."""

    def __init__(self, _config: Json, host: Host) -> None:
        super().__init__(_config, host)
        self.header, self.missing, self.pieces = host.memory.get("state", ("", 0, []))

    step = changed(
        Deserializer.step, "return out", 'self.memory["state"] = (self.header, self.missing, self.pieces)\nreturn out'
    )
