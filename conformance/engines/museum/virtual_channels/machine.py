"""Virtual channels, VIRT-1 … VIRT-5."""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.partitioner.keys import choose_channel

_STATUSES = ("idle", "active")
_MOST_OLD = 128


@attrs.define
class Line:
    """An old connection."""

    watermark: int | None = None
    is_idle: bool = False
    half: str | None = None


class VirtualChannels:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("virtual-channels-")
        olds, channels = (
            wire.get_distinct(config, "old_consumers", _MOST_OLD),
            wire.get_distinct(config, "old_producers", _MOST_OLD),
        )
        self.filtered = wire.get_distinct(config, "filtered", _MOST_OLD)
        self.mine = wire.get_at_least(config, "subtask", 0)
        self.count, self.groups = (
            wire.get_between(config, "parallelism", 1, 1024),
            wire.get_between(config, "max_parallelism", 1, 32768),
        )
        if self.bug == "one-per-subtask":
            channels = channels[:1]
        self.lines = {(old, channel): Line() for old in olds for channel in channels}
        self.now: tuple[int, int] | None = None
        self.shared = Line()
        self.said: str | None = None
        self.highest = wire.LOWEST

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "select":
            return self.select(wire.get_integer(event, "subtask"), wire.get_integer(event, "channel"))
        if kind != "buffer":
            raise wire.unknown_type(event)
        has_rest, elements = wire.get_boolean(event, "rest"), wire.get_objects(event, "elements")
        begun = wire.get_string(event, "begun") if "begun" in event else None
        if begun is not None:
            self.keeps(0, begun)
        read = [self.read(one) for one in elements]
        if self.now is None:
            return [] if self.bug == "unnamed-buffers-are-dropped" else wire.rejected()
        return self.take(has_rest, read, begun)

    def select(self, old: int, channel: int) -> wire.Observations:
        name = (channel, old) if self.bug == "names-are-swapped" else (old, channel)
        if name in self.lines:
            if self.bug == "a-name-drops-halves" and name != self.now and self.now is not None:
                self.lines[self.now].half = None
            self.now = name
            return []
        if self.bug == "unknown-names-are-made":
            self.lines[name] = Line()
            self.now = name
            return []
        if self.bug == "unknown-name-deselects":
            self.now = None
        return wire.rejected()

    def read(self, element: wire.Json) -> tuple[str, str | int]:
        kind = element.get("type")
        if kind == "record":
            key = wire.get_string(element, "key")
            self.keeps(0, key)
            return "record", key
        if kind == "watermark":
            return "watermark", wire.get_long(element, "timestamp")
        if kind == "status":
            return "status", wire.get_choice(element, "status", _STATUSES)
        raise wire.BadRequestError(f"unknown element type {kind!r}")

    def take(self, has_rest: bool, read: list[tuple[str, str | int]], begun: str | None) -> wire.Observations:  # noqa: FBT001
        assert self.now is not None
        line = self.lines[self.now]
        holder = self.shared if self.bug == "halves-are-shared" else line
        if has_rest != (holder.half is not None):
            if self.bug != "a-half-is-forgotten" or has_rest:
                return wire.rejected()
            holder.half = None
        shown: wire.Observations = []
        if holder.half is not None:
            is_free = self.bug == "halves-are-not-filtered"
            read = [("half" if is_free else "record", holder.half), *read]
        for kind, value in read:
            if kind in ("record", "half"):
                if kind == "half" or self.keeps(self.now[0], str(value)):
                    shown.append({"type": "record", "key": value})
                elif self.bug == "a-filtered-record-ends-the-buffer":
                    break
            elif kind == "watermark":
                shown += self.on_watermark(line, int(value))
            else:
                shown += self.on_status(line, str(value))
        holder.half = begun
        return shown

    def keeps(self, old: int, key: str) -> bool:
        """Also asked for keys that are kept in any case: one that is no text is no request."""
        groups = self.count if self.bug == "groups-are-subtasks" else self.groups
        is_own = choose_channel({"type": "string", "value": key}, self.count, groups, "") == self.mine
        if self.bug == "filters-every-record":
            return is_own
        if self.bug == "keeps-every-record":
            return True
        if self.bug == "filter-turned-around":
            return old not in self.filtered or not is_own
        return old not in self.filtered or is_own

    def on_watermark(self, line: Line, timestamp: int) -> wire.Observations:
        if self.bug == "watermarks-pass":
            return [{"type": "watermark", "timestamp": str(timestamp)}]
        if self.bug == "keeps-the-highest":
            timestamp = max(timestamp, wire.LOWEST if line.watermark is None else line.watermark)
        line.watermark = timestamp
        lines = list(self.lines.values())
        if self.bug == "idle-ones-do-not-count":
            lines = [one for one in lines if not one.is_idle] or lines
        known = [one.watermark for one in lines if one.watermark not in (None, wire.LOWEST)]
        values = [one for one in known if one is not None]
        if self.bug == "does-not-wait-for-all" and values:
            return [{"type": "watermark", "timestamp": str(min(values))}]
        if self.bug == "lowest-is-a-watermark" and all(one.watermark is not None for one in lines):
            values = [wire.LOWEST if one.watermark is None else one.watermark for one in lines]
        if len(values) < len(lines):
            return []
        lowest = max(values) if self.bug == "takes-the-highest" else min(values)
        if self.bug == "only-what-rises":
            if lowest <= self.highest:
                return []
            self.highest = lowest
        return [{"type": "watermark", "timestamp": str(lowest)}]

    def on_status(self, line: Line, status: str) -> wire.Observations:
        line.is_idle = status == "idle"
        idle = [one.is_idle for one in self.lines.values()]
        is_idle = any(idle) if self.bug == "idle-when-one-is" else all(idle)
        if self.bug == "statuses-pass":
            is_idle = line.is_idle
        said = "idle" if is_idle else "active"
        if self.bug == "says-it-once":
            known, self.said = self.said or "active", said
            return [] if known == said else [{"type": "status", "status": said}]
        return [{"type": "status", "status": said}]


make = VirtualChannels
