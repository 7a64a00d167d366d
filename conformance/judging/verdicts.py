"""Verdicts: the result of a case, as a value with its evidence. They are never mixed."""

from collections.abc import Sequence
from enum import StrEnum
from itertools import chain
from typing import Any

import attrs

from tidegate.reference.model import Rejected
from tidegate.traces.cases import Case


class Status(StrEnum):
    """The result of a case; `xfail` and `xpass` are expected failures that occurred or did not."""

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


#: Unexpected results. A listed failure that occurred (xfail) is not one of them; one that did not occur (xpass) is.
VIOLATIONS = frozenset({Status.FAIL, Status.ERROR, Status.TIMEOUT, Status.CRASH, Status.XPASS})

#: Prefix of the message of an error about how an engine answers, not about what.
BROKEN = "the engine broke the protocol"

#: How many characters of a step's answer are kept as evidence.
EVIDENCE = 20_000

#: Statuses that leave the answer open.
UNDETERMINED = frozenset({Status.UNKNOWN, Status.NOT_RUN})


@attrs.frozen
class Allowed:
    """One answer that the specification allows at a step, and its rules."""

    observations: tuple[Any, ...]
    rules: tuple[str, ...]


@attrs.frozen
class Passed:
    """Everything shown is allowed."""


@attrs.frozen
class Violation:
    """What was seen at `step` is not allowed.

    `rules` are those of the allowed answers at that step. `trail` are the rules of earlier steps, latest
    first: an earlier mistake that did not show is among them. `oddity` is for observations that are allowed at each
    step, but whose distribution is wrong. `more` counts the observations beyond those in `seen`, too many or too long
    to keep.
    """

    step: int
    rules: tuple[str, ...]
    allowed: tuple[Allowed, ...]
    seen: tuple[Any, ...]
    trail: tuple[str, ...] = ()
    oddity: str = ""
    more: int = 0


@attrs.frozen
class Malformed:
    """What was shown at `step` is not an observation of the component at all."""

    step: int
    message: str


@attrs.frozen
class Verdict:
    """The result of a case in a stage. `violation` is set for a fail, `message` where words are needed."""

    case: Case
    stage: str
    status: Status
    violation: Violation | None = None
    message: str = ""
    stderr: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        return self.violation.rules if self.violation else ()

    @property
    def is_relation(self) -> bool:
        """Whether only its relation to another case fails, each of them being right in itself."""
        return self.status is Status.FAIL and self.violation is None

    @property
    def words(self) -> str:
        """The message; for a violation, the reason of the engine's wrong refusal."""
        seen = self.violation.seen if self.violation else ()
        reasons = (one.reason for one in seen if isinstance(one, Rejected) and one.reason)
        return self.message or "\n".join(reasons)


def keep_evidence(shown: Sequence[Any]) -> Sequence[Any]:
    """The beginning of what was shown, up to a limit."""
    room = EVIDENCE
    for index, raw in enumerate(shown):
        room = room_beside(raw, room)
        if room < 0:
            return shown[:index]
    return shown


def room_beside(raw: Any, room: int) -> int:
    """How many characters are left after this JSON; negative if it is too long itself."""
    if isinstance(raw, str):
        return room - len(raw)
    if isinstance(raw, dict):
        raw = chain.from_iterable(raw.items())
    elif not isinstance(raw, list):
        return room - 8
    for one in raw:
        room = room_beside(one, room - 2)
        if room < 0:
            break
    return room
