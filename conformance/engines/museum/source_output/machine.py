"""The edge of a source, SRC: the combination of the splits, and what is told downstream."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.multiplexer.machine import Multiplexer

SEMANTICS = ("flink-38454", "flink-18934")
_MODES = ("immediate", "deferred")
_STATUSES = ("idle", "active")


class SourceOutput:
    """Two sides, of which the splits stand behind a multiplexer."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("source-")
        wire.get_semantics(config, SEMANTICS)
        self.splits = Multiplexer(config, host)
        self.awake: set[str] = {"main"} if self.bug == "main-starts-awake" else set()
        self.highest = wire.LOWEST
        self.told_idle = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "periodic_emit":
            return self.hear_splits({"type": "periodic_emit"})
        split = wire.get_integer(event, "split") if "split" in event else None
        if split is not None and self.bug == "ids-in-two-bytes":
            split &= 0xFFFF
        known = split in self.splits.watermarks
        if kind in ("add_split", "release_split"):
            wire.get_integer(event, "split")
            return self.on_add(split, known=known) if kind == "add_split" else self.on_release(split, known=known)
        if kind == "record":
            return self.on_record(event, split, known=known)
        mode = wire.get_choice(event, "mode", _MODES)
        if kind == "watermark":
            word: wire.Json = {"type": "watermark", "timestamp": str(wire.get_long(event, "timestamp"))}
        elif kind == "status":
            word = {"type": "status", "status": wire.get_choice(event, "status", _STATUSES)}
        else:
            raise wire.unknown_type(event)
        if split is not None and not known:
            return wire.rejected()
        return self.on_word(word, split, mode)

    def on_add(self, split: int | None, *, known: bool) -> wire.Observations:
        if known and self.bug == "added-twice-is-refused":
            return wire.rejected()
        if not known or self.bug == "added-twice-starts-anew":
            self.splits.watermarks.pop(split or 0, None)
            return self.hear_splits({"type": "register", "output": split})
        return []

    def on_release(self, split: int | None, *, known: bool) -> wire.Observations:
        if not known:
            return [] if self.bug == "unknown-split-goes" else wire.rejected()
        if self.bug == "released-split-holds":
            return []
        return self.hear_splits({"type": "unregister", "output": split})

    def on_record(self, event: wire.Json, split: int | None, *, known: bool) -> wire.Observations:
        record: wire.Json = {"type": "record", "timestamp": str(wire.get_long(event, "timestamp"))}
        watermark = wire.get_long(event, "watermark") if "watermark" in event else None
        if split is not None and not known and self.bug != "records-of-strangers":
            return wire.rejected()
        if self.bug == "records-dropped-while-idle" and self.told_idle:
            return []
        seen: wire.Observations = [record]
        if self.bug == "records-wake" and self.told_idle:
            self.told_idle = False
            seen.insert(0, {"type": "status", "status": "active"})
        if watermark is None or (split is not None and not known):
            return seen
        made = self.on_word({"type": "watermark", "timestamp": str(watermark)}, split, "immediate")
        return [*made, *seen] if self.bug == "watermark-before-record" else [*seen, *made]

    def on_word(self, word: wire.Json, split: int | None, mode: str) -> wire.Observations:
        if split is not None:
            if self.bug == "splits-past-the-multiplexer" and mode == "immediate":
                return self.hear(word, "splits")
            if self.bug == "splits-never-wait":
                mode = "immediate"
            return self.hear_splits({**word, "output": split, "mode": mode})
        if self.bug == "main-waits" and mode == "deferred":
            return []
        return self.hear(word, "main")

    def hear_splits(self, event: wire.Json) -> wire.Observations:
        if self.bug == "emit-combines-nothing" and event["type"] == "periodic_emit":
            return []
        return [seen for said in self.splits.step(event) for seen in self.hear(said, "splits")]

    def hear(self, said: wire.Json, side: str) -> wire.Observations:
        bug = self.bug
        if said["type"] == "watermark":
            return self.hear_watermark(said, side)
        if said["status"] == "active":
            self.awake.add(side)
            told = self.told_idle or bug == "active-repeated"
            self.told_idle = False
            return [said] if told and bug != "main-active-unheard" else []
        self.awake.discard(side)
        both = not self.awake or bug == "one-side-is-enough"
        if not both or (self.told_idle and bug != "idle-repeated"):
            return []
        self.told_idle = True
        return [said]

    def hear_watermark(self, said: wire.Json, side: str) -> wire.Observations:
        bug = self.bug
        rises = int(said["timestamp"]) > self.highest
        if rises or bug != "dropped-watermark-says-nothing":
            self.awake.add(side)
        if not rises and bug != "watermarks-fall":
            if bug == "dropped-watermark-wakes" and self.told_idle:
                self.told_idle = False
                return [{"type": "status", "status": "active"}]
            return []
        self.highest = int(said["timestamp"])
        if not self.told_idle or bug == "watermark-without-active":
            return [said]
        self.told_idle = False
        active: wire.Json = {"type": "status", "status": "active"}
        return [said, active] if bug == "active-after-the-watermark" else [active, said]


make = SourceOutput
