"""A network output with its partitioner, PART-1 … PART-10 and OUT-7, OUT-9 … OUT-12."""

from collections.abc import Callable

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.partitioner.keys import choose_channel

KINDS = ("forward", "rebalance", "rescale", "shuffle", "global", "broadcast", "hash")
_STATUSES = ("idle", "active")
_HIGHEST_MAX_PARALLELISM = 32768

#: After so many records these begin anew.
_COUNTED = {"partitioner-counts-in-16-bits": 2**15, "partitioner-counts-in-two-bytes": 2**16}


class Partitioner:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        bug = host.bug
        self.bug = bug
        self.host = host
        self.memory = host.memory
        self.kind = wire.get_choice(config, "kind", KINDS)
        self.channels = wire.get_at_least(config, "channels", 1)
        self.max_parallelism = 0
        if self.kind == "hash":
            self.max_parallelism = wire.get_at_least(config, "max_parallelism", 1)
            if self.max_parallelism > _HIGHEST_MAX_PARALLELISM:
                raise wire.BadRequestError(f"max_parallelism must not exceed {_HIGHEST_MAX_PARALLELISM}")
            if bug == "partitioner-always-128-key-groups":
                self.max_parallelism = 128
            elif bug == "partitioner-key-groups-to-power-of-two":
                self.max_parallelism = 1 << (self.max_parallelism - 1).bit_length()
        #: The channel of the last record; before the first one rescale must come out at 0.
        self.cursor = self.channels - 1
        if self.kind == "rebalance":
            self.cursor = self.host.random.randrange(self.channels)
        elif self.kind == "rescale" and bug == "partitioner-rescale-starts-anywhere":
            self.cursor = sum(map(ord, "rescale")) % self.channels
        elif self.kind == "rescale" and bug == "partitioner-rescale-skips-first":
            self.cursor = 0
        elif bug == "partitioner-cursor-shared":
            self.cursor = self.memory.get("cursor", self.cursor)
        self.announced = "active"
        self.watermark = wire.LOWEST
        self.status_seen = False
        self.records = 0

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "record":
            return self.on_record(event)
        if kind == "watermark":
            return self.on_watermark(wire.get_long(event, "timestamp"))
        if kind == "status":
            return self.on_status(wire.get_choice(event, "status", _STATUSES))
        if kind == "latency_marker":
            return self.on_latency_marker()
        raise wire.unknown_type(event)

    def send(self, channel: int) -> wire.Observations:
        return [{"type": "send", "channel": channel}]

    def broadcast(self) -> wire.Observations:
        return [{"type": "send", "channel": channel} for channel in range(self.channels)]

    def on_record(self, event: wire.Json) -> wire.Observations:
        bug = self.bug
        if self.announced == "idle":
            if bug == "partitioner-record-dropped-while-idle":
                return []
            if bug == "partitioner-record-toggles-status":
                return self.broadcast() + self.route(event) + self.broadcast()
            if bug == "partitioner-record-activates":
                self.announced = "active"
        return self.route(event)

    def route(self, event: wire.Json) -> wire.Observations:
        bug, kind, channels = self.bug, self.kind, self.channels
        self.records += 1
        if kind == "hash":
            key = event.get("key")
            if not isinstance(key, dict):
                raise wire.BadRequestError("a record of a hash output has a key")
            return self.send(choose_channel(key, channels, self.max_parallelism, bug))
        if kind == "broadcast":
            return self.broadcast_record()
        if kind in {"rebalance", "rescale"}:
            return self.send(self.turn())
        if kind == "shuffle":
            if bug in SPREADS:
                return self.send(SPREADS[bug](self))
            bound = channels + 1 if bug == "partitioner-shuffle-bound-inclusive" else channels
            return self.send(self.host.random.randrange(bound))
        if kind == "global" and bug == "partitioner-global-to-last":
            return self.send(channels - 1)
        if kind == "global" and bug == "partitioner-global-turns":
            return self.send((self.records - 1) % channels)
        if kind == "forward" and bug == "partitioner-forward-turns":
            return self.send((self.records - 1) % channels)
        return self.send(0)

    def broadcast_record(self) -> wire.Observations:
        bug = self.bug
        if bug == "partitioner-broadcast-misses-last" and self.channels > 1:
            return self.broadcast()[:-1]
        if bug == "partitioner-broadcast-to-first":
            return self.send(0)
        if bug == "partitioner-broadcast-in-32-bits":
            return self.broadcast()[:32]
        return self.broadcast()

    def turn(self) -> int:
        """The next channel of a round robin."""
        bug = self.bug
        wrap = self.channels
        if bug == "partitioner-rescale-wraps-late" and self.kind == "rescale":
            wrap += 1
        elif bug == "partitioner-rebalance-wraps-early" and self.kind == "rebalance":
            wrap = max(1, wrap - 1)
        self.cursor = (self.cursor + 1) % wrap
        if bug == "partitioner-turn-in-8-bits":
            self.cursor &= 0xFF
        elif bug == "partitioner-turn-in-16-bits":
            self.cursor &= 0x7FFF
        elif bug in _COUNTED and self.records % _COUNTED[bug] == 0:
            self.cursor = 0
        elif bug == "partitioner-cursor-shared":
            self.memory["cursor"] = self.cursor
        elif bug == "partitioner-rebalance-drifts" and self.kind == "rebalance" and self.records % 32 == 0:
            self.cursor = (self.cursor + 1) % wrap
        return self.cursor

    def on_watermark(self, timestamp: int) -> wire.Observations:
        bug = self.bug
        if self.announced == "idle" and bug != "partitioner-watermark-while-idle":
            if bug == "partitioner-max-watermark-while-idle" and timestamp == wire.HIGHEST:
                return self.broadcast()
            return []
        if bug == "partitioner-watermarks-must-advance":
            if timestamp <= self.watermark:
                return []
            self.watermark = timestamp
        elif bug == "partitioner-watermark-resets-cursor" and self.kind == "rescale":
            self.cursor = self.channels - 1
        elif bug == "partitioner-watermark-advances-cursor":
            self.cursor = (self.cursor + 1) % self.channels
        elif bug == "partitioner-watermark-to-one-channel":
            return self.send(max(self.cursor, 0) if self.kind in {"rebalance", "rescale"} else 0)
        return self.broadcast()

    def on_status(self, status: str) -> wire.Observations:
        bug = self.bug
        if status == self.announced and bug != "partitioner-status-repeated":
            if bug == "partitioner-first-active-sent" and not self.status_seen:
                self.status_seen = True
                return self.broadcast()
            return []
        self.status_seen = True
        self.announced = status
        if bug == "partitioner-status-to-first-channel":
            return self.send(0)
        if bug == "partitioner-status-resets-rebalance" and self.kind == "rebalance":
            self.cursor = (self.cursor + self.channels // 2) % self.channels
        return self.broadcast()

    def on_latency_marker(self) -> wire.Observations:
        bug = self.bug
        if bug == "partitioner-marker-broadcast":
            return self.broadcast()
        if bug == "partitioner-marker-dropped-while-idle" and self.announced == "idle":
            return []
        if bug == "partitioner-marker-takes-a-turn" and self.kind in {"rebalance", "rescale"}:
            return self.send(self.turn())
        return self.send(self.host.random.randrange(self.channels))


#: How a shuffle may be no shuffle, although it takes only channels that there are.
SPREADS: dict[str, Callable[[Partitioner], int]] = {
    "partitioner-shuffle-always-first": lambda _output: 0,
    "partitioner-shuffle-never-last": lambda output: output.host.random.randrange(max(1, output.channels - 1)),
    "partitioner-shuffle-takes-turns": lambda output: output.records % output.channels,
}

make = Partitioner
