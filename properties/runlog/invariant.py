"""What an invariant over run logs is, and what it finds."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from enum import StrEnum

import attrs

from tidegate.traces.runlog import Capabilities, Channel, Direction, Row, RunLog

#: How many rows of the same subtask are shown on either side of a violation.
AROUND = 3


@attrs.frozen
class Violation:
    """Where an invariant does not hold: the row at which it shows, in words, and the rows around it."""

    invariant: str
    run: str
    channel: Channel
    position: int
    message: str
    around: tuple[Row, ...]


class Status(StrEnum):
    """A skipped invariant is not a passed one: the engine cannot show what it speaks of."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@attrs.frozen
class Verdict:
    invariant: str
    status: Status
    violations: tuple[Violation, ...] = ()
    reason: str = ""


#: A row at which something is wrong, and what.
Finding = tuple[Row, str]


@attrs.frozen
class Invariant:
    """`find` gives what is wrong in a log. `lacks` says what an engine would have to show first, or nothing."""

    id: str
    statement: str
    find: Callable[[RunLog], Iterator[Finding]]
    lacks: Callable[[Capabilities], str] = lambda _capabilities: ""

    def judge(self, log: RunLog) -> Verdict:
        lacking = self.lacks(log.job.capabilities)
        if lacking:
            return Verdict(self.id, Status.SKIPPED, reason=f"the engine shows no {lacking}")
        violations = tuple(self.describe(log, row, message) for row, message in self.find(log))
        return Verdict(self.id, Status.FAILED if violations else Status.PASSED, violations)

    def describe(self, log: RunLog, row: Row, message: str) -> Violation:
        mates = [one for one in log.rows if (one.task, one.subtask) == (row.task, row.subtask)]
        around = tuple(one for one in mates if abs(one.step - row.step) <= AROUND)
        return Violation(self.id, log.run, row.channel, row.position, message, around)


# --- a log, sorted --------------------------------------------------------------------------------------------


def by_side(log: RunLog) -> dict[tuple[Direction, Channel], list[Row]]:
    """The elements of each channel as each of its sides saw them."""
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
