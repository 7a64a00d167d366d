"""Runs a chunk against an engine that this process keeps from chunk to chunk.

Starting an engine may take seconds, a chunk takes one or two; so the engine outlives the chunk, and what its runner has
remembered with it. A hang or a death costs a case, as everywhere. An engine that had to be given up gets a second
chance, afresh, at the cases that it left; what it leaves then is not run, and the chunk not finished.
"""

import contextlib
import gc
import os
import signal
import socket
import time
from collections.abc import Iterator
from types import FrameType

from tidegate.conformance.campaign.outcome import STAGE, Outcome, Tally, not_run
from tidegate.conformance.campaign.plan import Order, name_of
from tidegate.conformance.engines.errors import CannotStartError, EngineError
from tidegate.conformance.judging.runner import Planned, Runner, accepts
from tidegate.conformance.judging.verdicts import Status
from tidegate.conformance.kinds import resolve
from tidegate.properties.cases.drawing import NothingAcceptedError, draw_case
from tidegate.traces.cases import Case

#: What an engine is told apart by, and who talks to it. There is one at a time.
_KEPT: dict[tuple[object, ...], Runner] = {}


def run_in_worker(order: Order) -> Outcome:
    """Run a chunk in a process that Spark owns."""
    # Spark starts its workers wherever it likes, and ends them without a word to us or to Python.
    with contextlib.suppress(OSError):
        os.chdir(order.folder)
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, _leave)
    outcome = run_chunk(order)
    if not gc.get_freeze_count():
        # Spark collects garbage after every task; what is here by now will be needed again, and need not be looked at.
        gc.freeze()
    return outcome


def _leave(_number: int, _frame: FrameType | None) -> None:
    close_engine()
    os._exit(1)


def run_chunk(order: Order) -> Outcome:
    began = time.monotonic()
    here = f"{socket.gethostname()}/{os.getpid()}"
    try:
        runner = _keep_runner(order)
    except EngineError as error:
        return not_run(order.chunk, str(error), here)
    runner.judge.exercised = {}
    tally = Tally()
    left, restarts = _run(runner, draw_cases(order), tally)
    trouble = ""
    if left:
        left, more, trouble = _run_again(runner, left, tally)
        restarts += more
    tally.results[str(Status.NOT_RUN)] += len(left)
    return Outcome(
        chunk=order.chunk,
        results={result: count for result, count in tally.results.items() if count},
        exercised=runner.judge.exercised,
        findings=tuple(tally.findings),
        seconds=time.monotonic() - began,
        restarts=restarts,
        worker=here,
        trouble=trouble,
    )


def draw_cases(order: Order) -> Iterator[Case]:
    chunk, claim = order.chunk, order.plan.claims[order.chunk.component]
    for index in range(chunk.first, chunk.stop):
        try:
            yield draw_case(
                chunk.component, order.plan.seed, index, lambda config: accepts(claim, chunk.component, config)
            )
        except NothingAcceptedError:
            return


def _run(runner: Runner, cases: Iterator[Case], tally: Tally) -> tuple[list[Case], int]:
    """Run the cases; those that the engine left, and how often it had to be started again."""
    left = []
    for verdict in runner.run(Planned(STAGE, case) for case in cases):
        if verdict.status is Status.NOT_RUN:
            left.append(verdict.case)
        else:
            tally.take(verdict)
    return left, runner.engine.restarts


def _run_again(runner: Runner, left: list[Case], tally: Tally) -> tuple[list[Case], int, str]:
    """As `_run`, with a fresh engine, and with what the trouble is if it leaves cases again."""
    try:
        _start_afresh(runner)
    except CannotStartError as error:
        return left, 0, str(error)
    still, restarts = _run(runner, iter(left), tally)
    return still, restarts, f"the engine was given up twice, after {restarts} restarts" if still else ""


def _start_afresh(runner: Runner) -> None:
    runner.engine.close()
    runner.engine.start()


def _keep_runner(order: Order) -> Runner:
    """The runner of an earlier chunk, or a new one. Each chunk may restart its engine as often as a run may."""
    plan = order.plan
    key = (plan.engine, plan.strict, *sorted(order.limits.items()))
    if key not in _KEPT:
        close_engine()
        _KEPT[key] = Runner(resolve(plan.engine, strict=plan.strict, **order.limits))
    runner = _KEPT[key]
    if runner.engine.restarts:
        runner.engine.close()
    description = runner.engine.start()
    found = name_of(description)
    if found != plan.implementation or any(description.components.get(c) != plan.claims[c] for c in plan.components):
        close_engine()
        raise CannotStartError(
            f"the engine of this worker is not that of the campaign: {found}, not {plan.implementation}",
            "install the same engine wherever workers run",
        )
    return runner


def close_engine() -> None:
    """Close the engine that is kept, if there is one."""
    while _KEPT:
        _key, runner = _KEPT.popitem()
        runner.engine.close()
