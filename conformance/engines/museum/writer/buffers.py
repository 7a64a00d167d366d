"""The buffers that a writer fills: opened, limited, enlarged, queued, finished and counted.

SPAN-5, SPAN-6, SPAN-8, SPAN-9, SPAN-13, SPAN-15. Bytes are hex, two characters a byte; sizes count bytes.
"""

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from tidegate.conformance.engines.wire import Observations


@attrs.define
class Builder:
    readers: tuple[int, ...]
    capacity: int
    filled: int = 0

    @property
    def room(self) -> int:
        return self.capacity - self.filled


class Buffers:
    """The open buffers of all channels, and what of them was not seen yet; `out` is what an event lets be seen."""

    def __init__(self, channels: int, size: int, bug: str) -> None:
        self.bug = bug
        self.size = size
        self.everyone = tuple(range(channels))
        self.own: list[Builder | None] = [None] * channels
        self.shared: Builder | None = None
        #: What is written for a channel and was not seen there.
        self.unseen = [""] * channels
        self.hints = [2**31 - 1] * channels
        self.has_spare_buffers = True
        self.out: Observations = []

    def write(self, target: int | None, encoded: str) -> None:
        bug = self.bug
        needed = len(encoded) // 2
        builder = self.shared if target is None else self.own[target]
        if builder is None:
            builder = self.open(target)
            queued = min(needed, self.size) if bug == "beginning-queued-filled" else 0
            self.add_to_channels(builder, queued, 0)
            builder.capacity = self.limit(builder, needed)
        self.enlarge(builder, needed)
        encoded = self.append(builder, encoded)
        while encoded:
            self.finish(builder)
            builder = self.open(target)
            if bug == "continuation-queued-empty":
                self.add_to_channels(builder, 0, 0)
            encoded = self.append(builder, encoded)
            if bug != "continuation-queued-empty":
                self.add_to_channels(builder, builder.filled, builder.filled)
            if bug != "continuation-ignores-hints":
                builder.capacity = self.limit(builder, builder.filled)
        if not builder.room and bug != "full-buffer-stays-open":
            self.finish(builder)

    def open(self, target: int | None) -> Builder:
        self.leave_other_mode(target)
        self.out.append({"type": "request"})
        builder = Builder(self.everyone if target is None else (target,), self.size)
        if target is None:
            self.shared = builder
        else:
            self.own[target] = builder
        return builder

    def leave_other_mode(self, target: int | None) -> None:
        bug = self.bug
        if target is not None:
            if bug == "marker-frees-the-shared-memory" and self.shared is not None:
                # The first reader gives the memory back, and the others find it overwritten.
                self.unseen = [left if channel == target else "" for channel, left in enumerate(self.unseen)]
            if bug != "shared-buffer-left-open":
                self.finish(self.shared)
        elif bug != "own-buffers-left-open":
            for builder in self.own[:1] if bug == "only-the-first-is-finished" else list(self.own):
                self.finish(builder)

    def add_to_channels(self, builder: Builder, committed: int, partial: int) -> None:
        if self.bug == "partial-length-forgotten":
            partial = 0
        for channel in builder.readers:
            self.out.append({"type": "add", "channel": channel, "committed": committed, "partial": partial})

    def limit(self, builder: Builder, least: int) -> int:
        """The size that readers ask for, SPAN-8."""
        bug = self.bug
        hints = [self.hints[channel] for channel in builder.readers]
        if bug == "eight-readers-decide":
            hints = hints[:8]
        if bug == "zero-left-out-of-the-smallest":
            hints = [hint for hint in hints if hint] or [0]
        hint = hints[0] if bug == "first-reader-decides" else min(hints)
        if bug == "largest-hint-decides":
            hint = max(hints)
        if hint == 0 and bug != "zero-asks-for-the-least":
            return self.size
        if bug == "hint-splits-records":
            return min(self.size, max(hint, 1, builder.filled))
        return min(self.size, max(hint, least))

    def enlarge(self, builder: Builder, needed: int) -> None:
        """A larger buffer instead of a second one that is not there, SPAN-9."""
        bug = self.bug
        if (self.has_spare_buffers and bug != "always-enlarges") or bug == "never-enlarges":
            return
        if needed < builder.room or (bug == "enlarges-on-overflow-only" and needed == builder.room):
            return
        spare = 0 if bug == "enlarges-without-spare-byte" else 1
        wanted = self.size if bug == "enlarges-to-full-size" else builder.filled + needed + spare
        if bug == "enlarges-if-all-fits" and wanted > self.size:
            return
        builder.capacity = max(builder.capacity, min(self.size, wanted))

    def append(self, builder: Builder, encoded: str) -> str:
        """What does not fit is given back."""
        piece, rest = encoded[: 2 * builder.room], encoded[2 * builder.room :]
        builder.filled += len(piece) // 2
        for channel in builder.readers:
            self.unseen[channel] += piece
        return rest

    def finish(self, builder: Builder | None) -> None:
        bug = self.bug
        if builder is None:
            return
        unseen = len(self.unseen[builder.readers[0]]) // 2
        self.show(builder.readers)
        size, readers = builder.filled, len(builder.readers)
        if bug == "counts-what-is-seen-late":
            size = unseen
        elif bug == "counts-capacity":
            size = builder.capacity
        count = {"bytes": size * readers, "buffers": readers}
        if bug == "shared-counted-once":
            count = {"bytes": size, "buffers": 1}
        elif bug == "shared-buffer-counted-once":
            count["buffers"] = 1
        self.out.append({"type": "count", **count})
        if builder is self.shared:
            self.shared = None
        else:
            self.own[builder.readers[0]] = None

    def show(self, channels: tuple[int, ...]) -> None:
        for channel in channels:
            if self.unseen[channel]:
                self.out.append({"type": "buffer", "channel": channel, "data": self.unseen[channel]})
            if self.bug != "seen-again-from-the-start" or not (self.own[channel] or self.shared):
                self.unseen[channel] = ""

    def finish_all(self) -> None:
        self.finish(self.shared)
        for builder in self.own[::-1] if self.bug == "finishes-backwards" else list(self.own):
            self.finish(builder)
