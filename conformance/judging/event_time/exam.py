"""Runs traces on the engine `spark-native` and judges them: by the invariants, and by the declared differences."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice

import attrs

from tidegate.conformance.engines.base import NotRun
from tidegate.conformance.engines.spark.native.engine import AT_ONCE, POLICIES, Declared, Order, SparkNative
from tidegate.conformance.engines.spark.native.logs import make_log
from tidegate.conformance.engines.spark.native.query import Observed
from tidegate.conformance.engines.spark.native.traces import Counted, read_trace
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.event_time.differences import Difference, find_differences
from tidegate.conformance.judging.event_time.drawing import draw_traces, make_corners
from tidegate.conformance.judging.event_time.model import Way, count_as_specified, explain, predict
from tidegate.conformance.judging.shrink import drop_events
from tidegate.properties.runlog import INVARIANTS, Status, Verdict, check
from tidegate.traces.runlog import RunLog

#: Random traces, each run under every policy, unless set otherwise: a micro-batch takes most of a second.
CASES = 8
#: How many runs may be used to shorten a trace that shows a failure.
MOST_RUNS = 24
#: What is wrong with a run in which Spark does not count as it declares; other troubles have the names of invariants.
UNEXPLAINED = "unexplained difference"


@attrs.frozen
class Judged:
    """A completed run: its log, the verdicts of the invariants, and the predictions of two models for its trace."""

    order: Order
    log: RunLog
    verdicts: tuple[Verdict, ...]
    spark: Counted
    flink: Counted
    predicted: Counted

    @property
    def ways(self) -> tuple[Way, ...]:
        """The ways that explain the difference from Flink, if Spark did as declared."""
        return explain(self.order.trace, self.order.policy)

    @property
    def wrongs(self) -> dict[str, str]:
        """What is wrong, and why, in words."""
        wrongs = {one.invariant: one.violations[0].message for one in self.verdicts if one.status is Status.FAILED}
        if self.spark != self.predicted:
            wrongs[UNEXPLAINED] = "Spark does not do what it declares"
        return wrongs


def judge(order: Order, observed: Observed) -> Judged:
    trace, policy = order.trace, order.policy
    log = make_log(order.name, trace, observed, policy)
    specified, predicted = count_as_specified(trace), predict(trace, policy)
    return Judged(order, log, check(log), observed.counts, specified, predicted)


@attrs.frozen
class Exam:
    """All runs of an engine. `examples` are the shortest failures, by policy and by what is wrong."""

    declared: Declared
    seed: int
    cases: int
    runs: tuple[Judged, ...]
    not_run: tuple[tuple[Order, str], ...]
    differences: tuple[Difference, ...]
    examples: dict[tuple[str, str], Judged]
    seconds: float
    complete: bool = True

    @cached_property
    def by_name(self) -> dict[str, Judged]:
        return {one.order.name: one for one in self.runs}

    def shown(self) -> list[tuple[Difference, Judged]]:
        """The differences whose traces were run, each with its run."""
        named = enumerate(self.differences)
        found = [(difference, self.by_name.get(name_of(number, difference))) for number, difference in named]
        return [(difference, run) for difference, run in found if run is not None]

    def drawn(self, policy: str) -> list[Judged]:
        """The runs of this policy that do not belong to a difference."""
        names = {name_of(number, difference) for number, difference in enumerate(self.differences)}
        return [one for one in self.runs if one.order.policy == policy and one.order.name not in names]

    def verdicts(self, policy: str, place: int) -> Counter[Status]:
        """How often the invariant of this place passed, failed, or was skipped."""
        return Counter(one.verdicts[place].status for one in self.runs if one.order.policy == policy)

    @property
    def exit_code(self) -> Exit:
        """A failure counts whatever was not run; an invariant that neither passed nor was skipped is undetermined."""
        if any(one.wrongs for one in self.runs):
            return Exit.VIOLATIONS
        unseen = any(not self.verdicts(policy, place) for policy in POLICIES for place in range(len(INVARIANTS)))
        return Exit.UNDETERMINED if self.not_run or unseen or not self.complete else Exit.CONFORMANT


def examine(
    engine: SparkNative,
    seed: int = 0,
    cases: int = CASES,
    observe: Callable[[int, int], None] = lambda _done, _all: None,
    *,
    wanted: Callable[[Order], bool] = lambda _order: True,
    most_runs: int = MOST_RUNS,
) -> Exam:
    """Run the shortest traces, the corners and random traces, and judge them; with `wanted`, only these.

    An interrupt ends it; the result is what is known by then.
    """
    started = time.monotonic()
    differences = tuple(find_differences())
    orders = [order for order in make_orders(differences, seed, cases) if wanted(order)]
    runs: list[Judged] = []
    not_run: list[tuple[Order, str]] = []
    examples: dict[tuple[str, str], Judged] = {}
    complete = False
    try:
        for done, (order, reply) in enumerate(engine.run(orders), start=1):
            if isinstance(reply, NotRun):
                not_run.append((order, reply.reason))
            else:
                runs.append(judge(order, reply))
            observe(done, len(orders))
        for key in sorted({(one.order.policy, wrong) for one in runs for wrong in one.wrongs}):
            examples[key] = find_example(engine, runs, key, most_runs)
        complete = True
    except KeyboardInterrupt:
        pass
    places = {order.name: place for place, order in enumerate(orders)}
    runs.sort(key=lambda one: places[one.order.name])
    seconds = time.monotonic() - started
    return Exam(
        engine.describe(), seed, cases, tuple(runs), tuple(not_run), differences, examples, seconds, complete=complete
    )


def make_orders(differences: tuple[Difference, ...], seed: int, cases: int) -> list[Order]:
    orders = [Order(name_of(number, one), one.trace, one.policy) for number, one in enumerate(differences)]
    traces = make_corners() | draw_traces(seed, cases)
    return orders + [Order(f"{name}-{policy}", trace, policy) for name, trace in traces.items() for policy in POLICIES]


def name_of(number: int, difference: Difference) -> str:
    return f"shortest-{number}-{difference.policy}"


# --- shorter --------------------------------------------------------------------------------------------------


def find_example(engine: SparkNative, runs: list[Judged], key: tuple[str, str], most_runs: int) -> Judged:
    """The shortest run that shows the failure, further shortened by leaving out events and micro-batches."""
    policy, wrong = key
    best = min((one for one in runs if one.order.policy == policy and wrong in one.wrongs), key=length)
    left = most_runs
    while left > 0:
        shorter = shorter_orders(best.order)
        found = None
        while found is None and left > 0 and (batch := list(islice(shorter, min(left, AT_ONCE)))):
            left -= len(batch)
            again = (judge(order, reply) for order, reply in engine.run(batch) if not isinstance(reply, NotRun))
            found = min((one for one in again if wrong in one.wrongs), key=length, default=None)
        if found is None:
            return best
        best = found
    return best


def length(judged: Judged) -> int:
    return len(tokens_of(judged.order))


def tokens_of(order: Order) -> list[str]:
    """Events, and the borders of micro-batches."""
    return str(order.trace).split()


def shorter_orders(order: Order) -> Iterator[Order]:
    for kept in drop_events({"events": tokens_of(order)}):
        if kept["events"]:
            yield attrs.evolve(order, trace=read_trace(" ".join(kept["events"]), order.trace.sources))
