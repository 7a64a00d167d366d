"""The gate: `SingleInputGate` over remote channels, polled as a task polls it.

The gate does not check that a producer sends nothing after its end; what no producer would send is refused here.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.remote_gate import GATE, NETWORK, REMOTE, RemoteGate
from tidegate.conformance.engines.flink.jvm import Jvm

_END_OF_DATA = NETWORK + "api.EndOfData"
_ITEMS = ("data", "end_of_data", "end_of_partition")
_NAMES = {"EndOfData": "end_of_data", "EndOfPartitionEvent": "end_of_partition"}


def declare(jvm: Jvm) -> wire.Json | None:
    return {} if jvm.has(GATE, "pollNext") and jvm.has(REMOTE, "onBuffer") and jvm.has(_END_OF_DATA) else None


class Gate:
    def __init__(self, jvm: Jvm, channels: int) -> None:
        self._rig = RemoteGate(jvm, channels, exclusive=1, floating=1, handlers={})
        self._ended: set[int] = set()
        self._data_ended: set[int] = set()
        self._allocate = jvm.cls("org.apache.flink.core.memory.MemorySegmentFactory").allocateUnpooledSegment
        self._buffer = jvm.cls(NETWORK + "buffer.NetworkBuffer")
        self._recycler = jvm.cls(NETWORK + "buffer.FreeingBufferRecycler").INSTANCE
        self._data = jvm.cls(NETWORK + "buffer.Buffer$DataType").DATA_BUFFER
        self._events = {
            "end_of_data": make_end_of_data(jvm),
            "end_of_partition": jvm.cls(NETWORK + "api.EndOfPartitionEvent").INSTANCE,
        }

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "poll":
            return self._poll()
        if kind == "arrive":
            return self._arrive(wire.get_integer(event, "channel"), wire.get_choice(event, "item", _ITEMS))
        raise wire.unknown_type(event)

    def _arrive(self, channel: int, item: str) -> wire.Observations:
        known = 0 <= channel < len(self._rig.channels) and channel not in self._ended
        if not known or (item == "end_of_data" and channel in self._data_ended):
            return wire.rejected()
        available = self._rig.gate.getAvailableFuture()
        was_available = bool(available.isDone())
        if item == "data":
            # Memory of its own: the number of buffers of a channel does not matter to a gate.
            self._rig.receive(channel, self._buffer(self._allocate(8), self._recycler, self._data, 8))
        else:
            {"end_of_data": self._data_ended, "end_of_partition": self._ended}[item].add(channel)
            self._rig.receive_event(channel, self._events[item])
        return [{"type": "available"}] if not was_available and available.isDone() else []

    def _poll(self) -> wire.Observations:
        found = self._rig.poll()
        if found is None:
            return [{"type": "none"}]
        item = "data"
        if found.isBuffer():
            found.getBuffer().recycleBuffer()
        else:
            item = _NAMES[str(found.getEvent().getClass().getSimpleName())]
        channel = int(found.getChannelInfo().getInputChannelIdx())
        shown: wire.Observations = [
            {"type": "item", "channel": channel, "item": item, "more": bool(found.moreAvailable())}
        ]
        if self._rig.gate.isFinished():
            shown.append({"type": "finished"})
        return shown

    def close(self) -> None:
        self._rig.close()


def make_end_of_data(jvm: Jvm) -> Any:
    """Since 1.15 it says how the source ended."""
    mode = NETWORK + "api.StopMode"
    return jvm.cls(_END_OF_DATA)(jvm.cls(mode).DRAIN) if jvm.has(mode) else jvm.cls(_END_OF_DATA).INSTANCE


def make(jvm: Jvm, config: wire.Json) -> Gate:
    return Gate(jvm, wire.get_at_least(config, "channels", 1))
