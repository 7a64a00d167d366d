"""What an operator that knows event time has in hand: sums, timers, and what waits for them.

`timers` are triples: when, of which key, about the sum of which timestamp.
"""

from collections.abc import Callable

from tidegate.conformance.engines.museum.job.channels import to_long
from tidegate.conformance.engines.museum.job.program import Element, Operator
from tidegate.conformance.engines.wire import HIGHEST, LOWEST

Timer = tuple[int, str, int]


class EventTime:
    def __init__(self, operator: Operator, forward: Callable[[Element], None]) -> None:
        self.operator = operator
        self.forward = forward
        self.time = LOWEST
        self.sums: dict[tuple[int, str], int] = {}
        self.timers: set[Timer] = set()
        self.held: list[Element] = []

    def due(self) -> list[Timer]:
        return sorted(timer for timer in self.timers if timer[0] <= self.time)

    def on_record(self, record: Element) -> tuple[list[Element], bool]:
        """What is emitted at once, and whether the record is late."""
        last, size = record.number, self.operator.size
        if size:
            last = min(last - last % size + size - 1, HIGHEST)
        cleanup = min(last + self.operator.lateness, HIGHEST)
        if cleanup <= self.time:
            return [], True
        self.sums[last, record.key] = to_long(self.sums.get((last, record.key), 0) + record.value)
        self.timers.add((cleanup, record.key, last))
        if last > self.time:
            self.timers.add((last, record.key, last))
            return [], False
        return [self.result(last, record.key)], False

    def result(self, last: int, key: str) -> Element:
        return Element("record", last, key, self.sums[last, key])

    def fire(self) -> list[Element]:
        timer = self.due()[0]
        time, key, last = timer
        self.timers.remove(timer)
        results = [self.result(last, key)] if time == last and (last, key) in self.sums else []
        if time >= min(last + self.operator.lateness, HIGHEST):
            self.sums.pop((last, key), None)
        return results

    def hold(self, element: Element) -> None:
        if element.kind == "watermark":
            self.time = element.number
        self.held.append(element)
        self.release()

    def release(self) -> None:
        while self.held:
            element = self.held[0]
            if element.kind == "watermark" and any(timer[0] <= element.number for timer in self.due()):
                return
            self.forward(self.held.pop(0))
