"""Buffers into records: `SpillingAdaptiveSpanningRecordDeserializer`, with files for records too long for memory.

A real serializer knows where a record ends. Ours takes any payload, so it looks up the length that the
deserializer itself has read: in front of the record, or in the wrapper of spanning records.
"""

import tempfile
from functools import cache
from typing import Any

from tidegate.conformance.engines.flink.jvm import Jvm
from tidegate.conformance.engines.wire import Json, Observations, get_hex, unknown_type

_PACKAGE = "org.apache.flink.runtime.io.network."
_DESERIALIZER = _PACKAGE + "api.serialization.SpillingAdaptiveSpanningRecordDeserializer"
_WHOLE = {"INTERMEDIATE_RECORD_FROM_BUFFER": "intermediate", "LAST_RECORD_FROM_BUFFER": "last"}


def declare(jvm: Jvm) -> Json | None:
    return {} if jvm.has(_DESERIALIZER, "setNextBuffer") else None


@cache
def _spill_folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="tidegate-spill-")


class Deserializer:
    def __init__(self, jvm: Jvm) -> None:
        self._jvm = jvm
        self._bytes = jvm.jpype.JArray(jvm.jpype.JByte)
        self._wrap = jvm.cls("org.apache.flink.core.memory.MemorySegmentFactory").wrap
        self._recycler = jvm.cls(_PACKAGE + "buffer.FreeingBufferRecycler").INSTANCE
        self._data = jvm.cls(_PACKAGE + "buffer.Buffer$DataType").DATA_BUFFER
        self._buffer = jvm.cls(_PACKAGE + "buffer.NetworkBuffer")
        folders = jvm.jpype.JArray(jvm.cls("java.lang.String"))([_spill_folder().name])
        self._deserializer = jvm.cls(_DESERIALIZER)(folders)
        self._within = jvm.field(self._deserializer, "nonSpanningWrapper")
        self._across = jvm.field(self._deserializer, "spanningWrapper")
        self._payload = b""
        handlers = {"read": self._read}
        self._record = jvm.implement("org.apache.flink.core.io.IOReadableWritable", handlers)

    def step(self, event: Json) -> Observations:
        kind = event.get("type")
        if kind == "clear":
            self._deserializer.clear()
            return []
        if kind != "buffer":
            raise unknown_type(event)
        content = bytes.fromhex(get_hex(event, "data"))
        segment = self._wrap(self._bytes(content))
        self._deserializer.setNextBuffer(self._buffer(segment, self._recycler, self._data, len(content)))
        shown: Observations = []
        consumed = False
        while not consumed:
            result = self._deserializer.getNextRecord(self._record)
            consumed = bool(result.isBufferConsumed())
            if result.isFullRecord():
                whole = _WHOLE[str(result.name())]
                shown.append({"type": "record", "payload": self._payload.hex(), "result": whole})
            else:
                shown.append({"type": "partial"})
        return shown

    def _read(self, source: Any) -> None:
        if source == self._within:
            position = int(self._jvm.field(source, "position"))
            length = int(self._jvm.field(source, "segment").getIntBigEndian(position - 4))
        else:
            length = int(self._jvm.field(self._across, "recordLength"))
        content = self._bytes(length)
        if length:  # an empty record may have no memory at all
            source.readFully(content)
        self._payload = bytes(content)

    def close(self) -> None:
        self._deserializer.clear()


def make(jvm: Jvm, _config: Json) -> Deserializer:
    return Deserializer(jvm)
