"""An audit in this process, or in a few of its kind: no Spark, no Java."""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from tidegate.conformance.audit.files import audit_files
from tidegate.conformance.audit.outcomes import Outcome, from_json, to_json
from tidegate.conformance.audit.planning import Work
from tidegate.conformance.audit.sources import Footer

#: With fewer rows than this, starting processes takes longer than the audit.
WORTH_A_PROCESS = 3_000_000


def audit_here(work: Work, most: int, workers: int | None = None) -> Iterator[Outcome]:
    workers = min(workers or os.cpu_count() or 1, len(work.runs))
    if workers <= 1 or work.rows < WORTH_A_PROCESS:
        yield from (audit_files(run, most) for run in work.runs)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        largest_first = sorted(work.runs, key=lambda run: -sum(one.rows for one in run))
        for future in as_completed([pool.submit(audit_for_another, run, most) for run in largest_first]):
            yield from_json(future.result())


def audit_for_another(run: list[Footer], most: int) -> str:
    return to_json(audit_files(run, most))
