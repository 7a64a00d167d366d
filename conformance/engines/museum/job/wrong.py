"""The wrong jobs. Most are wrong in one of the parts that a job is made of."""

from collections.abc import Callable
from typing import cast

import attrs

from tidegate.conformance.engines.museum.job import Job
from tidegate.conformance.engines.museum.job.channels import Channel, RemoteChannel
from tidegate.conformance.engines.museum.job.event_time import EventTime, Timer
from tidegate.conformance.engines.museum.job.layout import Task
from tidegate.conformance.engines.museum.job.outputs import Output
from tidegate.conformance.engines.museum.job.program import Element, Operator
from tidegate.conformance.engines.museum.job.recovery import Part, Recovery
from tidegate.conformance.engines.museum.job.tasks import END_OF_DATA, END_OF_PARTITION, OVER, Subtask
from tidegate.conformance.engines.museum.wrong import changed, wrong
from tidegate.conformance.engines.wire import Json

PARTS: dict[type, str] = {
    RemoteChannel: "make_remote",
    Subtask: "make_subtask",
    Output: "make_output",
    EventTime: "make_event_time",
    Recovery: "make_recovery",
}


def in_job(part: type) -> type[Job]:
    """The job with this part, under its name and story."""
    texts = {"__module__": part.__module__, "__doc__": part.__doc__}
    return cast("type[Job]", type(part.__name__, (Job,), {PARTS[part.__mro__[1]]: part, **texts}))


def is_idle(output: Output) -> bool:
    return output.partitioner.announced == "idle"


@wrong("OUT-7", "TASK-7", origin="FLINK-40499")
@in_job
class JobLastWatermarkWhileIdle(Subtask):
    """A source that ends while it is idle says all the same that event time is over: what was asked for, and is
    not so.
    """

    def end_source(self) -> None:
        for output in self.outputs:
            if is_idle(output):
                output.broadcast(OVER)
        super().end_source()


@wrong("TASK-7")
@in_job
class JobLastWatermarkSkipped(Subtask):
    """A source ends without saying that event time is over, and no window behind it ever closes."""

    end_source = changed(Subtask.end_source, "self.pass_by(self.task.head, OVER)", "pass")


@wrong("TASK-7", origin="FLINK-14239")
@in_job
class JobDataEndsBeforeTheLastWatermark(Subtask):
    """The last watermark of a source comes behind the end of its data, where nobody expects one."""

    def end_source(self) -> None:
        self.announce(END_OF_DATA)
        self.pass_by(self.task.head, OVER)
        self.announce(END_OF_PARTITION)


@wrong("TASK-7")
@in_job
class JobSourceEndsInOneWord(Subtask):
    """A source ends its partition without ending its data."""

    end_source = changed(Subtask.end_source, "self.announce(END_OF_DATA)", "pass")


@wrong("CREDIT-30", "TASK-7")
@in_job
class JobSourceEndsTwice(Subtask):
    """A source that has ended can go on, and ends once more."""

    is_done = changed(Subtask.is_done, "len(self.script)", "len(self.script) + 1")


@wrong("TASK-7")
@in_job
class JobEndsChannelByChannel(Subtask):
    """A source ends one channel after the other, each for good, instead of all data first."""

    def end_source(self) -> None:
        self.pass_by(self.task.head, OVER)
        for output in self.outputs:
            for channel in output.channels:
                channel.write(END_OF_DATA)
                channel.write(END_OF_PARTITION)


@wrong("TASK-7", "GATE-15", origin="Doris PR 22988")
@in_job
class JobDataEndsWithTheFirstChannel(Subtask):
    """A task ends its data when the first of its channels has."""

    on_end_of_data = changed(Subtask.on_end_of_data, "len(self.channels)", "1")


@wrong("TASK-7", "GATE-16", "GATE-17", origin="Doris PR 22988")
@in_job
class JobPartitionEndsWithTheFirstChannel(Subtask):
    """A task ends its partition when the first of its channels has, with the others still to read."""

    on_end_of_partition = changed(Subtask.on_end_of_partition, "len(self.channels)", "1")


@wrong("TASK-7", "GATE-17")
@in_job
class JobReaderNeverEnds(Subtask):
    """A task that has read the end of all its channels does not end its own."""

    def on_end_of_partition(self) -> None:
        pass


@wrong("TASK-7", "BARR-3", "BARR-4", "OUT-1")
@in_job
class JobEventsToldToTheFirstOutput(Subtask):
    """Barriers and ends go to the first output of a task alone."""

    tell = changed(Subtask.tell, "self.outputs", "self.outputs[:1]")


@wrong("CHAIN-22", "TASK-7", "BARR-3", "BARR-4", "OUT-1")
@in_job
class JobEventsToldHeadFirst(Subtask):
    """Barriers and ends go to the outputs of the head of a chain before those of the operators behind it."""

    tell = changed(Subtask.tell, "self.outputs", "self.outputs[::-1]")


@wrong("OUT-1")
@in_job
class JobChainedBeforeNetwork(Subtask):
    """A record is handed to chained operators before it is written to the network."""

    def hand_out(self, operator: Operator, result: Element, side: str = "") -> None:
        self.run_chained(operator, result, side)
        self.emit(operator, result, side)


@wrong("OUT-9", "OUT-12", "OUT-1", origin="FLINK-18934")
@in_job
class JobChainSwallowsEachStatus(Subtask):
    """A status is written to the network outputs of the operator that says it, and those chained to it never hear."""

    hand_on = changed(
        Subtask.hand_on,
        "self.pass_by(chained, element)",
        'if element.kind != "status":\n    self.pass_by(chained, element)',
    )


@wrong("OUT-7", "OUT-12", "OUT-1", "TASK-7")
@in_job
class JobChainSwallowsEachWatermark(Subtask):
    """A watermark does not get past the first operator of a chain."""

    hand_on = changed(
        Subtask.hand_on,
        "self.pass_by(chained, element)",
        'if element.kind != "watermark":\n    self.pass_by(chained, element)',
    )


@wrong("OUT-10", origin="FLINK-22881")
@in_job
class JobRecordTogglesAnIdleOutput(Output):
    """A record that leaves while its output is idle is put between two statuses, active and idle."""

    def send(self, event: Json, element: Element) -> None:
        toggles = is_idle(self) and element.kind == "record"
        if toggles:
            self.broadcast(Element("status"))
        super().send(event, element)
        if toggles:
            self.broadcast(Element("status", status="idle"))


@wrong("OUT-10")
@in_job
class JobIdleOutputDropsRecords(Output):
    """An idle output drops records as it drops watermarks."""

    def send(self, event: Json, element: Element) -> None:
        if not is_idle(self) or element.kind != "record":
            super().send(event, element)


@wrong("PART-5")
@in_job
class JobBroadcastReachesOne(Output):
    """A record to be broadcast reaches the first consumer alone."""

    def send(self, event: Json, element: Element) -> None:
        if element.kind == "record" and self.edge.edge.partitioner == "broadcast":
            self.channels[0].write(element)
        else:
            super().send(event, element)


@wrong(
    "PART-3",
    "PART-1",
    "PART-2",
    "PART-4",
    "PART-5",
    "PART-6",
    "OUT-1",
    "OUT-7",
    "OUT-9",
    "OUT-12",
    origin="FLINK-14087",
)
@in_job
class JobOutputsShareAPartitioner(Subtask):
    """Outputs of one task with the same kind of partitioner share the one that was set up last, its turns and its
    number of channels.
    """

    def __init__(self, job: Job, task: Task, number: int) -> None:
        super().__init__(job, task, number)
        last = {output.edge.edge.partitioner: output.partitioner for output in self.outputs}
        for output in self.outputs:
            output.partitioner = last[output.edge.edge.partitioner]


@wrong("OUT-1", "PART-1", "PART-2", "PART-3", "PART-4", "PART-5", "PART-6")
@in_job
class JobOutputsRepeatIds(Subtask):
    """What an operator with several outputs sends next is known by the name of what it has sent already."""

    def emit(self, operator: Operator, record: Element, side: str) -> None:
        super().emit(operator, record, side)
        self.made -= max(len(self.outputs_of(operator)) - 1, 0)


@wrong("PART-6", "PART-1", "PART-2", "PART-3", "PART-4", "PART-5", "GATE-5", "OUT-1")
@in_job
class JobKeysShareASum(Subtask):
    """A keyed operator has one total for all of its keys."""

    add_up = changed(Subtask.add_up, "record.key", '""')


@wrong("PART-6", "PART-1", "PART-2", "PART-3", "PART-4", "PART-5", "GATE-5", "OUT-1")
@in_job
class JobSubtasksShareASum(Subtask):
    """The subtasks of a keyed operator add to the same totals."""

    add_up = changed(Subtask.add_up, "self.totals", 'vars(self.job).setdefault("totals", {})')


@wrong("COMB-1", "COMB-2", "COMB-3", "COMB-4", "COMB-6")
@in_job
class JobSecondInputUnheard(Subtask):
    """Of the two inputs of a join the second says nothing about time, and the join waits for ever."""

    def on_input(self, index: int, seen: Json) -> None:
        if index == 0:
            super().on_input(index, seen)


@wrong("COMB-2", "COMB-1", "COMB-3", "COMB-4", "COMB-6", origin="SPARK-22017")
@in_job
class JobCombinerPassedBy(Subtask):
    """A join takes over the time of whichever input spoke last."""

    on_input = changed(Subtask.on_input, "self.combiner is None", "True")


@wrong("COMB-4", "COMB-1", "COMB-2", "COMB-3", "COMB-6", origin="FLINK-18934")
@in_job
class JobCombinerHearsNoStatus(Subtask):
    """An operator with two inputs does not know that one of them is idle, and waits for it."""

    def on_input(self, index: int, seen: Json) -> None:
        if self.combiner is None or seen["type"] == "watermark":
            super().on_input(index, seen)


@wrong(
    "VALVE-5",
    "VALVE-4",
    "VALVE-8",
    "VALVE-9",
    "VALVE-10",
    "VALVE-14",
    "VALVE-15",
    "COMB-1",
    "COMB-2",
    "COMB-3",
    "COMB-4",
    origin="SPARK-50046",
)
@in_job
class JobValvesSwapped(Subtask):
    """What one input of a join says goes through the valve of the other one."""

    on_control = changed(
        Subtask.on_control,
        "place = mates.index(channel)",
        "place = mates.index(channel)\nindex = (index + 1) % len(self.valves)",
    )


@wrong(
    "VALVE-5",
    "VALVE-4",
    "VALVE-8",
    "VALVE-9",
    "VALVE-10",
    "VALVE-11",
    "VALVE-12",
    "VALVE-14",
    "VALVE-15",
    origin="FLINK-18094",
)
@in_job
class JobUnionCountsChannelsByEdge(Subtask):
    """In a union the first channel of the second edge is taken for the first channel of the first."""

    on_control = changed(
        Subtask.on_control,
        "mates.index(channel)",
        "[mate for mate in mates if mate.route.edge is channel.route.edge].index(channel)",
    )


@wrong("BARR-3")
@in_job
class JobFirstBarrierIsEnough(Subtask):
    """A task sends a barrier on when it meets the first one, with records of the checkpoint still to come on other
    channels.
    """

    def on_barrier(self, barrier: Element) -> None:
        self.aligned += 1
        if self.aligned == 1:
            self.take_part(barrier)
        if self.aligned == len(self.channels):
            self.aligned = 0
            self.resume()


@wrong("BARR-3")
@in_job
class JobAlignmentNotReset(Subtask):
    """After the first checkpoint the first barrier of the next one counts as the last."""

    on_barrier = changed(Subtask.on_barrier, "self.aligned = 0", "self.aligned = len(self.channels) - 1")


class UnheldChannel(Channel):
    pass_on = changed(Channel.pass_on, 'payload.kind == "barrier"', "False")


class UnheldRemoteChannel(RemoteChannel):
    write = changed(RemoteChannel.write, '"barrier" if element.kind == "barrier" else "event"', '"event"')
    deliver = changed(RemoteChannel.deliver, 'payload.kind == "barrier"', "False")


@wrong(
    "BARR-3", "BARR-4", "CREDIT-30", "CREDIT-14", "CREDIT-20", "CREDIT-26", "SUBP-13", "GATE-5", origin="FLINK-17568"
)
class JobNothingWaitsBehindABarrier(Job):
    """A channel goes on behind its barrier before the others have met theirs, and the checkpoint takes in what is
    not part of it.
    """

    make_local = UnheldChannel
    make_remote = UnheldRemoteChannel


@wrong("BARR-3", "BARR-4", "GATE-5", "CREDIT-15", "CREDIT-26", "SUBP-13", origin="FLINK-40093")
@in_job
class JobLastChannelNotResumed(Subtask):
    """After an alignment all channels go on but the last one, which is stuck."""

    resume = changed(Subtask.resume, "self.channels", "self.channels[:-1]")


@wrong("SPAN-14", "SUBP-6", "CREDIT-20")
@in_job
class JobEventsOvertakeTheOpenBuffer(RemoteChannel):
    """Barriers and ends of data are sent before the records in the buffer that is still open."""

    write = changed(
        RemoteChannel.write,
        'self.serialize({"type": "finish" if is_end else "event"})',
        'if is_end:\n    self.serialize({"type": "finish"})',
    )


@wrong("SPAN-10", "SPAN-6", "SUBP-7")
@in_job
class JobFlushForgetsTheOpenBuffer(RemoteChannel):
    """The flusher looks at finished buffers only; a slow source is never heard."""

    flush = changed(RemoteChannel.flush, 'self.serialize({"type": "flush"})', "pass")


@wrong("SUBP-7", "CREDIT-4", "CREDIT-24", origin="FLINK-8694")
@in_job
class JobFlushWakesNoReader(RemoteChannel):
    """The flusher hands out what is written, and the reader that could send it is not told."""

    flush = changed(RemoteChannel.flush, 'self.to_sender({"type": "flush"})', "pass")


@wrong("SPAN-20", "SPAN-21", "SPAN-22", origin="FLINK-13016")
@in_job
class JobOneRecordABuffer(RemoteChannel):
    """Of the records that a buffer completes the first is handled, and the rest is lost with the buffer."""

    def take(self) -> list[Element]:
        return super().take()[:1]


@wrong("SPAN-22", "SPAN-20", "SPAN-21", "SPAN-23", origin="FLINK-18094")
@in_job
class JobChannelsShareADeserializer(RemoteChannel):
    """All channels of a task share one deserializer, which puts the halves of their records together."""

    def take(self) -> list[Element]:
        first = self.job.subtasks[self.route.target].channels[0]
        assert isinstance(first, RemoteChannel)
        self.reader = first.reader
        return super().take()


@wrong("CREDIT-7", "CREDIT-8", "CREDIT-2", "CREDIT-3", "CREDIT-4", "CREDIT-20", origin="FLINK-17823")
@in_job
class JobBuffersRecycledUnread(RemoteChannel):
    """A buffer is given back when it arrives, and may be overwritten before it is read."""

    deliver = changed(
        RemoteChannel.deliver,
        'self.to_receiver("data", backlog=message["backlog"])',
        'self.to_receiver("data", backlog=message["backlog"])\nself.to_receiver("recycle")',
    )

    def recycle(self) -> None:
        pass


@wrong("CREDIT-7", "CREDIT-8", "CREDIT-6", "CREDIT-9", "CREDIT-18")
@in_job
class JobBuffersKept(RemoteChannel):
    """Buffers that were read are not given back, until there is none."""

    def recycle(self) -> None:
        pass


@wrong("CREDIT-6")
@in_job
class JobCreditAnnouncedTwice(RemoteChannel):
    """Credit is announced twice, and data arrives for which there is no buffer."""

    def act(self, action: str) -> None:
        super().act(action)
        if action == "announce":
            self.up.append(self.up[-1])
            self.job.log_amount(self.route, "out", "credit", self.up[-1]["amount"])


@wrong("CREDIT-4", "CREDIT-5", "CREDIT-6", origin="FLINK-16641")
@in_job
class JobAnnouncedBacklogUnheard(RemoteChannel):
    """The receiver heeds the backlog only where it comes with data, and without exclusive buffers none ever comes."""

    deliver = changed(RemoteChannel.deliver, 'self.to_receiver("backlog", backlog=message["backlog"])', "pass")


@wrong("CREDIT-30")
@in_job
class JobNeverStops(Subtask):
    """A producer whose buffers are all queued goes on writing."""

    def is_blocked(self) -> bool:
        return False


@wrong("CREDIT-30")
@in_job
class JobOnlySourcesStop(Subtask):
    """A task that reads goes on when its outputs are full; only sources stop."""

    def is_blocked(self) -> bool:
        return not self.channels and super().is_blocked()


@wrong("CREDIT-30")
@in_job
class JobOnlyTheFirstOutputStops(Subtask):
    """A task looks at the first of its outputs to know whether it has to stop."""

    is_blocked = changed(Subtask.is_blocked, "self.outputs", "self.outputs[:1]")


@wrong("CREDIT-30", "TASK-7", "GATE-5", "OUT-7")
@in_job
class JobStopsEarly(Subtask):
    """A producer stops with one buffer left."""

    is_blocked = changed(Subtask.is_blocked, ">= wire.output", ">= wire.output - 1")


@wrong("CREDIT-30", "TASK-7", "GATE-5", "OUT-7", "BARR-3", "BARR-4")
@in_job
class JobBackpressureByEvents(RemoteChannel):
    """Events that are queued count as buffers, and a producer stops for no reason."""

    def count_queued(self) -> int:
        return len(self.sender.queue)


@wrong("PART-10", "PART-6")
@in_job
class JobAKeyGroupForEachConsumer(Output):
    """A keyed edge has as many key groups as consumers, so that a key moves when their number changes."""

    __init__ = changed(Output.__init__, "compute_max_parallelism(consumers)", "consumers")


@wrong("TIME-2", origin="Flink 2.3.0, DataStream V2")
@in_job
class JobWatermarkBeforeItsTimers(EventTime):
    """A watermark is handed on before its timers fire: what they emit comes late to everybody behind."""

    hold = changed(
        EventTime.hold,
        "self.held.append(element)",
        'if element.kind == "watermark":\n    self.forward(element)\nelse:\n    self.held.append(element)',
    )


@wrong("TIME-2", "TIME-3")
@in_job
class JobEndOvertakesTimers(EventTime):
    """The end of the data does not wait for timers that are due."""

    hold = changed(
        EventTime.hold,
        "self.held.append(element)",
        'if element.kind.startswith("end_of"):\n    self.forward(element)\nelse:\n    self.held.append(element)',
    )


@wrong("TIME-3", origin="Flink 2.3.0, interruptible timers")
@in_job
class JobStatusOvertakesAWatermark(EventTime):
    """A status overtakes a watermark that waits for its timers; an output that is idle then swallows the
    watermark.
    """

    hold = changed(
        EventTime.hold,
        "self.held.append(element)",
        'if element.kind == "status":\n    self.forward(element)\nelse:\n    self.held.append(element)',
    )


@wrong("TIME-3", "TIME-2")
@in_job
class JobWatermarksThatWaitAreLost(EventTime):
    """A watermark that waits for its timers is forgotten when anything comes behind it."""

    release = changed(EventTime.release, "return", "if len(self.held) == 1:\n    return\nself.held.pop(0)\ncontinue")


@wrong("TIME-1", "TIME-2", origin="BEAM-6934")
@in_job
class JobTimerWaitsForTheNextTime(EventTime):
    """A timer fires when event time has passed its time, not when it has come to it."""

    due = changed(EventTime.due, "timer[0] <= self.time", "timer[0] < self.time or self.time == timer[0] == HIGHEST")


@wrong("TIME-4")
@in_job
class JobTimersFireByKey(EventTime):
    """Timers that are due fire key by key, a later time before an earlier one."""

    def due(self) -> list[Timer]:
        return sorted(super().due(), key=lambda timer: timer[1])


@wrong("TIME-5", "TIME-4", "TIME-1", "TIME-7")
@in_job
class JobWindowTellsItsStart(EventTime):
    """The sum of a window has the first timestamp of the window, which is late to the next window."""

    result = changed(EventTime.result, '"record", last', '"record", last - max(self.operator.size - 1, 0)')


@wrong("TIME-7", "TIME-6", "TIME-5", "TIME-1", "TIME-2")
@in_job
class JobLatenessIsNotAllowed(EventTime):
    """A record behind the end of its window is late whatever lateness is allowed."""

    def __init__(self, operator: Operator, forward: Callable[[Element], None]) -> None:
        super().__init__(attrs.evolve(operator, lateness=0), forward)


@wrong("TIME-7")
@in_job
class JobLatenessFiresNothing(EventTime):
    """A record within the allowed lateness is added, and nobody is told."""

    on_record = changed(EventTime.on_record, "[self.result(last, record.key)]", "[]")


@wrong("TIME-6")
@in_job
class JobLateIsDropped(Subtask):
    """A late record is dropped, although somebody reads the late output."""

    run = changed(Subtask.run, "if is_late:", "if False:")


@wrong("TIME-6", "TIME-7", "TIME-5")
@in_job
class JobLateIsInTime(EventTime):
    """A record that is late is added up all the same, and emitted behind the watermark."""

    on_record = changed(EventTime.on_record, "cleanup <= self.time", "False")


@wrong("RST-1")
@in_job
class JobSourcesBeginAnew(Recovery):
    """After a restore sources begin their scripts anew, although what they had emitted is in the totals."""

    restore_subtask = changed(
        Recovery.restore_subtask,
        "min(own.cursor, len(subtask.script))",
        "len(subtask.script) if own.cursor > len(subtask.script) else 0",
    )


@wrong("RST-1")
@in_job
class JobBarrierSentAgain(Recovery):
    """A source is restored to the place before its barrier, and sends it again."""

    restore_subtask = changed(Recovery.restore_subtask, "min(own.cursor, len(subtask.script))", "own.cursor - 1")


@wrong("RST-1")
@in_job
class JobIdsBeginAnew(Recovery):
    """A record that is emitted again has the id of another."""

    restore_subtask = changed(Recovery.restore_subtask, "own.made", "0")


@wrong("RST-2")
@in_job
class JobTotalsAreGone(Recovery):
    """Totals are not restored: what was counted before the barrier is lost."""

    def restore_subtask(self, subtask: Subtask, parts: list[Part]) -> None:
        super().restore_subtask(subtask, parts)
        subtask.totals.clear()


@wrong("RST-2")
@in_job
class JobCollectedIsGone(Recovery):
    """What sinks had collected before the barrier is lost."""

    def restore_subtask(self, subtask: Subtask, parts: list[Part]) -> None:
        super().restore_subtask(subtask, parts)
        subtask.collected.clear()


@wrong("RST-2")
@in_job
class JobOvertakingBarrierWaits(Subtask):
    """Barriers overtake, and yet the task waits for the last of them before it takes its part."""

    on_unaligned = changed(Subtask.on_unaligned, "self.aligned == 1", "self.aligned == len(self.channels)")


@wrong("RST-3")
@in_job
class JobTotalsStayWhereTheyWere(Recovery):
    """The total of a key stays with the number of its subtask, whoever the key belongs to now."""

    restore_subtask = changed(Recovery.restore_subtask, "self.owns(subtask, key[1])", "one.number == subtask.number")


@wrong("RST-3", "RST-2")
@in_job
class JobTotalsEverywhere(Recovery):
    """Every subtask is given all totals."""

    restore_subtask = changed(Recovery.restore_subtask, "self.owns(subtask, key[1])", "True")


@wrong("RST-4", "RST-5")
@in_job
class JobInFlightNotSaved(Recovery):
    """What waits when the barrier overtakes it is not saved."""

    def find_in_flight(self, channel: Channel, *, is_read: bool) -> list[Element]:
        return []


@wrong("RST-4", "RST-5")
@in_job
class JobLateArrivalsLost(Recovery):
    """What arrives between the first barrier and that of its channel is not saved."""

    def take_part(self, subtask: Subtask, read: Channel | None) -> None:
        super().take_part(subtask, read)
        self.parts[subtask.index].open.clear()


@wrong("RST-4")
@in_job
class JobSavesBehindItsBarrier(Recovery):
    """What waits behind the barrier is saved, too, and is emitted again all the same."""

    find_in_flight = changed(Recovery.find_in_flight, "is_read or has_barrier(channel)", "False")


@wrong("RST-4")
@in_job
class JobSavesPastItsBarrier(Recovery):
    """Saving does not end with the barrier of the channel."""

    save = changed(Recovery.save, "part.open.remove(channel.number)", "pass")


@wrong("RST-4")
@in_job
class JobUnalignedStaysInLine(Recovery):
    """An unaligned barrier waits for its turn behind the data before it."""

    def overtake(self, channel: Channel, barrier: Element) -> None:
        self.save(channel, barrier)
        channel.overtaken = 0
        channel.waiting.append(barrier)
        gate = self.job.subtasks[channel.route.target].gate
        gate.step({"type": "arrive", "channel": channel.route.place, "item": "data"})


@wrong("RST-5")
@in_job
class JobInFlightBackwards(Recovery):
    """What was saved of a channel is read last in, first out."""

    find_restored = changed(Recovery.find_restored, "return found", "return found[::-1]")


@wrong("RST-5", "RST-4")
@in_job
class JobInFlightIsGone(Recovery):
    """What was saved of channels is not restored."""

    find_restored = changed(Recovery.find_restored, "return found", "return []")


@wrong("RST-6")
@in_job
class JobInFlightStays(Recovery):
    """Saved records stay with the number of their subtask, whoever their keys belong to now."""

    find_restored = changed(Recovery.find_restored, "(same or keyed)", "same", "not keyed", "True")


@wrong("RST-6", origin="FLINK-19801")
@in_job
class JobInFlightToAll(Recovery):
    """Every subtask that looks through saved records reads all of them: without a filter they count several times."""

    find_restored = changed(Recovery.find_restored, "not keyed", "True")


@wrong("RST-7")
@in_job
class JobCompleteWithTheFirstPart(Recovery):
    """A checkpoint is complete as soon as one subtask has taken its part."""

    finish_part = changed(Recovery.finish_part, "len(self.job.subtasks) - len(finished)", "1")


@wrong("RST-7", "RST-4")
@in_job
class JobPartsAreEnough(Recovery):
    """A checkpoint is complete when every part was begun, although barriers are still to come."""

    finish_part = changed(Recovery.finish_part, "if one.done", "")


@wrong("RST-7")
@in_job
class JobRestoresParts(Recovery):
    """The parts of a checkpoint that is not complete are restored."""

    def restore(self) -> None:
        self.complete = self.complete or self.parts or None
        super().restore()


@wrong("RST-7")
@in_job
class JobBeginsAnew(Recovery):
    """A job that fails begins from the beginning, whatever is complete."""

    def restore(self) -> None:
        self.complete = None
        super().restore()


@wrong("RST-9")
@in_job
class JobBarrierWaitsForNobody(Recovery):
    """A checkpoint begins while a source that counts as finished still has records to send."""

    def is_something_to_finish(self) -> bool:
        return False


@wrong("RST-9")
@in_job
class JobBarrierWaitsForEndsOnly(Recovery):
    """A source counts as finished when it has sent its end, read or not."""

    is_something_to_finish = changed(Recovery.is_something_to_finish, '"end_of_data" in kinds', "False")


@wrong("RST-9")
@in_job
class JobBarrierWaitsForEveryEnd(Recovery):
    """A checkpoint waits until the ends of finished channels were read, which needs no waiting."""

    is_something_to_finish = changed(Recovery.is_something_to_finish, '"end_of_data" in kinds', "bool(kinds)")


@wrong("RST-10")
@in_job
class JobFinishedMustTakePart(Recovery):
    """A checkpoint waits for the parts of subtasks that have finished, and is never complete."""

    finish_part = changed(Recovery.finish_part, "self.find_finished()", "set()")


@wrong("RST-10")
@in_job
class JobEndStandsForNothing(Subtask):
    """A task waits for the barrier of a channel that has ended."""

    def count_wanted(self) -> int:
        return len(self.channels)


@wrong("RST-10")
@in_job
class JobLateEndStandsForNothing(Subtask):
    """The end of a channel counts before the first barrier, and not behind it."""

    def on_finished_channel(self, channel: Channel) -> None:
        pass


@wrong("RST-10")
@in_job
class JobFinishedChannelIsNotAwaited(Subtask):
    """A task does not wait for the end of a channel whose source has finished."""

    count_wanted = changed(Subtask.count_wanted, "self.gate.closed", "range(len(self.channels))")


@wrong("RST-11")
@in_job
class JobFinishedBeginsAnew(Recovery):
    """A source that had finished emits all its records again."""

    restore_subtask = changed(
        Recovery.restore_subtask,
        "min(own.cursor, len(subtask.script))",
        "0 if own.cursor > len(subtask.script) else own.cursor",
    )


@wrong("RST-11")
@in_job
class JobFinishedSaysNothing(Recovery):
    """A source that had finished does not send its end after a restore, and its readers wait for ever."""

    restore_subtask = changed(Recovery.restore_subtask, "min(own.cursor, len(subtask.script))", "own.cursor")


@wrong("RST-11")
@in_job
class JobFinishedResultsAreGone(Recovery):
    """What a sink that had finished has collected is lost."""

    finish_part = changed(
        Recovery.finish_part,
        "self.parts[at].in_flight = {}",
        "self.parts[at].in_flight = {}\nself.parts[at].collected = []",
    )
