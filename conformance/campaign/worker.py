"""Runs a chunk against an engine that this process keeps from chunk to chunk.

Starting an engine may take seconds, a chunk takes one or two; so the engine outlives the chunk, with the caches of its
runner. A hang or a crash costs one case, as everywhere. If an engine was given up, it is restarted once for the cases
that it left; if it leaves cases again, they do not run, and the chunk stays unfinished.
"""

import contextlib
import gc
import os
import signal
import socket
import time
from collections.abc import Iterable
from types import FrameType

from tidegate.conformance.campaign.outcome import STAGE, Findings, Outcome, find, not_run
from tidegate.conformance.campaign.plan import Order, name_of
from tidegate.conformance.engines.errors import CannotStartError, EngineError
from tidegate.conformance.judging.suite import Budget, Planned
from tidegate.conformance.judging.trial import Runner, Trial
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.conformance.kinds import resolve

#: The key of the engine and its runner. There is one at a time.
_KEPT: dict[tuple[object, ...], Runner] = {}


def run_in_worker(order: Order) -> Outcome:
    """Run a chunk in a process that Spark owns."""
    # Spark starts its workers in any folder, and ends them without notice to us or to Python.
    with contextlib.suppress(OSError):
        os.chdir(order.folder)
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, _leave)
    outcome = run_chunk(order)
    if not gc.get_freeze_count():
        # Spark collects garbage after every task; objects that exist by now are kept, so exclude them.
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
    trial, chunk = Trial(runner), order.chunk
    budget = Budget(chunk.stop, order.plan.seed, (STAGE,), first=chunk.first)
    findings = Findings()
    left = _take(trial.try_component(chunk.component, budget), findings)
    restarts = runner.engine.restarts
    trouble = ""
    if left:
        try:
            # Afresh: closed, and started again.
            runner.engine.close()
            runner.engine.start()
            cases = (order.plan.draw(chunk.component, index) for index in left)
            left = _take(trial.try_cases(Planned(STAGE, case) for case in cases), findings)
            restarts += runner.engine.restarts
            trouble = f"the engine was given up twice, after {runner.engine.restarts} restarts" if left else ""
        except CannotStartError as error:
            trouble = str(error)
    results = {str(status): count for (_component, _stage, status), count in trial.tally.counts.items()}
    results.pop(Status.NOT_RUN, None)
    return Outcome(
        chunk=chunk,
        results={**results, Status.NOT_RUN: len(left)} if left else results,
        exercised=trial.tally.exercised,
        findings=tuple(findings.kept),
        seconds=time.monotonic() - began,
        restarts=restarts,
        worker=here,
        trouble=trouble,
    )


def _take(verdicts: Iterable[Verdict], findings: Findings) -> list[int]:
    """Keep what did not pass. Returns the indices of the cases that the engine left."""
    left = []
    for verdict in verdicts:
        if verdict.status is Status.NOT_RUN:
            left.append(int(verdict.case.name.rpartition("-")[2]))
        elif verdict.status is not Status.PASS:
            findings.add(find(verdict))
    return left


def _keep_runner(order: Order) -> Runner:
    """The runner of an earlier chunk, or a new one. Each chunk has the full number of restarts."""
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
            f"the worker has another engine than the campaign: {found}, not {plan.implementation}",
            "install the same engine on all workers",
        )
    return runner


def close_engine() -> None:
    """Close the kept engine, if there is one."""
    while _KEPT:
        _key, runner = _KEPT.popitem()
        runner.engine.close()
