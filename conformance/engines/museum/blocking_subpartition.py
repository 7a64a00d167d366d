"""The bounded blocking subpartition, SUBP-30 … SUBP-36, SUBP-46, SUBP-47.

What is written is one list, into which each view has a mark of its own.
"""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

EXTENSIONS = ("failures",)
_STORES = ("file", "file_region", "mmap", "file_mmap")


@attrs.define(eq=False)
class Item:
    kind: str
    data: str = ""
    open: bool = False


@attrs.define(eq=False)
class View:
    """A reader: the item that is next for it, the buffers that it has, and whether its next one has been read."""

    mark: int
    held: int = 0
    ready: bool = False
    gone: bool = False


class BlockingSubpartition:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.store = wire.get_choice(config, "store", _STORES)
        self.may_fail = wire.get_extension(config, EXTENSIONS) is not None
        self.broken = self.jammed = self.whole = False
        self.told: wire.Observations = []
        self.stored: list[Item] = []
        self.last: Item | None = None
        self.views: list[View] = []
        self.data_ended = self.finished = self.released = self.lost = False

    def step(self, event: wire.Json) -> wire.Observations:
        """What was told of memory on the way comes first."""
        self.told = []
        seen = self.react(event)
        return seen if seen and seen[0]["type"] == "rejected" else self.told + seen

    def react(self, event: wire.Json) -> wire.Observations:
        match event.get("type"):
            case "buffer":
                return self.on_add(Item("data", wire.get_hex(event, "data"), not wire.get_boolean(event, "finished")))
            case "end_of_data":
                return self.on_add(Item("end_of_data"))
            case "append":
                return self.on_append(wire.get_hex(event, "data"))
            case ("finish_buffer" | "flush" | "finish" | "release" | "view") as plain:
                observations: wire.Observations = getattr(self, f"on_{plain}")()
                return observations
            case "lose_file":
                self.lost = True
                return []
            case "fail_disk" if self.may_fail:
                self.broken = True
                return []
        return self.on_reader(event)

    # --- the producer

    def on_add(self, item: Item) -> wire.Observations:
        if self.finished or self.released or (item.kind == "end_of_data" and self.data_ended):
            return wire.rejected()
        if not self.store_last():
            return [{"type": "write_failed"}]
        self.data_ended = self.data_ended or item.kind == "end_of_data"
        self.last = item
        return []

    def store_last(self) -> bool:
        """Whether what was kept is in the store now, if there was anything."""
        if self.jammed:
            return False
        if self.last is None:
            return True
        if self.broken:
            self.forget_last()
            self.jammed = True
            return False
        self.stored.append(self.last)
        self.forget_last()
        return True

    def forget_last(self) -> None:
        """The memory of what is kept goes back."""
        if self.last is not None and self.may_fail:
            self.told.append({"type": "recycled"})
        self.last = None

    def on_append(self, data: str) -> wire.Observations:
        if self.last is None or not self.last.open:
            return wire.rejected()
        self.last.data += data
        return []

    def on_finish_buffer(self) -> wire.Observations:
        if self.last is None or not self.last.open:
            return wire.rejected()
        self.last.open = False
        return []

    def on_flush(self) -> wire.Observations:
        return [] if self.store_last() else [{"type": "write_failed"}]

    def on_finish(self) -> wire.Observations:
        if self.released or self.finished:
            return wire.rejected()
        self.store_last()
        self.last = None
        self.finished = True
        self.whole = not self.broken
        if self.broken:
            return [{"type": "write_failed"}]
        self.stored.append(Item("end_of_partition"))
        return []

    def on_release(self) -> wire.Observations:
        if self.released:
            return []
        self.released = True
        self.forget_last()
        self.jammed = False
        return [{"type": "deleted"}] if not self.is_read() else []

    def is_read(self) -> bool:
        return not all(view.gone for view in self.views)

    # --- readers

    def on_view(self) -> wire.Observations:
        if self.released or not self.finished:
            return wire.rejected()
        if self.lost:
            return [{"type": "not_found"}]
        if not self.whole:
            return wire.rejected()
        view = View(0)
        self.read_ahead(view)
        self.views.append(view)
        return [{"type": "view", "view": len(self.views) - 1}]

    def read_ahead(self, view: View) -> None:
        is_full = self.store == "file" and view.held >= 2
        view.ready = view.mark < len(self.stored) and not is_full

    def on_reader(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind not in {"poll", "recycle", "query", "release_view"}:
            raise wire.unknown_type(event)
        number = wire.get_integer(event, "view")
        credit = wire.get_boolean(event, "credit") if kind == "query" else False
        if not 0 <= number < len(self.views):
            return wire.rejected()
        view = self.views[number]
        if view.gone:
            return wire.rejected()
        match kind:
            case "poll":
                return self.on_poll(view)
            case "recycle":
                return self.on_recycle(number, view)
            case "query":
                return self.on_query(view, credit=credit)
        return self.on_leave(view)

    def on_poll(self, view: View) -> wire.Observations:
        if not view.ready:
            return [{"type": "none"}]
        item, number = self.stored[view.mark], view.mark
        view.mark += 1
        view.held += 1
        self.read_ahead(view)
        seen = {"kind": self.recall(item.kind), "data": item.data, "backlog": self.count_backlog(view)}
        return [{"type": "item", **seen, "next": self.name_next(view), "sequence": number}]

    def recall(self, kind: str) -> str:
        """What the store remembers of the kind."""
        return "event" if self.store == "mmap" and kind != "data" else kind

    def name_next(self, view: View) -> str:
        if not view.ready:
            return "none"
        if self.store == "file_region":
            return "data" if any(item.kind == "data" for item in self.stored[view.mark :]) else "event"
        return self.recall(self.stored[view.mark].kind)

    def count_backlog(self, view: View) -> int:
        return sum(item.kind == "data" for item in self.stored[view.mark :])

    def on_recycle(self, number: int, view: View) -> wire.Observations:
        if not view.held:
            return wire.rejected()
        known = view.ready
        view.held -= 1
        self.read_ahead(view)
        if not view.ready or known:
            return []
        return [{"type": "data_available", "view": number}]

    def on_query(self, view: View, *, credit: bool) -> wire.Observations:
        following = self.name_next(view)
        available = following != "none" and (credit or following != "data")
        return [{"type": "availability", "available": available, "backlog": self.count_backlog(view)}]

    def on_leave(self, view: View) -> wire.Observations:
        view.gone = True
        return [{"type": "deleted"}] if self.released and not self.is_read() else []


make = BlockingSubpartition

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("SUBP-1", "SUBP-32", "SUBP-33")
class BlockingAppendOverwrites(BlockingSubpartition):
    """Bytes that are appended take the place of those before them."""

    on_append = changed(BlockingSubpartition.on_append, "+= data", "= data")


@wrong("SUBP-23")
class BlockingDataEndsTwice(BlockingSubpartition):
    """The data can end twice."""

    on_add = changed(BlockingSubpartition.on_add, ' or (item.kind == "end_of_data" and self.data_ended)', "")


@wrong("SUBP-30")
class BlockingFinishedTakesMore(BlockingSubpartition):
    """Buffers are added behind the end of the partition."""

    on_add = changed(BlockingSubpartition.on_add, "self.finished", '(self.finished and item.kind != "data")')


@wrong("SUBP-30")
class BlockingReleasedTakesMore(BlockingSubpartition):
    """A released subpartition takes in what nobody will read."""

    on_add = changed(BlockingSubpartition.on_add, " or self.released", "")


@wrong("SUBP-30", "SUBP-32", "SUBP-33")
class BlockingOpenBufferReplaced(BlockingSubpartition):
    """An open buffer is given up, not written, when the next one comes."""

    on_add = changed(
        BlockingSubpartition.on_add,
        "if not self.store_last():",
        "if self.last is not None and self.last.open:\n    self.last = None\nif not self.store_last():",
    )


@wrong("SUBP-30", "SUBP-1")
class BlockingFlushDoesNothing(BlockingSubpartition):
    """A flush leaves what is pending where it is."""

    def on_flush(self) -> wire.Observations:
        return []


@wrong("SUBP-30", "SUBP-1")
class BlockingFlushSparesTheOpen(BlockingSubpartition):
    """A flush writes finished buffers only."""

    def on_flush(self) -> wire.Observations:
        return [] if self.last is not None and self.last.open else super().on_flush()


@wrong("SUBP-30", "SUBP-32", "SUBP-33")
class BlockingFinishForgetsTheLast(BlockingSubpartition):
    """The buffer added last is not written by the finish."""

    on_finish = changed(BlockingSubpartition.on_finish, "self.store_last()", "")


@wrong("SUBP-30", "SUBP-32", "SUBP-33", "SUBP-34")
class BlockingNoEndOfPartition(BlockingSubpartition):
    """Finishing adds no end of the partition: readers wait for ever."""

    on_finish = changed(BlockingSubpartition.on_finish, 'self.stored.append(Item("end_of_partition"))', "")


@wrong("SUBP-30")
class BlockingFinishesTwice(BlockingSubpartition):
    """A second finish adds a second end of the partition."""

    on_finish = changed(BlockingSubpartition.on_finish, " or self.finished", "")


@wrong("SUBP-31")
class BlockingViewBeforeTheEnd(BlockingSubpartition):
    """A view is made while the producer still writes."""

    on_view = changed(
        BlockingSubpartition.on_view, " or not self.finished", "", "not self.whole", "self.finished and not self.whole"
    )


@wrong("SUBP-31", "SUBP-36")
class BlockingReleasedGetsAView(BlockingSubpartition):
    """A released subpartition makes a view."""

    on_view = changed(BlockingSubpartition.on_view, "self.released or ", "")


@wrong("SUBP-31", "SUBP-32")
class BlockingLostFileIsRead(BlockingSubpartition):
    """A view is made of a file that is lost."""

    on_view = changed(BlockingSubpartition.on_view, "self.lost", "False")


@wrong("SUBP-31")
class BlockingLostFileIsRefused(BlockingSubpartition):
    """A lost file fails the reader instead of counting as not found, so nobody produces the result again."""

    on_view = changed(BlockingSubpartition.on_view, '[{"type": "not_found"}]', "wire.rejected()")


@wrong("SUBP-32")
class BlockingOneViewEver(BlockingSubpartition):
    """The result is read once: whoever starts again is refused."""

    on_view = changed(
        BlockingSubpartition.on_view, "view = View(0)", "if self.views:\n    return wire.rejected()\nview = View(0)"
    )


@wrong("SUBP-32")
class BlockingOneViewAtATime(BlockingSubpartition):
    """A second reader is refused while the first one reads."""

    on_view = changed(
        BlockingSubpartition.on_view, "view = View(0)", "if self.is_read():\n    return wire.rejected()\nview = View(0)"
    )


@wrong("SUBP-32", "SUBP-33")
class BlockingViewGoesOnWhereAnotherWas(BlockingSubpartition):
    """A new view begins where the view before it has come to."""

    on_view = changed(BlockingSubpartition.on_view, "View(0)", "View(self.views[-1].mark if self.views else 0)")


@wrong("SUBP-32", "SUBP-33")
class BlockingViewsShareAPlace(BlockingSubpartition):
    """A view that reads moves all others."""

    def on_poll(self, view: View) -> wire.Observations:
        out = super().on_poll(view)
        if out[0]["type"] == "item":
            for other in self.views:
                other.mark = view.mark
                self.read_ahead(other)
        return out


@wrong("SUBP-32")
class BlockingViewOutlivesItsReader(BlockingSubpartition):
    """A view that was released can be polled."""

    on_reader = changed(BlockingSubpartition.on_reader, "view.gone", 'view.gone and kind != "poll"')


@wrong("SUBP-33")
class BlockingBacklogCountsEvents(BlockingSubpartition):
    """Events count in the backlog."""

    def count_backlog(self, view: View) -> int:
        return len(self.stored[view.mark :])


@wrong("SUBP-33")
class BlockingBacklogIsAllThatWasWritten(BlockingSubpartition):
    """The backlog does not become less with what is handed out."""

    count_backlog = changed(BlockingSubpartition.count_backlog, "self.stored[view.mark :]", "self.stored")


@wrong("SUBP-33")
class BlockingBacklogPresumesOneOpen(BlockingSubpartition):
    """The backlog leaves out the last buffer, as if it could still be open."""

    def count_backlog(self, view: View) -> int:
        return max(0, super().count_backlog(view) - 1)


@wrong("SUBP-33", "SUBP-32")
class BlockingNumbersGoOnAcrossViews(BlockingSubpartition):
    """Items are numbered across all views."""

    handed = 0

    def on_poll(self, view: View) -> wire.Observations:
        out = super().on_poll(view)
        if out[0]["type"] == "item":
            out[0]["sequence"] = self.handed
            self.handed += 1
        return out


@wrong("SUBP-33")
class BlockingRegionsKnowTheNext(BlockingSubpartition):
    """A reader of file regions names the kind of the very next item."""

    name_next = changed(BlockingSubpartition.name_next, 'self.store == "file_region"', "False")


@wrong("SUBP-33")
class BlockingEventsNeedCredit(BlockingSubpartition):
    """Nothing is available without credit, not even an event."""

    on_query = changed(BlockingSubpartition.on_query, '(credit or following != "data")', "credit")


@wrong("SUBP-33")
class BlockingDataNeedsNoCredit(BlockingSubpartition):
    """Data is available without credit."""

    on_query = changed(BlockingSubpartition.on_query, ' and (credit or following != "data")', "")


@wrong("SUBP-34", "SUBP-33")
class BlockingNextPromisedWithoutBuffer(BlockingSubpartition):
    """The next item is promised although there is no buffer to read it into."""

    name_next = changed(BlockingSubpartition.name_next, "not view.ready", "view.mark == len(self.stored)")


@wrong("SUBP-34", "SUBP-33")
class BlockingOneReadBuffer(BlockingSubpartition):
    """A reader of a plain file has one buffer."""

    read_ahead = changed(BlockingSubpartition.read_ahead, ">= 2", ">= 1")


@wrong("SUBP-34", "SUBP-33")
class BlockingThreeReadBuffers(BlockingSubpartition):
    """A reader of a plain file has three buffers."""

    read_ahead = changed(BlockingSubpartition.read_ahead, ">= 2", ">= 3")


@wrong("SUBP-34", "SUBP-33")
class BlockingMappedReaderHasTwoBuffers(BlockingSubpartition):
    """A reader of a mapped file stops when two of its buffers are out."""

    read_ahead = changed(BlockingSubpartition.read_ahead, 'self.store == "file"', 'self.store in {"file", "file_mmap"}')


@wrong("SUBP-34")
class BlockingEventsNeedNoReadBuffer(BlockingSubpartition):
    """An event that was handed out takes none of the read buffers."""

    on_poll = changed(BlockingSubpartition.on_poll, "view.held += 1", 'view.held += item.kind == "data"')


@wrong("SUBP-34")
class BlockingEveryRecycledBufferWakes(BlockingSubpartition):
    """Each buffer that comes back wakes the reader, also one that has another."""

    on_recycle = changed(BlockingSubpartition.on_recycle, " or known", "")


@wrong("SUBP-34", origin="FLINK-13100")
class BlockingRecycledBufferWakesNobody(BlockingSubpartition):
    """The buffer that comes back does not wake the reader that ran out of them: it waits for ever."""

    on_recycle = changed(BlockingSubpartition.on_recycle, "not view.ready or known", "True")


@wrong("SUBP-34")
class BlockingRecyclesWhatNobodyHolds(BlockingSubpartition):
    """A buffer that nobody holds can be recycled."""

    on_recycle = changed(BlockingSubpartition.on_recycle, "wire.rejected()", "[]")


@wrong("SUBP-35", "SUBP-33")
class BlockingMappedFileRemembers(BlockingSubpartition):
    """A mapped file gives back the exact kind of an event."""

    def recall(self, kind: str) -> str:
        return kind


@wrong("SUBP-35", "SUBP-33")
class BlockingNoFileRemembers(BlockingSubpartition):
    """A file that is mapped for reading forgets which event it was, too."""

    recall = changed(BlockingSubpartition.recall, 'self.store == "mmap"', 'self.store in {"mmap", "file_mmap"}')


@wrong("SUBP-35", "SUBP-33")
class BlockingEndOfDataForgottenAlone(BlockingSubpartition):
    """A mapped file remembers the end of the partition, and no other event."""

    def recall(self, kind: str) -> str:
        return kind if kind == "end_of_partition" else super().recall(kind)


@wrong("SUBP-36")
class BlockingDeletedUnderReaders(BlockingSubpartition):
    """A release deletes what is being read."""

    on_release = changed(BlockingSubpartition.on_release, " if not self.is_read() else []", "")


@wrong("SUBP-36")
class BlockingDeletedWithEachRelease(BlockingSubpartition):
    """A second release deletes again."""

    on_release = changed(BlockingSubpartition.on_release, "return []", 'return [{"type": "deleted"}]')


@wrong("SUBP-36", "SUBP-32")
class BlockingFirstToLeaveDeletes(BlockingSubpartition):
    """After a release the first view to go deletes the data, though others read it."""

    on_leave = changed(BlockingSubpartition.on_leave, " and not self.is_read()", "")


@wrong("SUBP-36", "SUBP-32")
class BlockingLastToLeaveDeletes(BlockingSubpartition):
    """The last view to go deletes the data, though nobody has released it."""

    on_leave = changed(BlockingSubpartition.on_leave, "self.released and ", "")


@wrong("SUBP-36")
class BlockingNeverDeletedAfterReading(BlockingSubpartition):
    """What was released while it was read is never deleted."""

    on_leave = changed(BlockingSubpartition.on_leave, "self.released and not self.is_read()", "False")


@wrong("SUBP-46")
class BlockingFailedAddIsKept(BlockingSubpartition):
    """An add that fails drops the buffer before it and keeps the new one: the result has a hole."""

    on_add = changed(
        BlockingSubpartition.on_add,
        "if not self.store_last():",
        "if not self.store_last():\n    self.last, self.jammed = item, False",
    )


@wrong("SUBP-46")
class BlockingFailedAddIsSilent(BlockingSubpartition):
    """Nobody is told that the buffer before could not be written."""

    on_add = changed(BlockingSubpartition.on_add, '[{"type": "write_failed"}]', "[]")


@wrong("SUBP-46")
class BlockingFailedFlushIsSilent(BlockingSubpartition):
    """A flush swallows the failure of the disk."""

    def on_flush(self) -> wire.Observations:
        super().on_flush()
        return []


@wrong("SUBP-46")
class BlockingFailedFinishIsSilent(BlockingSubpartition):
    """A finish whose end could not be written looks like any other."""

    on_finish = changed(BlockingSubpartition.on_finish, '[{"type": "write_failed"}]', "[]")


@wrong("SUBP-46")
class BlockingFailedFinishCanBeRead(BlockingSubpartition):
    """After a finish that failed there is a view, of a part of the data."""

    on_finish = changed(BlockingSubpartition.on_finish, "self.whole = not self.broken", "self.whole = True")


@wrong("SUBP-46", "SUBP-30")
class BlockingFailedFinishCanBeRepeated(BlockingSubpartition):
    """After a finish that failed the subpartition takes more in, and can be finished again."""

    on_finish = changed(BlockingSubpartition.on_finish, "self.finished = True", "self.finished = not self.broken")


@wrong("SUBP-46")
class BlockingEndNeedsNoDisk(BlockingSubpartition):
    """The end of the partition counts as written on a disk that fails."""

    on_finish = changed(
        BlockingSubpartition.on_finish,
        "self.store_last()",
        "written = self.store_last()",
        "self.whole = not self.broken",
        "self.whole = written or not self.broken",
        "if self.broken:",
        "if not self.whole:",
    )


@wrong("SUBP-46")
class BlockingLaterWritesSucceed(BlockingSubpartition):
    """After a failure writes are said to have succeeded, although nothing was written."""

    def store_last(self) -> bool:
        return self.jammed or super().store_last()


@wrong("SUBP-46")
class BlockingFailedWriteIsForgotten(BlockingSubpartition):
    """After a failure a flush is said to have succeeded: there is nothing left to write."""

    store_last = changed(BlockingSubpartition.store_last, "self.jammed = True", "")


@wrong("SUBP-47")
class BlockingFailedBufferIsKept(BlockingSubpartition):
    """A buffer that could not be written is kept for another attempt, and its memory with it."""

    store_last = changed(BlockingSubpartition.store_last, "if self.broken:", "if self.broken:\n    return False")


@wrong("SUBP-47")
class BlockingFailedBufferIsNotGivenBack(BlockingSubpartition):
    """The memory of a buffer that could not be written is lost."""

    store_last = changed(
        BlockingSubpartition.store_last,
        "self.forget_last()\n        self.jammed = True",
        "self.last, self.jammed = None, True",
    )


@wrong("SUBP-47")
class BlockingWrittenBufferIsNotGivenBack(BlockingSubpartition):
    """The memory of a buffer is lost when it is written."""

    store_last = changed(
        BlockingSubpartition.store_last, "self.forget_last()\n    return True", "self.last = None\nreturn True"
    )


@wrong("SUBP-47")
class BlockingReleaseGivesNothingBack(BlockingSubpartition):
    """The memory of the buffer that is kept is lost with the release."""

    on_release = changed(BlockingSubpartition.on_release, "self.forget_last()", "self.last = None")
