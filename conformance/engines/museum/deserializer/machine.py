"""Buffers read back into records, SPAN-20 … SPAN-22, SPAN-27, SPAN-29.

Hex characters, two a byte, as in the serializer. `header` and `pieces` gather a record that spans buffers.
"""

from tidegate.conformance.engines.wire import BadRequestError, Host, Json, Observations, get_hex, unknown_type

_HEADER = 8


class Deserializer:
    def __init__(self, _config: Json, host: Host) -> None:
        self.bug = host.bug
        self.memory = host.memory
        self.header = ""
        self.missing = 0
        self.pieces: list[str] = []
        #: The array that gathered payloads live in; only a buggy reader looks at its old contents.
        self.array = ""
        self.buffers = 0
        if self.bug == "deserializer-state-survives-case":
            self.header, self.missing, self.pieces = host.memory.get("state", ("", 0, []))

    def step(self, event: Json) -> Observations:
        kind = event.get("type")
        if kind == "buffer":
            out = self.on_buffer(get_hex(event, "data"))
            if self.bug == "deserializer-state-survives-case":
                self.memory["state"] = (self.header, self.missing, self.pieces)
            return out
        if kind == "clear":
            return self.on_clear()
        raise unknown_type(event)

    def on_clear(self) -> Observations:
        bug = self.bug
        in_payload = len(self.header) == _HEADER
        if bug == "deserializer-clear-keeps-header" and not in_payload:
            return []
        if bug == "deserializer-clear-keeps-payload" and in_payload:
            return []
        if bug == "deserializer-clear-keeps-length" and in_payload:
            self.missing += sum(map(len, self.pieces))
            self.pieces = []
            return []
        self.header, self.missing, self.pieces = "", 0, []
        return [{"type": "partial"}] if bug == "deserializer-clear-is-seen" else []

    def on_buffer(self, data: str) -> Observations:
        bug = self.bug
        if not data:
            if bug == "deserializer-empty-buffer-silent":
                return []
            if bug == "deserializer-empty-buffer-clears":
                self.on_clear()
            return [{"type": "partial"}]
        out: Observations = []
        position, end = 0, len(data)
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
            if bug == "deserializer-full-buffer-intermediate":
                result = "intermediate"
            elif bug == "deserializer-spanning-always-last" and spanning:
                result = "last"
            payload = self.take_payload(spanning=spanning)
            if payload or bug != "deserializer-empty-record-skipped":
                out.append({"type": "record", "payload": payload, "result": result})
            if result == "last" and position >= end:
                return [*out, {"type": "partial"}] if bug == "deserializer-partial-after-last" else out
            if bug == "deserializer-leftover-dropped" and spanning:
                return out
            spanning = False
        out.append({"type": "partial"})
        return out

    def read_header(self, data: str, position: int) -> int:
        bug = self.bug
        if bug == "deserializer-header-stash-overwritten" and len(self.header) + len(data) - position < _HEADER:
            self.header = data[position:]
            return len(data)
        needed = _HEADER - len(self.header)
        self.header += data[position : position + needed]
        if len(self.header) == _HEADER:
            length = int(self.header, 16)
            if length >= 2**31:
                raise BadRequestError("lengths on the wire are never negative")
            if bug == "deserializer-length-in-one-byte":
                length &= 0xFF
            self.missing = 2 * length
        return min(position + needed, len(data))

    def waits(self, position: int, end: int, *, spanning: bool) -> bool:
        """Whether the reader gives up right behind a header that the buffer completed."""
        bug = self.bug
        if position < end or not self.missing:
            return position == end and spanning and bug == "deserializer-spanning-empty-record-waits"
        if bug == "deserializer-header-at-end-lost":
            self.header = ""
        return position == end

    def keep(self, taken: str) -> None:
        self.missing -= len(taken)
        if self.bug == "deserializer-large-piece-cut" and self.missing and len(taken) > 256:
            taken = taken[:256]
        self.pieces.append(taken)

    def take_payload(self, *, spanning: bool) -> str:
        bug = self.bug
        if bug == "deserializer-pieces-reversed":
            self.pieces.reverse()
        elif bug == "deserializer-second-piece-lost" and len(self.pieces) > 3:
            del self.pieces[2]
        payload = "".join(self.pieces)
        if bug == "deserializer-array-not-trimmed" and spanning:
            payload = self.array = payload + self.array[len(payload) :]
        self.header, self.missing, self.pieces = "", 0, []
        return payload


make = Deserializer
