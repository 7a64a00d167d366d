"""What an operator that knows event time has in hand: sums, timers, and what waits for them.

`timers` are triples: when, of which key, about the sum of which timestamp.
"""

from collections.abc import Callable

from tidegate.conformance.engines.museum.job.channels import to_long
from tidegate.conformance.engines.museum.job.program import Element, Operator
from tidegate.conformance.engines.wire import HIGHEST, LOWEST

Timer = tuple[int, str, int]


class EventTime:
    def __init__(self, operator: Operator, bug: str, forward: Callable[[Element], None]) -> None:
        self.operator = operator
        self.bug = bug
        self.forward = forward
        self.time = LOWEST
        self.sums: dict[tuple[int, str], int] = {}
        self.timers: set[Timer] = set()
        self.held: list[Element] = []

    def due(self) -> list[Timer]:
        early = 1 if self.bug == "timer-waits-for-the-next-time" and self.time < HIGHEST else 0
        due = [timer for timer in self.timers if timer[0] <= self.time - early]
        return (
            sorted(due, key=lambda timer: timer[1:2] + timer[:1]) if self.bug == "timers-fire-by-key" else sorted(due)
        )

    def lateness(self) -> int:
        return 0 if self.bug == "lateness-is-not-allowed" else self.operator.lateness

    def on_record(self, record: Element) -> tuple[list[Element], bool]:
        """What is emitted at once, and whether the record is late."""
        last, size = record.number, self.operator.size
        if size:
            last = min(last - last % size + size - 1, HIGHEST)
        cleanup = min(last + self.lateness(), HIGHEST)
        if cleanup <= self.time and self.bug != "late-is-in-time":
            return [], True
        self.sums[last, record.key] = to_long(self.sums.get((last, record.key), 0) + record.value)
        self.timers.add((cleanup, record.key, last))
        if last > self.time:
            self.timers.add((last, record.key, last))
            return [], False
        if self.bug == "lateness-fires-nothing":
            return [], False
        return [self.result(last, record.key)], False

    def result(self, last: int, key: str) -> Element:
        number = last - self.operator.size + 1 if self.bug == "window-tells-its-start" and self.operator.size else last
        return Element("record", number, key, self.sums[last, key])

    def fire(self) -> list[Element]:
        timer = self.due()[0]
        time, key, last = timer
        self.timers.remove(timer)
        results = [self.result(last, key)] if time == last and (last, key) in self.sums else []
        if time >= min(last + self.lateness(), HIGHEST):
            self.sums.pop((last, key), None)
        return results

    def hold(self, element: Element) -> None:
        if element.kind == "watermark":
            self.time = element.number
        overtakes = {
            "status-overtakes-a-watermark": element.kind == "status",
            "watermark-before-its-timers": element.kind == "watermark",
            "end-overtakes-timers": element.kind.startswith("end_of"),
        }
        if overtakes.get(self.bug):
            self.forward(element)
        else:
            self.held.append(element)
        self.release()

    def release(self) -> None:
        while self.held:
            element = self.held[0]
            if element.kind == "watermark" and any(timer[0] <= element.number for timer in self.due()):
                if self.bug != "watermarks-that-wait-are-lost" or len(self.held) == 1:
                    return
                self.held.pop(0)
                continue
            self.forward(self.held.pop(0))
