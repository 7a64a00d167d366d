"""Records for many channels, in buffers of their own or in shared ones, SPAN-10, SPAN-11, SPAN-12, SPAN-14 and SPAN-34.

Bytes stay in the hex form that the protocol gives and wants, two characters a byte; sizes count bytes.
"""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.writer.buffers import Buffers

#: So many emits may pass in silence after the flusher failed.
MOST_SILENT = 100
#: The flag of the flusher is looked at once in so many emits.
LOOKS_EVERY = 10
EXTENSIONS = ("measures",)
PLAIN = ("broadcast", "event", "pool", "flush", "elapse", "fail", "finish")


class Writer(Buffers):
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        kind = wire.get_choice(config, "kind", ("selecting", "broadcast"))
        channels = wire.get_at_least(config, "channels", 1)
        super().__init__(channels, wire.get_at_least(config, "buffer_size", 1), host.bug.removeprefix("writer-"))
        self.timeout = wire.get_at_least(config, "timeout", -1)
        self.measures = wire.get_extension(config, EXTENSIONS) is not None
        self.shares = kind == "broadcast"
        self.since_flush = 0
        self.emits = 0
        #: Emits since the flusher failed; none while it is alive.
        self.silent: int | None = None
        self.surfaced = False
        self.finished = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        self.out = []
        if kind in {"record", "hint"}:
            is_taken = self.on_channel(event, wire.get_integer(event, "channel"))
        elif kind in PLAIN:
            is_taken = self.on_plain(event, str(kind))
        elif kind == "measure" and self.measures:
            return wire.rejected() if self.finished else [{"type": "queued", "bytes": self.count_queued()}]
        else:
            raise wire.unknown_type(event)
        return self.out if is_taken else wire.rejected()

    def count_queued(self) -> list[int]:
        bug = self.bug
        queued = [len(unseen) // 2 for unseen in self.unseen]
        if bug == "queued-counts-shared-bytes-once" and self.shared is not None:
            return [queued[0], *[0] * (len(queued) - 1)]
        if bug == "queued-counts-all-of-an-open-buffer":
            return [builder.filled if builder is not None else 0 for builder in self.own]
        if bug == "queued-forgets-open-buffers":
            return [0] * len(queued)
        return [sum(queued)] * len(queued) if bug == "queued-is-that-of-all" else queued

    def on_channel(self, event: wire.Json, channel: int) -> bool:
        is_hint = event["type"] == "hint"
        value: int | str = wire.get_at_least(event, "size", 0) if is_hint else wire.get_hex(event, "payload")
        if not 0 <= channel < len(self.everyone):
            if self.bug != "negative-channel-wraps" or channel != -1:
                return False
            channel = self.everyone[-1]
        if isinstance(value, str):
            return self.on_emit(value, channel)
        self.on_hint(channel, value)
        return True

    def on_plain(self, event: wire.Json, kind: str) -> bool:
        if kind == "broadcast":
            return self.on_emit(wire.get_hex(event, "payload"), None)
        if kind == "pool":
            self.has_spare_buffers = wire.get_boolean(event, "available")
        elif kind == "flush":
            self.on_flush()
        elif kind == "elapse":
            self.on_elapse(wire.get_at_least(event, "milliseconds", 1))
        elif self.finished and self.bug != f"{kind}-after-the-end":
            return False
        elif kind == "fail":
            return self.on_fail()
        else:
            self.on_event(is_end=kind == "finish")
        return True

    def on_emit(self, payload: str, channel: int | None) -> bool:
        bug = self.bug
        if self.finished and bug != "emits-after-the-end":
            return False
        self.emits += 1
        if self.has_failed():
            self.out.append({"type": "io_error"})
            if bug != "failed-emit-writes":
                return True
        if bug == "each-record-restarts-the-timer":
            self.since_flush = 0
        encoded = f"{len(payload) // 2:08x}{payload}"
        if channel is not None and self.shares and bug == "marker-for-all":
            channel = None
        if channel is None and (self.shares or bug == "selecting-writer-shares"):
            if bug == "broadcast-is-copied":
                self.write_each(self.everyone, encoded)
                return True
            self.write(None, encoded)
            if self.timeout == 0 and bug != "zero-is-never":
                self.show(self.everyone[:1] if bug == "broadcast-flushes-the-first" else self.everyone)
        else:
            targets = self.everyone if channel is None else (channel,)
            if bug == "broadcast-spares-the-last" and channel is None and len(targets) > 1:
                targets = targets[:-1]
            self.write_each(targets[::-1] if bug == "broadcast-backwards" else targets, encoded)
        return True

    def write_each(self, channels: tuple[int, ...], encoded: str) -> None:
        for channel in channels:
            self.write(channel, encoded)
            if self.timeout == 0 and self.bug != "zero-is-never":
                self.show((channel,))

    def has_failed(self) -> bool:
        bug = self.bug
        if self.silent is None:
            return False
        if self.surfaced and bug != "failure-surfaces-once":
            return True
        most = MOST_SILENT + 1 if bug == "failure-one-emit-late" else MOST_SILENT
        is_looked_at = self.emits % LOOKS_EVERY == 0 and bug != "failure-one-emit-late"
        if bug == "counter-reset-before-compared" or (self.surfaced and bug == "failure-surfaces-once"):
            return False
        self.surfaced = is_looked_at or self.silent >= most
        self.silent += 1
        return self.surfaced

    def on_hint(self, channel: int, size: int) -> None:
        self.hints[channel] = size
        builder = self.own[channel]
        if self.bug == "hint-trims-the-open-buffer" and builder is not None and size > 0:
            builder.capacity = max(builder.filled + 1, min(builder.capacity, size))

    def on_flush(self) -> None:
        self.show(self.everyone[:1] if self.bug == "flush-reaches-the-first" else self.everyone)
        if self.bug == "flush-closes":
            self.finish_all()

    def on_elapse(self, milliseconds: int) -> None:
        bug = self.bug
        if self.timeout <= 0 or (self.silent is not None and bug != "dead-flusher-flushes"):
            return
        self.since_flush += milliseconds
        if self.since_flush > self.timeout or (self.since_flush == self.timeout and bug != "timer-one-too-late"):
            self.since_flush = 0 if bug == "timer-forgets-the-rest" else self.since_flush % self.timeout
            self.show(self.everyone)

    def on_fail(self) -> bool:
        bug = self.bug
        if (self.timeout <= 0 and bug != "failure-of-no-flusher") or (self.silent is not None and bug != "fails-twice"):
            return False
        self.silent = 0
        self.surfaced = False
        self.since_flush = 0
        return True

    def on_event(self, *, is_end: bool) -> None:
        bug = self.bug
        if is_end:
            self.finished = True
            if bug == "end-loses-the-tail":
                self.unseen = [""] * len(self.unseen)
            self.finish_all()
            return
        sent = [{"type": "event", "channel": channel} for channel in self.everyone]
        if bug == "event-reaches-the-first":
            sent = sent[:1]
        if bug == "event-overtakes":
            self.out += sent
        if bug == "event-flushes-only":
            self.show(self.everyone)
        elif bug != "event-leaves-buffers-open":
            self.finish_all()
        if bug != "event-overtakes":
            self.out += sent


make = Writer
