"""The result partition and its manager, SUBP-20 … SUBP-26, SUBP-40, over the museum's own subpartitions.

What the subpartitions answer is what the readers see; here is who may ask them, and what the writer makes of a record.
"""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.blocking_subpartition import BlockingSubpartition
from tidegate.conformance.engines.museum.result_partition.attempt import Attempt, Part, View
from tidegate.conformance.engines.museum.subpartition import Subpartition

_ANY_TIME = ("setup", "request", "expire", "shutdown")
_WRITES = ("emit", "broadcast", "end_of_data", "finish")
_OTHERS = ("flush", "close", "fail", "poll", "release_view", "release")


class ResultPartition:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("partition-")
        self.pipelined = wire.get_choice(config, "kind", ("pipelined", "blocking")) == "pipelined"
        self.count = wire.get_at_least(config, "subpartitions", 1)
        self.attempt: Attempt | None = None
        self.registered = self.shut_down = False
        self.waiting: list[int] = []

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind not in (*_ANY_TIME, *_WRITES, *_OTHERS):
            raise wire.unknown_type(event)
        if kind in _ANY_TIME:
            return self.on_manager(event)
        by_manager = kind == "release" and wire.get_choice(event, "by", ("manager", "producer")) == "manager"
        if by_manager:
            told = [] if self.bug == "release-leaves-listeners-waiting" else self.forget_waiting()
            return told + self.let_go()
        attempt = self.attempt
        index = wire.get_integer(event, "view") if kind in {"poll", "release_view"} else 0
        if attempt is None:
            return wire.rejected()
        match kind:
            case "poll" | "release_view":
                return self.on_view(attempt, index, leaves=kind == "release_view")
            case "release":
                return self.release(attempt)
            case "fail":
                return self.on_fail(attempt)
            case "flush":
                return self.on_flush(attempt)
            case "close":
                return self.on_close(attempt)
        return self.on_write(attempt, event)

    # --- the manager

    def on_manager(self, event: wire.Json) -> wire.Observations:
        bug = self.bug
        match event["type"]:
            case "setup":
                return self.on_setup()
            case "request":
                return self.on_request(
                    wire.get_integer(event, "subpartition"), listens=wire.get_boolean(event, "listen")
                )
            case "expire":
                return [] if self.shut_down or bug == "expiry-tells-nobody" else self.forget_waiting()
        self.shut_down = True
        told = [] if bug == "shutdown-leaves-listeners-waiting" else self.forget_waiting()
        return told + ([] if bug == "shutdown-releases-nothing" else self.let_go())

    def on_setup(self) -> wire.Observations:
        bug = self.bug
        if self.registered and bug != "second-attempt-replaces":
            return wire.rejected()
        if self.shut_down and bug != "shut-down-manager-registers":
            return wire.rejected()
        if self.attempt is not None and bug == "id-is-used-up":
            return wire.rejected()
        self.attempt, self.registered = Attempt([self.make_part() for _ in range(self.count)]), True
        told, self.waiting = sorted(self.waiting), []
        if bug == "first-listener-told-alone":
            told = told[:1]
        return [] if bug == "listeners-never-told" else [{"type": "created", "subpartition": one} for one in told]

    def make_part(self) -> Part:
        """A right one: the bugs are those of the partition."""
        return (
            Subpartition({}, wire.Host())
            if self.pipelined
            else BlockingSubpartition({"store": "file_mmap"}, wire.Host())
        )

    def on_request(self, index: int, *, listens: bool) -> wire.Observations:
        bug = self.bug
        if index == self.count and bug == "range-includes-its-end":
            index -= 1
        if not 0 <= index < self.count:
            return wire.rejected()
        if self.attempt is not None and self.registered:
            return self.make_view(self.attempt, index)
        if not listens:
            return wire.rejected() if bug == "unknown-is-refused" else [{"type": "not_found"}]
        if index in self.waiting:
            return [] if bug == "waits-twice" else wire.rejected()
        self.waiting.append(index)
        return [{"type": "not_found"}] if bug == "listener-turned-away" else []

    def make_view(self, attempt: Attempt, index: int) -> wire.Observations:
        bug = self.bug
        if attempt.released:
            return [{"type": "not_found"}] if bug == "released-is-not-found" else wire.rejected()
        part = attempt.parts[index]
        place = 0 if isinstance(part, Subpartition) else len(part.views)
        refused = part.step({"type": "view"}) == wire.rejected()
        if refused and not (self.pipelined and bug == "second-view"):
            return (
                [{"type": "not_found"}] if not self.pipelined and bug == "unfinished-is-not-found" else wire.rejected()
            )
        attempt.views.append(View(index, place))
        number = len(attempt.views) - 1
        wakes = bug == "view-wakes" and isinstance(part, Subpartition) and part.queue
        return [{"type": "view", "view": number}, *([{"type": "data_available", "view": number}] if wakes else [])]

    def forget_waiting(self) -> wire.Observations:
        told: wire.Observations = [{"type": "timed_out", "subpartition": one} for one in sorted(self.waiting)]
        if self.bug != "told-in-vain-waits-on":
            self.waiting = []
        return told

    def let_go(self) -> wire.Observations:
        if self.attempt is None or not self.registered:
            return []
        self.registered = self.bug == "released-stays-known"
        return self.release(self.attempt)

    def release(self, attempt: Attempt) -> wire.Observations:
        if attempt.released:
            return [{"type": "released"}] if self.bug == "released-twice" else []
        attempt.released = True
        attempt.tell_all("release")
        return [{"type": "released"}]

    # --- the writer

    def on_write(self, attempt: Attempt, event: wire.Json) -> wire.Observations:
        bug, kind = self.bug, event["type"]
        data = wire.get_hex(event, "data") if kind in {"emit", "broadcast"} else ""
        index = wire.get_integer(event, "subpartition") if kind == "emit" else 0
        drains = wire.get_boolean(event, "drain") if kind == "end_of_data" else False
        if not 0 <= index < self.count:
            return wire.rejected()
        if kind == "end_of_data" and attempt.drains is not None and not attempt.closed:
            attempt.drains = drains if bug == "last-end-of-data-counts" else attempt.drains
            return wire.rejected() if bug == "second-end-of-data-refused" else []
        if attempt.finished or attempt.failed or (attempt.closed and bug != "closed-writer-writes"):
            return [] if bug == "late-writes-ignored" else wire.rejected()
        if kind == "finish" and attempt.released and not self.pipelined:
            return wire.rejected()
        match kind:
            case "emit":
                return self.emit(attempt, index, data)
            case "broadcast":
                return self.broadcast(attempt, data)
            case "end_of_data":
                attempt.drains = drains
        if kind == "finish":
            attempt.finished = True
        out = attempt.finish_buffers()
        if kind == "end_of_data" and bug == "data-ends-for-the-first":
            return out + attempt.tell(0, "end_of_data" if not self.pipelined else "event", kind="end_of_data")
        if kind == "end_of_data" and self.pipelined:
            return out + attempt.tell_all("event", kind="end_of_data")
        return out + attempt.tell_all(kind)

    def emit(self, attempt: Attempt, index: int, data: str) -> wire.Observations:
        bug = self.bug
        if attempt.shared and bug == "record-in-the-shared-buffer":
            return attempt.tell_all("append", data=data)
        out = attempt.finish_buffers() if attempt.shared else []
        if attempt.is_open(index) and bug == "each-record-has-a-buffer":
            out += attempt.tell(index, "finish_buffer")
        if not attempt.is_open(index) and index not in attempt.stale:
            out += attempt.tell(index, "buffer", data="", finished=False)
        return out + attempt.tell(index, "append", data=data)

    def broadcast(self, attempt: Attempt, data: str) -> wire.Observations:
        bug = self.bug
        out: wire.Observations = []
        if bug == "broadcast-is-many-records":
            return [one for index in range(self.count) for one in self.emit(attempt, index, data)]
        if not attempt.shared or bug == "each-broadcast-has-a-buffer":
            out = attempt.finish_buffers() + attempt.tell_all("buffer", data="", finished=False)
            attempt.shared = True
        if bug == "broadcast-kept-by-the-first":
            return out + attempt.tell(0, "append", data=data)
        return out + attempt.tell_all("append", data=data)

    def on_flush(self, attempt: Attempt) -> wire.Observations:
        bug = self.bug
        out: wire.Observations = []
        if bug == "blocking-flush-finishes-nothing" and not self.pipelined:
            attempt.stale |= {index for index in range(self.count) if attempt.is_open(index)}
        elif bug == "broadcast-goes-on-behind-a-flush" and attempt.shared and not self.pipelined:
            pass
        elif not self.pipelined or bug == "every-flush-finishes":
            out = attempt.finish_buffers()
        return out + (attempt.tell(0, "flush") if bug == "first-is-flushed-alone" else attempt.tell_all("flush"))

    def on_close(self, attempt: Attempt) -> wire.Observations:
        if attempt.closed and self.bug != "closes-twice":
            return wire.rejected()
        attempt.closed = True
        return self.leave(attempt)

    def on_fail(self, attempt: Attempt) -> wire.Observations:
        bug = self.bug
        self.registered = self.registered and bug == "failed-stays-known"
        if attempt.released and bug != "released-can-fail":
            return []
        attempt.failed = bug != "failure-is-a-release"
        return self.release(attempt)

    # --- the readers

    def leave(self, attempt: Attempt) -> wire.Observations:
        bug = self.bug
        left = len({view.subpartition for view in attempt.views if view.left})
        if bug == "left-twice-counts-twice":
            left = sum(view.left for view in attempt.views)
        elif bug == "first-reader-counts-for-all" and left:
            left = self.count
        gone = left >= self.count and (attempt.closed or bug == "writer-is-no-user")
        if bug == "goes-with-the-writer":
            gone = attempt.closed
        if not gone or attempt.released or not (self.pipelined or bug == "blocking-goes-with-its-readers"):
            return []
        self.registered = bug == "used-up-stays-known"
        return self.release(attempt)

    def on_view(self, attempt: Attempt, index: int, *, leaves: bool) -> wire.Observations:
        bug = self.bug
        if not 0 <= index < len(attempt.views):
            return wire.rejected()
        view = attempt.views[index]
        part = attempt.parts[view.subpartition]
        if not leaves:
            return wire.rejected() if view.left and bug != "left-view-is-read" else self.on_poll(attempt, view)
        if view.left and bug != "left-twice-counts-twice":
            return wire.rejected() if bug == "left-twice-is-refused" else []
        if isinstance(part, BlockingSubpartition):
            part.step({"type": "release_view", "view": view.place})
        view.left += 1
        return self.leave(attempt)

    def on_poll(self, attempt: Attempt, view: View) -> wire.Observations:
        bug, part = self.bug, attempt.parts[view.subpartition]
        if isinstance(part, Subpartition) and attempt.released:
            failed = attempt.failed or bug == "release-is-a-failure"
            return [{"type": "none"}] if bug == "gone-is-silent" else [{"type": "gone", "failed": failed}]
        event = {"type": "poll"} if isinstance(part, Subpartition) else {"type": "poll", "view": view.place}
        [seen] = part.step(event)
        if seen.get("kind") == "end_of_partition":
            seen = {**seen, "data": "00000000"}
        elif seen.get("kind") == "end_of_data":
            drained = attempt.drains or bug == "every-end-drains"
            seen = {**seen, "data": "0000000800" if drained else "0000000801"}
        return [seen]


make = ResultPartition
