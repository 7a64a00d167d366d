"""Several components at once: worker processes, each with an engine of its own, and the sum of their results.

A worker gets one component at a time. If it dies, the component that it ran is not run;
the others go on. On an interrupt, workers report what they know by then. The result is that of one process, except
for what depends on time.
"""

import gc
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Self

import attrs

from tidegate.conformance.engines.base import Description, Engine
from tidegate.conformance.engines.errors import BadHelloError, EngineError
from tidegate.conformance.judging.expectations import Entry, Expectations
from tidegate.conformance.judging.golden import read_golden, size_of_golden
from tidegate.conformance.judging.suite import Budget, reach_of
from tidegate.conformance.judging.trial import Observer, Runner, Tally, Trial
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.conformance.stopping import SIGNALS, STOP, listen
from tidegate.conformance.workers import deaf, follow_parent

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

#: Seconds for a stopped worker to report.
STOPPING = 20.0


@attrs.frozen
class Order:
    """What a worker does with each part of the suite. Its fields can be sent to another process."""

    make_engine: Callable[[], Engine]
    #: The engine's description of itself.
    description: Description
    entries: tuple[Entry, ...]
    #: What to do with each verdict, for observers that need it.
    observe: tuple[Callable[[Verdict], None], ...]


@attrs.frozen
class Part:
    """A part of the suite of a component, small enough to keep all workers busy until the end."""

    component: str
    budget: Budget


@attrs.frozen
class NotStarted:
    """The report of a worker without an engine."""

    reason: str


def try_side_by_side(
    order: Order, engine: Engine, tally: Tally, parts: Sequence[Part], jobs: int, observers: Sequence[Observer]
) -> None:
    """Add the results of each part to the tally, in order, as soon as those before it are complete.

    If no other copy of the engine starts, `engine` runs here.
    """
    found: dict[Part, Tally | str] = {}
    waiting = list(parts)
    with Crew(order, jobs) as crew:
        try:
            for part, tried in crew.work(parts):
                found[part] = tried
                while waiting and waiting[0] in found:
                    settle(waiting[0], found.pop(waiting.pop(0)), tally, observers)
            if crew.reasons:
                tally.notes.append(f"{crew.describe()}: {crew.reasons[0]}.")
            for part in [part for part in waiting if part not in found]:
                found[part] = try_here(order, engine, part)
        except KeyboardInterrupt:
            tally.complete = False
            found |= crew.stop()
        for part in waiting:
            if part in found:
                settle(part, found[part], tally, observers)


def settle(part: Part, tried: Tally | str, tally: Tally, observers: Sequence[Observer]) -> None:
    if isinstance(tried, str):
        # A part whose worker failed is unknown, and one case says so for all: that is never a pass.
        case = read_golden(part.component)[0]
        verdict = tally.take(Verdict(case, part.budget.stages[0], Status.NOT_RUN, message=tried))
        for observer in observers:
            observer.see(verdict)
        return
    tally.add(tried)
    for observer in observers:
        observer.see_component(part.component, tried)


class Crew:
    """Worker processes; all of them are gone on exit, whatever happens."""

    def __init__(self, order: Order, jobs: int) -> None:
        context = get_context("spawn")
        self._workers: dict[Connection, SpawnProcess] = {}
        #: The part that a worker runs.
        self._at: dict[Connection, Part] = {}
        self._wanted = jobs
        #: Why workers were not started, or have no engine.
        self.reasons: list[str] = []
        for _ in range(jobs):
            try:
                ours, theirs = context.Pipe()
                worker = context.Process(target=serve, args=(theirs, order), daemon=False)
                with deaf():
                    worker.start()
            except OSError as error:  # too many files or processes, or the current folder is gone
                self.reasons.append(f"no process can be started: {error.strerror or error}")
                continue
            theirs.close()
            self._workers[ours] = worker

    def work(self, parts: Sequence[Part]) -> Iterator[tuple[Part, Tally | str]]:
        """Each part with its results, as they come; with the reason if its worker failed.

        The largest parts go first, so that no worker waits long for the last. A worker without engine leaves its part
        to the others; if no worker has an engine, parts remain.
        """
        waiting = deque(sorted(parts, key=weigh, reverse=True))
        for connection in self._workers:
            self._give_next(connection, waiting)
        while self._at:
            for connection in [one for one in wait(list(self._at)) if isinstance(one, Connection)]:
                part, answer = self._hear(connection)
                if isinstance(answer, NotStarted):
                    self.reasons.append(answer.reason)
                    waiting.appendleft(part)
                    continue
                if isinstance(answer, Tally):
                    self._give_next(connection, waiting)
                else:
                    # What kills one worker would kill the next.
                    fatal = [one for one in waiting if one.component == part.component]
                    waiting = deque(one for one in waiting if one.component != part.component)
                    yield from ((one, answer) for one in fatal)
                yield part, answer
        if len(self.reasons) < self._wanted:
            # Parts are left only if all workers died.
            yield from ((part, "no process was left to try this component") for part in waiting)

    def describe(self) -> str:
        left = self._wanted - len(self.reasons)
        return f"Of {self._wanted} more copies of the engine {left or 'none'} would start, so it took longer"

    def stop(self) -> dict[Part, Tally | str]:
        """The results so far of the parts in work. A worker that does not report in time has failed."""
        found: dict[Part, Tally | str] = {}
        for connection in self._at:
            self._workers[connection].terminate()
        deadline = time.monotonic() + STOPPING
        while self._at and (ready := wait(list(self._at), deadline - time.monotonic())):
            heard = [self._hear(one) for one in ready if isinstance(one, Connection)]
            found.update((part, answer) for part, answer in heard if not isinstance(answer, NotStarted))
        return found

    def _hear(self, connection: Connection) -> tuple[Part, Tally | NotStarted | str]:
        return self._at.pop(connection), receive(connection) or "the process that tried this component died"

    def _give_next(self, connection: Connection, waiting: deque[Part]) -> None:
        if waiting:
            self._at[connection] = waiting.popleft()
            # A dead worker is noticed when its answer is awaited.
            with suppress(OSError):
                connection.send(self._at[connection])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for connection, worker in self._workers.items():
            connection.close()
            if connection in self._at:
                worker.kill()
        for worker in self._workers.values():
            worker.join()


def weigh(part: Part) -> tuple[int, bool, tuple[int, ...]]:
    """Larger is more work: large golden traces, and of one component complete suites, the last scopes above all."""
    return size_of_golden(part.component), "complete" in part.budget.stages, part.budget.scopes or ()


def receive(connection: Connection) -> Any:
    """None if the worker is gone."""
    try:
        return connection.recv()
    except (EOFError, OSError):
        return None


# --- in a worker ----------------------------------------------------------------------------------------------


def serve(connection: Connection, order: Order) -> None:
    """Run the parts that arrive, until the connection closes."""
    follow_parent()
    listen()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    # Suites are large and cases make no cycles: the garbage collector would search them in vain.
    gc.set_threshold(100_000, 50, 50)
    try:
        with order.make_engine() as engine:
            if engine.start() != order.description:
                raise BadHelloError("another copy of the engine says that it is another engine")
            while (part := receive(connection)) is not None:
                connection.send(try_here(order, engine, part))
    except EngineError as error:
        with suppress(OSError):
            connection.send(NotStarted(str(error)))
    # The engine is closed and everything is sent. Freeing the suites object by object would take seconds.
    os._exit(0)


def try_here(order: Order, engine: Engine, part: Part) -> Tally:
    trial = Trial(Runner(engine), Tally(Expectations(order.entries)))
    # The engine's counters run on from part to part.
    before = engine.restarts
    try:
        STOP.arm()
        for verdict in trial.try_component(part.component, part.budget):
            for observe in order.observe:
                observe(verdict)
        if "golden" in part.budget.stages:
            # The traces have been read here.
            trial.tally.reach[part.component] = reach_of(order.description, part.component)
        STOP.disarm()
    except KeyboardInterrupt:
        trial.tally.complete = False
    trial.tally.restarts = engine.restarts - before
    return trial.tally
