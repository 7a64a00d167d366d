"""The network input of a task, NIN-1 … NIN-8, with GATE-25.

One object a channel holds what has arrived and the bytes of a record that is not whole yet. Watermarks and statuses go
through the museum's own valve.
"""

import struct
from collections import deque

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.valve.machine import make as make_valve

SEMANTICS = ("flink-1.17", "flink-1.5")

_EVENTS = ("barrier", "end_of_data", "stop", "end_of_partition")
_MORE, _NOTHING, _OVER = "more_available", "nothing_available", "end_of_input"


@attrs.define(eq=False)
class Channel:
    waiting: deque[bytes | str] = attrs.Factory(deque)
    #: What has come of a record that is cut, and what is left of the buffer that is being read.
    gathered: bytes = b""
    rest: bytes = b""
    data_ended: bool = False
    closing: bool = False
    backlog: bool | None = None


class NetworkInput:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("input-")
        channels = wire.get_at_least(config, "channels", 1)
        self.dated = wire.get_semantics(config, SEMANTICS) == "flink-1.5"
        self.channels = [Channel() for _ in range(channels)]
        self.line: deque[int] = deque()
        self.valve = make_valve({"channels": channels}, wire.Host())
        self.reading: int | None = None
        self.closed = 0
        self.drains: list[bool] = []
        self.said_backlog: bool | None = None
        self.finished = False

    def step(self, event: wire.Json) -> wire.Observations:
        match event.get("type"):
            case "buffer":
                channel, data = wire.get_integer(event, "channel"), bytes.fromhex(wire.get_hex(event, "data"))
                return self.on_arrive(channel, data)
            case "event":
                channel, kind = wire.get_integer(event, "channel"), wire.get_choice(event, "kind", _EVENTS)
                return self.on_arrive(channel, kind)
            case "process":
                return self.on_process(batch=wire.get_boolean(event, "batch"))
        raise wire.unknown_type(event)

    # --- what arrives

    def is_refused(self, index: int, item: bytes | str) -> bool:
        if self.dated and item in {"end_of_data", "stop"}:
            return True
        if not 0 <= index < len(self.channels) or self.channels[index].closing:
            return True
        return item in {"end_of_data", "stop"} and self.channels[index].data_ended

    def on_arrive(self, index: int, item: bytes | str) -> wire.Observations:
        bug = self.bug
        if self.is_refused(index, item):
            return wire.rejected()
        if item == b"" and bug != "empty-buffer-queued":
            return []
        channel, known = self.channels[index], self.is_available()
        channel.data_ended = channel.data_ended or item in {"end_of_data", "stop"}
        channel.closing = channel.closing or item == "end_of_partition"
        if not channel.waiting:
            self.line.append(index)
        if item == "barrier" and bug == "barrier-overtakes":
            channel.waiting.appendleft(item)
        else:
            channel.waiting.append(item)
        if bug == "every-arrival-signals":
            known = False
        elif bug == "never-signals-while-reading" and self.reading is None and self.closed:
            known = True
        return [] if known else [{"type": "available"}]

    def is_available(self) -> bool:
        gate = bool(self.line) or (self.closed == len(self.channels) and self.bug != "finished-gate-asleep")
        return gate if self.bug == "available-by-the-gate-alone" else gate or self.reading is not None

    # --- calls

    def on_process(self, *, batch: bool) -> wire.Observations:
        bug = self.bug
        out: wire.Observations = []
        while True:
            seen, status, may_go_on = self.turn()
            if not self.finished or bug == "finished-operator-fed":
                out += seen
            if status and not (may_go_on and (batch or bug == "goes-on-without-leave") and not self.dated):
                break
        if bug == "batch-says-more" and batch and out and status == _NOTHING:
            status = _MORE
        if status == "end_of_data" or (status == "stopped" and bug == "stop-ends-the-operator"):
            self.finished = bug != "finished-operator-fed"
            out.append({"type": "end_input"})
        return [*out, {"type": "returned", "status": status, "available": self.is_available()}]

    def turn(self) -> tuple[wire.Observations, str, bool]:
        """What is handed on, the status to return if any, and whether a batch goes on."""
        if self.reading is None or (self.bug == "asks-the-gate-first" and self.line and self.may_leave_buffer()):
            return self.poll()
        return self.read(self.reading)

    def may_leave_buffer(self) -> bool:
        channel = self.channels[self.line[0]]
        return self.reading != self.line[0] and not channel.rest and isinstance(channel.waiting[0], str)

    def poll(self) -> tuple[wire.Observations, str, bool]:
        bug = self.bug
        if not self.line:
            return [], _OVER if self.closed == len(self.channels) else _NOTHING, False
        index = self.line.popleft()
        channel = self.channels[index]
        item = channel.waiting.popleft()
        if channel.waiting:
            (self.line.appendleft if bug == "channel-drained-first" else self.line.append)(index)
        if isinstance(item, bytes):
            channel.rest = item
            self.reading = index
            return [], "", True
        return self.take_event(channel, item)

    def take_event(self, channel: Channel, kind: str) -> tuple[wire.Observations, str, bool]:
        bug = self.bug
        go_on = "" if self.dated else _MORE
        if kind == "barrier" and bug in {"barrier-does-not-end-call", "barrier-forgets-the-cut-record"}:
            if bug == "barrier-forgets-the-cut-record":
                channel.gathered = b""
            return [], go_on if bug == "barrier-forgets-the-cut-record" else "", True
        if kind == "barrier" and bug == "barrier-ends-batch":
            return [], go_on, False
        if kind == "end_of_partition":
            self.closed += 1
            if bug == "over-with-the-last-partition" and self.closed == len(self.channels):
                return [], _OVER, False
        elif kind != "barrier":
            self.drains.append(kind == "end_of_data")
            if self.has_data_ended():
                return [], "end_of_data" if self.is_drained() else "stopped", False
        return [], go_on, True

    def has_data_ended(self) -> bool:
        return len(self.drains) == (1 if self.bug == "first-end-of-data-is-all" else len(self.channels))

    def is_drained(self) -> bool:
        if self.bug == "last-end-decides":
            return self.drains[-1]
        return any(self.drains) if self.bug == "one-drain-is-enough" else all(self.drains)

    def read(self, index: int) -> tuple[wire.Observations, str, bool]:
        bug = self.bug
        channel = self.channels[index]
        keeper = self.channels[0] if bug == "shared-deserializer" else channel
        data = keeper.gathered + channel.rest
        end = 4 + int.from_bytes(data[:4], "big", signed=True)
        if len(data) < 4 or len(data) < end:
            keeper.gathered, channel.rest, self.reading = data, b"", None
            return [], "", True
        keeper.gathered, channel.rest = b"", data[end:]
        if not channel.rest:
            self.reading = None
        return self.dispatch(index, data[4:end])

    # --- elements

    def dispatch(self, index: int, payload: bytes) -> tuple[wire.Observations, str, bool]:
        bug = self.bug
        aside = "" if self.dated and bug != "every-element-ends-the-old-call" else _MORE
        try:
            tag, body = payload[0], payload[1:]
            if tag in {0, 1}:
                return [self.make_record(tag, body)], _MORE, bug != "record-ends-batch"
            if tag == 2:
                (timestamp,) = struct.unpack(">q", body)
                return self.on_watermark(index, timestamp), aside, bug != "watermark-ends-batch"
            if tag == 3:
                return self.on_marker(body), aside, True
            if tag == 4:
                status = {0: "active", -1: "idle"}[struct.unpack(">i", body)[0]]
                return self.on_status(index, status), aside, True
            if tag == 5 and not self.dated:
                (backlog,) = struct.unpack(">?", body)
                return self.on_attributes(index, backlog=backlog), _MORE, bug == "attributes-pass-in-batch"
        except (IndexError, KeyError, struct.error) as error:
            raise wire.BadRequestError(f"no stream element: {payload.hex()}") from error
        raise wire.BadRequestError(f"no element of this input: {payload.hex()}")

    def make_record(self, tag: int, body: bytes) -> wire.Json:
        if tag == 1:
            return {"type": "record", "value": body.hex()}
        (timestamp,) = struct.unpack(">q", body[:8])
        if self.bug == "record-loses-its-time":
            return {"type": "record", "value": body[8:].hex()}
        return {"type": "record", "value": body[8:].hex(), "timestamp": str(timestamp)}

    def on_watermark(self, index: int, timestamp: int) -> wire.Observations:
        if self.bug == "watermarks-pass-the-valve-by":
            return [{"type": "watermark", "timestamp": str(timestamp)}]
        index = self.number(index)
        return self.valve.step({"type": "watermark", "channel": index, "timestamp": str(timestamp)})

    def on_status(self, index: int, status: str) -> wire.Observations:
        if self.bug == "statuses-pass-the-valve-by":
            return [{"type": "status", "status": status}]
        index = self.number(index)
        return self.valve.step({"type": "status", "channel": index, "status": status})

    def number(self, index: int) -> int:
        """By which the valve knows a channel."""
        if self.bug == "all-channels-are-the-first":
            return 0
        return index % 1024 if self.bug == "1024-channels-told-apart" else index

    def on_marker(self, body: bytes) -> wire.Observations:
        marked, lower, upper, subtask = struct.unpack(">qqqi", body)
        if self.bug == "markers-dropped":
            return []
        if self.bug == "marker-halves-swapped":
            lower, upper = upper, lower
        fields = {"marked": str(marked), "lower": str(lower), "upper": str(upper)}
        return [{"type": "latency_marker", **fields, "subtask": subtask}]

    def on_attributes(self, index: int, *, backlog: bool) -> wire.Observations:
        bug = self.bug
        self.channels[index].backlog = backlog
        known = [channel.backlog for channel in self.channels]
        combined: bool | None = any(known)
        if not combined and None in known and bug != "silent-channels-deny-backlog":
            combined = None
        if bug == "last-attributes-count":
            combined = backlog
        if combined is None or (combined == self.said_backlog and bug != "attributes-repeated"):
            return []
        self.said_backlog = combined
        return [{"type": "record_attributes", "backlog": combined}]


make = NetworkInput
