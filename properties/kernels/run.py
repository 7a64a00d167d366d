"""All kernels over one run, chunk by chunk, in memory that is independent of its length."""

from collections.abc import Callable, Iterable

import attrs
import numpy as np

from tidegate.properties.kernels.attempts import Attempts, Recounted, join
from tidegate.properties.kernels.columns import Chunk
from tidegate.properties.kernels.disagreement import Identity
from tidegate.properties.kernels.findings import MOST, Finding, Tally
from tidegate.properties.kernels.halves import ChannelHalf, SecondLook, SubtaskHalf
from tidegate.properties.kernels.layout import Layout
from tidegate.properties.kernels.numbering import Numbering
from tidegate.properties.kernels.results import Results
from tidegate.properties.kernels.trail import Notes, Trail
from tidegate.properties.runlog import INVARIANTS
from tidegate.properties.runlog.attempts import View
from tidegate.traces.runlog import OWN, Direction, Job, Kind

NAMES = frozenset(one.id for one in INVARIANTS)


@attrs.frozen
class Wanted:
    """The invariants to check, and the number of messages per invariant."""

    invariants: frozenset[str] = NAMES
    most: int = MOST


def make_tallies(job: Job, wanted: Wanted) -> dict[str, Tally]:
    """A tally for each requested invariant that the engine can show."""
    return {one.id: Tally(most=wanted.most) for one in INVARIANTS if one.id in wanted.invariants and not one.lacks(job)}


def find_skipped(job: Job, wanted: Wanted) -> dict[str, str]:
    """The other requested invariants, and why they are skipped."""
    lacking = {one.id: one.lacks(job) for one in INVARIANTS if one.id in wanted.invariants}
    return {invariant: lack for invariant, lack in lacking.items() if lack}


@attrs.define
class RunKernels:
    """Both halves over the rows of a run in the order of its log."""

    numbering: Numbering
    tallies: dict[str, Tally]
    trail: Trail = attrs.Factory(Trail)
    subtasks: SubtaskHalf = attrs.field(init=False)
    channels: ChannelHalf = attrs.field(init=False)
    results: Results | None = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.subtasks = SubtaskHalf(self.numbering, self.tallies)
        self.channels = ChannelHalf(self.numbering, self.tallies)
        expected = self.tallies.get("LOG-RESULT")
        self.results = None if expected is None else Results(self.numbering, expected)

    def feed(self, chunk: Chunk) -> None:
        steps, late = self.subtasks.feed(chunk)
        rows = self.channels.feed(chunk, late)
        if self.results is not None:
            self.results.feed(chunk)
        self.trail.note(
            Notes(steps.subtasks, self.subtasks.steps.following[steps.subtasks]),
            Notes(rows.codes, self.channels.positions.following[rows.codes]),
        )

    def finish(self, *, complete: bool) -> dict[int, set[Identity]]:
        self.subtasks.finish()
        if self.results is not None:
            self.results.finish(complete=complete)
        return self.channels.finish(complete=complete)


@attrs.frozen
class Audited:
    """A tally for each invariant, and the places of rows among the chunks."""

    tallies: dict[str, Tally]
    numbering: Numbering
    trail: Trail

    def find_chunks(self, finding: Finding, distances: Iterable[int]) -> list[list[int]] | None:
        """Per distance, the chunks with rows that near a finding; None if unknown."""
        layout = self.numbering.layout
        edge, producer, consumer = finding.channel
        if edge == OWN:
            return None
        index = layout.edge_index[edge]
        is_at_target = (finding.direction is Direction.IN) is not (finding.kind is Kind.CREDIT)
        first = int(layout.task_of_end[index, int(is_at_target)])
        subtask = np.array([first + (consumer if is_at_target else producer)])
        channel = np.array([layout.code_of(finding.channel)])
        return self.trail.find(
            int(self.numbering.find_subtasks(subtask)[0]),
            finding.step,
            int(self.numbering.number_channels(channel)[0]),
            finding.position,
            distances,
        )


def audit_run(
    job: Job, chunks: Callable[[Numbering], Iterable[Chunk]], *, complete: bool, wanted: Wanted | None = None
) -> Audited:
    """Check a run with every invariant that the engine can show. `chunks` may be called twice."""
    numbering = Numbering(Layout(job))
    tallies = make_tallies(job, wanted or Wanted())
    if job.restored:
        rows = join(chunks(numbering))
        if rows is not None:
            audit_attempts(Attempts(numbering, rows), tallies, complete=complete)
        return Audited(tallies, numbering, Trail(is_lost=True))
    return Audited(tallies, numbering, look(numbering, tallies, lambda: chunks(numbering), complete=complete))


def look(
    numbering: Numbering, tallies: dict[str, Tally], chunks: Callable[[], Iterable[Chunk]], *, complete: bool
) -> Trail:
    """Pass the chunks to all kernels, to some of them twice."""
    kernels = RunKernels(numbering, tallies)
    for chunk in chunks():
        kernels.feed(chunk)
    unclear = kernels.finish(complete=complete)
    if unclear and "LOG-ORDER" in tallies:
        second = SecondLook(numbering, tallies["LOG-ORDER"], unclear)
        for chunk in chunks():
            second.feed(chunk)
        second.finish()
    return kernels.trail


def audit_attempts(run: Attempts, tallies: dict[str, Tally], *, complete: bool) -> None:
    """Each invariant gets the rows of its view."""

    def look_at(view: View, attempt: int, piece: Chunk, counted: Recounted | None = None) -> None:
        chosen = {one.id for one in INVARIANTS if one.view is view and one.id in tallies}
        found = {name: Tally(most=tallies[name].most) for name in chosen}
        look(run.numbering, found, lambda: [piece], complete=complete and attempt == run.last)
        for name, tally in found.items():
            if counted is None:
                tally.findings = [attrs.evolve(one, attempt=attempt) for one in tally.findings]
            else:
                tally.findings = [counted.restore(one, run.numbering) for one in tally.findings]
            tallies[name].merge(tally)

    for attempt, piece in run.each():
        look_at(View.ATTEMPTS, attempt, piece)
    for attempt, kept in run.each_kept():
        look_at(View.KEPT, attempt, kept.chunk, kept)
    spliced = run.spliced()
    look_at(View.SPLICED, run.last, spliced.chunk, spliced)
    if "LOG-RESULT" in tallies:
        results = Results(run.numbering, tallies["LOG-RESULT"])
        results.feed(run.chunk)
        results.finish(complete=complete)
    if "LOG-RECOVER" in tallies:
        run.find_wrong_restores(tallies["LOG-RECOVER"])
