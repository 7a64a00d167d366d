"""The bounded blocking subpartition, SUBP-30 … SUBP-36, SUBP-46, SUBP-47.

What is written is one list, into which each view has a mark of its own.
"""

import attrs

from tidegate.conformance.engines import wire

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
        self.bug = host.bug.removeprefix("blocking-")
        self.store = wire.get_choice(config, "store", _STORES)
        self.may_fail = wire.get_extension(config, EXTENSIONS) is not None
        self.broken = self.jammed = self.whole = False
        self.told: wire.Observations = []
        self.stored: list[Item] = []
        self.last: Item | None = None
        self.views: list[View] = []
        self.data_ended = self.finished = self.released = self.lost = False
        self.handed = 0

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
        bug = self.bug
        if self.finished and not (item.kind == "data" and bug == "finished-takes-more"):
            return wire.rejected()
        if self.released and bug != "released-takes-more":
            return wire.rejected()
        if item.kind == "end_of_data" and self.data_ended and bug != "data-ends-twice":
            return wire.rejected()
        if self.last is not None and self.last.open and bug == "open-buffer-replaced":
            self.last = None
        ended, self.data_ended = self.data_ended, self.data_ended or item.kind == "end_of_data"
        if not self.store_last():
            if bug == "failed-add-is-kept":
                self.last, self.jammed = item, False
            self.data_ended = ended
            return [] if bug == "failed-add-is-silent" else [{"type": "write_failed"}]
        self.last = item
        return []

    def store_last(self) -> bool:
        """Whether what was kept is in the store now, if there was anything."""
        bug = self.bug
        if self.jammed:
            return bug == "later-writes-succeed"
        if self.last is None:
            return True
        if not self.broken:
            self.stored.append(self.last)
            if bug != "written-buffer-is-not-given-back":
                self.forget_last()
            self.last = None
            return True
        if bug == "failed-buffer-is-kept":
            return False
        if bug != "failed-buffer-is-not-given-back":
            self.forget_last()
        self.last, self.jammed = None, bug != "failed-write-is-forgotten"
        return False

    def forget_last(self) -> None:
        """The memory of what is kept goes back."""
        if self.last is not None and self.may_fail:
            self.told.append({"type": "recycled"})
        self.last = None

    def on_append(self, data: str) -> wire.Observations:
        if self.last is None or not self.last.open:
            return wire.rejected()
        self.last.data = data if self.bug == "append-overwrites" else self.last.data + data
        return []

    def on_finish_buffer(self) -> wire.Observations:
        if self.last is None or not self.last.open:
            return wire.rejected()
        self.last.open = False
        return []

    def on_flush(self) -> wire.Observations:
        if self.bug == "flush-does-nothing":
            return []
        stays = self.last is not None and self.last.open and self.bug == "flush-spares-the-open"
        if stays or self.store_last() or self.bug == "failed-flush-is-silent":
            return []
        return [{"type": "write_failed"}]

    def on_finish(self) -> wire.Observations:
        bug = self.bug
        if self.released or (self.finished and bug != "finishes-twice"):
            return wire.rejected()
        written = self.store_last() if bug != "finish-forgets-the-last" else True
        self.last = None
        self.finished = True
        if self.broken and not (written and bug == "end-needs-no-disk"):
            self.finished = bug != "failed-finish-can-be-repeated"
            self.whole = bug == "failed-finish-can-be-read"
            return [] if bug == "failed-finish-is-silent" else [{"type": "write_failed"}]
        if bug != "no-end-of-partition":
            self.stored.append(Item("end_of_partition"))
        self.whole = True
        return []

    def on_release(self) -> wire.Observations:
        bug = self.bug
        if self.released:
            return [{"type": "deleted"}] if bug == "deleted-with-each-release" else []
        self.released = True
        if bug != "release-gives-nothing-back":
            self.forget_last()
        self.last, self.jammed = None, False
        return [{"type": "deleted"}] if not self.is_read() or bug == "deleted-under-readers" else []

    def is_read(self) -> bool:
        return not all(view.gone for view in self.views)

    # --- readers

    def on_view(self) -> wire.Observations:
        bug = self.bug
        if self.released and bug != "released-gets-a-view":
            return wire.rejected()
        if not self.finished and bug != "view-before-the-end":
            return wire.rejected()
        if self.lost and bug != "lost-file-is-read":
            return wire.rejected() if bug == "lost-file-is-refused" else [{"type": "not_found"}]
        if self.finished and not self.whole:
            return wire.rejected()
        if bug == "one-view-ever" and self.views:
            return wire.rejected()
        if bug == "one-view-at-a-time" and self.is_read():
            return wire.rejected()
        view = View(self.views[-1].mark if bug == "view-goes-on-where-another-was" and self.views else 0)
        self.read_ahead(view)
        self.views.append(view)
        return [{"type": "view", "view": len(self.views) - 1}]

    def read_ahead(self, view: View) -> None:
        bug = self.bug
        buffers = {"one-read-buffer": 1, "three-read-buffers": 3}.get(bug, 2)
        limited = self.store == "file" or (self.store == "file_mmap" and bug == "mapped-reader-has-two-buffers")
        view.ready = view.mark < len(self.stored) and not (limited and view.held >= buffers)

    def on_reader(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind not in {"poll", "recycle", "query", "release_view"}:
            raise wire.unknown_type(event)
        number = wire.get_integer(event, "view")
        credit = wire.get_boolean(event, "credit") if kind == "query" else False
        if not 0 <= number < len(self.views):
            return wire.rejected()
        view = self.views[number]
        if view.gone and not (kind == "poll" and self.bug == "view-outlives-its-reader"):
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
        bug = self.bug
        if not view.ready:
            return [{"type": "none"}]
        item, number = self.stored[view.mark], view.mark
        for moved in self.views if bug == "views-share-a-place" else [view]:
            moved.mark = number + 1
            self.read_ahead(moved)
        view.held += item.kind == "data" or bug != "events-need-no-read-buffer"
        self.read_ahead(view)
        if bug == "numbers-go-on-across-views":
            number = self.handed
        self.handed += 1
        seen = {"kind": self.recall(item.kind), "data": item.data, "backlog": self.count_backlog(view)}
        return [{"type": "item", **seen, "next": self.name_next(view), "sequence": number}]

    def recall(self, kind: str) -> str:
        """What the store remembers of the kind."""
        bug = self.bug
        forgets = self.store == "mmap" and bug != "mapped-file-remembers"
        if bug == "no-file-remembers" and self.store == "file_mmap":
            forgets = True
        elif bug == "end-of-data-forgotten-alone" and kind == "end_of_partition":
            forgets = False
        return "event" if forgets and kind != "data" else kind

    def name_next(self, view: View) -> str:
        bug = self.bug
        if not view.ready and not (bug == "next-promised-without-buffer" and view.mark < len(self.stored)):
            return "none"
        if self.store == "file_region" and bug != "regions-know-the-next":
            return "data" if any(item.kind == "data" for item in self.stored[view.mark :]) else "event"
        return self.recall(self.stored[view.mark].kind)

    def count_backlog(self, view: View) -> int:
        bug = self.bug
        left = self.stored if bug == "backlog-is-all-that-was-written" else self.stored[view.mark :]
        count = len(left) if bug == "backlog-counts-events" else sum(item.kind == "data" for item in left)
        return max(0, count - 1) if bug == "backlog-presumes-one-open" else count

    def on_recycle(self, number: int, view: View) -> wire.Observations:
        bug = self.bug
        if not view.held:
            return [] if bug == "recycles-what-nobody-holds" else wire.rejected()
        known = view.ready
        view.held -= 1
        self.read_ahead(view)
        if bug == "every-recycled-buffer-wakes":
            known = False
        if not view.ready or known or bug == "recycled-buffer-wakes-nobody":
            return []
        return [{"type": "data_available", "view": number}]

    def on_query(self, view: View, *, credit: bool) -> wire.Observations:
        bug = self.bug
        following = self.name_next(view)
        available = following != "none" and (credit or following != "data")
        if bug == "events-need-credit":
            available = available and credit
        elif bug == "data-needs-no-credit":
            available = following != "none"
        return [{"type": "availability", "available": available, "backlog": self.count_backlog(view)}]

    def on_leave(self, view: View) -> wire.Observations:
        bug = self.bug
        view.gone = True
        deleted = self.released and not self.is_read()
        if bug == "first-to-leave-deletes":
            deleted = self.released
        elif bug == "last-to-leave-deletes":
            deleted = not self.is_read()
        return [{"type": "deleted"}] if deleted and bug != "never-deleted-after-reading" else []


make = BlockingSubpartition
