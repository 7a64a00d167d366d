"""Records written into buffers of fixed size, SPAN-1 … SPAN-14.

Bytes stay in the hex form that the protocol gives and wants, two characters a byte.
"""

from tidegate.conformance.engines.wire import Host, Json, Observations, get_at_least, get_hex, rejected, unknown_type


class Serializer:
    def __init__(self, config: Json, host: Host) -> None:
        self.bug = host.bug
        self.capacity = 2 * get_at_least(config, "buffer_size", 1)
        self.open = ""
        #: How much of the open buffer was handed out by flushes.
        self.handed = 0
        self.finished = False
        self.scratch = ""
        if self.bug == "serializer-bytes-survive-case":
            self.open = host.memory.pop("open", "")[: self.capacity - 2]
        self.memory = host.memory

    def step(self, event: Json) -> Observations:
        kind = event.get("type")
        if kind == "record":
            payload = get_hex(event, "payload")
            return rejected() if self.is_over("record") else self.on_record(payload)
        if kind == "flush":
            return self.on_flush()
        if kind == "event":
            return rejected() if self.is_over("event") else self.on_event()
        if kind == "finish":
            return rejected() if self.is_over("finish") else self.on_finish()
        raise unknown_type(event)

    def is_over(self, kind: str) -> bool:
        return self.finished and self.bug != f"serializer-{kind}-after-finish"

    def encode(self, payload: str) -> str:
        bug = self.bug
        length = len(payload) // 2
        if bug == "serializer-length-counts-header":
            return f"{length + 4:08x}{payload}"
        if bug == "serializer-length-little-endian":
            return length.to_bytes(4, "little").hex() + payload
        if bug == "serializer-length-in-one-byte":
            return f"{length & 0xFF:08x}{payload}"
        if bug == "serializer-empty-record-skipped" and not payload:
            return ""
        if bug == "serializer-scratch-not-truncated":
            self.scratch = payload + self.scratch[len(payload) :]
            return f"{len(self.scratch) // 2:08x}{self.scratch}"
        return f"{length:08x}{payload}"

    def on_record(self, payload: str) -> Observations:
        bug = self.bug
        encoded = self.encode(payload)
        out: Observations = []
        room = self.capacity - len(self.open)
        if self.open and (
            (bug == "serializer-header-kept-whole" and room < 8 <= self.capacity)
            or (bug == "serializer-record-kept-whole" and room < len(encoded) <= self.capacity)
        ):
            out += self.close()
        while encoded:
            if len(self.open) == self.capacity:
                out += self.close()
            room = self.capacity - len(self.open)
            if bug == "serializer-header-byte-lost" and 0 < room < 8 and len(encoded) == len(payload) + 8:
                encoded = encoded[2:]
            self.open += encoded[:room]
            encoded = encoded[room:]
            if len(self.open) == self.capacity and (bug != "serializer-full-buffer-kept-open" or encoded):
                out += self.close()
        if bug == "serializer-record-ends-buffer":
            out += self.close()
        if bug == "serializer-bytes-survive-case":
            self.memory["open"] = self.open
        return out

    def close(self) -> Observations:
        """Finish the open buffer and hand out what is left of it."""
        handed = 0 if self.bug == "serializer-flushed-bytes-repeated" else self.handed
        left = self.open[handed:]
        self.open = ""
        if self.bug != "serializer-flush-position-kept":
            self.handed = 0
        if not left and self.bug != "serializer-empty-buffer-sent":
            return []
        return [{"type": "buffer", "data": left}]

    def on_flush(self) -> Observations:
        bug = self.bug
        if self.finished:
            return rejected() if bug == "serializer-flush-after-finish-rejected" else []
        if bug == "serializer-flush-closes-buffer":
            return self.close()
        start = 0 if bug == "serializer-flush-from-start" else self.handed
        left = self.open[start:]
        if bug == "serializer-flush-holds-partial-header" and len(left) < 8:
            return []
        if bug != "serializer-flush-not-remembered":
            self.handed = len(self.open)
        if not left:
            return []
        return [{"type": "buffer", "data": left}]

    def on_event(self) -> Observations:
        bug = self.bug
        if bug == "serializer-event-leaves-buffer-open":
            return []
        if bug == "serializer-event-flushes-only":
            return self.on_flush()
        if bug == "serializer-event-drops-open-buffer":
            self.open, self.handed = "", 0
            return []
        return self.close()

    def on_finish(self) -> Observations:
        bug = self.bug
        self.finished = True
        if bug == "serializer-finish-loses-tail":
            self.open, self.handed = "", 0
            return []
        return self.close()


make = Serializer
