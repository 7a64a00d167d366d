"""Shared by all verbs that judge engines: counts during the run, and the result at the end."""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tidegate.conformance.cli.console import get_command, show, show_progress
from tidegate.conformance.cli.options import candidate_of
from tidegate.conformance.judging.expectations import Expectations
from tidegate.conformance.judging.result import Result
from tidegate.conformance.judging.run import Candidate, run
from tidegate.conformance.judging.suite import Budget
from tidegate.conformance.judging.trial import Observer, Tally
from tidegate.conformance.judging.verdicts import VIOLATIONS, Status, Verdict
from tidegate.conformance.reports.folder import Report
from tidegate.conformance.reports.writing import CannotWriteError


def run_and_show(
    args: argparse.Namespace,
    budget: Budget,
    engine: str | Candidate | None = None,
    report: Path | None = None,
    expectations: Expectations | None = None,
) -> Result:
    """Run the suite of the budget against an engine with the other options, and show the result."""
    candidate = engine if isinstance(engine, Candidate) else candidate_of(args, engine)
    with observe(args, candidate.name, report, budget.seed) as observers:
        result = run(
            candidate,
            budget,
            components=args.component,
            jobs=args.jobs or candidate.usual_jobs(budget),
            floor=args.floor,
            expectations=expectations,
            observers=observers,
        )
    return show_result(args, result, observers)


def show_result(
    args: argparse.Namespace, result: Result, observers: Sequence[Observer], notes: Iterable[str] = ()
) -> Result:
    """Print the result, then report any trouble with its files.

    Raises
    ------
    CannotWriteError
        The report could not be written completely.
    """
    reports = [one for one in observers if isinstance(one, Report)]
    trouble = next((one.trouble for one in reports if one.trouble), "")
    show(args, result, reports[0].folder if reports and not trouble else None, notes)
    if trouble:
        raise CannotWriteError(f"the report is not complete: {trouble}")
    return result


# --- progress -------------------------------------------------------------------------------------------------


class Counts(Observer):
    """Shows how many cases ran, how many failed, and how far the run is."""

    def __init__(self, tell: Callable[[str], None], failure: str) -> None:
        self._tell, self._failure = tell, failure
        self._done = self._failed = self._told = self._all = 0
        #: In order of arrival; if components run one by one, the last is in progress.
        self._components: dict[str, None] = {}
        self._over = 0
        self._began = time.monotonic()

    def begin(self, parts: int) -> None:
        self._all, self._began = parts, time.monotonic()

    def see(self, verdict: Verdict) -> None:
        if verdict.status is Status.SKIP:
            return
        self._components.setdefault(verdict.case.component)
        self._over = max(self._over, len(self._components) - 1)
        self._count(f"{verdict.case.component} {verdict.stage}", 1, int(verdict.status in VIOLATIONS))

    def see_component(self, component: str, tally: Tally) -> None:
        tried = {key: count for key, count in tally.counts.items() if key[-1] is not Status.SKIP}
        failed = sum(count for (_component, _stage, status), count in tried.items() if status in VIOLATIONS)
        self._over += 1
        self._count(component, sum(tried.values()), failed)

    def _count(self, place: str, done: int, failed: int) -> None:
        self._done += done
        self._failed += failed
        if self._done >= self._told + 50 or self._failed == 1:
            self._told = self._done
            failures = f"{self._failed} {self._failure}{'s' * (self._failed != 1)}"
            self._tell(f"{place}: {self._done} cases, {failures}{self._rest()}")

    def _rest(self) -> str:
        """Progress by finished parts: some take longer than others."""
        if self._all < 2 or not self._over:
            return ""
        left = (time.monotonic() - self._began) / self._over * (self._all - self._over)
        return f"; {self._over} of {self._all} parts, about {max(left, 0):.0f} s left"


@contextmanager
def observe(
    args: argparse.Namespace, engine: str, report: Path | None, seed: int = 0, failure: str = "violation"
) -> Iterator[list[Observer]]:
    """Counts on standard error, and a report if --report names a folder."""
    with ExitStack() as stack:
        observers: list[Observer] = [Counts(stack.enter_context(show_progress(args)), failure)]
        if report is not None:
            observers.append(stack.enter_context(Report(report, engine, seed, get_command())))
        yield observers
