"""Watermark alignment in a subtask of a source, ALIGN."""

from collections import deque

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

SEMANTICS = ("flink-39073", "flink-40093")
_STATUSES = ("idle", "active")


class Sampler:
    def __init__(self, size: int) -> None:
        self.latest = wire.LOWEST
        self.ring = deque([wire.LOWEST] * size)

    def sample(self) -> None:
        if self.ring:
            self.ring.append(self.latest)
            self.ring.popleft()

    @property
    def oldest(self) -> int:
        return self.ring[0] if self.ring else self.latest


class Alignment:
    make_sampler = Sampler

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.semantics = wire.get_semantics(config, SEMANTICS)
        self.size = wire.get_at_least(config, "samples", 0) if "samples" in config else 3
        self.source = self.make_sampler(self.size)
        self.splits: dict[int, Sampler] = {}
        self.idle_splits: set[int] = set()
        self.paused: set[int] = set()
        self.limit = wire.HIGHEST
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
            self.on_announce(wire.get_long(event, "timestamp"))
        elif kind == "end":
            self.on_end()
        else:
            raise wire.unknown_type(event)
        return self.shown

    def on_split(self, kind: str, split: int, event: wire.Json) -> wire.Observations:
        if kind == "add_split":
            self.splits.setdefault(split, self.make_sampler(self.size))
        elif kind == "finish_split":
            self.on_finish(split)
        elif kind == "split_watermark":
            self.on_split_watermark(split, wire.get_long(event, "timestamp"))
        else:
            self.on_split_status(split, wire.get_choice(event, "status", _STATUSES))
        return self.shown

    def on_split_watermark(self, split: int, timestamp: int) -> None:
        if split not in self.splits:
            self.shown = wire.rejected()
            return
        self.splits[split].latest = timestamp
        if split not in self.idle_splits:
            self.maybe_pause(split)

    def on_split_status(self, split: int, status: str) -> None:
        if split not in self.splits:
            self.shown = wire.rejected()
        elif status == "idle":
            self.idle_splits.add(split)
        elif split in self.idle_splits:
            self.idle_splits.remove(split)
            self.maybe_pause(split)

    def on_finish(self, split: int) -> None:
        self.splits.pop(split, None)
        self.idle_splits.discard(split)

    def on_announce(self, limit: int) -> None:
        self.limit = limit
        self.check_source()
        self.check_splits()

    def on_sample(self) -> None:
        for one in (self.source, *self.splits.values()):
            one.sample()
        self.check_source()
        self.check_splits()
        self.report()

    def on_end(self) -> None:
        self.ended = True
        self.source.latest = wire.HIGHEST
        self.on_sample()

    def report(self) -> None:
        if self.source.latest == wire.LOWEST:
            return
        value = wire.HIGHEST if self.idle else self.source.latest
        self.shown.append({"type": "report", "timestamp": str(value)})

    def check_source(self) -> None:
        if self.ended:
            return
        ahead = self.source.oldest > self.limit
        if ahead and not self.waiting:
            self.waiting = True
            self.shown.append({"type": "wait"})
        elif self.waiting and not ahead:
            self.waiting = False
            self.shown.append({"type": "go_on"})

    def is_ahead(self, split: int) -> bool:
        return self.splits[split].oldest > self.limit

    def maybe_pause(self, split: int) -> None:
        if self.is_ahead(split) and split not in self.paused:
            self.paused.add(split)
            self.shown.append({"type": "pause", "split": split})

    def check_splits(self) -> None:
        ahead = {split for split in self.splits if self.is_ahead(split)}
        new = ahead - self.paused - self.idle_splits
        behind = (self.splits.keys() & self.paused) - ahead
        if self.semantics == "flink-39073":
            behind -= self.idle_splits
        pauses: wire.Observations = [{"type": "pause", "split": split} for split in sorted(new)]
        resumes: wire.Observations = [{"type": "resume", "split": split} for split in sorted(behind)]
        self.shown += [*pauses, *resumes]
        self.paused = (self.paused | new) - behind


make = Alignment

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("ALIGN-1", "ALIGN-3", "ALIGN-4", "ALIGN-6", "ALIGN-9", "ALIGN-10")
class AlignmentNoLimitIsTheLowest(Alignment):
    """Without an announcement everybody waits."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.limit = wire.LOWEST


@wrong("ALIGN-1")
class AlignmentStrangersWelcome(Alignment):
    """Watermarks of splits that were not added are taken without a word."""

    def step(self, event: wire.Json) -> wire.Observations:
        out = super().step(event)
        return [] if out == wire.rejected() else out


@wrong("ALIGN-1", "ALIGN-3", "ALIGN-4", "ALIGN-6", "ALIGN-9")
class AlignmentAddedTwiceStartsAnew(Alignment):
    """A split that is added again loses its samples."""

    on_split = changed(
        Alignment.on_split,
        "self.splits.setdefault(split, self.make_sampler(self.size))",
        "self.splits[split] = self.make_sampler(self.size)",
    )


class LatestSampler(Sampler):
    @property
    def oldest(self) -> int:
        return self.latest


@wrong("ALIGN-2", "ALIGN-3", "ALIGN-4", "ALIGN-5", "ALIGN-6", "ALIGN-9", origin="FLINK-37399: releases before 2.2")
class AlignmentLatestCounts(Alignment):
    """The latest watermark is held against the limit, whatever samples there are."""

    make_sampler = LatestSampler


class NewestSampler(Sampler):
    @property
    def oldest(self) -> int:
        return self.ring[-1] if self.ring else self.latest


@wrong("ALIGN-2", "ALIGN-3", "ALIGN-4", "ALIGN-6", "ALIGN-9")
class AlignmentNewestSampleCounts(Alignment):
    """The newest sample is held against the limit, not the oldest."""

    make_sampler = NewestSampler


@wrong("ALIGN-3", "ALIGN-4", "ALIGN-5", "ALIGN-10")
class AlignmentSamplesCheckNothing(Alignment):
    """A sample that is ahead of the limit is noticed only when a limit is announced."""

    on_sample = changed(Alignment.on_sample, "self.check_source()", "pass", "self.check_splits()", "pass")


@wrong("ALIGN-3", "ALIGN-4", "ALIGN-6", "ALIGN-9")
class AlignmentWaitsAtTheLimit(Alignment):
    """A subtask at the limit exactly waits."""

    check_source = changed(Alignment.check_source, "> self.limit", ">= self.limit")


@wrong("ALIGN-3")
class AlignmentWaitsForEver(Alignment):
    """A subtask that waits never goes on."""

    check_source = changed(Alignment.check_source, "elif self.waiting and not ahead", "elif False")


@wrong("ALIGN-3", "ALIGN-4", "ALIGN-5")
class AlignmentOnlySamplesCheck(Alignment):
    """A new limit counts from the next sample on."""

    def on_announce(self, limit: int) -> None:
        self.limit = limit


@wrong("ALIGN-4", "ALIGN-3", "ALIGN-5", "ALIGN-6", "ALIGN-9")
class AlignmentPausedAtTheLimit(Alignment):
    """A split at the limit exactly is paused."""

    is_ahead = changed(Alignment.is_ahead, "> self.limit", ">= self.limit")


@wrong("ALIGN-4", "ALIGN-3", "ALIGN-5", "ALIGN-6", "ALIGN-7", "ALIGN-9", "ALIGN-10")
class AlignmentPausedAgain(Alignment):
    """A split that is paused is paused again at each look, and its clock needs as many resumes."""

    check_splits = changed(Alignment.check_splits, "ahead - self.paused - self.idle_splits", "ahead - self.idle_splits")


@wrong("ALIGN-5", "ALIGN-3", "ALIGN-4", "ALIGN-10")
class AlignmentNeverResumed(Alignment):
    """A split that was paused is never resumed."""

    check_splits = changed(Alignment.check_splits, "(self.splits.keys() & self.paused) - ahead", "set()")


@wrong("ALIGN-5", "ALIGN-3", "ALIGN-4")
class AlignmentResumeBeforePause(Alignment):
    """Splits are resumed before others are paused."""

    check_splits = changed(Alignment.check_splits, "[*pauses, *resumes]", "[*resumes, *pauses]")


@wrong("ALIGN-6", "ALIGN-3", "ALIGN-4", "ALIGN-5", "ALIGN-10", origin="FLINK-39073")
class AlignmentIdleSplitsPaused(Alignment):
    """Splits that are idle are paused, too."""

    on_split_watermark = changed(Alignment.on_split_watermark, "split not in self.idle_splits", "True")
    check_splits = changed(Alignment.check_splits, "ahead - self.paused - self.idle_splits", "ahead - self.paused")


@wrong("ALIGN-6")
class AlignmentActiveUnchecked(Alignment):
    """A split that is active again is read on, until the next look."""

    on_split_status = changed(Alignment.on_split_status, "self.maybe_pause(split)", "pass")


@wrong("ALIGN-7", "ALIGN-3", "ALIGN-4", "ALIGN-5", origin="FLINK-40093, corrected where the defect is asked for")
class AlignmentIdleResumedTooEarly(Alignment):
    """Splits that are idle and paused are resumed; in flink-40093 they are not."""

    check_splits = changed(Alignment.check_splits, 'self.semantics == "flink-39073"', 'self.semantics == "flink-40093"')


@wrong("ALIGN-8", "ALIGN-1", "ALIGN-3", "ALIGN-4", "ALIGN-5", "ALIGN-6", "ALIGN-9", origin="FLINK-35886")
class AlignmentDoneSplitsCount(Alignment):
    """A split that is done is held against the limit for ever."""

    on_finish = changed(Alignment.on_finish, "self.splits.pop(split, None)", "pass")


@wrong("ALIGN-8", "ALIGN-4", "ALIGN-5")
class AlignmentDoneSplitsStayIdle(Alignment):
    """A split that comes back is idle if it was when it was done."""

    on_finish = changed(Alignment.on_finish, "self.idle_splits.discard(split)", "pass")


@wrong("ALIGN-8", "ALIGN-3", "ALIGN-5", "ALIGN-6", "ALIGN-9")
class AlignmentDoneSplitsAreResumed(Alignment):
    """A split that comes back is not taken for paused; Flink takes it for paused."""

    def on_finish(self, split: int) -> None:
        super().on_finish(split)
        self.paused.discard(split)


@wrong("ALIGN-9", "ALIGN-3", "ALIGN-4", "ALIGN-5", "ALIGN-6", "ALIGN-7", origin="FLINK-32414")
class AlignmentReportsTheLowest(Alignment):
    """A source without a watermark reports the lowest timestamp, and everybody waits for it."""

    report = changed(Alignment.report, "self.source.latest == wire.LOWEST", "False")


@wrong("ALIGN-9", "ALIGN-4", "ALIGN-6", "ALIGN-10")
class AlignmentReportsTheOldest(Alignment):
    """The report is as old as the oldest sample."""

    report = changed(Alignment.report, "else self.source.latest", "else self.source.oldest")


@wrong("ALIGN-9", "ALIGN-3", "ALIGN-4", "ALIGN-6", "ALIGN-7", origin="FLINK-32496")
class AlignmentIdleHoldsOthers(Alignment):
    """An idle source reports its own watermark, and everybody waits for it."""

    report = changed(Alignment.report, "self.idle", "False")


@wrong("ALIGN-10", "ALIGN-9", origin="FLINK-35157")
class AlignmentEndReportsNothing(Alignment):
    """A subtask at its end reports the last watermark that it had."""

    on_end = changed(Alignment.on_end, "self.source.latest = wire.HIGHEST", "pass")


@wrong("ALIGN-10", "ALIGN-3", "ALIGN-4", "ALIGN-5", "ALIGN-6", "ALIGN-9")
class AlignmentEndedSourceWaits(Alignment):
    """A subtask that has ended still waits for the limit."""

    on_end = changed(Alignment.on_end, "self.ended = True", "pass")


@wrong("ALIGN-11", "ALIGN-3", "ALIGN-4", "ALIGN-5", "ALIGN-10")
class AlignmentReportFirst(Alignment):
    """The report comes before anybody was looked at."""

    on_sample = changed(Alignment.on_sample, "self.report()", "pass", "for one in", "self.report()\nfor one in")


@wrong("ALIGN-2", "ALIGN-3", "ALIGN-4", "ALIGN-5", "ALIGN-6", "ALIGN-9")
class AlignmentSamplesInAByte(Alignment):
    """The number of samples is kept in a byte: with 256 of them the latest watermark counts."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.size &= 0xFF
        self.source = Sampler(self.size)
