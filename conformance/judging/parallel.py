"""Several components at once: worker processes, each with an engine of its own, and what they find added up here.

A worker is given one component at a time. One that dies costs the component that it was at, which then is not run;
the others go on. A run that is stopped asks its workers what they know by then. The result is that of one process, but
for what depends on time.
"""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Self

import attrs

from tidegate.conformance.engines.base import Engine
from tidegate.conformance.engines.errors import EngineError
from tidegate.conformance.judging.expectations import Entry, Expectations
from tidegate.conformance.judging.golden import read_golden, size_of_golden
from tidegate.conformance.judging.suite import Budget
from tidegate.conformance.judging.trial import Observer, Runner, Tally, Trial
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.conformance.stopping import STOP, listen
from tidegate.conformance.workers import follow_parent

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

#: Seconds in which a worker that is stopped says what it knows.
STOPPING = 20.0


@attrs.frozen
class Order:
    """What a worker is to do with each component. Its parts can be sent to another process."""

    make_engine: Callable[[], Engine]
    budget: Budget
    entries: tuple[Entry, ...]
    #: What is to be done with each verdict, for observers that want it.
    observe: tuple[Callable[[Verdict], None], ...]


def try_side_by_side(
    order: Order, tally: Tally, components: Sequence[str], jobs: int, observers: Sequence[Observer]
) -> None:
    """Add what is found of each component to the tally, in their order, as soon as those before it have been tried."""
    found: dict[str, Tally | str] = {}
    waiting = list(components)
    with Crew(order, jobs) as crew:
        try:
            for component, tried in crew.work(components):
                found[component] = tried
                while waiting and waiting[0] in found:
                    settle(waiting[0], found.pop(waiting.pop(0)), tally, observers)
        except KeyboardInterrupt:
            tally.complete = False
            found |= crew.stop()
        for component in waiting:
            if component in found:
                settle(component, found[component], tally, observers)


def settle(component: str, tried: Tally | str, tally: Tally, observers: Sequence[Observer]) -> None:
    if isinstance(tried, str):
        # Nothing is known of a component whose worker failed, and one case says so for all: that is never a pass.
        verdict = tally.take(Verdict(read_golden(component)[0], "golden", Status.NOT_RUN, message=tried))
        for observer in observers:
            observer.see(verdict)
        return
    tally.add(tried)
    for observer in observers:
        observer.see_component(component, tried)


class Crew:
    """Worker processes; all of them are gone when it is left, whatever happened."""

    def __init__(self, order: Order, jobs: int) -> None:
        context = get_context("spawn")
        self._workers: dict[Connection, SpawnProcess] = {}
        #: The component that a worker is at.
        self._at: dict[Connection, str] = {}
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            worker = context.Process(target=serve, args=(theirs, order), daemon=False)
            worker.start()
            theirs.close()
            self._workers[ours] = worker

    def work(self, components: Sequence[str]) -> Iterator[tuple[str, Tally | str]]:
        """Each component with what was found, as it comes; with the reason if its worker failed.

        Those with the largest golden traces are the most work, and begin: so no worker waits long for the last.
        """
        waiting = iter(sorted(components, key=size_of_golden, reverse=True))
        for connection in self._workers:
            self._give_next(connection, waiting)
        while self._at:
            for connection in [one for one in wait(list(self._at)) if isinstance(one, Connection)]:
                component, answer = self._hear(connection)
                if isinstance(answer, Tally):
                    self._give_next(connection, waiting)
                yield component, answer
        # Only if all workers have failed is anything left.
        yield from ((component, "no process was left to try this component") for component in waiting)

    def stop(self) -> dict[str, Tally | str]:
        """What is known by now of the components that workers are at. One that does not tell in time has failed."""
        found: dict[str, Tally | str] = {}
        for connection in self._at:
            self._workers[connection].terminate()
        deadline = time.monotonic() + STOPPING
        while self._at and (ready := wait(list(self._at), deadline - time.monotonic())):
            found.update(self._hear(one) for one in ready if isinstance(one, Connection))
        return found

    def _hear(self, connection: Connection) -> tuple[str, Tally | str]:
        return self._at.pop(connection), receive(connection) or "the process that tried this component died"

    def _give_next(self, connection: Connection, waiting: Iterator[str]) -> None:
        if (component := next(waiting, None)) is not None:
            self._at[connection] = component
            # A worker that is gone is noticed when its answer is awaited.
            with suppress(OSError):
                connection.send(component)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for connection, worker in self._workers.items():
            connection.close()
            if connection in self._at:
                worker.kill()
        for worker in self._workers.values():
            worker.join()


def receive(connection: Connection) -> Any:
    """None if the worker is gone."""
    try:
        return connection.recv()
    except (EOFError, OSError):
        return None


# --- in a worker ----------------------------------------------------------------------------------------------


def serve(connection: Connection, order: Order) -> None:
    """Try the components that come, until nobody sends any more."""
    follow_parent()
    listen()
    # Suites are large and cases make no cycles: looking for garbage among them again and again finds none.
    gc.set_threshold(100_000, 50, 50)
    try:
        with order.make_engine() as engine:
            while (component := receive(connection)) is not None:
                connection.send(try_here(order, engine, component))
    except EngineError as error:
        with suppress(OSError):
            connection.send(str(error))


def try_here(order: Order, engine: Engine, component: str) -> Tally:
    trial = Trial(Runner(engine), Tally(Expectations(order.entries)))
    # The engine counts on from component to component.
    before = engine.restarts
    try:
        STOP.arm()
        for verdict in trial.try_component(component, order.budget):
            for observe in order.observe:
                observe(verdict)
        STOP.disarm()
    except KeyboardInterrupt:
        trial.tally.complete = False
    trial.tally.restarts = engine.restarts - before
    return trial.tally
