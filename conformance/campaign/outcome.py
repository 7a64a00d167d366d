"""The outcome of a chunk: counts, coverage, and the evidence of every case that did not pass."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import attrs

from tidegate.conformance.campaign.plan import Chunk
from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.judge_fast import Exercised
from tidegate.conformance.judging.shrink import kind_of_failure, size_of
from tidegate.conformance.judging.verdicts import Allowed, Status, Verdict, Violation
from tidegate.traces.codec import decode_case, decode_observation, encode, encode_case

STAGE = "generated"
#: Bytes of evidence that a chunk keeps.
MOST_EVIDENCE = 32 * 1024 * 1024


@attrs.frozen
class Finding:
    """A case that did not pass. `kind` and `size` choose what to shrink; `evidence` is the whole verdict."""

    case: str
    result: str
    kind: str
    size: int
    rules: tuple[str, ...]
    message: str
    evidence: str


@attrs.frozen
class Outcome:
    """`trouble` says why cases did not run; they may run later."""

    chunk: Chunk
    results: Mapping[str, int]
    exercised: Exercised
    findings: tuple[Finding, ...] = ()
    seconds: float = 0.0
    restarts: int = 0
    worker: str = ""
    trouble: str = ""

    @property
    def is_finished(self) -> bool:
        return not self.results.get(Status.NOT_RUN)

    @property
    def is_lost(self) -> bool:
        """Whether no case ran: perhaps the worker is at fault, and another one can run the chunk."""
        return set(self.results) == {Status.NOT_RUN}


@attrs.define
class Findings:
    """The findings of a chunk in bounded memory: beyond a limit only the smallest of each kind keeps its evidence."""

    kept: list[Finding] = attrs.Factory(list)
    _bytes: int = 0
    _smallest: dict[tuple[str, str], int] = attrs.Factory(dict)

    def add(self, finding: Finding) -> None:
        kind, weight = (finding.result, finding.kind), len(finding.evidence) + len(finding.message)
        if self._bytes + weight > MOST_EVIDENCE and finding.size >= self._smallest.get(kind, finding.size + 1):
            self.kept.append(attrs.evolve(finding, evidence="", message=printable(finding.message, 100)))
            return
        self._bytes += weight
        self._smallest[kind] = min(finding.size, self._smallest.get(kind, finding.size))
        self.kept.append(finding)


def not_run(chunk: Chunk, trouble: str, worker: str = "") -> Outcome:
    return Outcome(chunk, {str(Status.NOT_RUN): chunk.cases}, Counter(), worker=worker, trouble=trouble)


def find(verdict: Verdict) -> Finding:
    return Finding(
        case=verdict.case.name,
        result=str(verdict.status),
        kind=kind_of_failure(verdict),
        size=size_of(verdict),
        rules=verdict.rules,
        message=verdict.words,
        evidence=json.dumps(encode_verdict(verdict), separators=(",", ":")),
    )


def encode_verdict(verdict: Verdict) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        "case": encode_case(verdict.case),
        "result": str(verdict.status),
        "message": verdict.message,
        "stderr": list(verdict.stderr),
    }
    violation = verdict.violation
    if violation is not None:
        allowed = [
            {"observations": list(map(encode, one.observations)), "rules": one.rules} for one in violation.allowed
        ]
        encoded["violation"] = {
            "step": violation.step,
            "rules": violation.rules,
            "allowed": allowed,
            "seen": list(map(encode, violation.seen)),
            "trail": violation.trail,
            "more": violation.more,
        }
    return encoded


def decode_verdict(encoded: Mapping[str, Any]) -> Verdict:
    case = decode_case(encoded["case"])

    def observations(raw: list[Any]) -> tuple[Any, ...]:
        return tuple(decode_observation(one, case.component) for one in raw)

    violation = None
    if (shown := encoded.get("violation")) is not None:
        allowed = [Allowed(observations(one["observations"]), tuple(one["rules"])) for one in shown["allowed"]]
        seen, trail = observations(shown["seen"]), tuple(shown["trail"])
        more = shown.get("more", 0)
        violation = Violation(shown["step"], tuple(shown["rules"]), tuple(allowed), seen, trail, more=more)
    result, stderr = Status(encoded["result"]), tuple(encoded["stderr"])
    return Verdict(case, STAGE, result, violation, encoded["message"], stderr)
