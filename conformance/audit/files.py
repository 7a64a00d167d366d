"""Audits a run in one worker: reads its files batch by batch; the kernels see every batch once."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tidegate.conformance.audit.excerpts import DISTANCES
from tidegate.conformance.audit.outcomes import Near, Outcome
from tidegate.conformance.audit.reading import BATCH, Span, read_run
from tidegate.conformance.audit.sources import Footer, LogFileError
from tidegate.properties.kernels.columns import Chunk, make_chunk
from tidegate.properties.kernels.findings import Finding
from tidegate.properties.kernels.numbering import Numbering, OutgrownError
from tidegate.properties.kernels.run import Audited, Wanted, audit_run, find_skipped
from tidegate.traces.runlog import MalformedLogError


def read_chunks(batches: Iterable[tuple[Span, Any]], numbering: Numbering, spans: list[Span]) -> Iterator[Chunk]:
    """`spans` records the place of each chunk."""
    for span, batch in batches:
        try:
            chunk = make_chunk(batch, numbering)
        except MalformedLogError as error:
            raise LogFileError(span.path, str(error)) from error
        spans.append(span)
        yield chunk


def audit_files(footers: Sequence[Footer], wanted: Wanted, show: int = 0, size: int = BATCH) -> Outcome:
    """Audit one run. Errors in its files only affect this run. `show`: see locate."""
    outcome = Outcome(footers[0].run, tuple(one.path for one in footers))
    spans: list[Span] = []
    size = max(size // len(footers), 2**14)

    def chunks(numbering: Numbering) -> Iterator[Chunk]:
        spans.clear()
        return read_chunks(read_run(footers, size), numbering, spans)

    with guarded(outcome, footers, spans):
        complete = all(one.complete for one in footers)
        audited = audit_run(footers[0].job, chunks, complete=complete, wanted=wanted)
        outcome.tallies = audited.tallies
        outcome.skipped = find_skipped(footers[0].job, wanted)
        outcome.rows = sum(one.rows for one in footers)
        outcome.near = locate(audited, spans, show)
    return outcome


@contextmanager
def guarded(outcome: Outcome, footers: Sequence[Footer], spans: list[Span]) -> Iterator[None]:
    """Turn any error into a problem of this run. `spans`: what was read so far."""

    def blame(text: str) -> str:
        return str(LogFileError(spans[-1].path if spans else footers[0].path, text))

    try:
        yield
    except LogFileError as error:
        outcome.problem = str(error)
    except MalformedLogError as error:
        outcome.problem = blame(str(error))
    except OutgrownError as error:
        outcome.problem = blame(f"{error}: audit it with --path shuffle")
    except Exception as error:
        if os.environ.get("TIDEGATE_DEBUG"):
            raise
        text = f"cannot be audited: {type(error).__name__}: {error} (set TIDEGATE_DEBUG=1 to see where)"
        outcome.problem = blame(text)


def locate(audited: Audited, spans: list[Span], show: int) -> dict[str, list[Near]]:
    """The file ranges around the first findings of each invariant."""
    return {
        name: [find_spans(audited, spans, finding) for finding in findings]
        for name, findings in ((name, tally.findings[:show]) for name, tally in audited.tallies.items())
        if findings
    }


def find_spans(audited: Audited, spans: list[Span], finding: Finding) -> Near:
    near = audited.find_chunks(finding, DISTANCES)
    return (None,) * len(DISTANCES) if near is None else tuple(tuple(spans[chunk] for chunk in one) for one in near)


def by_run(footers: Iterable[Footer]) -> list[list[Footer]]:
    runs: dict[str, list[Footer]] = {}
    for footer in footers:
        runs.setdefault(footer.run, []).append(footer)
    return list(runs.values())
