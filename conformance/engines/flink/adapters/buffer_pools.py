"""Buffer pools: the pools of a real `NetworkBufferPool`, with the segments that were taken from each.

Sizes and availability are read after each event; changes are shown. Unknown pools, channels and segments,
and pools that require nothing or more than their maximum, are refused here. A destroyed pool is forgotten when its
last segment comes back. Releases up to 1.17.0 count overdrafts apart from a pool that shrinks,
and grant too many (FLINK-31763): they declare nothing.
"""

from collections import defaultdict
from functools import cache
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

_PACKAGE = "org.apache.flink.runtime.io.network.buffer."
_GLOBAL = f"{_PACKAGE}NetworkBufferPool"
_LOCAL = f"{_PACKAGE}LocalBufferPool"
_FIRST_TO_COUNT_OVERDRAFTS = (1, 17, 1)
_ANY_CHANNEL = -1
_NO_LIMIT = 2**31 - 1


def declare(jvm: Jvm) -> wire.Json | None:
    return {} if jvm.release >= _FIRST_TO_COUNT_OVERDRAFTS else None


class Parts:
    """Shared by all pools of a version."""

    def __init__(self, jvm: Jvm) -> None:
        self.segments = jvm.cls(_GLOBAL)
        self.refusals = (
            jvm.cls("java.io.IOException"),
            jvm.cls("org.apache.flink.runtime.execution.CancelTaskException"),
        )


@cache
def parts_of(jvm: Jvm) -> Parts:
    return Parts(jvm)


class Pool:
    """A pool, its channels, and its segments in use by channel."""

    def __init__(self, pool: Any, channels: int) -> None:
        self.pool = pool
        self.channels = channels
        self.used: dict[int, list[Any]] = defaultdict(list)
        self.destroyed = False

    def look(self) -> tuple[int, bool]:
        return int(self.pool.getNumBuffers()), bool(self.pool.getAvailableFuture().isDone())


class Pools:
    def __init__(self, jvm: Jvm, total: int) -> None:
        self._jvm = jvm
        self._parts = parts_of(jvm)
        self._global = self._parts.segments(total, 16)
        self._pools: dict[int, Pool] = {}
        self._shown: wire.Observations = []

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind not in ("create", "destroy", "request", "recycle", "listen"):
            raise wire.unknown_type(event)
        number = wire.get_integer(event, "pool")
        before = {one: pool.look() for one, pool in self._pools.items()}
        self._shown = []
        try:
            if kind == "create":
                refused = self._create(number, event)
            elif number not in self._pools:
                return wire.rejected()
            else:
                refused = self._act(kind, self._pools[number], event)
        except self._parts.refusals:
            return wire.rejected()
        if refused:
            return wire.rejected()
        for one in [one for one, pool in self._pools.items() if pool.destroyed and not any(pool.used.values())]:
            del self._pools[one]
        return [*self._shown, *self._changes(before)]

    def _changes(self, before: dict[int, tuple[int, bool]]) -> wire.Observations:
        after = {
            number: self._pools[number].look() for number in sorted(self._pools) if not self._pools[number].destroyed
        }
        sizes: wire.Observations = [
            {"type": "resized", "pool": number, "size": size}
            for number, (size, _available) in after.items()
            if number not in before or before[number][0] != size
        ]
        turned: wire.Observations = [
            {"type": "available" if available else "unavailable", "pool": number}
            for number, (_size, available) in after.items()
            if (number in before and before[number][1]) != available
        ]
        return [*sizes, *turned]

    def _create(self, number: int, event: wire.Json) -> bool:
        required, maximum = wire.get_integer(event, "required"), wire.get_integer(event, "maximum")
        overdraft = wire.get_at_least(event, "overdraft", 0) if "overdraft" in event else 0
        channels = wire.get_at_least(event, "channels", 0) if "channels" in event else 0
        limit = wire.get_at_least(event, "per_channel", 1) if "per_channel" in event else _NO_LIMIT
        if number in self._pools or not 1 <= required <= maximum:
            return True
        pool = self._global.createBufferPool(required, maximum, channels, limit, overdraft)
        self._pools[number] = Pool(pool, channels)
        return False

    def _act(self, kind: Any, pool: Pool, event: wire.Json) -> bool:
        if kind == "destroy":
            pool.pool.lazyDestroy()
            pool.destroyed = True
            return False
        if kind == "listen":
            return self._listen(pool)
        channel = wire.get_integer(event, "channel") if "channel" in event else _ANY_CHANNEL
        if "channel" in event and not 0 <= channel < pool.channels:
            return True
        number = self._jvm.integer(channel)
        if kind == "request":
            segment = self._jvm.call(pool.pool, "requestMemorySegment", number)
            if segment is not None:
                pool.used[channel].append(segment)
            self._shown.append({"type": "denied" if segment is None else "granted"})
            return False
        if not pool.used[channel]:
            return True
        self._jvm.call(pool.pool, "recycle", pool.used[channel].pop(), number)
        return False

    def _listen(self, pool: Pool) -> bool:
        if pool.channels:
            return True

        def take(buffer: Any) -> bool:
            pool.used[_ANY_CHANNEL].append(buffer.getMemorySegment())
            self._shown.append({"type": "handed"})
            return True

        def leave() -> None:
            self._shown.append({"type": "dismissed"})

        handlers = {"notifyBufferAvailable": take, "notifyBufferDestroyed": leave}
        heard = pool.pool.addBufferListener(self._jvm.implement(f"{_PACKAGE}BufferListener", handlers))
        self._shown.append({"type": "granted" if heard else "denied"})
        return False


def make(jvm: Jvm, config: wire.Json) -> Pools:
    return Pools(jvm, wire.get_at_least(config, "total", 1))
