"""The network input of a task, NIN-1 … NIN-8, with GATE-25.

One object a channel holds what has arrived and the bytes of a record that is not whole yet. Watermarks and statuses go
through the museum's own valve.
"""

import struct
from collections import deque

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.valve import make as make_valve
from tidegate.conformance.engines.museum.wrong import changed, wrong

SEMANTICS = ("flink-1.17", "flink-1.5")

_EVENTS = ("barrier", "end_of_data", "stop", "end_of_partition")
_MORE, _NOTHING, _OVER = "more_available", "nothing_available", "end_of_input"


#: What is handed on, the status to return if any, and whether a batch goes on.
Turn = tuple[wire.Observations, str, bool]


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
        if self.is_refused(index, item):
            return wire.rejected()
        if item == b"":
            return []
        channel, known = self.channels[index], self.is_available()
        channel.data_ended = channel.data_ended or item in {"end_of_data", "stop"}
        channel.closing = channel.closing or item == "end_of_partition"
        if not channel.waiting:
            self.line.append(index)
        channel.waiting.append(item)
        return [] if known else [{"type": "available"}]

    def is_available(self) -> bool:
        return bool(self.line) or self.closed == len(self.channels) or self.reading is not None

    # --- calls

    def on_process(self, *, batch: bool) -> wire.Observations:
        out: wire.Observations = []
        while True:
            seen, status, may_go_on = self.turn()
            if not self.finished:
                out += seen
            if status and not (may_go_on and batch and not self.dated):
                break
        if status == "end_of_data":
            self.finished = True
            out.append({"type": "end_input"})
        return [*out, {"type": "returned", "status": status, "available": self.is_available()}]

    def turn(self) -> Turn:
        return self.poll() if self.reading is None else self.read(self.reading)

    def poll(self) -> Turn:
        if not self.line:
            return [], _OVER if self.closed == len(self.channels) else _NOTHING, False
        index = self.line.popleft()
        channel = self.channels[index]
        item = channel.waiting.popleft()
        if channel.waiting:
            self.line.append(index)
        if isinstance(item, bytes):
            channel.rest = item
            self.reading = index
            return [], "", True
        return self.take_event(channel, item)

    def take_event(self, channel: Channel, kind: str) -> Turn:
        go_on = "" if self.dated else _MORE
        if kind == "end_of_partition":
            self.closed += 1
        elif kind != "barrier":
            self.drains.append(kind == "end_of_data")
            if len(self.drains) == len(self.channels):
                return [], "end_of_data" if all(self.drains) else "stopped", False
        return [], go_on, True

    def read(self, index: int) -> Turn:
        channel = self.channels[index]
        data = channel.gathered + channel.rest
        end = 4 + int.from_bytes(data[:4], "big", signed=True)
        if len(data) < 4 or len(data) < end:
            channel.gathered, channel.rest, self.reading = data, b"", None
            return [], "", True
        channel.gathered, channel.rest = b"", data[end:]
        if not channel.rest:
            self.reading = None
        return self.dispatch(index, data[4:end])

    # --- elements

    def dispatch(self, index: int, payload: bytes) -> Turn:
        aside = "" if self.dated else _MORE
        try:
            tag, body = payload[0], payload[1:]
            if tag in {0, 1}:
                return [self.make_record(tag, body)], _MORE, True
            if tag == 2:
                (timestamp,) = struct.unpack(">q", body)
                return self.on_watermark(index, timestamp), aside, True
            if tag == 3:
                return self.on_marker(body), aside, True
            if tag == 4:
                status = {0: "active", -1: "idle"}[struct.unpack(">i", body)[0]]
                return self.on_status(index, status), aside, True
            if tag == 5 and not self.dated:
                (backlog,) = struct.unpack(">?", body)
                return self.on_attributes(index, backlog=backlog), _MORE, False
        except (IndexError, KeyError, struct.error) as error:
            raise wire.BadRequestError(f"no stream element: {payload.hex()}") from error
        raise wire.BadRequestError(f"no element of this input: {payload.hex()}")

    def make_record(self, tag: int, body: bytes) -> wire.Json:
        if tag == 1:
            return {"type": "record", "value": body.hex()}
        (timestamp,) = struct.unpack(">q", body[:8])
        return {"type": "record", "value": body[8:].hex(), "timestamp": str(timestamp)}

    def on_watermark(self, index: int, timestamp: int) -> wire.Observations:
        return self.tell_valve(index, {"type": "watermark", "timestamp": str(timestamp)})

    def on_status(self, index: int, status: str) -> wire.Observations:
        return self.tell_valve(index, {"type": "status", "status": status})

    def tell_valve(self, index: int, event: wire.Json) -> wire.Observations:
        return self.valve.step({**event, "channel": index})

    def on_marker(self, body: bytes) -> wire.Observations:
        marked, lower, upper, subtask = struct.unpack(">qqqi", body)
        fields = {"marked": str(marked), "lower": str(lower), "upper": str(upper)}
        return [{"type": "latency_marker", **fields, "subtask": subtask}]

    def on_attributes(self, index: int, *, backlog: bool) -> wire.Observations:
        self.channels[index].backlog = backlog
        known = [channel.backlog for channel in self.channels]
        combined: bool | None = any(known)
        if not combined and None in known:
            combined = None
        if combined is None or combined == self.said_backlog:
            return []
        self.said_backlog = combined
        return [{"type": "record_attributes", "backlog": combined}]


make = NetworkInput

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("GATE-25", "NIN-1", "NIN-6")
class InputEmptyBufferQueued(NetworkInput):
    """A data buffer of length zero is queued and reported."""

    on_arrive = changed(NetworkInput.on_arrive, 'item == b""', "False")


@wrong("NIN-1", "NIN-2", "NIN-3", "NIN-4", "NIN-8")
class InputAsksTheGateFirst(NetworkInput):
    """Events of other channels are taken before the buffer that is being read is used up."""

    def turn(self) -> Turn:
        if self.reading is not None and self.line:
            first = self.channels[self.line[0]]
            if self.reading != self.line[0] and not first.rest and isinstance(first.waiting[0], str):
                return self.poll()
        return super().turn()


@wrong("NIN-1", "NIN-3", "NIN-4", "NIN-7", "NIN-8")
class InputChannelDrainedFirst(NetworkInput):
    """A channel with more buffers goes to the front of the line again."""

    poll = changed(NetworkInput.poll, "self.line.append", "self.line.appendleft")


@wrong("NIN-2")
class InputGoesOnWithoutLeave(NetworkInput):
    """A call hands on whatever there is although mail may wait."""

    on_process = changed(NetworkInput.on_process, "may_go_on and batch", "may_go_on")


@wrong("NIN-2", "NIN-5", "NIN-1")
class InputBatchSaysMore(NetworkInput):
    """A batch that handed on something says that there is more, although it stopped for want of it."""

    on_process = changed(
        NetworkInput.on_process,
        'if status == "end_of_data":',
        'if batch and out and status == _NOTHING:\n    status = _MORE\nif status == "end_of_data":',
    )


@wrong("NIN-2", origin="Flink 1.10 to 1.16")
class InputRecordEndsBatch(NetworkInput):
    """Each record ends the call, also where nothing waits."""

    dispatch = changed(NetworkInput.dispatch, "body)], _MORE, True", "body)], _MORE, False")


@wrong("NIN-2")
class InputWatermarkEndsBatch(NetworkInput):
    """A watermark ends the call, also where nothing waits."""

    dispatch = changed(NetworkInput.dispatch, "timestamp), aside, True", "timestamp), aside, False")


@wrong("NIN-3")
class InputWatermarksPassTheValveBy(NetworkInput):
    """Watermarks of one channel reach the operator without regard to the others."""

    def on_watermark(self, index: int, timestamp: int) -> wire.Observations:
        return [{"type": "watermark", "timestamp": str(timestamp)}]


@wrong("NIN-3")
class InputStatusesPassTheValveBy(NetworkInput):
    """Statuses of one channel reach the operator without regard to the others."""

    def on_status(self, index: int, status: str) -> wire.Observations:
        return [{"type": "status", "status": status}]


@wrong("NIN-3", origin="FLINK-18094")
class InputAllChannelsAreTheFirst(NetworkInput):
    """Channel numbers get lost on the way to the valve: watermarks of another channel advance the first."""

    def tell_valve(self, index: int, event: wire.Json) -> wire.Observations:
        return super().tell_valve(0, event)


@wrong("NIN-3", origin="tables of a fixed size")
class Input1024ChannelsToldApart(NetworkInput):
    """The valve is told ten bits of a channel's number: one more than 1,024 is taken for the first."""

    def tell_valve(self, index: int, event: wire.Json) -> wire.Observations:
        return super().tell_valve(index % 1024, event)


@wrong("NIN-3")
class InputRecordLosesItsTime(NetworkInput):
    """Records reach the operator without their timestamp."""

    make_record = changed(NetworkInput.make_record, ', "timestamp": str(timestamp)', "")


@wrong("NIN-3")
class InputMarkersDropped(NetworkInput):
    """Latency markers end at the input."""

    def on_marker(self, body: bytes) -> wire.Observations:
        return []


@wrong("NIN-3", "SPAN-2")
class InputMarkerHalvesSwapped(NetworkInput):
    """The halves of the operator's id in a latency marker are swapped."""

    on_marker = changed(NetworkInput.on_marker, "marked, lower, upper,", "marked, upper, lower,")


@wrong("NIN-3", "NIN-2")
class InputAttributesPassInBatch(NetworkInput):
    """Record attributes do not end a batch."""

    dispatch = changed(NetworkInput.dispatch, "backlog=backlog), _MORE, False", "backlog=backlog), _MORE, True")


@wrong("NIN-3")
class InputAttributesRepeated(NetworkInput):
    """Record attributes are emitted although they say nothing new."""

    on_attributes = changed(NetworkInput.on_attributes, " or combined == self.said_backlog", "")


@wrong("NIN-3")
class InputSilentChannelsDenyBacklog(NetworkInput):
    """Channels that have said nothing yet count as saying that there is no backlog."""

    on_attributes = changed(NetworkInput.on_attributes, "not combined and None in known", "False")


@wrong("NIN-3")
class InputLastAttributesCount(NetworkInput):
    """What one channel says of its backlog is emitted without regard to the others."""

    on_attributes = changed(
        NetworkInput.on_attributes, "if combined is None", "combined = backlog\nif combined is None"
    )


@wrong("NIN-3", "NIN-5", semantics="flink-1.5")
class InputEveryElementEndsTheOldCall(NetworkInput):
    """In the old loop a watermark ends the call, too."""

    dispatch = changed(NetworkInput.dispatch, '"" if self.dated else _MORE', "_MORE")


@wrong("NIN-4", "NIN-3", "NIN-1", origin="FLINK-17568")
class InputBarrierDoesNotEndCall(NetworkInput):
    """After a barrier the call reads on: data from behind it is processed before the snapshot."""

    take_event = changed(NetworkInput.take_event, "[], go_on, True", '[], "" if kind == "barrier" else go_on, True')


@wrong("NIN-4", "NIN-2")
class InputBarrierEndsBatch(NetworkInput):
    """A barrier ends a batch, too."""

    take_event = changed(NetworkInput.take_event, "[], go_on, True", '[], go_on, kind != "barrier"')


@wrong("NIN-4", "NIN-1", "NIN-3")
class InputBarrierOvertakes(NetworkInput):
    """A barrier is read before the data that waits in its channel."""

    on_arrive = changed(
        NetworkInput.on_arrive,
        "channel.waiting.append(item)",
        '(channel.waiting.appendleft if item == "barrier" else channel.waiting.append)(item)',
    )


@wrong("NIN-7", "NIN-3", "NIN-1")
class InputBarrierForgetsTheCutRecord(NetworkInput):
    """A barrier in the midst of a record clears what has come of it."""

    def take_event(self, channel: Channel, kind: str) -> Turn:
        if kind == "barrier":
            channel.gathered = b""
        return super().take_event(channel, kind)


@wrong("NIN-4", "NIN-8")
class InputFirstEndOfDataIsAll(NetworkInput):
    """The end of data of the first channel counts for all."""

    take_event = changed(NetworkInput.take_event, "len(self.drains) == len(self.channels)", "len(self.drains) == 1")


@wrong("NIN-4", "NIN-8")
class InputLastEndDecides(NetworkInput):
    """Whether the input is drained or stopped goes by the last end of data alone."""

    take_event = changed(NetworkInput.take_event, "all(self.drains)", "self.drains[-1]")


@wrong("NIN-4", "NIN-8")
class InputOneDrainIsEnough(NetworkInput):
    """One end of data with drain drains the input."""

    take_event = changed(NetworkInput.take_event, "all(self.drains)", "any(self.drains)")


@wrong("NIN-4")
class InputOverWithTheLastPartition(NetworkInput):
    """The end of the last partition is returned as the end of the input, without another poll."""

    take_event = changed(
        NetworkInput.take_event,
        "self.closed += 1",
        "self.closed += 1\nif self.closed == len(self.channels):\n    return [], _OVER, False",
    )


@wrong("NIN-6", "NIN-4", origin="Flink 1.9, hotfix b94b92bf7f7")
class InputFinishedGateAsleep(NetworkInput):
    """A gate that is finished is not available, so nobody wakes to see the end."""

    is_available = changed(NetworkInput.is_available, " or self.closed == len(self.channels)", "")


@wrong("NIN-6", "NIN-2", "NIN-3", "NIN-1", origin="FLINK-13016")
class InputAvailableByTheGateAlone(NetworkInput):
    """The input is not available while a buffer is being read, so its rest waits for the next one to arrive."""

    is_available = changed(NetworkInput.is_available, " or self.reading is not None", "")


@wrong("NIN-6", "GATE-2")
class InputEveryArrivalSignals(NetworkInput):
    """Every arrival makes the input available again."""

    on_arrive = changed(NetworkInput.on_arrive, "[] if known else ", "")


@wrong("NIN-6", "GATE-2")
class InputNeverSignalsWhileReading(NetworkInput):
    """Once a channel has ended, arrivals on the others do not make the input available."""

    on_arrive = changed(
        NetworkInput.on_arrive, "[] if known else", "[] if known or (self.reading is None and self.closed) else"
    )


@wrong("NIN-7", "NIN-3", "NIN-1", origin="FLINK-17805")
class InputSharedDeserializer(NetworkInput):
    """What has come of a cut record is kept for the input, not for its channel, and is completed by bytes of
    another.
    """

    def read(self, index: int) -> Turn:
        self.channels[index].gathered = self.channels[0].gathered
        seen = super().read(index)
        self.channels[0].gathered = self.channels[index].gathered
        return seen


@wrong("NIN-8", "NIN-4", origin="FLINK-21132")
class InputStopEndsTheOperator(NetworkInput):
    """A stop with savepoint tells the operator that its input is over."""

    on_process = changed(NetworkInput.on_process, 'status == "end_of_data"', 'status in {"end_of_data", "stopped"}')


@wrong("NIN-8")
class InputFinishedOperatorFed(NetworkInput):
    """After the end of its input the operator is still given what is read."""

    on_process = changed(NetworkInput.on_process, "if not self.finished:", "if True:")
