"""A network buffer, its builder and its consumers, SUBP-1 … SUBP-3, SUBP-40, SUBP-41.

Who holds the memory is kept as a set of names; it is free when the set gets empty.
"""

import attrs

from tidegate.conformance.engines import wire

_BUILDER = "builder"


@attrs.define(eq=False)
class Consumer:
    position: int
    believes_finished: bool
    slices: int = 0
    closed: bool = False


class Buffer:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("buffer-")
        self.capacity = wire.get_at_least(config, "capacity", 1)
        self.written = b""
        self.committed = 0
        self.finished = False
        self.closed = False
        self.consumers: list[Consumer] = []
        self.holders = {_BUILDER} if self.bug != "builder-holds-nothing" else set()
        self.freed = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "append":
            return self.on_append(bytes.fromhex(wire.get_hex(event, "data")))
        if kind in {"commit", "finish", "close_builder", "consume"}:
            usable = not self.closed or (kind == "commit" and self.bug == "closed-builder-commits")
            return self.on_builder(kind) if usable else wire.rejected()
        if kind not in {"copy", "inspect", "build", "recycle", "close"}:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "consumer")
        if not 0 <= index < len(self.consumers):
            return wire.rejected()
        consumer = self.consumers[index]
        if kind == "recycle":
            return self.on_recycle(index, consumer)
        if consumer.closed and not (kind == "build" and self.bug == "closed-consumer-builds"):
            return wire.rejected()
        return self.on_consumer(kind, index, consumer)

    def on_append(self, data: bytes) -> wire.Observations:
        bug = self.bug
        if self.closed or (self.finished and bug != "finished-takes-more"):
            return wire.rejected()
        room = self.capacity - len(self.written)
        if len(data) > room and bug == "all-or-nothing":
            room = 0
        self.written += data[:room]
        if bug == "append-commits":
            self.committed = len(self.written)
        return [{"type": "written", "bytes": len(data[:room])}]

    def on_builder(self, kind: str) -> wire.Observations:
        bug = self.bug
        if kind == "close_builder":
            self.closed = True
            return self.let_go(_BUILDER)
        if kind == "commit":
            self.committed = len(self.written)
            return []
        if kind == "finish":
            if self.finished and bug == "second-finish-refused":
                return wire.rejected()
            count = self.committed if bug == "finish-says-what-was-committed" else len(self.written)
            self.committed = self.committed if bug == "finish-does-not-commit" else len(self.written)
            self.finished = True
            return [{"type": "written", "bytes": count}]
        if self.consumers and bug != "builder-makes-many":
            return wire.rejected()
        return self.add(0, believes_finished=self.finished)

    def add(self, position: int, *, believes_finished: bool) -> wire.Observations:
        self.holders.add(f"consumer {len(self.consumers)}")
        self.consumers.append(Consumer(position, believes_finished))
        return []

    def on_consumer(self, kind: str, index: int, consumer: Consumer) -> wire.Observations:
        bug = self.bug
        if kind == "copy":
            knows = consumer.believes_finished if bug == "copy-believes-like-its-original" else self.finished
            start = {"copy-starts-over": 0, "copy-skips-to-the-end": self.committed}.get(bug, consumer.position)
            return self.add(start, believes_finished=knows)
        if kind == "inspect":
            knows = self.finished if bug == "finished-known-at-once" else consumer.believes_finished
            unread = consumer.position < (len(self.written) if bug == "unread-counts-uncommitted" else self.committed)
            return [{"type": "knowledge", "finished": knows, "unread": unread}]
        if kind == "build":
            return self.on_build(index, consumer)
        consumer.closed = True
        if bug == "first-consumer-frees":
            self.holders = {holder for holder in self.holders if not holder.startswith("consumer")}
        return self.let_go(f"consumer {index}")

    def on_build(self, index: int, consumer: Consumer) -> wire.Observations:
        bug = self.bug
        start = 0 if bug == "slice-from-the-start" else consumer.position
        data = self.written[start : self.committed]
        if not data and bug == "empty-slice-refused":
            return wire.rejected()
        for other in self.consumers if bug == "readers-share-a-position" else [consumer]:
            other.position = self.committed
        consumer.believes_finished = self.finished or bug == "reading-is-believing"
        if bug != "slices-hold-nothing":
            self.holders.add(f"slice {index}.{consumer.slices}")
        consumer.slices += 1
        return [{"type": "slice", "data": data.hex()}]

    def on_recycle(self, index: int, consumer: Consumer) -> wire.Observations:
        if not consumer.slices:
            return [] if self.bug == "recycles-nothing" else wire.rejected()
        consumer.slices -= 1
        return self.let_go(f"slice {index}.{consumer.slices}")

    def let_go(self, holder: str) -> wire.Observations:
        self.holders.discard(holder)
        if self.holders or self.freed:
            return []
        self.freed = True
        return [{"type": "recycled"}]


make = Buffer
