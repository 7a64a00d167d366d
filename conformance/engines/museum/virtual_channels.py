"""Virtual channels, VIRT-1 … VIRT-5."""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.partitioner import choose_channel
from tidegate.conformance.engines.museum.wrong import changed, wrong

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
            return wire.rejected()
        return self.take(has_rest, read, begun)

    def select(self, old: int, channel: int) -> wire.Observations:
        name = (old, channel)
        if name in self.lines:
            self.now = name
            return []
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

    def take(self, has_rest: bool, read: list[tuple[str, str | int]], begun: str | None) -> wire.Observations:
        assert self.now is not None
        line = self.lines[self.now]
        holder = line
        if has_rest != (holder.half is not None):
            return wire.rejected()
        shown: wire.Observations = []
        if holder.half is not None:
            is_free = False
            read = [("half" if is_free else "record", holder.half), *read]
        for kind, value in read:
            if kind in ("record", "half"):
                if kind == "half" or self.keeps(self.now[0], str(value)):
                    shown.append({"type": "record", "key": value})
            elif kind == "watermark":
                shown += self.on_watermark(line, int(value))
            else:
                shown += self.on_status(line, str(value))
        holder.half = begun
        return shown

    def keeps(self, old: int, key: str) -> bool:
        """Also asked for keys that are kept in any case: one that is no text is no request."""
        groups = self.groups
        is_own = choose_channel({"type": "string", "value": key}, self.count, groups) == self.mine
        return old not in self.filtered or is_own

    def on_watermark(self, line: Line, timestamp: int) -> wire.Observations:
        line.watermark = timestamp
        lines = list(self.lines.values())
        known = [one.watermark for one in lines if one.watermark not in (None, wire.LOWEST)]
        values = [one for one in known if one is not None]
        if len(values) < len(lines):
            return []
        lowest = min(values)
        return [{"type": "watermark", "timestamp": str(lowest)}]

    def on_status(self, line: Line, status: str) -> wire.Observations:
        line.is_idle = status == "idle"
        idle = [one.is_idle for one in self.lines.values()]
        is_idle = all(idle)
        said = "idle" if is_idle else "active"
        return [{"type": "status", "status": said}]


make = VirtualChannels

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("VIRT-1")
class VirtualChannelsOnePerSubtask(VirtualChannels):
    """Only the first old producer is known."""

    __init__ = changed(
        VirtualChannels.__init__,
        "self.lines = {(old, channel): Line() for old in olds for channel in channels}",
        "channels = channels[:1]\nself.lines = {(old, channel): Line() for old in olds for channel in channels}",
    )


@wrong("VIRT-1")
class VirtualChannelsNamesAreSwapped(VirtualChannels):
    """Old consumer and old producer are taken for each other."""

    select = changed(VirtualChannels.select, "(old, channel)", "(channel, old)")


@wrong("VIRT-1")
class VirtualChannelsUnnamedBuffersAreDropped(VirtualChannels):
    """A buffer before any name is dropped without a word."""

    step = changed(VirtualChannels.step, "wire.rejected()", "[]")


@wrong("VIRT-1")
class VirtualChannelsUnknownNamesAreMade(VirtualChannels):
    """A connection that does not exist is made when it is named."""

    select = changed(
        VirtualChannels.select, "return wire.rejected()", "self.lines[name] = Line()\nself.now = name\nreturn []"
    )


@wrong("VIRT-1")
class VirtualChannelsUnknownNameDeselects(VirtualChannels):
    """A name that is refused takes the selection away."""

    select = changed(VirtualChannels.select, "return wire.rejected()", "self.now = None\nreturn wire.rejected()")


@wrong("VIRT-2", "VIRT-1")
class VirtualChannelsHalvesAreShared(VirtualChannels):
    """All connections share one deserializer, which puts together what does not belong together."""

    take = changed(VirtualChannels.take, "holder = line", "holder = self.shared")


@wrong("VIRT-2")
class VirtualChannelsANameDropsHalves(VirtualChannels):
    """Half a record is dropped when another connection is named."""

    select = changed(
        VirtualChannels.select,
        "self.now = name",
        "if name != self.now and self.now is not None:\n    self.lines[self.now].half = None\nself.now = name",
    )


@wrong("VIRT-2")
class VirtualChannelsAHalfIsForgotten(VirtualChannels):
    """A buffer that does not go on with a record makes it forgotten."""

    take = changed(
        VirtualChannels.take, "return wire.rejected()", "if has_rest:\n    return wire.rejected()\nholder.half = None"
    )


@wrong("VIRT-3")
class VirtualChannelsHalvesAreNotFiltered(VirtualChannels):
    """A record that was cut is kept, whoever it belongs to."""

    take = changed(VirtualChannels.take, "is_free = False", "is_free = True")


@wrong("VIRT-3")
class VirtualChannelsFiltersEveryRecord(VirtualChannels):
    """Records that only this subtask restores are filtered, too."""

    keeps = changed(VirtualChannels.keeps, "old not in self.filtered or is_own", "is_own")


@wrong("VIRT-3")
class VirtualChannelsKeepsEveryRecord(VirtualChannels):
    """Nothing is filtered: all heirs keep the record."""

    keeps = changed(VirtualChannels.keeps, "old not in self.filtered or is_own", "True")


@wrong("VIRT-3")
class VirtualChannelsFilterTurnedAround(VirtualChannels):
    """What belongs here is dropped, and all the rest is kept."""

    keeps = changed(
        VirtualChannels.keeps, "old not in self.filtered or is_own", "old not in self.filtered or not is_own"
    )


@wrong("VIRT-3")
class VirtualChannelsGroupsAreSubtasks(VirtualChannels):
    """Keys are told apart by as many groups as there are subtasks."""

    keeps = changed(VirtualChannels.keeps, "self.groups", "self.count")


@wrong("VIRT-3")
class VirtualChannelsAFilteredRecordEndsTheBuffer(VirtualChannels):
    """What follows a record that is dropped is dropped with the rest of its buffer."""

    def take(self, has_rest: bool, read: list[tuple[str, str | int]], begun: str | None) -> wire.Observations:
        assert self.now is not None
        line = self.lines[self.now]
        holder = line
        if has_rest != (holder.half is not None):
            return wire.rejected()
        shown: wire.Observations = []
        if holder.half is not None:
            is_free = False
            read = [("half" if is_free else "record", holder.half), *read]
        for kind, value in read:
            if kind in ("record", "half"):
                if kind == "half" or self.keeps(self.now[0], str(value)):
                    shown.append({"type": "record", "key": value})
                else:
                    break
            elif kind == "watermark":
                shown += self.on_watermark(line, int(value))
            else:
                shown += self.on_status(line, str(value))
        holder.half = begun
        return shown


@wrong("VIRT-4")
class VirtualChannelsWatermarksPass(VirtualChannels):
    """The watermark of each connection is passed on as it is."""

    def on_watermark(self, line: Line, timestamp: int) -> wire.Observations:
        return [{"type": "watermark", "timestamp": str(timestamp)}]


@wrong("VIRT-4")
class VirtualChannelsKeepsTheHighest(VirtualChannels):
    """A connection does not go back to a lower watermark."""

    def on_watermark(self, line: Line, timestamp: int) -> wire.Observations:
        timestamp = max(timestamp, wire.LOWEST if line.watermark is None else line.watermark)
        return super().on_watermark(line, timestamp)


@wrong("VIRT-4")
class VirtualChannelsIdleOnesDoNotCount(VirtualChannels):
    """Idle connections do not hold back the watermark."""

    on_watermark = changed(
        VirtualChannels.on_watermark,
        "known = [one.watermark for one in lines if one.watermark not in (None, wire.LOWEST)]",
        "lines = [one for one in lines if not one.is_idle] or lines\n"
        "known = [one.watermark for one in lines if one.watermark not in (None, wire.LOWEST)]",
    )


@wrong("VIRT-4")
class VirtualChannelsDoesNotWaitForAll(VirtualChannels):
    """The lowest watermark is passed on before every connection has one."""

    on_watermark = changed(
        VirtualChannels.on_watermark,
        "if len(values) < len(lines):",
        'if values:\n    return [{"type": "watermark", "timestamp": str(min(values))}]\nif len(values) < len(lines):',
    )


@wrong("VIRT-4")
class VirtualChannelsTakesTheHighest(VirtualChannels):
    """The channel is as far as the connection that is furthest."""

    on_watermark = changed(VirtualChannels.on_watermark, "min(values)", "max(values)")


@wrong("VIRT-4")
class VirtualChannelsOnlyWhatRises(VirtualChannels):
    """A watermark that does not rise is kept back."""

    on_watermark = changed(
        VirtualChannels.on_watermark,
        'return [{"type": "watermark", "timestamp": str(lowest)}]',
        "if lowest <= self.highest:\n"
        "    return []\n"
        "self.highest = lowest\n"
        'return [{"type": "watermark", "timestamp": str(lowest)}]',
    )


@wrong("VIRT-4")
class VirtualChannelsLowestIsAWatermark(VirtualChannels):
    """The lowest timestamp counts as a watermark, and is passed on."""

    on_watermark = changed(
        VirtualChannels.on_watermark,
        "if len(values) < len(lines):",
        "if all(one.watermark is not None for one in lines):\n"
        "    values = [wire.LOWEST if one.watermark is None else one.watermark for one in lines]\n"
        "if len(values) < len(lines):",
    )


@wrong("VIRT-5")
class VirtualChannelsIdleWhenOneIs(VirtualChannels):
    """The channel is idle as soon as one connection is."""

    on_status = changed(VirtualChannels.on_status, "all(idle)", "any(idle)")


@wrong("VIRT-5")
class VirtualChannelsStatusesPass(VirtualChannels):
    """The status of each connection is passed on as it is."""

    on_status = changed(
        VirtualChannels.on_status,
        'said = "idle" if is_idle else "active"',
        'is_idle = line.is_idle\nsaid = "idle" if is_idle else "active"',
    )


@wrong("VIRT-5")
class VirtualChannelsSaysItOnce(VirtualChannels):
    """A status that was said before is kept back."""

    on_status = changed(
        VirtualChannels.on_status,
        'return [{"type": "status", "status": said}]',
        'known, self.said = (self.said or "active", said)\n'
        'return [] if known == said else [{"type": "status", "status": said}]',
    )
