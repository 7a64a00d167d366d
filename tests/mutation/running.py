"""Runs checks on a mutant until one fails.

Which checks run a function is recorded beforehand, so that a mutant meets only those that can notice it.
"""

import datetime as dt
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, Self

import attrs

from tests.mutation.install import Probes, SwapError, Swapper, Unit, name_outermost
from tests.mutation.sites import Mutation, Site
from tests.mutation.workers import Reporter, fork_each

#: A check may take so many seconds on a mutant, and so many times as long as on the right module.
SECONDS, TIMES = 2.0, 10.0
SECONDS_AFRESH = 30.0


@attrs.frozen
class Result:
    mutation: Mutation
    status: str
    stage: str = ""
    check: str = ""
    seconds: float = 0.0
    #: On which it was seen.
    day: str = attrs.field(factory=lambda: dt.datetime.now(dt.UTC).date().isoformat())


def show_check(check: Any) -> str:
    """With its component, if it has one: `valve: case 3`."""
    return f"{check.component}: {check.name}" if check.component else check.name


@attrs.frozen(eq=False)
class Recorded:
    """A check, what it runs, and for how long."""

    check: Any
    units: frozenset[Unit]
    seconds: float


class Recorder:
    """Records which functions of some files are called while modules are imported: then they do not exist yet."""

    def __init__(self, files: Iterable[str]) -> None:
        self._files = frozenset(files)
        self._codes: set[CodeType] = set()

    def __enter__(self) -> Self:
        sys.settrace(self._on_call)
        return self

    def __exit__(self, *_error: object) -> None:
        sys.settrace(None)

    def _on_call(self, frame: FrameType, _event: str, _argument: Any) -> None:
        self._codes.add(frame.f_code)

    @property
    def called(self) -> frozenset[Unit]:
        ours = [code for code in self._codes if code.co_filename in self._files]
        return frozenset((code.co_filename, name_outermost(code)) for code in ours)


def record(
    checks: Iterable[Any], probes: Probes, between: Callable[[], None]
) -> tuple[list[Recorded], list[tuple[Any, str]]]:
    """Run all checks once on the right modules; those that fail there are of no use, and are given back with why."""
    good, bad = [], []
    for check in checks:
        between()
        probes.set()
        started = time.process_time()
        try:
            check.run()
        except Exception as error:  # noqa: BLE001  any check may fail in any way
            bad.append((check, f"{type(error).__name__}: {error}"))
        else:
            good.append(Recorded(check, frozenset(probes.called), time.process_time() - started))
    probes.take_away()
    return good, bad


@attrs.define(eq=False)
class Suite:
    """All that can be run on a mutant.

    `at_import` are the functions that run while modules are imported; `afresh(mutation, code)` installs the mutant by
    importing everything anew, and gives the checks to run then.
    """

    recorded: Sequence[Recorded]
    swapper: Swapper
    at_import: frozenset[Unit]
    afresh: Callable[[Mutation, CodeType], Iterator[Any]]
    file_of: Callable[[str], str]

    def examine(self, site: Site, reporter: Reporter) -> None:
        file = self.file_of(site.mutation.module)
        try:
            mutated = site.compile(file)
        except Exception as error:  # noqa: BLE001  a mutant that is no program tells nothing about the reference
            reporter.answer("invalid", "compile", repr(error))
        stage, name = "import", ""
        try:
            reporter.start(stage, name, SECONDS_AFRESH)
            for check, seconds in self._install(site.mutation, mutated, file):
                stage, name = check.stage, show_check(check)
                reporter.start(stage, name, seconds)
                check.run()
        except BaseException as error:  # noqa: BLE001  a mutant may fail in any way, and then it is caught
            reporter.answer("killed", stage, name or repr(error))
        reporter.answer("survived")

    def _install(self, mutation: Mutation, mutated: CodeType, file: str) -> Iterator[tuple[Any, float]]:
        unit = (file, mutation.unit)
        if mutation.unit and unit not in self.at_import:
            try:
                self.swapper.swap(mutated, mutation.unit)
            except SwapError:
                pass
            else:
                return self._covering(unit)
        return ((check, SECONDS_AFRESH + TIMES * check.seconds) for check in self.afresh(mutation, mutated))

    def _covering(self, unit: Unit) -> Iterator[tuple[Any, float]]:
        return ((one.check, SECONDS + TIMES * one.seconds) for one in self.recorded if unit in one.units)

    def run(self, sites: Sequence[Site], jobs: int, progress: Callable[[int, Result], None]) -> list[Result]:
        results: dict[int, Result] = {}
        for number, (status, stage, check, seconds) in fork_each(
            len(sites), lambda number, reporter: self.examine(sites[number], reporter), jobs
        ):
            results[number] = Result(sites[number].mutation, status, stage, check, seconds)
            if status == "invalid":
                raise RuntimeError(f"this is no program: {results[number]}")
            progress(len(results), results[number])
        return [results[number] for number in sorted(results)]
