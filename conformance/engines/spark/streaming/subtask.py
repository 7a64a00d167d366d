"""Processes the input of a subtask: operators, valve, barriers, endings, and the channels that it writes.

Its input is a set of lines that Spark delivers in any order, some of them perhaps twice. The position of
a line in its channel restores the order: a line before the expected position is known already, a later one
has to wait. A hash of the line decides which channel is read first, so that a repeated micro-batch does
the same again, and different subtasks differ.
"""

from collections import defaultdict
from collections.abc import Iterable, MutableMapping
from zlib import crc32

from tidegate.conformance.engines.spark.streaming.elements import HIGHEST, OUT, SCRIPT, Element, Line
from tidegate.conformance.engines.spark.streaming.layout import Channel, Layout, Output
from tidegate.conformance.engines.spark.streaming.memory import Clock, Memory
from tidegate.conformance.engines.spark.streaming.routing import choose_consumer

#: The state of sums: the operator and the key of each total.
Totals = MutableMapping[tuple[int, str], int]


class Subtask:
    """One subtask in one micro-batch. `lines` is its output; `bug` names the mistake to make."""

    def __init__(self, layout: Layout, run: str, task: int, subtask: int, totals: Totals, bug: str = "") -> None:
        self.layout, self.run, self.task, self.subtask, self.totals, self.bug = layout, run, task, subtask, totals, bug
        self.channels = layout.channels(task, subtask) or (Channel(SCRIPT, SCRIPT, 0),)
        self.outputs = layout.outputs(task, subtask)
        self.memory = Memory.fresh(len(self.channels), [len(output.consumers) for output in self.outputs])
        self.clock = Clock.fresh(layout, [channel.input for channel in self.channels])
        self.lines: list[Line] = []

    # --- in which order it reads ------------------------------------------------------------------------------

    def read(self, arrived: Iterable[Line]) -> list[Line]:
        """Read everything that can be read, and return the rest."""
        places = {(channel.edge, channel.producer): place for place, channel in enumerate(self.channels)}
        waiting: dict[int, dict[int, Line]] = defaultdict(dict)
        for line in arrived:
            place = places[line.edge, line.producer]
            if line.position >= self.memory.expected[place]:
                waiting[place][line.position] = line
            elif self.bug == "reads-again":
                self.on_line(place, line)
        if self.bug == "ignores-positions":
            return self.read_as_it_comes(waiting)
        while ready := [place for place, lines in waiting.items() if self.is_ready(place, lines)]:
            place = min(ready, key=self.draw)
            line = waiting[place].pop(self.memory.expected[place])
            self.memory.expected[place] += 1
            self.on_line(place, line)
        return [line for lines in waiting.values() for line in lines.values()]

    def read_as_it_comes(self, waiting: dict[int, dict[int, Line]]) -> list[Line]:
        for place, lines in waiting.items():
            for line in lines.values():
                self.memory.expected[place] += 1
                self.on_line(place, line)
        return []

    def is_ready(self, place: int, lines: dict[int, Line]) -> bool:
        is_behind_a_barrier = self.memory.met[place] and self.bug != "passes-barriers"
        return self.memory.expected[place] in lines and not is_behind_a_barrier

    def draw(self, place: int) -> int:
        return crc32(repr((self.run, self.task, self.subtask, place, self.memory.expected[place])).encode())

    # --- what it does with a line -----------------------------------------------------------------------------

    def on_line(self, place: int, line: Line) -> None:
        head = self.layout.tasks[self.task].head
        if line.edge != SCRIPT:
            self.log("in", line.edge, line.producer, self.subtask, line.position, line.element)
        match line.kind:
            case "record":
                self.run_operator(head, line.element)
            case "watermark" | "status":
                for element in self.pass_valve(place, line.element):
                    self.pass_control(head, element)
            case "barrier":
                self.on_barrier(place, line.element)
            case "end":
                self.pass_control(head, Element("watermark", HIGHEST))
                self.announce(Element("end_of_data"))
                self.announce(Element("end_of_partition"))
            case "end_of_data":
                self.memory.drained += 1
                if self.memory.drained == len(self.channels):
                    self.announce(line.element)
            case "end_of_partition":
                self.memory.ended[place] = True
                if all(self.memory.ended):
                    self.announce(line.element)

    def pass_valve(self, place: int, element: Element) -> list[Element]:
        """The combined watermark and status of the inputs. A source has no valve: it emits its script."""
        channel = self.channels[place]
        if channel.edge == SCRIPT:
            return [element]
        clock = self.clock
        number = next(number for number, mine in enumerate(clock.places) if place in mine)
        passed = clock.valves[number].take(clock.places[number].index(place), element)
        if clock.combiner is None:
            return passed
        return [combined for one in passed for combined in clock.combiner.take(number, one)]

    def on_barrier(self, place: int, barrier: Element) -> None:
        """Channels with the barrier wait for the others."""
        met = self.memory.met
        met[place] = barrier.value or 0
        if all(met):
            self.memory.met = [0] * len(met)
            self.announce(barrier)

    # --- operators --------------------------------------------------------------------------------------------

    def run_operator(self, number: int, record: Element) -> None:
        for result in self.apply(number, record):
            for place, output in enumerate(self.outputs):
                if output.edge.operator == number:
                    self.send_record(place, output, result)
            for target in self.layout.fused[number]:
                self.run_operator(target, result)

    def apply(self, number: int, record: Element) -> list[Element]:
        assert record.value is not None
        match self.layout.operators[number].function:
            case "map":
                return [record._replace(value=2 * record.value)]
            case "flat_map":
                return [record._replace(key=word, value=1) for word in (record.key or "").split()]
            case "filter":
                return [record] if record.value > 0 else []
            case "sum":
                at = (number, record.key or "")
                self.totals[at] = self.totals.get(at, 0) + record.value
                self.put_out("total", number, at[1], self.totals[at])
                return [record._replace(value=self.totals[at])]
            case "sink":
                self.put_out("collected", number, record.key or "", record.value)
                return []
            case _:
                return [record]

    def put_out(self, kind: str, operator: int, key: str, value: int) -> None:
        """A result for the sink. A later total of a key replaces an earlier one."""
        element = Element(kind, key=key, value=value)
        self.lines.append(
            Line(OUT, self.run, self.task, self.subtask, self.memory.step, "result", operator, 0, 0, 0, *element)
        )

    # --- outputs ----------------------------------------------------------------------------------------------

    def send_record(self, place: int, output: Output, record: Element) -> None:
        """It gets a unique id: the subtasks take turns in numbering."""
        memory, count = self.memory, len(output.consumers)
        made = memory.made * self.layout.subtasks + self.layout.tasks[self.task].first + self.subtask
        memory.made += 1
        leaving = record._replace(id=made)
        match output.edge.partitioner:
            case "broadcast":
                reached = list(range(count))
            case "rebalance" | "rescale":
                reached = [memory.turns[place]]
                memory.turns[place] = (memory.turns[place] + 1) % count
            case "hash":
                assert output.edge.key_groups is not None
                reached = [choose_consumer(record.key or "", count, output.edge.key_groups)]
            case _:
                reached = [0]
        for index in reached:
            self.write(place, index, leaving)

    def pass_control(self, number: int, element: Element) -> None:
        """Past the operators to every output. An idle output emits nothing except that it is active again."""
        for place, output in enumerate(self.outputs):
            if output.edge.operator != number:
                continue
            is_active = self.memory.announced[place]
            passes = is_active if element.kind == "watermark" else is_active != bool(element.value)
            if element.kind == "status":
                self.memory.announced[place] = bool(element.value)
            for index in range(len(output.consumers) if passes else 0):
                self.write(place, index, element)
        for target in self.layout.fused[number]:
            self.pass_control(target, element)

    def announce(self, element: Element) -> None:
        """Events go to all outputs, whatever the status."""
        for place, output in enumerate(self.outputs):
            for index in range(len(output.consumers)):
                self.write(place, index, element)

    def write(self, place: int, index: int, element: Element) -> None:
        output = self.outputs[place]
        slot = sum(len(one.consumers) for one in self.outputs[:place]) + index
        position = self.memory.written[slot]
        self.memory.written[slot] += 1
        edge, consumer = output.edge, output.consumers[index]
        self.log("out", edge.number, self.subtask, consumer, position, element)
        to = (output.level, self.run, edge.target, consumer, None, "")
        self.lines.append(Line(*to, edge.number, self.subtask, consumer, position, *element))

    def log(self, direction: str, edge: int, producer: int, consumer: int, position: int, element: Element) -> None:
        shown = element
        if element.kind == "record":
            is_keyed = self.layout.edges[edge].partitioner == "hash"
            shown = element._replace(key=element.key if is_keyed else None, value=None)
        at = (OUT, self.run, self.task, self.subtask, self.memory.step, direction)
        self.lines.append(Line(*at, edge, producer, consumer, position, *shown))
        self.memory.step += 1
