"""Statuses and latency markers through a task, STAT-1 … STAT-4, LAT-1, LAT-2: the museum's valve, a chain, an output.

A latency marker may leave on any channel; here each leaves on the one behind the last.
"""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.valve import (
    Valve,
    Valve257ChannelsToldApart,
    ValveIdleChannelHeard,
    ValveWatermarkWakesChannel,
)
from tidegate.conformance.engines.museum.wrong import changed, wrong

SEMANTICS = ("flink-18934", "flink-5017")


class Statuses:
    make_valve = Valve

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.channels = wire.get_at_least(config, "channels", 1)
        self.operators = wire.get_at_least(config, "operators", 1)
        self.outputs = wire.get_at_least(config, "outputs", 0)
        self.through_operators = wire.get_semantics(config, SEMANTICS) == "flink-18934"
        self.valve = self.make_valve({"channels": self.channels}, wire.Host())
        self.idle = False
        self.records = self.markers = 0

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind in ("watermark", "status"):
            return [one for passed in self.valve.step(event) for one in self.pass_on(passed)]
        if kind not in ("record", "latency_marker"):
            raise wire.unknown_type(event)
        if not 0 <= wire.get_integer(event, "channel") < self.channels:
            return wire.rejected()
        return self.on_record() if kind == "record" else self.on_marker()

    # --- the chain and the output

    def handle(self, element: str) -> wire.Observations:
        return [{"type": "handled", "operator": operator, "element": element} for operator in range(self.operators)]

    def send(self, element: str, channel: int, **fields: str) -> wire.Observations:
        return [{"type": "sent", "channel": channel, "element": element, **fields}] if self.outputs else []

    def send_all(self, element: str, **fields: str) -> wire.Observations:
        return [one for channel in range(self.outputs) for one in self.send(element, channel, **fields)]

    def on_record(self) -> wire.Observations:
        turn, self.records = self.records, self.records + 1
        return self.handle("record") + self.send("record", turn % max(1, self.outputs))

    def on_marker(self) -> wire.Observations:
        self.markers += 1
        return self.handle("latency_marker") + self.send("latency_marker", self.markers % max(1, self.outputs))

    def pass_on(self, passed: wire.Json) -> wire.Observations:
        if passed["type"] == "watermark":
            return self.on_watermark(passed["timestamp"])
        return self.on_status(passed["status"]) if passed["type"] == "status" else [passed]

    def on_watermark(self, timestamp: str) -> wire.Observations:
        out = self.handle("watermark")
        return out if self.idle else out + self.send_all("watermark", timestamp=timestamp)

    def on_status(self, status: str) -> wire.Observations:
        out = self.handle("status") if self.through_operators else []
        self.idle = status == "idle"
        return out + self.send_all("status", status=status)


make = Statuses

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("VALVE-1")
class StatusesBeforeTheFirstIsTheLast(Statuses):
    """The index before the first channel stands for the last one."""

    def step(self, event: wire.Json) -> wire.Observations:
        return super().step({**event, "channel": self.channels - 1} if event.get("channel") == -1 else event)


@wrong("STAT-1", "STAT-2")
class StatusesRecordsDroppedWhileIdle(Statuses):
    """Records are dropped while the output is idle."""

    def on_record(self) -> wire.Observations:
        return self.handle("record") if self.idle else super().on_record()


@wrong("STAT-1", "STAT-2")
class StatusesRecordWakesTheOutput(Statuses):
    """A record makes an idle output announce that it is active."""

    def on_record(self) -> wire.Observations:
        out = super().on_record()
        if self.idle:
            self.idle = False
            out[self.operators : self.operators] = self.send_all("status", status="active")
        return out


@wrong("STAT-1", "STAT-2", "STAT-3", "STAT-4")
class StatusesActiveNotAnnounced(Statuses):
    """The output does not announce that it is active again: its receivers go without its watermarks for ever."""

    on_status = changed(
        Statuses.on_status,
        'out + self.send_all("status", status=status)',
        'out + self.send_all("status", status=status) if self.idle else out',
    )


@wrong("STAT-1", "STAT-2")
class StatusesHeadKeepsWatermarksFromTheChain(Statuses):
    """A watermark goes from the first operator to the output, past the others."""

    on_watermark = changed(Statuses.on_watermark, 'self.handle("watermark")', 'self.handle("watermark")[:1]')


@wrong("STAT-2")
class StatusesRecordToEveryChannel(Statuses):
    """A record is written to all channels."""

    on_record = changed(
        Statuses.on_record, 'self.send("record", turn % max(1, self.outputs))', 'self.send_all("record")'
    )


@wrong("STAT-2")
class StatusesRecordToTheFirstChannel(Statuses):
    """Records are always written to the first channel, whatever the partitioner selects."""

    on_record = changed(Statuses.on_record, "turn % max(1, self.outputs)", "0")


@wrong("STAT-2", "STAT-1")
class StatusesWatermarkToTheFirstChannel(Statuses):
    """A watermark is written to one channel."""

    on_watermark = changed(Statuses.on_watermark, 'self.send_all("watermark"', 'self.send("watermark", 0')


@wrong("STAT-2")
class StatusesWatermarkTakesATurn(Statuses):
    """A watermark counts as a turn of the partitioner."""

    def on_watermark(self, timestamp: str) -> wire.Observations:
        self.records += not self.idle
        return super().on_watermark(timestamp)


@wrong("STAT-2", "STAT-1", "STAT-3")
class StatusesStatusToTheFirstChannel(Statuses):
    """A status is written to one channel."""

    on_status = changed(Statuses.on_status, 'self.send_all("status"', 'self.send("status", 0')


@wrong("STAT-2", "STAT-1")
class StatusesStatusStartsTheTurnOver(Statuses):
    """With a change of the status the partitioner starts over."""

    def on_status(self, status: str) -> wire.Observations:
        self.records = 0
        return super().on_status(status)


@wrong("STAT-3", "STAT-1", origin="FLINK-18934", semantics="flink-18934")
class StatusesOperatorsNotTold(Statuses):
    """Operators are not told of the status, as before 1.14."""

    on_status = changed(Statuses.on_status, "self.through_operators", "False")


@wrong("STAT-3", "STAT-1", semantics="flink-18934")
class StatusesHeadAloneIsTold(Statuses):
    """Only the first operator of the chain is told of the status."""

    on_status = changed(Statuses.on_status, 'self.handle("status")', 'self.handle("status")[:1]')


@wrong("STAT-3", "STAT-1", semantics="flink-5017")
class StatusesOperatorsToldBeforeTheirTime(Statuses):
    """Operators are told of the status in releases where the task alone has one."""

    on_status = changed(Statuses.on_status, "self.through_operators", "True")


@wrong("STAT-3", "STAT-1", semantics="flink-18934")
class StatusesOutputToldBeforeTheChain(Statuses):
    """The status is announced before the operators have seen it."""

    on_status = changed(
        Statuses.on_status,
        'out + self.send_all("status", status=status)',
        'self.send_all("status", status=status) + out',
    )


@wrong("STAT-4", "VALVE-2", "STAT-1")
class StatusesIdleChannelIsHeard(Statuses):
    """The watermark of a channel that is idle is remembered."""

    make_valve = ValveIdleChannelHeard


@wrong("STAT-4", "VALVE-2", "STAT-1")
class StatusesWatermarkWakesItsChannel(Statuses):
    """The watermark of a channel that is idle makes it active, unannounced."""

    make_valve = ValveWatermarkWakesChannel


@wrong("LAT-1")
class StatusesSinkTakesNoTime(Statuses):
    """A sink lets latency markers go by."""

    def on_marker(self) -> wire.Observations:
        out = super().on_marker()
        return out if self.outputs else out[:-1]


@wrong("LAT-1", "LAT-2")
class StatusesMarkerGoesAroundOperators(Statuses):
    """Operators do not take the time of a latency marker."""

    on_marker = changed(Statuses.on_marker, 'self.handle("latency_marker") + ', "")


@wrong("LAT-1", "LAT-2")
class StatusesHeadAloneTakesItsTime(Statuses):
    """Only the first operator takes the time of a latency marker."""

    on_marker = changed(Statuses.on_marker, 'self.handle("latency_marker")', 'self.handle("latency_marker")[:1]')


@wrong("LAT-2", "LAT-1")
class StatusesMarkerIsARecord(Statuses):
    """Operators process a latency marker like a record."""

    on_marker = changed(Statuses.on_marker, 'self.handle("latency_marker")', 'self.handle("record")')


@wrong("LAT-2", "LAT-1")
class StatusesMarkerOfIdleChannelDropped(Statuses):
    """A latency marker of an idle channel is dropped, as if it went through the valve."""

    def step(self, event: wire.Json) -> wire.Observations:
        out = super().step(event)
        if event["type"] != "latency_marker" or out == wire.rejected() or self.valve.active[event["channel"]]:
            return out
        self.markers -= 1
        return []


@wrong("LAT-2", "LAT-1")
class StatusesMarkerDroppedWhileIdle(Statuses):
    """While the output is idle no latency marker leaves."""

    def on_marker(self) -> wire.Observations:
        return self.handle("latency_marker") if self.idle else super().on_marker()


@wrong("LAT-2", "LAT-1")
class StatusesMarkerOnEveryChannel(Statuses):
    """A latency marker leaves on all channels, and multiplies at every task."""

    on_marker = changed(
        Statuses.on_marker,
        'self.send("latency_marker", self.markers % max(1, self.outputs))',
        'self.send_all("latency_marker")',
    )


@wrong("LAT-2", "STAT-2", "STAT-1")
class StatusesMarkerTakesATurn(Statuses):
    """A latency marker counts as a turn of the partitioner."""

    def on_marker(self) -> wire.Observations:
        self.records += 1
        return super().on_marker()


@wrong("STAT-1", "STAT-2")
class Statuses257ChannelsToldApart(Statuses):
    """The valve of the task has a table of 257 channels, and takes one more for the first."""

    make_valve = Valve257ChannelsToldApart
