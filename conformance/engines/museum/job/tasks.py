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
from tidegate.conformance.engines.museum.job.outputs import Output
from tidegate.conformance.engines.museum.job.program import EVENT_TIME, Element, Operator
from tidegate.conformance.engines.museum.valve import Valve
from tidegate.conformance.engines.wire import HIGHEST, Host, Json

if TYPE_CHECKING:
    from tidegate.conformance.engines.museum.job import Job
    from tidegate.conformance.engines.museum.job.layout import NetworkEdge, Task

END_OF_DATA = Element("end_of_data")
END_OF_PARTITION = Element("end_of_partition")
OVER = Element("watermark", HIGHEST)


class Subtask:
    def __init__(self, job: "Job", task: "Task", number: int) -> None:
        self.job = job
        self.task = task
        self.number = number
        self.index = task.first + number
        self.channels = [channel for channel in job.channels if channel.route.target == self.index]
        self.outputs = [self.make_output(edge) for edge in job.layout.outputs_of(task.head)]
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
        self.timed = job.make_event_time(task.head, self.forward) if is_timed else None

    def make_output(self, edge: "NetworkEdge") -> Output:
        mine = [one for one in self.job.channels if one.route.edge is edge and one.route.source == self.index]
        return self.job.make_output(edge, mine)

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
        return self.cursor > len(self.script)

    def is_blocked(self) -> bool:
        """Whether an output has no buffer left."""
        wire = self.job.program.wire
        if wire is None:
            return False
        queued = [sum(channel.count_queued() for channel in output.channels) for output in self.outputs]
        return any(count >= wire.output for count in queued)

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
        self.pass_by(self.task.head, OVER)
        self.announce(END_OF_DATA)
        self.announce(END_OF_PARTITION)

    def poll(self) -> None:
        [item, *_] = self.gate.step({"type": "poll"})
        channel = self.channels[item["channel"]]
        is_buffer = isinstance(channel.waiting[0], str)
        for element in channel.take():
            self.job.log_element(channel.route, "in", element)
            self.on_element(channel, element)
        if is_buffer and isinstance(channel, RemoteChannel):
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
            if is_late:
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
        totals, key = self.totals, (operator.id, record.key)
        totals[key] = to_long(totals.get(key, 0) + record.value)
        return attrs.evolve(record, value=totals[key])

    def emit(self, operator: Operator, record: Element, side: str) -> None:
        for output in self.outputs_of(operator):
            if output.edge.edge.output != side:
                continue
            count = self.job.recovery.count if self.job.recovery is not None else len(self.job.subtasks)
            leaving = attrs.evolve(record, id=self.made * count + self.index)
            self.made += 1
            event: Json = {"type": "record"}
            if output.edge.edge.partitioner == "hash":
                event["key"] = {"type": "string", "value": record.key}
            output.send(event, leaving)

    def outputs_of(self, operator: Operator) -> list[Output]:
        return [output for output in self.outputs if output.edge.edge.source is operator]

    # --- watermarks and statuses

    def on_control(self, channel: Channel, element: Element) -> None:
        index = channel.route.edge.edge.input
        mates = self.by_input[index]
        place = mates.index(channel)
        for seen in self.valves[index].step({**to_event(element), "channel": place}):
            self.on_input(index, seen)

    def on_input(self, index: int, seen: Json) -> None:
        combined = [seen] if self.combiner is None else self.combiner.step({**seen, "input": index})
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
        for chained in self.job.layout.chained_to(operator):
            self.pass_by(chained, element)

    # --- events

    def on_barrier(self, barrier: Element) -> None:
        self.aligned += 1
        if self.aligned < self.count_wanted():
            return
        self.take_part(barrier)
        self.aligned = 0
        self.resume()

    def on_unaligned(self, channel: Channel, barrier: Element) -> None:
        """The first barrier triggers, the last one is the end of it."""
        recovery = self.job.recovery
        assert recovery is not None
        self.aligned += 1
        if self.aligned == 1:
            self.take_part(barrier, channel)
        if self.aligned == self.count_wanted():
            self.aligned = 0
            recovery.finish_part(self, barrier.number)

    def count_wanted(self) -> int:
        """Channels whose barrier is wanted: not of those that were finished, and read to their end."""
        recovery = self.job.recovery
        if recovery is None:
            return len(self.channels)
        finished = recovery.find_finished()
        over = [place for place in self.gate.closed if self.channels[place].route.source in finished]
        return len(self.channels) - len(over)

    def on_finished_channel(self, channel: Channel) -> None:
        """The end of a channel that had no barrier to wait for stands for one."""
        recovery = self.job.recovery
        if recovery is None or not self.aligned or channel.route.source not in recovery.find_finished():
            return
        if self.aligned < self.count_wanted():
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
        for channel in self.channels:
            channel.resume()

    def on_end_of_data(self) -> None:
        self.drained += 1
        if self.drained == len(self.channels):
            self.announce(END_OF_DATA)

    def on_end_of_partition(self) -> None:
        if len(self.gate.closed) == len(self.channels):
            self.announce(END_OF_PARTITION)

    def announce(self, element: Element) -> None:
        """A barrier does not wait for timers."""
        if self.timed is not None and element.kind != "barrier":
            self.timed.hold(element)
        else:
            self.tell(element)

    def tell(self, element: Element) -> None:
        """To every channel of every output."""
        for output in self.outputs:
            output.broadcast(element)


def to_event(element: Element) -> Json:
    if element.kind == "watermark":
        return {"type": "watermark", "timestamp": str(element.number)}
    return {"type": "status", "status": element.status}


def from_event(event: Json) -> Element:
    if event["type"] == "watermark":
        return Element("watermark", int(event["timestamp"]))
    return Element("status", status=event["status"])
