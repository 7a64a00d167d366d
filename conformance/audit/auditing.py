"""The audit as a library call: takes run logs, returns a report; in this process or on Spark."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from os import PathLike, fspath
from typing import Any, Literal

import attrs

from tidegate.conformance.audit.excerpts import DISTANCES, Excerpt, Search, make_excerpts
from tidegate.conformance.audit.local import audit_here
from tidegate.conformance.audit.outcomes import NAMES, Outcome, Report
from tidegate.conformance.audit.planning import SHUFFLE, Work, plan
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.properties.kernels.findings import MOST
from tidegate.properties.kernels.run import Wanted

#: `files`: one worker per run; `shuffle`: rows go to the worker of their channel; `auto`: chosen by the files.
Path = Literal["auto", "files", "shuffle"]


class UnknownInvariantError(ValueError):
    """The requested invariant does not exist."""


def check_names(_options: "Options", _field: object, names: frozenset[str]) -> None:
    for name in names:
        if name not in NAMES:
            raise UnknownInvariantError(f"no invariant {name!r}; there are {', '.join(NAMES)}")


@attrs.frozen
class Options:
    """How to audit.

    `only`: these invariants. `spark`: the Spark master, None for no Spark. `most`: violations listed per run and
    invariant. `show`: excerpts per invariant. `workers`: processes of an audit without Spark, None for one per core.
    """

    only: frozenset[str] = attrs.field(default=frozenset(NAMES), validator=check_names)
    spark: str | None = None
    path: Path = "auto"
    most: int = MOST
    show: int = 3
    workers: int | None = None


def ignore(_outcome: Outcome, _runs: int) -> None:
    """Nobody watches."""


def audit(
    paths: Iterable[str | PathLike[str]],
    options: Options = Options(),  # noqa: B008 - a frozen value
    observe: Callable[[Outcome, int], None] = ignore,
) -> Report:
    """Check run logs (Parquet files, folders or URLs) against the invariants.

    A file that cannot be audited is a problem in the report, and does not affect others. `observe` is called for each
    finished run, with the number of runs. Raises CannotStartError if Spark is requested and cannot start.
    """
    work = plan([fspath(one) for one in paths])
    chosen = work.path if options.path == "auto" else options.path
    outcomes = []
    for outcome in audit_runs(options, work, chosen):
        outcomes.append(outcome)
        observe(outcome, len(work.runs))
    outcomes.sort(key=lambda one: one.paths)
    excerpts = find_excerpts(options, work, outcomes)
    return Report((*outcomes, *work.refused), "local" if options.spark is None else chosen, tuple(excerpts))


def audit_runs(options: Options, work: Work, path: str) -> Iterator[Outcome]:
    if not work.runs:
        return
    wanted = Wanted(options.only, options.most)
    if options.spark is None:
        yield from audit_here(work, wanted, options.show, options.workers)
        return
    # Imported only for Spark.
    from tidegate.conformance.audit.on_spark import audit_by_files  # noqa: PLC0415
    from tidegate.conformance.audit.shuffle import audit_by_channel  # noqa: PLC0415
    from tidegate.conformance.engines.spark.session import borrow_session  # noqa: PLC0415

    audit_all = audit_by_channel if path == SHUFFLE else audit_by_files
    with borrow_session(options.spark, "tidegate audit") as session, telling_failures():
        yield from audit_all(session, work, wanted, options.show)


@contextmanager
def telling_failures() -> Iterator[None]:
    """A failed Spark job is not a problem of a file: raise an error instead of reporting one."""
    from tidegate.conformance.campaign.pool import explain  # noqa: PLC0415

    py4j: Any = import_module("py4j.protocol")
    errors: Any = import_module("pyspark.errors")
    try:
        yield
    except (errors.PySparkException, py4j.Py4JError) as error:
        java = getattr(error, "java_exception", None)
        cause = explain(str(java.getMessage() if java else error))
        raise CannotStartError(f"Spark did not finish the audit: {cause}", "--local does without Spark") from error


def find_excerpts(options: Options, work: Work, outcomes: list[Outcome]) -> list[Excerpt]:
    """Excerpts of the first violations of each invariant, in the order of the table."""
    runs = {run[0].run: run for run in work.runs}
    unknown = (None,) * len(DISTANCES)
    searches: list[Search] = []
    for name in NAMES:
        found = []
        for outcome in (one for one in outcomes if name in one.tallies):
            findings = outcome.tallies[name].findings[: options.show]
            near = outcome.near.get(name, [unknown] * len(findings))
            found += [Search(runs[outcome.run], *one) for one in zip(findings, near, strict=True)]
        searches += found[: options.show]
    return make_excerpts(searches)
