"""The invariants over run logs in bulk: numpy kernels that take a log chunk by chunk, in memory that does not grow.

The folds of `tidegate.properties.runlog` are the text of record; a kernel finds what its fold finds.
"""

from collections.abc import Callable, Iterable

from tidegate.properties.kernels.columns import Chunk, make_chunk
from tidegate.properties.kernels.findings import MOST, Finding, Tally
from tidegate.properties.kernels.layout import Layout
from tidegate.properties.kernels.matching import OutgrownError
from tidegate.properties.kernels.run import RunKernels, SecondLook, make_tallies, skipped
from tidegate.traces.runlog import Job

__all__ = ["Chunk", "Finding", "Layout", "OutgrownError", "Tally", "audit_run", "make_chunk", "skipped"]


def audit_run(
    job: Job, chunks: Callable[[Layout], Iterable[Chunk]], *, complete: bool, most: int = MOST
) -> dict[str, Tally]:
    """What every invariant that the engine can show says of a run. `chunks` may be asked for a second time."""
    layout = Layout(job)
    tallies = make_tallies(layout, most)
    kernels = RunKernels(layout, complete, tallies)
    for chunk in chunks(layout):
        kernels.feed(chunk)
    unclear = kernels.finish()
    if unclear:
        second = SecondLook(layout, tallies, unclear)
        for chunk in chunks(layout):
            second.feed(chunk)
        second.finish()
    return tallies
