"""Virtual channels, VIRT-1 … VIRT-5."""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.partitioner import choose_channel
from tidegate.conformance.engines.museum.wrong import changed, wrong

_STATUSES = ("idle", "active")
_MOST_OLD = 128

#: The old consumer and the old producer of a connection, and the kind and the value of an element.
Name = tuple[int, int]
Read = tuple[str, str | int]


@attrs.define
class Line:
    """An old connection."""

    watermark: int = wire.LOWEST
    is_idle: bool = False
    half: str | None = None


class VirtualChannels:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        olds = wire.get_distinct(config, "old_consumers", _MOST_OLD)
        channels = wire.get_distinct(config, "old_producers", _MOST_OLD)
        self.filtered = wire.get_distinct(config, "filtered", _MOST_OLD)
        self.mine = wire.get_at_least(config, "subtask", 0)
        self.count = wire.get_between(config, "parallelism", 1, 1024)
        self.groups = wire.get_between(config, "max_parallelism", 1, 32768)
        self.lines = {(old, channel): Line() for old in olds for channel in channels}
        self.now: Name | None = None

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
        return self.take(self.now, read, begun, has_rest=has_rest)

    def select(self, old: int, channel: int) -> wire.Observations:
        name = (old, channel)
        if name not in self.lines:
            return wire.rejected()
        self.now = name
        return []

    def read(self, element: wire.Json) -> Read:
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

    def take(self, now: Name, read: list[Read], begun: str | None, *, has_rest: bool) -> wire.Observations:
        line = self.lines[now]
        if has_rest != (line.half is not None):
            return wire.rejected()
        shown: wire.Observations = []
        if line.half is not None:
            read = [("record", line.half), *read]
        for kind, value in read:
            if kind == "record":
                if self.keeps(now[0], str(value)):
                    shown.append({"type": "record", "key": value})
            elif kind == "watermark":
                shown += self.on_watermark(line, int(value))
            else:
                shown += self.on_status(line, str(value))
        line.half = begun
        return shown

    def keeps(self, old: int, key: str) -> bool:
        """Also asked for keys that are kept in any case: one that is no text is no request."""
        is_own = choose_channel({"type": "string", "value": key}, self.count, self.groups) == self.mine
        return old not in self.filtered or is_own

    def on_watermark(self, line: Line, timestamp: int) -> wire.Observations:
        line.watermark = timestamp
        values = [one.watermark for one in self.lines.values()]
        if wire.LOWEST in values:
            return []
        return [{"type": "watermark", "timestamp": str(min(values))}]

    def on_status(self, line: Line, status: str) -> wire.Observations:
        line.is_idle = status == "idle"
        is_idle = all(one.is_idle for one in self.lines.values())
        return [{"type": "status", "status": "idle" if is_idle else "active"}]


make = VirtualChannels

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("VIRT-1")
class VirtualChannelsOnePerSubtask(VirtualChannels):
    """Only the first old producer is known."""

    __init__ = changed(VirtualChannels.__init__, "for channel in channels}", "for channel in channels[:1]}")


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

    select = changed(VirtualChannels.select, "return wire.rejected()", "self.lines[name] = Line()")


@wrong("VIRT-1")
class VirtualChannelsUnknownNameDeselects(VirtualChannels):
    """A name that is refused takes the selection away."""

    select = changed(VirtualChannels.select, "return wire.rejected()", "self.now = None\nreturn wire.rejected()")


@wrong("VIRT-2", "VIRT-1")
class VirtualChannelsHalvesAreShared(VirtualChannels):
    """All connections share one deserializer, which puts together what does not belong together."""

    shared: str | None = None

    def take(self, now: Name, read: list[Read], begun: str | None, *, has_rest: bool) -> wire.Observations:
        self.lines[now].half = self.shared
        shown = super().take(now, read, begun, has_rest=has_rest)
        self.shared = self.lines[now].half
        return shown


@wrong("VIRT-2")
class VirtualChannelsANameDropsHalves(VirtualChannels):
    """Half a record is dropped when another connection is named."""

    def select(self, old: int, channel: int) -> wire.Observations:
        before = self.now
        shown = super().select(old, channel)
        if before is not None and self.now != before:
            self.lines[before].half = None
        return shown


@wrong("VIRT-2")
class VirtualChannelsAHalfIsForgotten(VirtualChannels):
    """A buffer that does not go on with a record makes it forgotten."""

    take = changed(
        VirtualChannels.take, "return wire.rejected()", "if has_rest:\n    return wire.rejected()\nline.half = None"
    )


@wrong("VIRT-3")
class VirtualChannelsHalvesAreNotFiltered(VirtualChannels):
    """A record that was cut is kept, whoever it belongs to."""

    take = changed(
        VirtualChannels.take,
        'read = [("record", line.half), *read]',
        'shown.append({"type": "record", "key": line.half})',
    )


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

    keeps = changed(VirtualChannels.keeps, "or is_own", "or not is_own")


@wrong("VIRT-3")
class VirtualChannelsGroupsAreSubtasks(VirtualChannels):
    """Keys are told apart by as many groups as there are subtasks."""

    keeps = changed(VirtualChannels.keeps, "self.groups", "self.count")


@wrong("VIRT-3")
class VirtualChannelsAFilteredRecordEndsTheBuffer(VirtualChannels):
    """What follows a record that is dropped is dropped with the rest of its buffer."""

    take = changed(
        VirtualChannels.take,
        "if self.keeps(now[0], str(value)):",
        "if not self.keeps(now[0], str(value)):\n    break\nelse:",
    )


@wrong("VIRT-4")
class VirtualChannelsWatermarksPass(VirtualChannels):
    """The watermark of each connection is passed on as it is."""

    def on_watermark(self, line: Line, timestamp: int) -> wire.Observations:
        return [{"type": "watermark", "timestamp": str(timestamp)}]


@wrong("VIRT-4")
class VirtualChannelsKeepsTheHighest(VirtualChannels):
    """A connection does not go back to a lower watermark."""

    def on_watermark(self, line: Line, timestamp: int) -> wire.Observations:
        return super().on_watermark(line, max(timestamp, line.watermark))


@wrong("VIRT-4")
class VirtualChannelsIdleOnesDoNotCount(VirtualChannels):
    """Idle connections do not hold back the watermark."""

    on_watermark = changed(
        VirtualChannels.on_watermark,
        "in self.lines.values()]",
        "in [one for one in self.lines.values() if not one.is_idle] or self.lines.values()]",
    )


@wrong("VIRT-4")
class VirtualChannelsDoesNotWaitForAll(VirtualChannels):
    """The lowest watermark is passed on before every connection has one."""

    on_watermark = changed(
        VirtualChannels.on_watermark,
        "if wire.LOWEST in values:",
        "values = [value for value in values if value != wire.LOWEST]\nif not values:",
    )


@wrong("VIRT-4")
class VirtualChannelsTakesTheHighest(VirtualChannels):
    """The channel is as far as the connection that is furthest."""

    on_watermark = changed(VirtualChannels.on_watermark, "min(values)", "max(values)")


@wrong("VIRT-4")
class VirtualChannelsOnlyWhatRises(VirtualChannels):
    """A watermark that does not rise is kept back."""

    highest = wire.LOWEST

    def on_watermark(self, line: Line, timestamp: int) -> wire.Observations:
        shown = super().on_watermark(line, timestamp)
        if not shown or int(shown[0]["timestamp"]) <= self.highest:
            return []
        self.highest = int(shown[0]["timestamp"])
        return shown


@wrong("VIRT-4")
class VirtualChannelsLowestIsAWatermark(VirtualChannels):
    """The lowest timestamp counts as a watermark, and is passed on."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.heard: set[Name | None] = set()

    def on_watermark(self, line: Line, timestamp: int) -> wire.Observations:
        self.heard.add(self.now)
        line.watermark = timestamp
        if len(self.heard) < len(self.lines):
            return []
        return [{"type": "watermark", "timestamp": str(min(one.watermark for one in self.lines.values()))}]


@wrong("VIRT-5")
class VirtualChannelsIdleWhenOneIs(VirtualChannels):
    """The channel is idle as soon as one connection is."""

    on_status = changed(VirtualChannels.on_status, "all(", "any(")


@wrong("VIRT-5")
class VirtualChannelsStatusesPass(VirtualChannels):
    """The status of each connection is passed on as it is."""

    def on_status(self, line: Line, status: str) -> wire.Observations:
        return [{"type": "status", "status": status}]


@wrong("VIRT-5")
class VirtualChannelsSaysItOnce(VirtualChannels):
    """A status that was said before is kept back."""

    said = "active"

    def on_status(self, line: Line, status: str) -> wire.Observations:
        shown = super().on_status(line, status)
        known, self.said = self.said, shown[0]["status"]
        return [] if known == self.said else shown
