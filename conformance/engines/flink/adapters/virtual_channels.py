"""Virtual channels: `DemultiplexingRecordDeserializer` with the record filters of a rescaled network input.

The adapter writes the buffers: elements in Flink's own serialization, and records cut in the middle.
"""

import tempfile
from functools import cache
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

_RECOVERY = "org.apache.flink.streaming.runtime.io.recovery."
_DEMULTIPLEXER = _RECOVERY + "DemultiplexingRecordDeserializer"
_FILTERS = _RECOVERY + "RescalingStreamTaskNetworkInput$RecordFilterFactory"
_NETWORK = "org.apache.flink.runtime.io.network."
_DESCRIPTOR = "org.apache.flink.runtime.checkpoint.InflightDataRescalingDescriptor"
_ELEMENTS = "org.apache.flink.streaming.runtime.streamrecord."
_STATUS = "org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus"
_MOST_OLD = 128


def declare(jvm: Jvm) -> wire.Json | None:
    """As in 2.3, where each virtual channel has a class of its own."""
    is_there = jvm.has(_DEMULTIPLEXER, "create") and jvm.has(_RECOVERY + "VirtualChannel") and jvm.has(_FILTERS)
    return {} if is_there else None


@cache
def _spill_folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="tidegate-spill-")


class VirtualChannels:
    def __init__(self, jvm: Jvm, config: wire.Json) -> None:
        self._jvm = jvm
        serializer = jvm.cls("org.apache.flink.api.common.typeutils.base.StringSerializer").INSTANCE
        self._serializer = jvm.cls(_ELEMENTS + "StreamElementSerializer")(serializer)
        self._delegate = jvm.cls("org.apache.flink.runtime.plugable.NonReusingDeserializationDelegate")(
            self._serializer
        )
        self._demultiplexer = self._make(config, serializer)
        self._selected: tuple[int, int] | None = None
        #: The rest of the open record of each virtual channel.
        self._rests: dict[tuple[int, int], bytes] = {}

    def _make(self, config: wire.Json, serializer: Any) -> Any:
        jvm = self._jvm
        subtask = wire.get_at_least(config, "subtask", 0)
        count, groups = (
            wire.get_between(config, "parallelism", 1, 1024),
            wire.get_between(config, "max_parallelism", 1, 32768),
        )
        selector = jvm.implement("org.apache.flink.api.java.functions.KeySelector", {"getKey": lambda record: record})
        partitioner = jvm.cls("org.apache.flink.streaming.runtime.partitioner.KeyGroupStreamPartitioner")
        found = jvm.implement("java.util.function.Function", {"apply": lambda _gate: partitioner(selector, groups)})
        filters = jvm.new(_FILTERS, jvm.integer(subtask), serializer, jvm.integer(count), found, jvm.integer(groups))
        folders = jvm.jpype.JArray(jvm.cls("java.lang.String"))([_spill_folder().name])
        deserializer = jvm.cls(_NETWORK + "api.serialization.SpillingAdaptiveSpanningRecordDeserializer")
        readers = jvm.implement("java.util.function.Function", {"apply": lambda _channels: deserializer(folders)})
        channel = jvm.cls("org.apache.flink.runtime.checkpoint.channel.InputChannelInfo")(0, 0)
        return jvm.call(jvm.cls(_DEMULTIPLEXER), "create", channel, self._describe(config), readers, filters)

    def _describe(self, config: wire.Json) -> Any:
        jvm = self._jvm
        integers = jvm.jpype.JArray(jvm.jpype.JInt)
        old = wire.get_distinct(config, "old_producers", _MOST_OLD)
        mappings = jvm.cls("org.apache.flink.runtime.checkpoint.RescaleMappings")
        stream = jvm.cls("java.util.stream.Stream").of(jvm.jpype.JObject(integers(old)))
        mapping = mappings.of(stream, max(old, default=0) + 1)
        ambiguous = jvm.cls("java.util.HashSet")()
        for one in wire.get_distinct(config, "filtered", _MOST_OLD):
            ambiguous.add(jvm.integer(one))
        inner = _DESCRIPTOR + "$InflightDataGateOrPartitionRescalingDescriptor"
        rescaling = jvm.cls(inner + "$MappingType").RESCALING
        gate = jvm.cls(inner)(
            integers(wire.get_distinct(config, "old_consumers", _MOST_OLD)), mapping, ambiguous, rescaling
        )
        return jvm.cls(_DESCRIPTOR)(jvm.jpype.JArray(jvm.cls(inner))([gate]))

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "select":
            return self._select(wire.get_integer(event, "subtask"), wire.get_integer(event, "channel"))
        if kind != "buffer":
            raise wire.unknown_type(event)
        elements = [self._read(one) for one in wire.get_objects(event, "elements")]
        begun = self._write(self._make_record(wire.get_string(event, "begun"))) if "begun" in event else b""
        has_rest = wire.get_boolean(event, "rest")
        if self._selected is None or has_rest != (self._selected in self._rests):
            return wire.rejected()
        content = self._rests.pop(self._selected, b"") + b"".join(map(self._write, elements))
        if begun:
            half = len(begun) // 2
            content += begun[:half]
            self._rests[self._selected] = begun[half:]
        return self._play(content) if content else []

    def _select(self, subtask: int, channel: int) -> wire.Observations:
        jvm = self._jvm
        if not jvm.call(self._demultiplexer, "hasMappings"):
            return wire.rejected()
        descriptor = jvm.cls(_NETWORK + "api.SubtaskConnectionDescriptor")(subtask, channel)
        before = jvm.field(self._demultiplexer, "currentVirtualChannel")
        try:
            jvm.call(self._demultiplexer, "select", descriptor)
        except jvm.cls("java.lang.IllegalStateException"):
            # The task would fail here; the selection is restored, so that the case can go on.
            jvm.set_field(self._demultiplexer, "currentVirtualChannel", before)
            return wire.rejected()
        self._selected = (subtask, channel)
        return []

    def _read(self, element: wire.Json) -> Any:
        kind = element.get("type")
        if kind == "record":
            return self._make_record(wire.get_string(element, "key"))
        if kind == "watermark":
            watermark = self._jvm.cls("org.apache.flink.streaming.api.watermark.Watermark")
            return watermark(wire.get_long(element, "timestamp"))
        if kind == "status":
            statuses = self._jvm.cls(_STATUS)
            is_idle = wire.get_choice(element, "status", ("idle", "active")) == "idle"
            return statuses.IDLE if is_idle else statuses.ACTIVE
        raise wire.BadRequestError(f"unknown element type {kind!r}")

    def _make_record(self, key: str) -> Any:
        return self._jvm.cls(_ELEMENTS + "StreamRecord")(self._jvm.cls("java.lang.String")(key))

    def _write(self, element: Any) -> bytes:
        """With its length in front, as a record writer does."""
        output = self._jvm.cls("org.apache.flink.core.memory.DataOutputSerializer")(128)
        self._serializer.serialize(element, output)
        content = bytes(output.getCopyOfBuffer())
        return len(content).to_bytes(4, "big") + content

    def _play(self, content: bytes) -> wire.Observations:
        jvm = self._jvm
        segment = jvm.cls("org.apache.flink.core.memory.MemorySegmentFactory").wrap(
            jvm.jpype.JArray(jvm.jpype.JByte)(content)
        )
        recycler = jvm.cls(_NETWORK + "buffer.FreeingBufferRecycler").INSTANCE
        data = jvm.cls(_NETWORK + "buffer.Buffer$DataType").DATA_BUFFER
        buffer = jvm.cls(_NETWORK + "buffer.NetworkBuffer")(segment, recycler, data, len(content))
        jvm.call(self._demultiplexer, "setNextBuffer", buffer)
        shown: wire.Observations = []
        while True:
            result = jvm.call(self._demultiplexer, "getNextRecord", self._delegate)
            if result.isFullRecord():
                shown.append(self._show(self._delegate.getInstance()))
            if result.isBufferConsumed():
                return shown

    def _show(self, element: Any) -> wire.Json:
        if element.isRecord():
            return {"type": "record", "key": str(element.getValue())}
        if element.isWatermark():
            return {"type": "watermark", "timestamp": str(int(element.getTimestamp()))}
        return {"type": "status", "status": "active" if element.isActive() else "idle"}

    def close(self) -> None:
        self._jvm.call(self._demultiplexer, "clear")


def make(jvm: Jvm, config: wire.Json) -> VirtualChannels:
    return VirtualChannels(jvm, config)
