"""What a subtask does in one turn: a source goes on with its script, everyone else polls its gate.

Records go down the chain, to the network first; watermarks and statuses through valve and combiner and past the
operators; barriers wait for each other; ends wait for the last of them.
"""

from typing import TYPE_CHECKING

import attrs

from tidegate.conformance.engines.museum.combiner import Combiner
from tidegate.conformance.engines.museum.credit_receiver import CreditReceiver
from tidegate.conformance.engines.museum.gate import Gate
from tidegate.conformance.engines.museum.job.channels import Channel, RemoteChannel, to_long
from tidegate.conformance.engines.museum.job.event_time import EventTime
from tidegate.conformance.engines.museum.job.outputs import Output
from tidegate.conformance.engines.museum.job.program import EVENT_TIME, Element, Operator
from tidegate.conformance.engines.museum.valve.machine import Valve
from tidegate.conformance.engines.wire import HIGHEST, Host, Json

if TYPE_CHECKING:
    from tidegate.conformance.engines.museum.job.layout import NetworkEdge, Task
    from tidegate.conformance.engines.museum.job.machine import Job

END_OF_DATA = Element("end_of_data")
END_OF_PARTITION = Element("end_of_partition")
OVER = Element("watermark", HIGHEST)


class Subtask:
    def __init__(self, job: "Job", task: "Task", number: int) -> None:
        self.job = job
        self.bug = job.bug
        self.task = task
        self.number = number
        self.index = task.first + number
        self.channels = [channel for channel in job.channels if channel.route.target == self.index]
        self.outputs = [self.make_output(edge) for edge in job.layout.outputs_of(task.head)]
        if self.bug == "outputs-share-a-partitioner":
            for output in self.outputs:
                mates = [mate for mate in self.outputs if mate.edge.edge.partitioner == output.edge.edge.partitioner]
                output.partitioner = mates[-1].partitioner
        if not self.channels:
            self.script = task.head.scripts[number]
        self.cursor = 0
        self.gate = Gate({"channels": max(1, len(self.channels))}, Host())
        self.set_up_inputs()
        self.aligned = 0
        self.drained = 0
        self.made = 0
        self.totals: dict[tuple[int, str], int] = {}
        self.collected: list[tuple[str, int]] = []
        is_timed = task.head.function in EVENT_TIME
        self.timed = EventTime(task.head, self.bug, self.forward) if is_timed else None

    def make_output(self, edge: "NetworkEdge") -> Output:
        mine = [one for one in self.job.channels if one.route.edge is edge and one.route.source == self.index]
        return Output(edge, mine, self.job.bug)

    def set_up_inputs(self) -> None:
        inputs = sorted({channel.route.edge.edge.input for channel in self.channels})
        self.by_input = [
            [channel for channel in self.channels if channel.route.edge.edge.input == index] for index in inputs
        ]
        semantics = self.job.program.semantics
        self.valves = [Valve({"channels": len(mates), "semantics": semantics}, Host()) for mates in self.by_input]
        self.combiner = Combiner({"inputs": len(inputs)}, Host()) if len(inputs) > 1 else None
        wire = self.job.program.wire
        self.receiver: CreditReceiver | None = None
        if wire is not None and self.channels:
            config = {"channels": len(self.channels), "exclusive": wire.exclusive, "floating": wire.floating}
            self.receiver = CreditReceiver(config, Host())

    def is_done(self) -> bool:
        extra = 1 if self.bug == "source-ends-twice" else 0
        return self.cursor > len(self.script) + extra

    def is_blocked(self) -> bool:
        """Whether an output has no buffer left."""
        wire, bug = self.job.program.wire, self.bug
        if wire is None or bug == "never-stops" or (self.channels and bug == "only-sources-stop"):
            return False
        outputs = self.outputs[:1] if bug == "only-the-first-output-stops" else self.outputs
        for output in outputs:
            queued = [channel.count_queued() for channel in output.channels]
            if sum(queued) >= wire.output or (bug == "stops-early" and sum(queued) + 1 >= wire.output):
                return True
        return False

    # --- turns

    def emit_next(self) -> None:
        self.cursor += 1
        if self.cursor > len(self.script):
            self.end_source()
            return
        item = self.script[self.cursor - 1]
        if item.kind == "record":
            self.run(self.task.head, item)
        elif item.kind == "barrier":
            self.take_part(item)
        else:
            self.pass_by(self.task.head, item)

    def take_part(self, barrier: Element, channel: Channel | None = None) -> None:
        """Of the checkpoint; then the barrier is sent on."""
        recovery = self.job.recovery
        if recovery is not None:
            recovery.take_part(self, channel)
        self.announce(barrier)
        if recovery is not None and (not self.channels or not recovery.unaligned):
            recovery.finish_part(self, barrier.number)

    def end_source(self) -> None:
        bug = self.bug
        if bug == "last-watermark-while-idle":
            for output in self.outputs:
                if output.is_idle:
                    output.broadcast(OVER)
        endings = [END_OF_DATA, END_OF_PARTITION]
        if bug == "source-ends-in-one-word":
            endings = [END_OF_PARTITION]
        if bug == "data-ends-before-the-last-watermark":
            self.announce(endings.pop(0))
        if bug != "last-watermark-skipped":
            self.pass_by(self.task.head, OVER)
        if bug == "ends-channel-by-channel":
            for output in self.outputs:
                for channel in output.channels:
                    channel.write(END_OF_DATA)
                    channel.write(END_OF_PARTITION)
            return
        for ending in endings:
            self.announce(ending)

    def poll(self) -> None:
        [item, *_] = self.gate.step({"type": "poll"})
        channel = self.channels[item["channel"]]
        is_buffer = isinstance(channel.waiting[0], str)
        for element in channel.take():
            self.job.log_element(channel.route, "in", element)
            self.on_element(channel, element)
        if is_buffer and isinstance(channel, RemoteChannel) and self.bug != "buffers-recycled-unread":
            channel.recycle()

    def on_element(self, channel: Channel, element: Element) -> None:
        if element.kind == "record":
            self.run(self.task.head, element)
        elif element.kind == "barrier":
            if self.job.recovery is not None and self.job.recovery.unaligned:
                self.on_unaligned(channel, element)
            else:
                self.on_barrier(element)
        elif element.kind == "end_of_data":
            self.on_end_of_data()
        elif element.kind == "end_of_partition":
            self.on_finished_channel(channel)
            self.on_end_of_partition()
        else:
            self.on_control(channel, element)

    # --- records

    def run(self, operator: Operator, record: Element) -> None:
        if self.timed is not None and operator is self.task.head:
            results, is_late = self.timed.on_record(record)
            if is_late and self.bug != "late-is-dropped":
                self.hand_out(operator, record, "late")
        else:
            results = self.apply(operator, record)
        for result in results:
            self.hand_out(operator, result)

    def fire(self) -> None:
        assert self.timed is not None
        for result in self.timed.fire():
            self.hand_out(self.task.head, result)
        self.timed.release()

    def hand_out(self, operator: Operator, result: Element, side: str = "") -> None:
        if self.bug == "chained-before-network":
            self.run_chained(operator, result, side)
            self.emit(operator, result, side)
        else:
            self.emit(operator, result, side)
            self.run_chained(operator, result, side)

    def run_chained(self, operator: Operator, record: Element, side: str) -> None:
        for chained in self.job.layout.chained_to(operator, side):
            self.run(chained, record)

    def apply(self, operator: Operator, record: Element) -> list[Element]:
        match operator.function:
            case "map":
                return [attrs.evolve(record, value=to_long(2 * record.value))]
            case "flat_map":
                return [attrs.evolve(record, key=word, value=1) for word in record.key.split()]
            case "filter":
                return [record] if record.value > 0 else []
            case "sum":
                return [self.add_up(operator, record)]
            case "sink":
                self.collected.append((record.key, record.value))
                return []
        return [record]

    def add_up(self, operator: Operator, record: Element) -> Element:
        totals = self.job.totals if self.bug == "subtasks-share-a-sum" else self.totals
        key = (operator.id, "" if self.bug == "keys-share-a-sum" else record.key)
        totals[key] = to_long(totals.get(key, 0) + record.value)
        return attrs.evolve(record, value=totals[key])

    def emit(self, operator: Operator, record: Element, side: str) -> None:
        bug = self.bug
        for output in self.outputs_of(operator):
            if output.edge.edge.output != side:
                continue
            count = self.job.recovery.count if self.job.recovery is not None else len(self.job.subtasks)
            leaving = attrs.evolve(record, id=self.made * count + self.index)
            self.made += 1
            event: Json = {"type": "record"}
            if output.edge.edge.partitioner == "hash":
                event["key"] = {"type": "string", "value": record.key}
            if bug == "record-toggles-an-idle-output" and output.is_idle:
                output.broadcast(Element("status"))
                output.send(event, leaving)
                output.broadcast(Element("status", status="idle"))
            elif bug == "idle-output-drops-records" and output.is_idle:
                continue
            elif bug == "broadcast-reaches-one" and output.edge.edge.partitioner == "broadcast":
                output.channels[0].write(leaving)
            else:
                output.send(event, leaving)
        if bug == "outputs-repeat-ids" and self.outputs_of(operator):
            self.made -= len(self.outputs_of(operator)) - 1

    def outputs_of(self, operator: Operator) -> list[Output]:
        return [output for output in self.outputs if output.edge.edge.source is operator]

    # --- watermarks and statuses

    def on_control(self, channel: Channel, element: Element) -> None:
        bug, index = self.bug, channel.route.edge.edge.input
        mates = self.by_input[index]
        place = mates.index(channel)
        if bug == "union-counts-channels-by-edge":
            place = [mate for mate in mates if mate.route.edge is channel.route.edge].index(channel)
        elif bug == "valves-swapped" and len(self.valves) > 1:
            index = 1 - index
        for seen in self.valves[index].step({**to_event(element), "channel": place}):
            self.on_input(index, seen)

    def on_input(self, index: int, seen: Json) -> None:
        bug = self.bug
        combined = [seen]
        if self.combiner is not None and bug != "combiner-passed-by":
            heard = seen["type"] == "watermark" or bug != "combiner-hears-no-status"
            if bug == "second-input-unheard" and index:
                heard = False
            combined = self.combiner.step({**seen, "input": index}) if heard else []
        for one in combined:
            if one["type"] != "rejected":
                self.pass_by(self.task.head, from_event(one))

    def forward(self, element: Element) -> None:
        """What an operator that knows event time has held back."""
        if element.kind in {"watermark", "status"}:
            self.hand_on(self.task.head, element)
        else:
            self.tell(element)

    def pass_by(self, operator: Operator, element: Element) -> None:
        if self.timed is not None and operator is self.task.head:
            self.timed.hold(element)
        else:
            self.hand_on(operator, element)

    def hand_on(self, operator: Operator, element: Element) -> None:
        for output in self.outputs_of(operator):
            output.send(to_event(element), element)
        if self.bug == f"chain-swallows-each-{element.kind}":
            return
        for chained in self.job.layout.chained_to(operator):
            self.pass_by(chained, element)

    # --- events

    def on_barrier(self, barrier: Element) -> None:
        bug = self.bug
        self.aligned += 1
        wanted = self.count_wanted()
        if bug == "first-barrier-is-enough" and self.aligned > 1:
            self.aligned %= wanted
            if not self.aligned:
                self.resume()
            return
        if self.aligned < wanted and bug != "first-barrier-is-enough":
            return
        self.take_part(barrier)
        if bug == "first-barrier-is-enough" and len(self.channels) > 1:
            return
        self.aligned = len(self.channels) - 1 if bug == "alignment-not-reset" else 0
        self.resume()

    def on_unaligned(self, channel: Channel, barrier: Element) -> None:
        """The first barrier triggers, the last one is the end of it."""
        recovery = self.job.recovery
        assert recovery is not None
        self.aligned += 1
        wanted = len(self.channels) if self.bug == "overtaking-barrier-waits" else 1
        if self.aligned == wanted:
            self.take_part(barrier, channel)
        if self.aligned == self.count_wanted():
            self.aligned = 0
            recovery.finish_part(self, barrier.number)

    def count_wanted(self) -> int:
        """Channels whose barrier is wanted: not of those that were finished, and read to their end."""
        recovery = self.job.recovery
        if recovery is None or self.bug == "end-stands-for-nothing":
            return len(self.channels)
        finished = recovery.find_finished()
        over = [place for place, one in enumerate(self.channels) if one.route.source in finished]
        if self.bug == "finished-channel-is-not-awaited":
            return len(self.channels) - len(over)
        return len(self.channels) - len([place for place in over if place in self.gate.closed])

    def on_finished_channel(self, channel: Channel) -> None:
        """The end of a channel that had no barrier to wait for stands for one."""
        recovery = self.job.recovery
        if recovery is None or not self.aligned or channel.route.source not in recovery.find_finished():
            return
        if self.aligned < self.count_wanted() or self.bug == "late-end-stands-for-nothing":
            return
        barrier = next(
            one for source in self.job.subtasks if not source.channels for one in source.script if one.kind == "barrier"
        )
        self.aligned = 0
        if recovery.unaligned:
            recovery.finish_part(self, barrier.number)
        else:
            self.take_part(barrier)
            self.resume()

    def resume(self) -> None:
        for channel in self.channels[:-1] if self.bug == "last-channel-not-resumed" else self.channels:
            channel.resume()

    def on_end_of_data(self) -> None:
        self.drained += 1
        wanted = 1 if self.bug == "data-ends-with-the-first-channel" else len(self.channels)
        if self.drained == wanted:
            self.announce(END_OF_DATA)

    def on_end_of_partition(self) -> None:
        closed = len(self.gate.closed)
        wanted = 1 if self.bug == "partition-ends-with-the-first-channel" else len(self.channels)
        if closed == wanted and self.bug != "reader-never-ends":
            self.announce(END_OF_PARTITION)

    def announce(self, element: Element) -> None:
        """A barrier does not wait for timers."""
        if self.timed is not None and element.kind != "barrier":
            self.timed.hold(element)
        else:
            self.tell(element)

    def tell(self, element: Element) -> None:
        """To every channel of every output."""
        outputs = self.outputs
        if self.bug == "events-told-to-the-first-output":
            outputs = outputs[:1]
        elif self.bug == "events-told-head-first":
            outputs = outputs[::-1]
        for output in outputs:
            output.broadcast(element)


def to_event(element: Element) -> Json:
    if element.kind == "watermark":
        return {"type": "watermark", "timestamp": str(element.number)}
    return {"type": "status", "status": element.status}


def from_event(event: Json) -> Element:
    if event["type"] == "watermark":
        return Element("watermark", int(event["timestamp"]))
    return Element("status", status=event["status"])
