"""Verdicts: what became of a case, as a value with its evidence. They are never mixed."""

from enum import StrEnum
from typing import Any

import attrs

from tidegate.conformance.engines.base import Broken, Crashed, NotRun, Refused, Reply, Steps, TimedOut
from tidegate.conformance.judging.judge import Judge, Malformed, Violation, expected_rules
from tidegate.traces.cases import Case


class Status(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    SKIP = "skip"
    ERROR = "error"
    TIMEOUT = "timeout"
    CRASH = "crash"
    UNKNOWN = "unknown"
    NOT_RUN = "not run"
    XFAIL = "xfail"
    XPASS = "xpass"


#: What the engine did wrong. A listed failure that came (xfail) is none of them, one that did not come (xpass) is.
VIOLATIONS = frozenset({Status.FAIL, Status.ERROR, Status.TIMEOUT, Status.CRASH, Status.XPASS})

#: What leaves the answer open.
UNDETERMINED = frozenset({Status.UNKNOWN, Status.NOT_RUN})


@attrs.frozen
class Verdict:
    """What became of a case of a stage. `violation` is there for a fail, `message` where words are needed."""

    case: Case
    stage: str
    status: Status
    violation: Violation | None = None
    message: str = ""
    stderr: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        return self.violation.rules if self.violation else ()


def reach(judge: Judge, case: Case, stage: str, reply: Reply) -> Verdict:
    """The verdict on a reply."""
    if isinstance(reply, Steps):
        return judge_steps(judge, case, stage, reply.steps)
    if isinstance(reply, Refused):
        return Verdict(case, stage, Status.ERROR, message=f"the engine answered {reply.kind}: {reply.message}")
    if isinstance(reply, Broken):
        message = f"the engine broke the protocol: {reply.message}"
        return Verdict(case, stage, Status.ERROR, message=message, stderr=reply.stderr)
    if isinstance(reply, TimedOut):
        return Verdict(case, stage, Status.TIMEOUT, message=f"no answer in {reply.seconds:g} s", stderr=reply.stderr)
    if isinstance(reply, Crashed):
        return Verdict(case, stage, Status.CRASH, message=reply.message, stderr=reply.stderr)
    assert isinstance(reply, NotRun)
    return Verdict(case, stage, Status.NOT_RUN, message=reply.reason)


def judge_steps(judge: Judge, case: Case, stage: str, steps: list[list[Any]]) -> Verdict:
    judgement = judge.judge(case, steps)
    if isinstance(judgement, Violation):
        return Verdict(case, stage, Status.FAIL, judgement)
    if isinstance(judgement, Malformed):
        message = f"the engine broke the protocol: step {judgement.step}: {judgement.message}"
        return Verdict(case, stage, Status.ERROR, message=message)
    return Verdict(case, stage, Status.PASS)


def suspects(verdict: Verdict) -> tuple[str, ...]:
    """The rules that the engine seems to break: those of the step that failed.

    A case that was not answered at all has no such step; once it is shrunken, its last event is to blame.
    """
    if verdict.violation is not None or not verdict.case.events:
        return verdict.rules
    return expected_rules(verdict.case)[-1]
