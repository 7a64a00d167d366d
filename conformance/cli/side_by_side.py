"""Several components at once: worker processes, each with an engine of its own, and what they find added up here.

A worker is given one component at a time. One that dies costs the component that it was at, which then is not run;
the others go on. The result is that of one process, but for what depends on time.
"""

import argparse
import gc
import signal
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Self

import attrs

from tidegate.conformance.cli.options import make_engine
from tidegate.conformance.cli.run import try_component
from tidegate.conformance.cli.session import Watch
from tidegate.conformance.engines.errors import EngineError
from tidegate.conformance.judging.expectations import Entry, Expectations
from tidegate.conformance.judging.golden import read_golden, size_of_golden
from tidegate.conformance.judging.session import Part, Session
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.conformance.reports.jsonl import make_line

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess


@attrs.frozen
class Tried:
    """What a worker has found out about a component, the lines of its report if one is written, and its claims."""

    part: Part
    lines: tuple[str, ...]
    claims: tuple[tuple[str, str], ...]


def try_side_by_side(
    args: argparse.Namespace, session: Session, watch: Watch, components: list[str], jobs: int
) -> Iterator[tuple[str, str]]:
    """The claims of the components, in their order, each as soon as it and those before it have been tried."""
    found: dict[str, Tried] = {}
    open_ones = list(components)
    with Crew(args, session.expectations.entries, jobs, writes=watch.writes) as crew:
        try:
            for component, tried in crew.work(components):
                found[component] = tried or lose(session, component)
                while open_ones and open_ones[0] in found:
                    done = found.pop(name := open_ones.pop(0))
                    session.add(done.part)
                    watch.take(name, done.part, done.lines)
                    yield from done.claims
        except KeyboardInterrupt:
            session.complete = False
    for name, left in found.items():
        session.add(left.part)
        watch.take(name, left.part, left.lines)


def lose(session: Session, component: str) -> Tried:
    """Nothing is known of a component whose worker died, and one case says so for all: that is never a pass."""
    (case, *_others) = read_golden(component)
    verdict = Verdict(case, "golden", Status.NOT_RUN, message="the process that tried this component died")
    alone = Session(session.engine, session.name)
    alone.take(verdict)
    return Tried(attrs.evolve(alone.part(), restarts=0), (make_line(verdict, session.name),), ())


class Crew:
    """Worker processes; all of them are gone when it is left, whatever happened."""

    def __init__(self, args: argparse.Namespace, entries: tuple[Entry, ...], jobs: int, *, writes: bool) -> None:
        # The parser cannot be sent to another process, and nobody asks it there: usage was checked here.
        options = {name: value for name, value in vars(args).items() if name not in ("parser", "run")}
        context = get_context("spawn")
        self._workers: dict[Connection, SpawnProcess] = {}
        #: The component that a worker is at.
        self._at: dict[Connection, str] = {}
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            worker = context.Process(target=serve, args=(theirs, options, entries, writes), daemon=False)
            worker.start()
            theirs.close()
            self._workers[ours] = worker

    def work(self, components: list[str]) -> Iterator[tuple[str, Tried | None]]:
        """Each component with what was found, as it comes; with nothing if its worker died.

        Those with the largest golden traces are the most work, and begin: so no worker waits long for the last.
        """
        waiting = iter(sorted(components, key=size_of_golden, reverse=True))
        for connection in self._workers:
            self._give_next(connection, waiting)
        while self._at:
            for connection in [one for one in wait(list(self._at)) if isinstance(one, Connection)]:
                component, answer = self._at.pop(connection), receive(connection)
                if isinstance(answer, EngineError):
                    raise answer
                if answer is not None:
                    self._give_next(connection, waiting)
                yield component, answer
        # Only if all workers have died is anything left.
        yield from ((component, None) for component in waiting)

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
                worker.terminate()
        for worker in self._workers.values():
            worker.join()


def receive(connection: Connection) -> Any:
    """None if the worker is gone."""
    try:
        return connection.recv()
    except (EOFError, OSError):
        return None


# --- in a worker ----------------------------------------------------------------------------------------------


def serve(connection: Connection, options: dict[str, Any], entries: tuple[Entry, ...], writes: bool) -> None:  # noqa: FBT001
    """Try the components that come, until nobody sends any more."""
    # Whoever interrupts the run means the process that started us, which closes the connection then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Suites are large and cases make no cycles: looking for garbage among them again and again finds none.
    gc.set_threshold(100_000, 50, 50)
    args = argparse.Namespace(**options)
    try:
        with make_engine(args) as engine:
            restarts = 0
            while (component := receive(connection)) is not None:
                tried = try_here(args, Session(engine, args.engine, Expectations(entries)), component, writes=writes)
                # The engine counts on from component to component.
                made, restarts = tried.part.restarts - restarts, tried.part.restarts
                connection.send(attrs.evolve(tried, part=attrs.evolve(tried.part, restarts=made)))
    except EngineError as error:
        connection.send(error)


def try_here(args: argparse.Namespace, session: Session, component: str, *, writes: bool) -> Tried:
    lines: list[str] = []
    if writes:
        session.observe = lambda verdict: lines.append(make_line(verdict, session.name))
    claims = tuple(try_component(args, session, component))
    return Tried(session.part(), tuple(lines), claims)
