"""An audit in this process, or in several local processes: no Spark, no Java."""

from collections.abc import Iterator

from tidegate.conformance.audit.files import audit_files
from tidegate.conformance.audit.outcomes import Outcome
from tidegate.conformance.audit.planning import Work
from tidegate.conformance.audit.sources import Footer, LogFileError
from tidegate.properties.kernels.run import Wanted

#: Below this many rows, starting processes takes longer than the audit.
WORTH_A_PROCESS = 3_000_000


def audit_here(work: Work, wanted: Wanted, show: int = 0, workers: int | None = None) -> Iterator[Outcome]:
    workers = count_workers(work, workers)
    if workers <= 1:
        yield from (audit_files(run, wanted, show) for run in work.runs)
        return
    from concurrent.futures import as_completed  # noqa: PLC0415 - as long as a small audit
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

    from tidegate.conformance.workers import worker_pool  # noqa: PLC0415

    with worker_pool(workers) as pool:
        largest_first = sorted(work.runs, key=lambda run: -sum(one.rows for one in run))
        futures = {pool.submit(audit_files, run, wanted, show): run for run in largest_first}
        for future in as_completed(futures):
            run = futures[future]
            try:
                yield future.result()
            except BrokenProcessPool:
                # Some run has crashed its process, perhaps not this one: running it alone shows which.
                yield audit_alone(run, wanted, show)


def count_workers(work: Work, wanted: int | None) -> int:
    if work.rows < WORTH_A_PROCESS:
        return 1
    from tidegate.conformance.workers import cores  # noqa: PLC0415 - as long as a small audit

    return min(wanted or cores(), len(work.runs))


def audit_alone(run: list[Footer], wanted: Wanted, show: int) -> Outcome:
    """Audit a run in its own process, which may die."""
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

    from tidegate.conformance.workers import worker_pool  # noqa: PLC0415

    with worker_pool(1) as pool:
        try:
            return pool.submit(audit_files, run, wanted, show).result()
        except BrokenProcessPool:
            problem = str(LogFileError(run[0].path, "the process that read it died: killed, or out of memory"))
            return Outcome(run[0].run, tuple(one.path for one in run), problem=problem)
