"""Several subpartitions read as one: `UnionResultSubpartitionView` over views of the adapter.

The views hold written items until they are fetched, and have numbers. Items after the release,
or of an unknown view, are refused here.
"""

from functools import partial
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters import buffer_parts
from tidegate.conformance.engines.flink.jvm import Jvm

PARTITION = f"{buffer_parts.NETWORK}partition."
UNION = f"{PARTITION}UnionResultSubpartitionView"
VIEW = f"{PARTITION}ResultSubpartitionView"
TYPES = {"partial": "DATA_BUFFER", "whole": "DATA_BUFFER_WITH_CLEAR_END", "event": "EVENT_BUFFER"}


def declare(jvm: Jvm) -> wire.Json | None:
    known = {str(one.name()) for one in jvm.cls(f"{buffer_parts.NETWORK}buffer.Buffer$DataType").values()}
    return {} if jvm.has(UNION, "peekNextBufferSubpartitionId") and known >= set(TYPES.values()) else None


class UnionView:
    def __init__(self, jvm: Jvm, count: int) -> None:
        self._jvm = jvm
        self._shown: wire.Observations = []
        self._written = [0] * count
        self._items: list[list[Any]] = [[] for _ in range(count)]
        self._registered: set[int] = set()
        self._buffers: list[Any] = []
        self._released = False
        listener = {"notifyDataAvailable": lambda _view: self._shown.append({"type": "woken"})}
        self._union = jvm.cls(UNION)(
            jvm.implement(f"{PARTITION}BufferAvailabilityListener", listener), jvm.jpype.JInt(count)
        )
        self._views = [self._make_view(number) for number in range(count)]
        self._memory = jvm.cls("org.apache.flink.core.memory.MemorySegmentFactory").allocateUnpooledSegment
        self._recycler = jvm.cls(f"{buffer_parts.NETWORK}buffer.FreeingBufferRecycler").INSTANCE
        self._types = jvm.cls(f"{buffer_parts.NETWORK}buffer.Buffer$DataType")
        self._backlog = jvm.cls(f"{PARTITION}ResultSubpartition$BufferAndBacklog")

    def _make_view(self, number: int) -> Any:
        handlers = {
            "getNextBuffer": partial(self._fetch, number),
            "releaseAllResources": lambda: self._shown.append({"type": "released", "view": number}),
            "hashCode": lambda: number,
            "equals": lambda other: other is self._views[number],
        }
        return self._jvm.implement(VIEW, handlers)

    def _fetch(self, number: int) -> Any:
        return self._items[number].pop(0) if self._items[number] else None

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        self._shown = []
        if kind in ("write", "tell", "register"):
            return self._hear(kind, event)
        if kind == "release":
            return self._release()
        if kind == "peek":
            return [{"type": "next", "view": int(self._union.peekNextBufferSubpartitionId())}]
        if kind == "query":
            found = self._union.getAvailabilityAndBacklog(wire.get_boolean(event, "credit"))
            return [{"type": "available", "value": bool(found.isAvailable()), "backlog": int(found.getBacklog())}]
        if kind != "poll":
            raise wire.unknown_type(event)
        got = self._union.getNextBuffer()
        if got is None:
            return [{"type": "none"}]
        # The size identifies a buffer: the number of its view, and its own.
        view, number = divmod(int(got.buffer().getSize()) - 1, 1000)
        return [{"type": "got", "view": view, "number": number, "backlog": int(got.buffersInBacklog())}]

    def _hear(self, kind: str, event: wire.Json) -> wire.Observations:
        view = wire.get_integer(event, "view")
        item = wire.get_choice(event, "item", tuple(TYPES)) if kind == "write" else ""
        if self._released or not 0 <= view < len(self._views):
            return wire.rejected()
        if kind == "write":
            self._write(view, item)
        elif kind == "tell":
            self._union.notifyDataAvailable(self._views[view])
        elif view in self._registered:
            return wire.rejected()
        else:
            self._registered.add(view)
            self._union.notifyViewCreated(view, self._views[view])
        return self._shown[:1]

    def _write(self, view: int, item: str) -> None:
        size = view * 1000 + self._written[view] + 1
        kind = self._types.valueOf(TYPES[item])
        buffer = self._jvm.cls(f"{buffer_parts.NETWORK}buffer.NetworkBuffer")(
            self._memory(size), self._recycler, kind, size
        )
        self._buffers.append(buffer)
        self._items[view].append(self._backlog(buffer, 0, self._types.NONE, self._written[view]))
        self._written[view] += 1

    def _release(self) -> wire.Observations:
        if self._released:
            return []
        self._released = True
        before = sum(bool(buffer.isRecycled()) for buffer in self._buffers)
        self._union.releaseAllResources()
        count = sum(bool(buffer.isRecycled()) for buffer in self._buffers) - before
        self._items = [[] for _ in self._items]
        # A view that notified before it was registered is released twice, which changes nothing.
        views = sorted({one["view"] for one in self._shown})
        return [*({"type": "released", "view": view} for view in views), {"type": "recycled", "count": count}]


def make(jvm: Jvm, config: wire.Json) -> UnionView:
    count = wire.get_at_least(config, "views", 1)
    if count > 6:
        raise wire.BadRequestError("there are at most 6 views")
    return UnionView(jvm, count)
