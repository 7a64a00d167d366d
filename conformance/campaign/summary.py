"""From the files of a campaign to what a run of the same cases in one process would have said."""

import json
import re
from collections import Counter
from typing import Any

import attrs

from tidegate.conformance.campaign.campaign import Campaign
from tidegate.conformance.campaign.outcome import STAGE, Finding, Outcome, decode_verdict
from tidegate.conformance.campaign.plan import Chunk
from tidegate.conformance.engines.base import Engine
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.expectations import Expectations
from tidegate.conformance.judging.result import Result
from tidegate.conformance.judging.run import conclude
from tidegate.conformance.judging.suite import wanted_of
from tidegate.conformance.judging.trial import Tally
from tidegate.conformance.judging.verdicts import VIOLATIONS, Status, Verdict
from tidegate.conformance.reports.summary import Summary, Told
from tidegate.properties.cases.drawing import draw_case


@attrs.define
class Reader:
    """Reads the outcomes of a campaign into a tally, in the order in which one process would have come to them."""

    campaign: Campaign
    tally: Tally
    restarts: int = 0
    busy: float = 0.0
    #: for each component, result and kind of failure the smallest: its size, and where it is
    smallest: dict[tuple[str, str, str], tuple[int, Chunk, str]] = attrs.Factory(dict)

    def read(self) -> None:
        listed = bool(self.tally.expectations.entries)
        for chunk in self.campaign.plan.chunks():
            outcome = self.campaign.folder.read(chunk, evidence=listed)
            if outcome is None:
                if not self.campaign.interrupted:
                    self.tally.counts[chunk.component, STAGE, Status.NOT_RUN] += chunk.cases
                continue
            self.take(outcome)
        if listed:
            self.take_listed_passes()
        self.tally.findings = [self.load(chunk, case) for _size, chunk, case in self.smallest.values()]

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
        """Whether the failure is a known one; then it is counted as such."""
        if not finding.evidence:
            return False
        verdict = decode_verdict(json.loads(finding.evidence))
        after = self.tally.expectations.apply(verdict)
        self.recount(chunk.component, verdict.status, after.status)
        return after.status is Status.XFAIL

    def take_listed_passes(self) -> None:
        """A case that is listed by its name, and of this campaign, and not found among the failures, has passed."""
        plan, expectations = self.campaign.plan, self.tally.expectations
        done = {chunk for chunk in plan.chunks() if self.campaign.folder.is_done(chunk)}
        for entry in expectations.entries:
            named = re.fullmatch(rf"(\w+)-{plan.seed}-(\d+)", entry.pattern)
            if named and entry.is_exact and not expectations.failed[entry]:
                component, index = named[1], int(named[2])
                if any(chunk.component == component and chunk.first <= index < chunk.stop for chunk in done):
                    verdict = Verdict(draw_case(component, plan.seed, index), STAGE, Status.PASS)
                    self.recount(component, Status.PASS, expectations.apply(verdict).status)

    def recount(self, component: str, before: Status, after: Status) -> None:
        self.tally.counts[component, STAGE, before] -= 1
        self.tally.counts[component, STAGE, after] += 1

    def load(self, chunk: Chunk, case: str) -> Verdict:
        outcome = self.campaign.folder.read(chunk, evidence=True)
        assert outcome is not None
        return next(decode_verdict(json.loads(one.evidence)) for one in outcome.findings if one.case == case)


@attrs.frozen
class Finished(Told):
    """The result of a campaign, and how it came about."""

    result: Result
    about: dict[str, Any]

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
    reader = Reader(campaign, Tally(expectations or Expectations()))
    reader.read()
    wanted = wanted_of(engine.start(), plan.components, floor)
    result = conclude(engine, plan.engine, reader.tally, wanted)
    complete = result.complete and not campaign.interrupted
    result = attrs.evolve(result, restarts=reader.restarts, seconds=seconds, complete=complete)
    ran = sum(chunk.cases for chunk in plan.chunks()) - sum(
        chunk.cases for chunk in (*campaign.resumed, *campaign.left)
    )
    about = {
        **plan.manifest(),
        "chunks": sum(1 for _chunk in plan.chunks()),
        "chunks_resumed": len(campaign.resumed),
        "chunks_left": len(campaign.left),
        "busy_seconds": round(reader.busy, 3),
        "cases_per_second": round(ran / seconds, 1) if seconds else 0.0,
    }
    return Finished(result, about)
