"""Watermark alignment in a subtask of a source, ALIGN."""

from collections import deque

from tidegate.conformance.engines import wire

SEMANTICS = ("flink-39073", "flink-40093")
_STATUSES = ("idle", "active")


class Sampler:
    def __init__(self, size: int, bug: str) -> None:
        self.latest = wire.LOWEST
        self.ring = deque([wire.LOWEST] * size)
        self.bug = bug

    def sample(self) -> None:
        if self.ring:
            self.ring.append(self.latest)
            self.ring.popleft()

    @property
    def oldest(self) -> int:
        if not self.ring or self.bug == "latest-counts":
            return self.latest
        return self.ring[-1] if self.bug == "newest-sample-counts" else self.ring[0]


class Alignment:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.semantics = wire.get_semantics(config, SEMANTICS)
        self.bug = host.bug.removeprefix("alignment-")
        self.size = wire.get_at_least(config, "samples", 0) if "samples" in config else 3
        if self.bug == "samples-in-a-byte":
            self.size &= 0xFF
        self.source = Sampler(self.size, self.bug)
        self.splits: dict[int, Sampler] = {}
        self.idle_splits: set[int] = set()
        self.paused: set[int] = set()
        self.limit = wire.LOWEST if self.bug == "no-limit-is-the-lowest" else wire.HIGHEST
        self.idle = self.waiting = self.ended = False
        self.shown: wire.Observations = []

    def step(self, event: wire.Json) -> wire.Observations:
        self.shown = []
        kind = event.get("type")
        if kind in ("add_split", "finish_split", "split_watermark", "split_status"):
            return self.on_split(kind, wire.get_integer(event, "split"), event)
        if kind == "watermark":
            self.source.latest = wire.get_long(event, "timestamp")
            self.check_source()
        elif kind == "status":
            self.idle = wire.get_choice(event, "status", _STATUSES) == "idle"
        elif kind == "sample":
            self.on_sample()
        elif kind == "announce":
            self.limit = wire.get_long(event, "timestamp")
            if self.bug != "only-samples-check":
                self.check_source()
                self.check_splits()
        elif kind == "end":
            self.on_end()
        else:
            raise wire.unknown_type(event)
        return self.shown

    def on_split(self, kind: str, split: int, event: wire.Json) -> wire.Observations:
        if kind == "split_watermark":
            timestamp = wire.get_long(event, "timestamp")
            if split not in self.splits:
                return [] if self.bug == "strangers-welcome" else wire.rejected()
            self.splits[split].latest = timestamp
            if split not in self.idle_splits or self.bug == "idle-splits-paused":
                self.maybe_pause(split)
        elif kind == "split_status":
            idle = wire.get_choice(event, "status", _STATUSES) == "idle"
            if split not in self.splits:
                return [] if self.bug == "strangers-welcome" else wire.rejected()
            if idle:
                self.idle_splits.add(split)
            elif split in self.idle_splits:
                self.idle_splits.remove(split)
                if self.bug != "active-unchecked":
                    self.maybe_pause(split)
        elif kind == "add_split":
            if split not in self.splits or self.bug == "added-twice-starts-anew":
                self.splits[split] = Sampler(self.size, self.bug)
        else:
            self.on_finish(split)
        return self.shown

    def on_finish(self, split: int) -> None:
        if self.bug != "done-splits-count":
            self.splits.pop(split, None)
        if self.bug != "done-splits-stay-idle":
            self.idle_splits.discard(split)
        if self.bug == "done-splits-are-resumed":
            self.paused.discard(split)

    def on_sample(self) -> None:
        if self.bug == "report-first":
            self.report()
        for one in (self.source, *self.splits.values()):
            one.sample()
        if self.bug != "samples-check-nothing":
            self.check_source()
            self.check_splits()
        if self.bug != "report-first":
            self.report()

    def on_end(self) -> None:
        self.ended = self.bug != "ended-source-waits"
        if self.bug != "end-reports-nothing":
            self.source.latest = wire.HIGHEST
        self.on_sample()

    def report(self) -> None:
        bug = self.bug
        if self.source.latest == wire.LOWEST and bug != "reports-the-lowest":
            return
        value = self.source.oldest if bug == "reports-the-oldest" else self.source.latest
        if self.idle and bug != "idle-holds-others":
            value = wire.HIGHEST
        self.shown.append({"type": "report", "timestamp": str(value)})

    def check_source(self) -> None:
        if self.ended:
            return
        margin = 0 if self.bug == "waits-at-the-limit" else 1
        ahead = self.source.oldest >= self.limit + margin
        if ahead and not self.waiting:
            self.waiting = True
            self.shown.append({"type": "wait"})
        elif self.waiting and not ahead and self.bug != "waits-for-ever":
            self.waiting = False
            self.shown.append({"type": "go_on"})

    def is_ahead(self, split: int) -> bool:
        margin = 0 if self.bug == "paused-at-the-limit" else 1
        return self.splits[split].oldest >= self.limit + margin

    def maybe_pause(self, split: int) -> None:
        if self.is_ahead(split) and split not in self.paused:
            self.paused.add(split)
            self.shown.append({"type": "pause", "split": split})

    def check_splits(self) -> None:
        bug = self.bug
        ahead = {split for split in self.splits if self.is_ahead(split)}
        new = ahead if bug == "paused-again" else ahead - self.paused
        if bug != "idle-splits-paused":
            new = new - self.idle_splits
        behind = (self.splits.keys() & self.paused) - ahead
        stays = self.semantics == "flink-39073"
        if bug in ("idle-resumed-too-early", "idle-never-resumed"):
            stays = not stays
        if stays:
            behind = behind - self.idle_splits
        if bug == "never-resumed":
            behind = set()
        pauses: wire.Observations = [{"type": "pause", "split": split} for split in sorted(new)]
        resumes: wire.Observations = [{"type": "resume", "split": split} for split in sorted(behind)]
        self.shown += [*resumes, *pauses] if bug == "resume-before-pause" else [*pauses, *resumes]
        self.paused = (self.paused | new) - behind


make = Alignment
