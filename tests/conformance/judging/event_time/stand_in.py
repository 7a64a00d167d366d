"""An engine that does what Spark declares, without Spark, and what a test tells it to do otherwise."""

from tidegate.conformance.engines.base import NotRun
from tidegate.conformance.engines.spark.native.engine import POLICIES, Declared
from tidegate.conformance.engines.spark.native.logs import CAPABILITIES
from tidegate.conformance.engines.spark.native.query import Observed
from tidegate.conformance.engines.spark.native.traces import Counted, window_end
from tidegate.conformance.judging.event_time.model import predict


class StandIn:
    """`loses` and `twice` are times of records; `refuses` are texts of traces that do not run."""

    def __init__(self, loses=(), twice=(), refuses=(), interrupts_after=None):
        self.loses, self.twice, self.refuses = loses, twice, refuses
        self.interrupts_after = interrupts_after
        self.orders = []

    def describe(self):
        return Declared("stand-in", "1", "Python", CAPABILITIES, POLICIES)

    def run(self, orders):
        for order in orders:
            if len(self.orders) == self.interrupts_after:
                raise KeyboardInterrupt
            self.orders.append(order)
            yield order, NotRun("no") if str(order.trace) in self.refuses else self.observe(order)

    def observe(self, order):
        declared = predict(order.trace, order.policy)
        times = {number: event.time for number, _batch, event in order.trace.records()}
        kept = {number for number in declared.counted if times[number] not in self.loses}
        windows = {}
        for number in sorted(kept):
            windows.setdefault(window_end(times[number]), []).extend([number] * (1 + (times[number] in self.twice)))
        counts = Counted(frozenset(kept), declared.fired & kept)
        return Observed(tuple(watermarks(order)), counts, tuple(map(tuple, windows.values())))


def watermarks(order):
    reached = [0] * order.trace.sources
    watermark = 0
    for batch in order.trace.batches:
        yield watermark
        for event in (event for event in batch if event.kind == "r"):
            reached[event.source] = max(reached[event.source], event.time)
        watermark = max(watermark, (min if order.policy == "min" else max)(reached))
