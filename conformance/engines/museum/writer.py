"""Records for many channels, in buffers of their own or in shared ones, SPAN-5 … SPAN-15 and SPAN-34.

Bytes stay in the hex form that the protocol gives and wants, two characters a byte; sizes count bytes.
"""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

#: So many emits may pass in silence after the flusher failed.
MOST_SILENT = 100
#: The flag of the flusher is looked at once in so many emits.
LOOKS_EVERY = 10
EXTENSIONS = ("measures",)
_PLAIN = ("broadcast", "event", "pool", "flush", "elapse", "fail", "finish")


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

    def __init__(self, channels: int, size: int) -> None:
        self.size = size
        self.everyone = tuple(range(channels))
        self.own: list[Builder | None] = [None] * channels
        self.shared: Builder | None = None
        #: What is written for a channel and was not seen there.
        self.unseen = [""] * channels
        self.hints = [2**31 - 1] * channels
        self.has_spare_buffers = True
        self.out: wire.Observations = []

    def write(self, target: int | None, encoded: str) -> None:
        needed = len(encoded) // 2
        builder = self.shared if target is None else self.own[target]
        if builder is None:
            builder = self.open(target)
            self.add_to_channels(builder, 0, 0)
            builder.capacity = self.limit(builder, needed)
        self.enlarge(builder, needed)
        encoded = self.append(builder, encoded)
        while encoded:
            self.finish(builder)
            builder = self.open(target)
            encoded = self.append(builder, encoded)
            self.add_to_channels(builder, builder.filled, builder.filled)
            builder.capacity = self.limit(builder, builder.filled)
        if not builder.room:
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
        if target is not None:
            self.finish(self.shared)
        else:
            for builder in self.own:
                self.finish(builder)

    def add_to_channels(self, builder: Builder, committed: int, partial: int) -> None:
        for channel in builder.readers:
            self.out.append({"type": "add", "channel": channel, "committed": committed, "partial": partial})

    def limit(self, builder: Builder, least: int) -> int:
        """The size that readers ask for, SPAN-8."""
        hint = min(self.hints[channel] for channel in builder.readers)
        return min(self.size, max(hint, least)) if hint else self.size

    def enlarge(self, builder: Builder, needed: int) -> None:
        """A larger buffer instead of a second one that is not there, SPAN-9."""
        if self.has_spare_buffers or needed < builder.room:
            return
        wanted = builder.filled + needed + 1
        builder.capacity = max(builder.capacity, min(self.size, wanted))

    def append(self, builder: Builder, encoded: str) -> str:
        """What does not fit is given back."""
        piece, rest = encoded[: 2 * builder.room], encoded[2 * builder.room :]
        builder.filled += len(piece) // 2
        for channel in builder.readers:
            self.unseen[channel] += piece
        return rest

    def finish(self, builder: Builder | None) -> None:
        if builder is None:
            return
        self.show(builder.readers)
        readers = len(builder.readers)
        self.out.append({"type": "count", "bytes": builder.filled * readers, "buffers": readers})
        if builder is self.shared:
            self.shared = None
        else:
            self.own[builder.readers[0]] = None

    def show(self, channels: tuple[int, ...]) -> None:
        for channel in channels:
            if self.unseen[channel]:
                self.out.append({"type": "buffer", "channel": channel, "data": self.unseen[channel]})
            self.unseen[channel] = ""

    def finish_all(self) -> None:
        self.finish(self.shared)
        for builder in self.own:
            self.finish(builder)


class Writer(Buffers):
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        kind = wire.get_choice(config, "kind", ("selecting", "broadcast"))
        channels = wire.get_at_least(config, "channels", 1)
        super().__init__(channels, wire.get_at_least(config, "buffer_size", 1))
        self.timeout = wire.get_at_least(config, "timeout", -1)
        self.measures = wire.get_extension(config, EXTENSIONS) is not None
        self.shares = kind == "broadcast"
        self.since_flush = 0
        self.emits = 0
        #: Emits since the flusher failed; none while it is alive.
        self.silent: int | None = None
        self.surfaced = False
        self.finished = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        self.out = []
        if kind in {"record", "hint"}:
            is_taken = self.on_channel(event, wire.get_integer(event, "channel"))
        elif kind in _PLAIN:
            is_taken = self.on_plain(event, str(kind))
        elif kind == "measure" and self.measures:
            return wire.rejected() if self.finished else [{"type": "queued", "bytes": self.count_queued()}]
        else:
            raise wire.unknown_type(event)
        return self.out if is_taken else wire.rejected()

    def count_queued(self) -> list[int]:
        return [len(unseen) // 2 for unseen in self.unseen]

    def on_channel(self, event: wire.Json, channel: int) -> bool:
        is_hint = event["type"] == "hint"
        value: int | str = wire.get_at_least(event, "size", 0) if is_hint else wire.get_hex(event, "payload")
        if not 0 <= channel < len(self.everyone):
            return False
        if isinstance(value, str):
            return self.on_emit(value, channel)
        self.on_hint(channel, value)
        return True

    def on_plain(self, event: wire.Json, kind: str) -> bool:
        if kind == "broadcast":
            return self.on_emit(wire.get_hex(event, "payload"), None)
        if kind == "pool":
            self.has_spare_buffers = wire.get_boolean(event, "available")
        elif kind == "flush":
            self.on_flush()
        elif kind == "elapse":
            self.on_elapse(wire.get_at_least(event, "milliseconds", 1))
        elif self.finished:
            return False
        elif kind == "fail":
            return self.on_fail()
        elif kind == "event":
            self.on_event()
        else:
            self.on_finish()
        return True

    def on_emit(self, payload: str, channel: int | None) -> bool:
        if self.finished:
            return False
        self.emits += 1
        if self.has_failed():
            self.out.append({"type": "io_error"})
            return True
        encoded = f"{len(payload) // 2:08x}{payload}"
        if channel is None and self.shares:
            self.write(None, encoded)
            if self.timeout == 0:
                self.show(self.everyone)
        else:
            self.write_each(self.everyone if channel is None else (channel,), encoded)
        return True

    def write_each(self, channels: tuple[int, ...], encoded: str) -> None:
        for channel in channels:
            self.write(channel, encoded)
            if self.timeout == 0:
                self.show((channel,))

    def has_failed(self) -> bool:
        if self.silent is None:
            return False
        if self.surfaced:
            return True
        self.surfaced = self.emits % LOOKS_EVERY == 0 or self.silent >= MOST_SILENT
        self.silent += 1
        return self.surfaced

    def on_hint(self, channel: int, size: int) -> None:
        self.hints[channel] = size

    def on_flush(self) -> None:
        self.show(self.everyone)

    def on_elapse(self, milliseconds: int) -> None:
        if self.timeout <= 0 or self.silent is not None:
            return
        self.since_flush += milliseconds
        if self.since_flush >= self.timeout:
            self.since_flush %= self.timeout
            self.show(self.everyone)

    def on_fail(self) -> bool:
        if self.timeout <= 0 or self.silent is not None:
            return False
        self.silent = 0
        self.surfaced = False
        self.since_flush = 0
        return True

    def on_event(self) -> None:
        self.finish_all()
        self.out += [{"type": "event", "channel": channel} for channel in self.everyone]

    def on_finish(self) -> None:
        self.finished = True
        self.finish_all()


make = Writer

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("SPAN-5")
class WriterContinuationQueuedEmpty(Writer):
    """A buffer that continues a record is queued empty, like one that begins with a record."""

    write = changed(Writer.write, "builder, builder.filled, builder.filled", "builder, 0, 0")


@wrong("SPAN-5")
class WriterBeginningQueuedFilled(Writer):
    """A buffer that begins with a record is queued when the record is in it."""

    write = changed(Writer.write, "builder, 0, 0", "builder, min(needed, self.size), 0")


@wrong("SPAN-5")
class WriterPartialLengthForgotten(Writer):
    """A continuation is queued without the number of bytes that belong to the record before: who starts reading
    there takes the tail for a header.
    """

    def add_to_channels(self, builder: Builder, committed: int, partial: int) -> None:
        super().add_to_channels(builder, committed, 0)


@wrong("SPAN-6", "SPAN-10", "SPAN-14", "SPAN-15", "SPAN-12", origin="FLINK-8588")
class WriterSeenAgainFromTheStart(Writer):
    """An open buffer that was seen is seen again from its start."""

    show = changed(
        Writer.show,
        'self.unseen[channel] = ""',
        'if not (self.own[channel] or self.shared):\n    self.unseen[channel] = ""',
    )


@wrong("SPAN-6", "SPAN-10", "SPAN-15")
class WriterFlushCloses(Writer):
    """A flush finishes the open buffers."""

    def on_flush(self) -> None:
        super().on_flush()
        self.finish_all()


@wrong("SPAN-6", "SPAN-10")
class WriterFlushReachesTheFirst(Writer):
    """A flush shows the first channel what was written, and no other."""

    def on_flush(self) -> None:
        self.show(self.everyone[:1])


@wrong("SPAN-8", "SPAN-15", "SPAN-5", origin="FLINK-24190")
class WriterHintSplitsRecords(Writer):
    """The size that a reader asks for limits a buffer below the record that it is opened for, and the record is
    split.
    """

    limit = changed(Writer.limit, "max(hint, least)", "max(hint, 1, builder.filled)")


@wrong("SPAN-8", "SPAN-15", "SPAN-5")
class WriterZeroAsksForTheLeast(Writer):
    """A size of 0 asks for buffers of a single record instead of nothing."""

    limit = changed(Writer.limit, " if hint else self.size", "")


@wrong("SPAN-8", "SPAN-15", "SPAN-5")
class WriterLargestHintDecides(Writer):
    """A shared buffer follows the largest size asked for: the slowest reader gets more than it wants."""

    limit = changed(Writer.limit, "min(self.hints", "max(self.hints")


@wrong("SPAN-8", "SPAN-15", "SPAN-5")
class WriterFirstReaderDecides(Writer):
    """A shared buffer follows the size that the first channel asks for."""

    limit = changed(
        Writer.limit, "min(self.hints[channel] for channel in builder.readers)", "self.hints[builder.readers[0]]"
    )


@wrong("SPAN-8", "SPAN-15", "SPAN-5")
class WriterZeroLeftOutOfTheSmallest(Writer):
    """A shared buffer follows the smallest size above 0, where one reader asks for nothing."""

    limit = changed(
        Writer.limit,
        "min(self.hints[channel] for channel in builder.readers)",
        "min([self.hints[channel] for channel in builder.readers if self.hints[channel]], default=0)",
    )


@wrong("SPAN-8", "SPAN-15", "SPAN-5")
class WriterHintTrimsTheOpenBuffer(Writer):
    """A size asked for limits the buffer that is already open."""

    def on_hint(self, channel: int, size: int) -> None:
        super().on_hint(channel, size)
        builder = self.own[channel]
        if builder is not None and size > 0:
            builder.capacity = max(builder.filled + 1, min(builder.capacity, size))


@wrong("SPAN-8", "SPAN-15", "SPAN-5")
class WriterContinuationIgnoresHints(Writer):
    """A buffer that continues a record is as large as it gets, whatever size was asked for."""

    write = changed(Writer.write, "builder.capacity = self.limit(builder, builder.filled)", "")


@wrong("SPAN-9", "SPAN-15", "SPAN-5", "SPAN-8")
class WriterAlwaysEnlarges(Writer):
    """A limited buffer grows also while the pool has others left."""

    enlarge = changed(Writer.enlarge, "self.has_spare_buffers or ", "")


@wrong("SPAN-9", "SPAN-15", "SPAN-5", "SPAN-8", origin="Flink before 1.19")
class WriterNeverEnlarges(Writer):
    """A limited buffer stays as it is although the pool is exhausted: the writer waits for another buffer beside
    one with room.
    """

    enlarge = changed(Writer.enlarge, "self.has_spare_buffers or needed < builder.room", "True")


@wrong("SPAN-9", "SPAN-15", "SPAN-5", "SPAN-8")
class WriterEnlargesOnOverflowOnly(Writer):
    """A limited buffer that a record fills to the last byte is not enlarged, and is finished at once."""

    enlarge = changed(Writer.enlarge, "needed < builder.room", "needed <= builder.room")


@wrong("SPAN-9", "SPAN-15", "SPAN-5", "SPAN-8")
class WriterEnlargesWithoutSpareByte(Writer):
    """An enlarged buffer holds the record and not a byte more, so that it is finished at once."""

    enlarge = changed(Writer.enlarge, "needed + 1", "needed")


@wrong("SPAN-9", "SPAN-15", "SPAN-5", "SPAN-8")
class WriterEnlargesToFullSize(Writer):
    """An enlarged buffer is as large as it gets, not as large as it must be."""

    enlarge = changed(Writer.enlarge, "builder.filled + needed + 1", "self.size")


@wrong("SPAN-9", "SPAN-15", "SPAN-5", "SPAN-8")
class WriterEnlargesIfAllFits(Writer):
    """A buffer is not enlarged where even its full size is too small for the record."""

    def enlarge(self, builder: Builder, needed: int) -> None:
        if builder.filled + needed < self.size:
            super().enlarge(builder, needed)


@wrong("SPAN-10", "SPAN-12", "SPAN-15")
class WriterZeroIsNever(Writer):
    """With a timeout of 0 nothing is flushed after a record."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.timeout = self.timeout or -1


@wrong("SPAN-10", "SPAN-12", "SPAN-15")
class WriterBroadcastFlushesTheFirst(Writer):
    """With a timeout of 0 a broadcast into the shared buffer is shown to the first channel alone."""

    on_emit = changed(Writer.on_emit, "self.show(self.everyone)", "self.show(self.everyone[:1])")


@wrong("SPAN-10")
class WriterTimerOneTooLate(Writer):
    """The flusher runs only when more than the timeout has gone by."""

    on_elapse = changed(Writer.on_elapse, ">= self.timeout", "> self.timeout")


@wrong("SPAN-10")
class WriterTimerForgetsTheRest(Writer):
    """What has gone by beyond the timeout is lost: the next flush comes late."""

    on_elapse = changed(Writer.on_elapse, "self.since_flush %= self.timeout", "self.since_flush = 0")


@wrong("SPAN-10", "SPAN-6")
class WriterEachRecordRestartsTheTimer(Writer):
    """The timeout counts from the last record: a busy writer is never flushed."""

    def on_emit(self, payload: str, channel: int | None) -> bool:
        self.since_flush = 0
        return super().on_emit(payload, channel)


@wrong("SPAN-10", "SPAN-11")
class WriterDeadFlusherFlushes(Writer):
    """The flusher goes on after it failed."""

    on_elapse = changed(Writer.on_elapse, " or self.silent is not None", "")


@wrong("SPAN-11", origin="Flink 2.3, RecordWriter.checkErroneous")
class WriterCounterResetBeforeCompared(Writer):
    """The counter of emits is reset before it is compared with 100, so the failure of the flusher never surfaces
    unless it is seen by chance.
    """

    def has_failed(self) -> bool:
        return False


@wrong("SPAN-11")
class WriterFailureOneEmitLate(Writer):
    """The failure of the flusher surfaces after 101 emits that saw nothing of it."""

    has_failed = changed(Writer.has_failed, "self.emits % LOOKS_EVERY == 0 or ", "", "MOST_SILENT", "MOST_SILENT + 1")


@wrong("SPAN-11")
class WriterFailureSurfacesOnce(Writer):
    """The failure of the flusher is raised once and then forgotten: the writer goes on without a flusher."""

    has_failed = changed(Writer.has_failed, "return True", "return False")


@wrong("SPAN-11", "SPAN-12")
class WriterFailedEmitWrites(Writer):
    """The emit that raises the failure writes its record all the same."""

    on_emit = changed(
        Writer.on_emit,
        'self.out.append({"type": "io_error"})\n        return True',
        'self.out.append({"type": "io_error"})',
    )


@wrong("SPAN-11")
class WriterFailureOfNoFlusher(Writer):
    """A failure is accepted where no flusher runs."""

    on_fail = changed(Writer.on_fail, "self.timeout <= 0 or ", "")


@wrong("SPAN-11")
class WriterFailsTwice(Writer):
    """A flusher that failed can fail again."""

    on_fail = changed(Writer.on_fail, " or self.silent is not None", "")


@wrong("SPAN-12", "SPAN-5", "SPAN-13", "SPAN-15")
class WriterBroadcastIsCopied(Writer):
    """A broadcast writer copies each record into the buffer of every channel."""

    on_emit = changed(Writer.on_emit, "channel is None and self.shares", "False")


@wrong("SPAN-12", "SPAN-5", "SPAN-13", "SPAN-15")
class WriterSelectingWriterShares(Writer):
    """A writer that selects channels writes a broadcast into a shared buffer."""

    on_emit = changed(Writer.on_emit, "channel is None and self.shares", "channel is None")


@wrong("SPAN-12", "SPAN-5", "SPAN-15", "SPAN-10")
class WriterBroadcastBackwards(Writer):
    """A copied broadcast goes through the channels from the last to the first."""

    def write_each(self, channels: tuple[int, ...], encoded: str) -> None:
        super().write_each(channels[::-1], encoded)


@wrong("SPAN-12", "SPAN-5", "SPAN-15", "SPAN-10")
class WriterBroadcastSparesTheLast(Writer):
    """A copied broadcast does not reach the last channel."""

    def write_each(self, channels: tuple[int, ...], encoded: str) -> None:
        super().write_each(channels[:-1] or channels, encoded)


@wrong("SPAN-12", "SPAN-5", "SPAN-13", "SPAN-15")
class WriterMarkerForAll(Writer):
    """On a broadcast writer a record for one channel is written for all of them."""

    def on_emit(self, payload: str, channel: int | None) -> bool:
        return super().on_emit(payload, None if self.shares else channel)


@wrong("SPAN-12")
class WriterNegativeChannelWraps(Writer):
    """The index before the first channel stands for the last one."""

    def on_channel(self, event: wire.Json, channel: int) -> bool:
        return super().on_channel(event, self.everyone[-1] if channel == -1 else channel)


@wrong("SPAN-13", "SPAN-12", "SPAN-14", "SPAN-15", "SPAN-5")
class WriterSharedBufferLeftOpen(Writer):
    """A channel's own buffer is opened while the shared one stays open: later broadcasts overtake what was written
    in between.
    """

    leave_other_mode = changed(Writer.leave_other_mode, "self.finish(self.shared)", "pass")


@wrong("SPAN-13", "SPAN-12", "SPAN-14", "SPAN-15", "SPAN-5")
class WriterOwnBuffersLeftOpen(Writer):
    """The shared buffer is opened while channels have open buffers of their own."""

    leave_other_mode = changed(Writer.leave_other_mode, "self.finish(builder)", "pass")


@wrong("SPAN-13", "SPAN-12", "SPAN-14", "SPAN-15", "SPAN-5")
class WriterOnlyTheFirstIsFinished(Writer):
    """Before the shared buffer is opened only the first channel's own one is finished."""

    leave_other_mode = changed(Writer.leave_other_mode, "self.own", "self.own[:1]")


@wrong("SPAN-13", "SPAN-12", "SPAN-16", "SPAN-15", "SPAN-5", origin="FLINK-17322")
class WriterMarkerFreesTheSharedMemory(Writer):
    """A latency marker for one channel gives the shared memory back when that channel is done with it; the others
    find it overwritten and lose what they had not seen.
    """

    def leave_other_mode(self, target: int | None) -> None:
        if target is not None and self.shared is not None:
            # The first reader gives the memory back, and the others find it overwritten.
            self.unseen = [left if channel == target else "" for channel, left in enumerate(self.unseen)]
        super().leave_other_mode(target)


@wrong("SPAN-14")
class WriterEventOvertakes(Writer):
    """An event is queued before the open buffers are finished, and a record spans it."""

    on_event = changed(
        Writer.on_event,
        "self.finish_all()",
        "",
        "for channel in self.everyone]",
        "for channel in self.everyone]\nself.finish_all()",
    )


@wrong("SPAN-14", "SPAN-15")
class WriterEventFlushesOnly(Writer):
    """An event shows what is in the open buffers without finishing them."""

    on_event = changed(Writer.on_event, "self.finish_all()", "self.show(self.everyone)")


@wrong("SPAN-14", "SPAN-15")
class WriterEventLeavesBuffersOpen(Writer):
    """An event passes by the open buffers."""

    on_event = changed(Writer.on_event, "self.finish_all()", "")


@wrong("SPAN-14")
class WriterEventReachesTheFirst(Writer):
    """An event is queued in the first channel alone."""

    on_event = changed(Writer.on_event, "self.everyone", "self.everyone[:1]")


@wrong("SPAN-14", "SPAN-13", "SPAN-15")
class WriterFinishesBackwards(Writer):
    """An event and the end finish the channels from the last to the first."""

    finish_all = changed(Writer.finish_all, "self.own", "self.own[::-1]")


@wrong("SPAN-14", origin="FLINK-21951")
class WriterEndLosesTheTail(Writer):
    """What the open buffers hold at the end is never seen."""

    def on_finish(self) -> None:
        self.unseen = [""] * len(self.unseen)
        super().on_finish()


@wrong("SPAN-14", "SPAN-12")
class WriterEmitsAfterTheEnd(Writer):
    """Records are accepted after the end."""

    on_emit = changed(Writer.on_emit, "self.finished", "False")


@wrong("SPAN-14")
class WriterEventAfterTheEnd(Writer):
    """Events are accepted after the end."""

    on_plain = changed(Writer.on_plain, "self.finished", 'self.finished and kind != "event"')


@wrong("SPAN-14")
class WriterFinishAfterTheEnd(Writer):
    """A second end is accepted."""

    on_plain = changed(Writer.on_plain, "self.finished", 'self.finished and kind != "finish"')


@wrong("SPAN-14", "SPAN-11")
class WriterFailAfterTheEnd(Writer):
    """The flusher may fail after the end, when it is long gone."""

    on_plain = changed(Writer.on_plain, "self.finished", 'self.finished and kind != "fail"')


@wrong("SPAN-15")
class WriterSharedCountedOnce(Writer):
    """A shared buffer counts as if one channel read it."""

    finish = changed(Writer.finish, "readers = len(builder.readers)", "readers = 1")


@wrong("SPAN-15")
class WriterSharedBufferCountedOnce(Writer):
    """The bytes of a shared buffer count for each channel, the buffer itself once."""

    finish = changed(Writer.finish, '"buffers": readers', '"buffers": 1')


@wrong("SPAN-15")
class WriterCountsWhatIsSeenLate(Writer):
    """What a flush has shown of a buffer is missing in the count of its bytes."""

    finish = changed(
        Writer.finish,
        "self.show(builder.readers)",
        "unseen = len(self.unseen[builder.readers[0]]) // 2\nself.show(builder.readers)",
        "builder.filled * readers",
        "unseen * readers",
    )


@wrong("SPAN-15")
class WriterCountsCapacity(Writer):
    """A buffer counts with the room that it had, used or not."""

    finish = changed(Writer.finish, "builder.filled", "builder.capacity")


@wrong("SPAN-15", "SPAN-12", "SPAN-5", "SPAN-14", "SPAN-6", "SPAN-9", "SPAN-10")
class WriterFullBufferStaysOpen(Writer):
    """A buffer filled to the last byte is finished only when the next record comes, and so is its count."""

    write = changed(Writer.write, "not builder.room", "False")


@wrong("SPAN-34")
class WriterQueuedCountsSharedBytesOnce(Writer):
    """Bytes that all channels share count for the first one alone."""

    def count_queued(self) -> list[int]:
        queued = super().count_queued()
        return queued if self.shared is None else [queued[0], *[0] * (len(queued) - 1)]


@wrong("SPAN-34")
class WriterQueuedCountsAllOfAnOpenBuffer(Writer):
    """Bytes of an open buffer count as queued although they were read."""

    def count_queued(self) -> list[int]:
        return [builder.filled if builder is not None else 0 for builder in self.own]


@wrong("SPAN-34")
class WriterQueuedForgetsOpenBuffers(Writer):
    """Only finished buffers count, so nothing is ever queued."""

    def count_queued(self) -> list[int]:
        return [0] * len(self.own)


@wrong("SPAN-34")
class WriterQueuedIsThatOfAll(Writer):
    """Each channel counts what is queued in all of them."""

    def count_queued(self) -> list[int]:
        queued = super().count_queued()
        return [sum(queued)] * len(queued)


@wrong("SPAN-8", "SPAN-15", "SPAN-5", "SPAN-12")
class WriterEightReadersDecide(Writer):
    """The smallest size is taken of the first eight readers."""

    limit = changed(Writer.limit, "builder.readers", "builder.readers[:8]")
