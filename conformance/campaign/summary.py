"""Reads the files of a campaign into the result that a run of the same cases in one process would have."""

import json
import re
from collections import Counter
from contextlib import suppress
from typing import Any

import attrs

from tidegate.conformance.campaign.campaign import Campaign
from tidegate.conformance.campaign.folder import DamagedChunkError
from tidegate.conformance.campaign.outcome import STAGE, Finding, Outcome, decode_verdict
from tidegate.conformance.campaign.plan import Chunk
from tidegate.conformance.engines.base import Engine
from tidegate.conformance.engines.text import printable
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.expectations import Expectations
from tidegate.conformance.judging.result import Result
from tidegate.conformance.judging.run import conclude
from tidegate.conformance.judging.suite import wanted_of
from tidegate.conformance.judging.trial import Runner, Tally
from tidegate.conformance.judging.verdicts import VIOLATIONS, Status, Verdict
from tidegate.conformance.reports.summary import Summary, Told

#: Rejected files that are named one by one; the rest is counted.
MOST_NAMED = 20


@attrs.define
class Reader:
    """Reads the outcomes of a campaign into a tally, in the order of a single process."""

    campaign: Campaign
    tally: Tally
    engine: Engine
    restarts: int = 0
    busy: float = 0.0
    #: per component, result and kind of failure the smallest finding: its size, and where it is
    smallest: dict[tuple[str, str, str], tuple[int, Chunk, str]] = attrs.Factory(dict)
    done: set[Chunk] = attrs.Factory(set)

    def read(self) -> None:
        plan = self.campaign.plan
        unknown = Counter(dict.fromkeys(plan.components, plan.cases))
        for chunk in self.campaign.folder.chunks_here(plan, open_too=True, strangers=[]):
            try:
                outcome = self.campaign.folder.read(chunk, plan)
            except DamagedChunkError as error:
                self.campaign.damaged.append(f"{error}; it is not counted")
                continue
            self.take(outcome)
            unknown[chunk.component] -= chunk.cases
            if outcome.is_finished:
                self.done.add(chunk)
        if not self.campaign.interrupted:
            for component, cases in (+unknown).items():
                self.tally.counts[component, STAGE, Status.NOT_RUN] += cases
        self.take_listed_passes()
        self.tally.findings.kept = [self.load(chunk, case) for _size, chunk, case in self.smallest.values()]

    def take(self, outcome: Outcome) -> None:
        component = outcome.chunk.component
        counts = Counter({(component, STAGE, Status(result)): count for result, count in outcome.results.items()})
        self.tally.add(Tally(counts=counts, exercised=outcome.exercised))
        self.restarts += outcome.restarts
        self.busy += outcome.seconds
        for finding in outcome.findings:
            if not self.is_listed(outcome.chunk, finding) and Status(finding.result) in VIOLATIONS:
                kind = (component, finding.result, finding.kind)
                if kind not in self.smallest or finding.size < self.smallest[kind][0]:
                    self.smallest[kind] = (finding.size, outcome.chunk, finding.case)

    def is_listed(self, chunk: Chunk, finding: Finding) -> bool:
        """Whether the failure is a known one; if so, count it."""
        before = Status(finding.result)
        after, _ = self.tally.expectations.judge(finding.case, before, finding.rules, finding.message)
        self.recount(chunk.component, before, after)
        return after is Status.XFAIL

    def take_listed_passes(self) -> None:
        """A case of this campaign that is listed by name and is not among the failures has passed."""
        plan, expectations = self.campaign.plan, self.tally.expectations
        for entry in expectations.entries:
            named = re.fullmatch(rf"(\w+)-{plan.seed}-(\d{{1,18}})", entry.pattern)
            if named and entry.is_exact and not expectations.failed[entry]:
                component, index = named[1], int(named[2])
                if index < plan.cases and plan.chunk_at(component, index) in self.done:
                    self.recount(component, Status.PASS, expectations.judge(entry.pattern, Status.PASS, ())[0])

    def recount(self, component: str, before: Status, after: Status) -> None:
        self.tally.counts[component, STAGE, before] -= 1
        self.tally.counts[component, STAGE, after] += 1

    def load(self, chunk: Chunk, case: str) -> Verdict:
        """The kept verdict; if there is none, the engine's answer now."""
        plan, said = self.campaign.plan, "evidence that is gone"
        with suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
            outcome = self.campaign.folder.read(chunk, plan, evidence=True)
            (found,) = (one for one in outcome.findings if one.case == case)
            said = found.message
            shown = decode_verdict(json.loads(found.evidence))
            if shown.case.name == case:
                return shown
        asked = Runner(self.engine).run_one(plan.draw(chunk.component, int(case.rpartition("-")[2])), STAGE)
        if asked.status in VIOLATIONS:
            return asked
        return Verdict(asked.case, STAGE, Status.ERROR, message=f"did not fail again when replayed: {said}")


@attrs.frozen
class Finished(Told):
    """The result of a campaign, and how it was run."""

    result: Result
    about: dict[str, Any]
    #: Which part of the summary could not be written, and why.
    trouble: str = ""

    @property
    def exit_code(self) -> Exit:
        return self.result.exit_code

    def summary(self) -> Summary:
        return self.result.summary()

    def json(self) -> dict[str, Any]:
        return {**self.result.json(), "campaign": self.about}


def summarize(
    campaign: Campaign, engine: Engine, seconds: float, expectations: Expectations | None = None, floor: int = 1
) -> Finished:
    """Add it all up, and shrink the counterexamples on this engine."""
    plan = campaign.plan
    reader = Reader(campaign, Tally(expectations or Expectations()), engine)
    reader.read()
    wanted = wanted_of(engine.start(), plan.components, floor)
    result = conclude(engine, plan.engine, reader.tally, wanted)
    complete = result.complete and not campaign.interrupted
    result = attrs.evolve(result, restarts=reader.restarts, seconds=seconds, complete=complete)
    about = {
        **plan.manifest(),
        "chunks": plan.all_chunks,
        "chunks_resumed": len(campaign.resumed),
        "chunks_left": plan.all_chunks - len(campaign.resumed) - campaign.ran,
        "damaged": [printable(line) for line in campaign.damaged[:MOST_NAMED]],
        "chunks_damaged": len(campaign.damaged),
        "busy_seconds": round(reader.busy, 3),
        "cases_per_second": round(campaign.ran_cases / seconds, 1) if seconds else 0.0,
    }
    return Finished(result, about)
