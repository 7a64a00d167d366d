"""A whole job under an explicit scheduler, made of the museum's other machines.

Each event lets one thing happen; what is seen are the rows of a run log.
"""

from tidegate.conformance.engines import wire as wire_module
from tidegate.conformance.engines.museum.job.channels import Channel, RemoteChannel
from tidegate.conformance.engines.museum.job.event_time import EventTime
from tidegate.conformance.engines.museum.job.layout import Layout, Route
from tidegate.conformance.engines.museum.job.outputs import Output
from tidegate.conformance.engines.museum.job.program import EXTENSIONS as EXTENSIONS
from tidegate.conformance.engines.museum.job.program import Element, read_program
from tidegate.conformance.engines.museum.job.recovery import Recovery
from tidegate.conformance.engines.museum.job.tasks import Subtask
from tidegate.conformance.engines.museum.valve import SEMANTICS as SEMANTICS

_OF_SUBTASKS = ("emit", "poll", "fire")
_EXTENDED = {"fire": ("event_time",), "fail": ("recovery", "finished")}
_OF_CHANNELS = ("flush", "deliver", "announce", "deliver_credit")


class Job:
    #: What it is made of.
    make_local = Channel
    make_remote = RemoteChannel
    make_subtask = Subtask
    make_output = Output
    make_event_time = EventTime
    make_recovery = Recovery

    def __init__(self, config: wire_module.Json, host: wire_module.Host) -> None:
        self.program = read_program(config)
        self.seen: wire_module.Observations = []
        self.recovery = self.make_recovery(self) if self.program.extension in ("recovery", "finished") else None
        self.build()

    def build(self) -> None:
        self.layout = Layout(self.program)
        self.channels = [self.make_channel(number, route) for number, route in enumerate(self.layout.routes)]
        self.subtasks: list[Subtask] = []
        for task in self.layout.order:
            self.subtasks += [self.make_subtask(self, task, number) for number in range(task.head.parallelism)]

    def make_channel(self, number: int, route: Route) -> Channel:
        wire = self.program.wire
        return self.make_local(self, number, route) if wire is None else self.make_remote(self, number, route, wire)

    def step(self, event: wire_module.Json) -> wire_module.Observations:
        if event.get("type") != "choice":
            raise wire_module.unknown_type(event)
        action = wire_module.get_choice(event, "action", (*_OF_SUBTASKS, *_OF_CHANNELS, "fail"))
        at = wire_module.get_integer(event, "at")
        if action in _EXTENDED and self.program.extension not in _EXTENDED[action]:
            raise wire_module.BadRequestError(f"{action} belongs to the extension {_EXTENDED[action][0]}")
        self.seen = []
        if action == "fail":
            return self.fail(at)
        if action in _OF_CHANNELS:
            if not 0 <= at < len(self.channels) or not self.channels[at].is_possible(action):
                return wire_module.rejected()
            self.channels[at].act(action)
            return self.seen
        if not 0 <= at < len(self.subtasks):
            return wire_module.rejected()
        return self.run(self.subtasks[at], action)

    def fail(self, at: int) -> wire_module.Observations:
        assert self.recovery is not None
        done = all(one.is_done() if not one.channels else one.gate.finished for one in self.subtasks)
        if at != 0 or self.recovery.restored or done:
            return wire_module.rejected()
        self.recovery.restore()
        return self.seen

    def run(self, subtask: Subtask, action: str) -> wire_module.Observations:
        if subtask.is_blocked() or (action != "emit") != bool(subtask.channels):
            return wire_module.rejected()
        if action == "fire":
            if subtask.timed is None or not subtask.timed.due():
                return wire_module.rejected()
            subtask.fire()
        elif action == "emit" and not subtask.is_done() and not self.must_wait(subtask):
            subtask.emit_next()
        elif action == "poll" and subtask.gate.queue:
            subtask.poll()
        else:
            return wire_module.rejected()
        return self.seen

    def must_wait(self, source: Subtask) -> bool:
        """Whether the barrier of a source is next while others are still to finish."""
        left = source.script[source.cursor :]
        if self.recovery is None or not left or left[0].kind != "barrier":
            return False
        return self.recovery.is_something_to_finish()

    # --- the run log

    def log(self, route: Route, direction: str, kind: str, fields: wire_module.Json, *, at_producer: bool) -> None:
        """A row, at one end of a channel."""
        task = route.edge.source if at_producer else route.edge.target
        row = {
            "type": "log",
            "task": task.name,
            "subtask": route.producer if at_producer else route.consumer,
            "dir": direction,
            "edge": route.edge.number,
            "producer": route.producer,
            "consumer": route.consumer,
            "kind": kind,
        }
        self.seen.append(row | fields)

    def log_element(self, route: Route, direction: str, element: Element) -> None:
        fields: wire_module.Json = {}
        if element.kind in {"record", "watermark"}:
            fields["timestamp"] = str(element.number)
        if element.kind == "record":
            if route.edge.edge.partitioner == "hash":
                fields["key"] = element.key
            fields["id"] = str(element.id)
        elif element.kind == "status":
            fields["value"] = str(int(element.status == "active"))
        elif element.kind == "barrier":
            fields["value"] = str(element.number)
        self.log(route, direction, element.kind, fields, at_producer=direction == "out")

    def log_amount(self, route: Route, direction: str, kind: str, amount: int) -> None:
        """Buffers go down, credit comes up."""
        at_producer = (direction == "out") == (kind == "buffer")
        self.log(route, direction, kind, {"value": str(amount)}, at_producer=at_producer)


make = Job
