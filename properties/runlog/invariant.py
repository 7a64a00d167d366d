"""Invariants over run logs, and their findings."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from enum import StrEnum

import attrs

from tidegate.properties.runlog.attempts import View, see
from tidegate.traces.runlog import Channel, Direction, Job, Row, RunLog

#: How many rows of the same subtask are shown on either side of a violation.
AROUND = 3


@attrs.frozen
class Violation:
    """A violation: the wrong row, the message, and the rows around it.

    The position counts within the attempt.
    """

    invariant: str
    run: str
    channel: Channel
    position: int
    message: str
    around: tuple[Row, ...]
    attempt: int = 0


class Status(StrEnum):
    """A skipped invariant has not passed: the engine does not show what it needs.

    Nor has an undetermined one: the log has nothing to check.
    """

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    UNDETERMINED = "undetermined"


@attrs.frozen
class Verdict:
    invariant: str
    status: Status
    violations: tuple[Violation, ...] = ()
    reason: str = ""


#: A wrong row, and the message.
Finding = tuple[Row, str]


@attrs.frozen
class Invariant:
    """`find` yields the wrong rows of a log. `lacks` returns the reason to skip it for a job, or an empty text.

    `view`: the rows of a run with several attempts that it checks, as one log or several. `speaks_of`: whether a log
    has anything to check.
    """

    id: str
    statement: str
    find: Callable[[RunLog], Iterator[Finding]]
    lacks: Callable[[Job], str] = lambda _job: ""
    view: View = View.ATTEMPTS
    speaks_of: Callable[[RunLog], bool] = lambda _log: True

    def judge(self, log: RunLog) -> Verdict:
        lacking = self.lacks(log.job)
        if lacking:
            return Verdict(self.id, Status.SKIPPED, reason=lacking)
        if not self.speaks_of(log):
            return Verdict(self.id, Status.UNDETERMINED, reason="the log has nothing to check")
        violations = tuple(self.describe(log, row, message) for row, message in self.find_all(log))
        return Verdict(self.id, Status.FAILED if violations else Status.PASSED, violations)

    def find_all(self, log: RunLog) -> Iterator[Finding]:
        """The wrong rows in all attempts."""
        for piece in see(log, self.view):
            yield from self.find(piece)

    def describe(self, log: RunLog, row: Row, message: str) -> Violation:
        place = row.attempt, row.task, row.subtask
        mates = [one for one in log.rows if (one.attempt, one.task, one.subtask) == place]
        around = tuple(one for one in mates if abs(one.step - row.step) <= AROUND)
        return Violation(self.id, log.run, row.channel, row.position, message, around, row.attempt)


def needs(capability: str, shown: str = "") -> Callable[[Job], str]:
    """For `lacks`: requires this capability."""
    reason = f"the engine shows no {shown or capability}"
    return lambda job: "" if getattr(job.capabilities, capability) else reason


# --- a log, sorted --------------------------------------------------------------------------------------------


def by_side(log: RunLog) -> dict[tuple[Direction, Channel], list[Row]]:
    """The elements of each channel, per side."""
    sides: dict[tuple[Direction, Channel], list[Row]] = defaultdict(list)
    for row in log.rows:
        if row.flow is None:
            sides[row.dir, row.channel].append(row)
    return sides


def by_subtask(log: RunLog) -> dict[tuple[str, int], list[Row]]:
    subtasks: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in log.rows:
        subtasks[row.task, row.subtask].append(row)
    return subtasks


def channels_of(log: RunLog) -> list[Channel]:
    return list(dict.fromkeys(row.channel for row in log.rows))
