"""The edge of a source, SRC: the combination of the splits, and what is told downstream."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.multiplexer import Multiplexer
from tidegate.conformance.engines.museum.wrong import changed, wrong

SEMANTICS = ("flink-38454", "flink-18934")
_MODES = ("immediate", "deferred")
_STATUSES = ("idle", "active")


class SourceOutput:
    """Two sides, of which the splits stand behind a multiplexer."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        wire.get_semantics(config, SEMANTICS)
        self.splits = Multiplexer(config, host)
        self.awake: set[str] = set()
        self.highest = wire.LOWEST
        self.told_idle = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "periodic_emit":
            return self.hear_splits({"type": "periodic_emit"})
        split = wire.get_integer(event, "split") if "split" in event else None
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
        return [] if known else self.hear_splits({"type": "register", "output": split})

    def on_release(self, split: int | None, *, known: bool) -> wire.Observations:
        if not known:
            return wire.rejected()
        return self.hear_splits({"type": "unregister", "output": split})

    def on_record(self, event: wire.Json, split: int | None, *, known: bool) -> wire.Observations:
        record: wire.Json = {"type": "record", "timestamp": str(wire.get_long(event, "timestamp"))}
        watermark = wire.get_long(event, "watermark") if "watermark" in event else None
        if split is not None and not known:
            return wire.rejected()
        if watermark is None:
            return [record]
        return [record, *self.on_word({"type": "watermark", "timestamp": str(watermark)}, split, "immediate")]

    def on_word(self, word: wire.Json, split: int | None, mode: str) -> wire.Observations:
        if split is not None:
            return self.hear_splits({**word, "output": split, "mode": mode})
        return self.hear(word, "main")

    def hear_splits(self, event: wire.Json) -> wire.Observations:
        return [seen for said in self.splits.step(event) for seen in self.hear(said, "splits")]

    def hear(self, said: wire.Json, side: str) -> wire.Observations:
        if said["type"] == "watermark":
            return self.hear_watermark(said, side)
        if said["status"] == "active":
            self.awake.add(side)
            told, self.told_idle = self.told_idle, False
            return [said] if told else []
        self.awake.discard(side)
        if self.awake or self.told_idle:
            return []
        self.told_idle = True
        return [said]

    def hear_watermark(self, said: wire.Json, side: str) -> wire.Observations:
        self.awake.add(side)
        if int(said["timestamp"]) <= self.highest:
            return []
        self.highest = int(said["timestamp"])
        if not self.told_idle:
            return [said]
        self.told_idle = False
        return [{"type": "status", "status": "active"}, said]


make = SourceOutput

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("SRC-1")
class SourceAddedTwiceIsRefused(SourceOutput):
    """A split that has an output already is refused, as the multiplexer would do."""

    def on_add(self, split: int | None, *, known: bool) -> wire.Observations:
        return wire.rejected() if known else super().on_add(split, known=known)


@wrong("SRC-1", "SRC-3", "SRC-4", "SRC-5", "SRC-6", "SRC-7")
class SourceAddedTwiceStartsAnew(SourceOutput):
    """A split that is added again loses its watermark."""

    def on_add(self, split: int | None, *, known: bool) -> wire.Observations:
        self.splits.step({"type": "unregister", "output": split})
        return super().on_add(split, known=False)


@wrong("SRC-2")
class SourceUnknownSplitGoes(SourceOutput):
    """A split that was never added is released without a word."""

    on_release = changed(SourceOutput.on_release, "wire.rejected()", "[]")


@wrong(
    "SRC-2",
    "SRC-5",
    "SRC-6",
    "SRC-7",
    origin="FLINK-35886, of split alignment: splits that are done were tracked for ever",
)
class SourceReleasedSplitHolds(SourceOutput):
    """A split that was released holds the source back for ever."""

    on_release = changed(SourceOutput.on_release, 'self.hear_splits({"type": "unregister", "output": split})', "[]")


@wrong("SRC-2")
class SourceRecordsOfStrangers(SourceOutput):
    """Records of splits that have no output are emitted all the same."""

    on_record = changed(SourceOutput.on_record, "wire.rejected()", "[record]")


@wrong("SRC-3")
class SourceRecordsDroppedWhileIdle(SourceOutput):
    """An idle source emits no records."""

    on_record = changed(
        SourceOutput.on_record, "if watermark is None:", "if self.told_idle:\n    return []\nif watermark is None:"
    )


@wrong("SRC-3", origin="FLINK-22881")
class SourceRecordsWake(SourceOutput):
    """A record of an idle source says active first."""

    on_record = changed(
        SourceOutput.on_record,
        "if watermark is None:",
        "if self.told_idle:\n"
        "    self.told_idle = False\n"
        '    return [{"type": "status", "status": "active"}, *self.on_record(event, split, known=known)]\n'
        "if watermark is None:",
    )


@wrong("SRC-3")
class SourceWatermarkBeforeRecord(SourceOutput):
    """The watermark that a record makes comes before the record, which is late at once."""

    def on_record(self, event: wire.Json, split: int | None, *, known: bool) -> wire.Observations:
        record, *made = super().on_record(event, split, known=known)
        return [*made, record]


@wrong("SRC-4", "SRC-3", "SRC-5", "SRC-6", "SRC-7", "SRC-8")
class SourceSplitsPastTheMultiplexer(SourceOutput):
    """The watermark of any split is the watermark of the source."""

    def on_word(self, word: wire.Json, split: int | None, mode: str) -> wire.Observations:
        if split is not None and mode == "immediate":
            return self.hear(word, "splits")
        return super().on_word(word, split, mode)


@wrong("SRC-4", "SRC-7")
class SourceSplitsNeverWait(SourceOutput):
    """What generators say when they are asked in turns is combined at once."""

    def on_word(self, word: wire.Json, split: int | None, mode: str) -> wire.Observations:
        return super().on_word(word, split, "immediate")


@wrong("SRC-4", "SRC-5", "SRC-6", "SRC-7")
class SourceEmitCombinesNothing(SourceOutput):
    """A periodic emit asks the generators and forgets to combine what they said."""

    def hear_splits(self, event: wire.Json) -> wire.Observations:
        return [] if event["type"] == "periodic_emit" else super().hear_splits(event)


@wrong("SRC-5", "SRC-3")
class SourceWatermarksFall(SourceOutput):
    """Each side has watermarks that rise, and together they fall."""

    hear_watermark = changed(SourceOutput.hear_watermark, 'int(said["timestamp"]) <= self.highest', "False")


@wrong("SRC-5", "SRC-6", "SRC-7")
class SourceDroppedWatermarkSaysNothing(SourceOutput):
    """A watermark that is dropped leaves its side idle, so the other side alone can make the source idle."""

    hear_watermark = changed(
        SourceOutput.hear_watermark,
        "self.awake.add(side)",
        'if int(said["timestamp"]) > self.highest:\n    self.awake.add(side)',
    )


@wrong("SRC-5", "SRC-3")
class SourceDroppedWatermarkWakes(SourceOutput):
    """A watermark that is dropped makes an idle source active."""

    hear_watermark = changed(
        SourceOutput.hear_watermark,
        "return []",
        "if self.told_idle:\n"
        "    self.told_idle = False\n"
        '    return [{"type": "status", "status": "active"}]\n'
        "return []",
    )


@wrong("SRC-6", "SRC-3", origin="one-rule change: the multiplexer without the edge, MUX-8")
class SourceWatermarkWithoutActive(SourceOutput):
    """Active is not said before a watermark, so a valve downstream drops it."""

    hear_watermark = changed(SourceOutput.hear_watermark, "not self.told_idle", "True")


@wrong("SRC-6", "SRC-3")
class SourceActiveAfterTheWatermark(SourceOutput):
    """Active comes after the watermark, which is dropped downstream."""

    def hear_watermark(self, said: wire.Json, side: str) -> wire.Observations:
        return super().hear_watermark(said, side)[::-1]


@wrong("SRC-7", "SRC-5", "SRC-6", origin="FLINK-28975")
class SourceOneSideIsEnough(SourceOutput):
    """The side that a reader does not use makes the source idle."""

    hear = changed(SourceOutput.hear, "self.awake or self.told_idle", "self.told_idle")


@wrong("SRC-7", "SRC-5")
class SourceMainStartsAwake(SourceOutput):
    """A reader that does not use the main output is never idle."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.awake.add("main")


@wrong("SRC-8", "SRC-5")
class SourceIdleRepeated(SourceOutput):
    """Idle is emitted as often as the multiplexer says it."""

    hear = changed(SourceOutput.hear, "self.awake or self.told_idle", "self.awake")


@wrong("SRC-8")
class SourceActiveRepeated(SourceOutput):
    """Active is emitted while the source is active."""

    hear = changed(SourceOutput.hear, "[said] if told else []", "[said]")


@wrong("SRC-8", "SRC-9", origin="FLINK-18934: only a watermark ends idleness")
class SourceMainActiveUnheard(SourceOutput):
    """A main output that says active is not heard."""

    hear = changed(SourceOutput.hear, "[said] if told else []", "[]")


@wrong("SRC-9", "SRC-5", "SRC-6", "SRC-7", "SRC-8")
class SourceMainWaits(SourceOutput):
    """What the generator of the main output says when it is asked in turns is lost."""

    def on_word(self, word: wire.Json, split: int | None, mode: str) -> wire.Observations:
        return [] if split is None and mode == "deferred" else super().on_word(word, split, mode)


@wrong("SRC-1", "SRC-2", "SRC-3", "SRC-4", "SRC-5", "SRC-6", "SRC-7")
class SourceIdsInTwoBytes(SourceOutput):
    """The ids of splits are read into two bytes: those that differ by 65,536 share an output."""

    step = changed(SourceOutput.step, "known = split", "if split is not None:\n    split &= 0xFFFF\nknown = split")
