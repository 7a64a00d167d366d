"""The end of an input: `StreamTaskNetworkInput` with deserializers of the adapter, over a real gate.

The input has no setup: it has its deserializers and its gate, which is all that it needs to close. Only the calls of
a deserializer matter, not what it holds.
"""

import tempfile
from functools import partial
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.remote_gate import NETWORK, RemoteGate
from tidegate.conformance.engines.flink.jvm import Jvm

IO = "org.apache.flink.streaming.runtime.io."
INPUT = f"{IO}StreamTaskNetworkInput"
CHANNEL = f"{NETWORK}partition.consumer.InputChannel"
TRANSPORT = f"{NETWORK}netty.exception.RemoteTransportException"
CAUSES = ("transport", "other")


def declare(jvm: Jvm) -> wire.Json | None:
    """Since 2.2 it ignores a failure that is already known."""
    return {} if jvm.has(INPUT, "releaseDeserializer") and jvm.has(CHANNEL, "hasError") else None


class InputClose:
    def __init__(self, jvm: Jvm, channels: int) -> None:
        self._jvm = jvm
        self._shown: wire.Observations = []
        self._broken: dict[int, str] = {}
        self._rig = RemoteGate(jvm, channels, 1, 1, {})
        self._gate = jvm.bare(f"{IO}checkpointing.CheckpointedInputGate")
        jvm.set_field(self._gate, "inputGate", self._rig.gate)
        jvm.set_field(self._gate, "barrierHandler", jvm.bare(f"{IO}checkpointing.CheckpointBarrierTracker"))
        self._infos = [channel.getChannelInfo() for channel in self._rig.channels]
        self._held = jvm.cls("java.util.HashMap")()
        for number, info in enumerate(self._infos):
            self._held.put(info, self._make_deserializer(number))
        self._input = jvm.bare(INPUT)
        jvm.set_field(self._input, "recordDeserializers", self._held)
        jvm.set_field(self._input, "checkpointedInputGate", self._gate)
        self._saved: list[int] = []
        writer = {"addInputData": lambda _id, info, *_rest: self._saved.append(int(info.getInputChannelIdx()))}
        self._writer = jvm.implement("org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter", writer)

    def _make_deserializer(self, number: int) -> Any:
        handlers = {"clear": partial(self._clear, number)}
        return self._jvm.implement(f"{NETWORK}api.serialization.RecordDeserializer", handlers)

    def _clear(self, number: int) -> None:
        if number in self._broken:
            raise self._make_error(self._broken[number])
        self._shown.append({"type": "released", "channel": number})

    def _make_error(self, cause: str) -> Any:
        inner = None
        if cause == "transport":
            address = self._jvm.cls("java.net.InetSocketAddress").createUnresolved("localhost", 1)
            inner = self._jvm.cls(TRANSPORT)("the connection is broken", address, None)
        return self._jvm.cls("java.lang.RuntimeException")(cause, inner)

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        self._shown = []
        if kind == "close":
            return self._try(self._input.close)
        if kind == "snapshot":
            return self._snapshot()
        if kind not in ("error", "break", "end"):
            raise wire.unknown_type(event)
        channel = wire.get_integer(event, "channel")
        cause = wire.get_choice(event, "cause", CAUSES) if kind == "break" else ""
        if not 0 <= channel < len(self._infos):
            return wire.rejected()
        if kind == "break":
            self._broken[channel] = cause
        elif kind == "error":
            self._jvm.call(self._rig.channels[channel], "setError", self._make_error("transport"))
        else:
            return self._try(partial(self._jvm.call, self._input, "releaseDeserializer", self._infos[channel]))
        return []

    def _snapshot(self) -> wire.Observations:
        """Only Flink's own deserializers work here; meanwhile they replace those of the adapter."""
        folders = self._jvm.jpype.JArray(self._jvm.jpype.JString)([tempfile.gettempdir()])
        own = self._jvm.cls(f"{NETWORK}api.serialization.SpillingAdaptiveSpanningRecordDeserializer")(folders)
        standing_in = self._jvm.cls("java.util.HashMap")()
        for info in self._held.keySet():
            standing_in.put(info, own)
        self._saved = []
        self._jvm.set_field(self._input, "recordDeserializers", standing_in)
        self._input.prepareSnapshot(self._writer, 1)
        self._jvm.set_field(self._input, "recordDeserializers", self._held)
        return [{"type": "snapshotted", "channels": sorted(self._saved)}]

    def _try(self, run: Any) -> wire.Observations:
        causes: list[str] = []
        try:
            run()
        except self._jvm.jpype.JException as error:
            causes = [self._name(one) for one in (error, *error.getSuppressed())]
            # The errors after the first are attached to it, wherever it is in the chain of causes.
            inner = error.getCause()
            causes += [self._name(one) for one in inner.getSuppressed()] if inner is not None else []
        released = sorted(self._shown, key=lambda one: one["channel"])
        return [*released, {"type": "failed", "causes": sorted(causes)}] if causes else released

    def _name(self, error: Any) -> str:
        while error is not None and str(error.getMessage()) not in CAUSES:
            error = error.getCause()
        return str(error.getMessage())

    def close(self) -> None:
        self._rig.close()


def make(jvm: Jvm, config: wire.Json) -> InputClose:
    return InputClose(jvm, wire.get_at_least(config, "channels", 1))
