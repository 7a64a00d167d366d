"""Statuses and latency markers through a task, STAT-1 … STAT-4, LAT-1, LAT-2: the museum's valve, a chain, an output.

A latency marker may leave on any channel; here each leaves on the one behind the last.
"""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.valve.machine import make as make_valve

SEMANTICS = ("flink-18934", "flink-5017")

_TYPES = ("record", "latency_marker", "watermark", "status")
#: What goes wrong in the valve and shows at the output.
_INNER = {
    "idle-channel-is-heard": "valve-idle-channel-heard",
    "watermark-wakes-its-channel": "valve-watermark-wakes-channel",
    "257-channels-told-apart": "valve-257-channels-told-apart",
}


class Statuses:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("statuses-")
        self.channels = wire.get_at_least(config, "channels", 1)
        self.operators = wire.get_at_least(config, "operators", 1)
        self.outputs = wire.get_at_least(config, "outputs", 0)
        self.through_operators = wire.get_semantics(config, SEMANTICS) == "flink-18934"
        self.valve = make_valve({"channels": self.channels}, wire.Host(bug=_INNER.get(self.bug, "")))
        self.idle = False
        self.idle_channels: set[int] = set()
        self.records = self.markers = 0

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind not in _TYPES:
            raise wire.unknown_type(event)
        channel = wire.get_integer(event, "channel")
        if kind == "watermark":
            wire.get_long(event, "timestamp")
        elif kind == "status":
            wire.get_choice(event, "status", ("idle", "active"))
        if channel == -1 and self.bug == "before-the-first-is-the-last":
            channel = self.channels - 1
        if not 0 <= channel < self.channels:
            return wire.rejected()
        if kind == "record":
            return self.on_record()
        if kind == "latency_marker":
            return self.on_marker(channel)
        if kind == "status":
            change = self.idle_channels.add if event["status"] == "idle" else self.idle_channels.discard
            change(channel)
        return [one for passed in self.valve.step({**event, "channel": channel}) for one in self.pass_on(passed)]

    # --- the chain and the output

    def handle(self, element: str, operators: int | None = None) -> wire.Observations:
        last = self.operators if operators is None else operators
        return [{"type": "handled", "operator": operator, "element": element} for operator in range(last)]

    def send(self, element: str, channel: int, **fields: str) -> wire.Observations:
        return [{"type": "sent", "channel": channel, "element": element, **fields}] if self.outputs else []

    def send_all(self, element: str, **fields: str) -> wire.Observations:
        return [one for channel in range(self.outputs) for one in self.send(element, channel, **fields)]

    def on_record(self) -> wire.Observations:
        bug = self.bug
        out = self.handle("record")
        if self.idle and bug == "records-dropped-while-idle":
            return out
        if self.idle and bug == "record-wakes-the-output":
            self.idle = False
            out += self.send_all("status", status="active")
        turn, self.records = self.records, self.records + 1
        if bug == "record-to-every-channel":
            return out + self.send_all("record")
        if bug == "record-to-the-first-channel":
            turn = 0
        return out + self.send("record", turn % max(1, self.outputs))

    def on_marker(self, channel: int) -> wire.Observations:
        bug = self.bug
        if bug == "marker-of-idle-channel-dropped" and channel in self.idle_channels:
            return []
        if bug == "sink-takes-no-time" and not self.outputs:
            return self.handle("latency_marker", self.operators - 1)
        if bug == "marker-goes-around-operators":
            out: wire.Observations = []
        elif bug == "head-alone-takes-its-time":
            out = self.handle("latency_marker", 1)
        elif bug == "marker-is-a-record":
            out = self.handle("record")
        else:
            out = self.handle("latency_marker")
        if bug == "marker-dropped-while-idle" and self.idle:
            return out
        if bug == "marker-on-every-channel":
            return out + self.send_all("latency_marker")
        if bug == "marker-takes-a-turn":
            self.records += 1
        self.markers += 1
        return out + self.send("latency_marker", self.markers % max(1, self.outputs))

    def pass_on(self, passed: wire.Json) -> wire.Observations:
        return self.on_status(passed["status"]) if passed["type"] == "status" else self.on_watermark(passed)

    def on_watermark(self, passed: wire.Json) -> wire.Observations:
        bug = self.bug
        out = self.handle("watermark", 1 if bug == "head-keeps-watermarks-from-the-chain" else None)
        if self.idle:
            return out
        if bug == "watermark-takes-a-turn":
            self.records += 1
        if bug == "watermark-to-the-first-channel":
            return out + self.send("watermark", 0, timestamp=passed["timestamp"])
        return out + self.send_all("watermark", timestamp=passed["timestamp"])

    def on_status(self, status: str) -> wire.Observations:
        bug = self.bug
        through = self.through_operators and bug != "operators-not-told"
        if bug == "operators-told-before-their-time":
            through = True
        told = 1 if bug == "head-alone-is-told" else None
        out = self.handle("status", told) if through else []
        self.idle = status == "idle"
        if bug == "status-starts-the-turn-over":
            self.records = 0
        if bug == "active-not-announced" and status == "active":
            return out
        if bug == "status-to-the-first-channel":
            return out + self.send("status", 0, status=status)
        sent = self.send_all("status", status=status)
        return sent + out if bug == "output-told-before-the-chain" else out + sent


make = Statuses
