"""Buffers read back into records, SPAN-20 … SPAN-22, SPAN-27, SPAN-29.

Hex characters, two a byte, as in the serializer. `header` and `pieces` gather a record that spans buffers.
"""

from tidegate.conformance.engines.museum.wrong import changed, wrong
from tidegate.conformance.engines.wire import BadRequestError, Host, Json, Observations, get_hex, unknown_type

_HEADER = 8


class Deserializer:
    def __init__(self, config: Json, host: Host) -> None:
        self.header = ""
        self.missing = 0
        self.pieces: list[str] = []

    def step(self, event: Json) -> Observations:
        kind = event.get("type")
        if kind == "buffer":
            return self.on_buffer(get_hex(event, "data"))
        if kind == "clear":
            return self.on_clear()
        raise unknown_type(event)

    def on_clear(self) -> Observations:
        self.header, self.missing, self.pieces = "", 0, []
        return []

    def on_buffer(self, data: str) -> Observations:
        if not data:
            return [{"type": "partial"}]
        out: Observations = []
        position, end = 0, len(data)
        while position < end:
            if len(self.header) < _HEADER:
                position = self.read_header(data, position)
                if len(self.header) < _HEADER or self.waits(position, end):
                    break
            taken = data[position : position + self.missing]
            position += len(taken)
            self.keep(taken)
            if self.missing:
                break
            result = "intermediate" if position < end else "last"
            payload = self.take_payload()
            out.append({"type": "record", "payload": payload, "result": result})
            if result == "last":
                return out
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

    def waits(self, position: int, end: int) -> bool:
        """Whether the reader gives up right behind a header that the buffer completed."""
        return position == end and self.missing > 0

    def keep(self, taken: str) -> None:
        self.missing -= len(taken)
        self.pieces.append(taken)

    def take_payload(self) -> str:
        payload = "".join(self.pieces)
        self.header, self.missing, self.pieces = "", 0, []
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

    on_buffer = changed(Deserializer.on_buffer, 'if result == "last":', "if False:")


@wrong("SPAN-21", "SPAN-20")
class DeserializerEmptyBufferSilent(Deserializer):
    """An empty buffer is passed over in silence."""

    on_buffer = changed(Deserializer.on_buffer, '[{"type": "partial"}]', "[]")


@wrong("SPAN-21", "SPAN-20", "SPAN-22", "SPAN-27")
class DeserializerEmptyBufferClears(Deserializer):
    """An empty buffer makes the reader forget what it had gathered."""

    def on_buffer(self, data: str) -> Observations:
        if not data:
            self.on_clear()
        return super().on_buffer(data)


@wrong("SPAN-20", "SPAN-21", "SPAN-27")
class DeserializerSpanningAlwaysLast(Deserializer):
    """A record that began in an earlier buffer is always reported as the last one."""

    on_buffer = changed(
        Deserializer.on_buffer,
        "while position < end:",
        "spanning = bool(self.header)\nwhile position < end:",
        '"result": result})',
        '"result": "last" if spanning else result})\nspanning = False',
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

    def waits(self, position: int, end: int) -> bool:
        waits = super().waits(position, end)
        if waits:
            self.header = ""
        return waits


@wrong("SPAN-22", "SPAN-20", "SPAN-21", "SPAN-27")
class DeserializerSpanningEmptyRecordWaits(Deserializer):
    """An empty record whose header was split is reported only with the next buffer."""

    on_buffer = changed(
        Deserializer.on_buffer,
        "position = self.read_header",
        "spanning = bool(self.header)\nposition = self.read_header",
        "self.waits(position, end)",
        "self.waits(position, end) or (spanning and position == end)",
    )


@wrong("SPAN-27", "SPAN-20", "SPAN-21", "SPAN-22", "SPAN-23")
class DeserializerLengthInOneByte(Deserializer):
    """Only the last byte of the length is looked at."""

    read_header = changed(Deserializer.read_header, "2 * length", "2 * (length & 0xFF)")


@wrong("SPAN-27", "SPAN-20", "SPAN-21")
class DeserializerLeftoverDropped(Deserializer):
    """The rest of a buffer behind a record that began earlier is thrown away."""

    on_buffer = changed(
        Deserializer.on_buffer,
        "while position < end:",
        "spanning = bool(self.header)\nwhile position < end:",
        'if result == "last":',
        'if result == "last" or spanning:',
    )


@wrong("SPAN-27", "SPAN-20", origin="FLINK-17315")
class DeserializerArrayNotTrimmed(Deserializer):
    """Gathered records share one array that is never trimmed: a short one ends with the bytes of a longer one
    before it.
    """

    array = ""
    on_buffer = changed(
        Deserializer.on_buffer,
        "while position < end:",
        "spanning = bool(self.header)\nwhile position < end:",
        "payload = self.take_payload()",
        "payload = self.take_payload()\n"
        "if spanning:\n"
        "    payload = self.array = payload + self.array[len(payload) :]\n"
        "    spanning = False",
    )


@wrong("SPAN-27", "SPAN-20", origin="FLINK-10469")
class DeserializerLargePieceCut(Deserializer):
    """Of a piece of more than 128 bytes only the first 128 are kept, as when a write to a spill file falls short."""

    def keep(self, taken: str) -> None:
        super().keep(taken)
        if self.missing:
            self.pieces[-1] = taken[:256]


@wrong("SPAN-27", "SPAN-20")
class DeserializerPiecesReversed(Deserializer):
    """The pieces of a record are put together last to first."""

    def take_payload(self) -> str:
        self.pieces.reverse()
        return super().take_payload()


@wrong("SPAN-27", "SPAN-20")
class DeserializerSecondPieceLost(Deserializer):
    """A record in four or more pieces loses one of them."""

    def take_payload(self) -> str:
        if len(self.pieces) > 3:
            del self.pieces[2]
        return super().take_payload()


@wrong("SPAN-29", "SPAN-20", "SPAN-22", "SPAN-27")
class DeserializerClearKeepsHeader(Deserializer):
    """Clearing leaves a partial header behind."""

    def on_clear(self) -> Observations:
        return super().on_clear() if len(self.header) == _HEADER else []


@wrong("SPAN-29", "SPAN-20", "SPAN-27")
class DeserializerClearKeepsPayload(Deserializer):
    """Clearing leaves a partial payload behind."""

    def on_clear(self) -> Observations:
        return [] if len(self.header) == _HEADER else super().on_clear()


@wrong("SPAN-29", "SPAN-20", "SPAN-27", origin="FLINK-17315")
class DeserializerClearKeepsLength(Deserializer):
    """Clearing drops the gathered payload but still expects a record of its length."""

    def on_clear(self) -> Observations:
        if len(self.header) < _HEADER:
            return super().on_clear()
        self.missing += sum(map(len, self.pieces))
        self.pieces = []
        return []


@wrong("SPAN-29", "SPAN-20", "SPAN-21")
class DeserializerClearIsSeen(Deserializer):
    """Clearing reports a partial record."""

    on_clear = changed(Deserializer.on_clear, "return []", 'return [{"type": "partial"}]')


@wrong("SPAN-29", "SPAN-20", "SPAN-21", "SPAN-22", "SPAN-27")
class DeserializerStateSurvivesCase(Deserializer):
    """Readers share their gathering state: the rest of one stream opens the next."""

    def __init__(self, config: Json, host: Host) -> None:
        super().__init__(config, host)
        self.memory = host.memory
        self.header, self.missing, self.pieces = self.memory.get("state", ("", 0, []))

    def on_buffer(self, data: str) -> Observations:
        out = super().on_buffer(data)
        self.memory["state"] = (self.header, self.missing, self.pieces)
        return out
