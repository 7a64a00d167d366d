"""Verdicts: what became of a case, as a value with its evidence. They are never mixed."""

from collections.abc import Sequence
from enum import StrEnum
from itertools import chain
from typing import Any

import attrs

from tidegate.reference.model import Rejected
from tidegate.traces.cases import Case


class Status(StrEnum):
    """What became of a case; `xfail` and `xpass` are failures that were expected, and came or did not."""

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

#: What the message of an error begins with that is about how an engine answers, and not about what.
BROKEN = "the engine broke the protocol"

#: Characters of what an engine showed at a step that are kept as evidence.
EVIDENCE = 20_000

#: What leaves the answer open.
UNDETERMINED = frozenset({Status.UNKNOWN, Status.NOT_RUN})


@attrs.frozen
class Allowed:
    """One answer that the specification allows at a step, and the rules that say so."""

    observations: tuple[Any, ...]
    rules: tuple[str, ...]


@attrs.frozen
class Passed:
    """Everything shown is allowed."""


@attrs.frozen
class Violation:
    """What was seen at `step` is not allowed.

    `rules` are those of the allowed answers at that step; `trail` are the rules of the steps before it, the latest
    first: what an engine got wrong without showing it is among them. `oddity` is for what is allowed at each step, but
    not spread as it must be over all of them. `more` observations were seen besides those in `seen`, and are too many
    or too long to keep.
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
    """What was shown at `step` is no observation of the component at all."""

    step: int
    message: str


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

    @property
    def is_relation(self) -> bool:
        """Whether it fails by what it is beside another case, each of them being right for itself."""
        return self.status is Status.FAIL and self.violation is None

    @property
    def words(self) -> str:
        """The message; of a violation, why the engine refused what it should not have."""
        seen = self.violation.seen if self.violation else ()
        reasons = (one.reason for one in seen if isinstance(one, Rejected) and one.reason)
        return self.message or "\n".join(reasons)


def keep_evidence(shown: Sequence[Any]) -> Sequence[Any]:
    """As much of what was shown as is worth keeping: its beginning."""
    room = EVIDENCE
    for index, raw in enumerate(shown):
        room = room_beside(raw, room)
        if room < 0:
            return shown[:index]
    return shown


def room_beside(raw: Any, room: int) -> int:
    """How many more characters there is room for beside this JSON; less than none if it takes too many itself."""
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
