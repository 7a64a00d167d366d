"""Invariants over run logs: they hold for every run of every job on any engine."""

from tidegate.properties.runlog.invariant import Invariant, Status, Verdict, Violation
from tidegate.properties.runlog.of_channels import END, LOSS, ORDER, STATUS, WATERMARK
from tidegate.properties.runlog.of_runs import RECOVER, RESULT
from tidegate.properties.runlog.of_subtasks import BARRIER, CREDIT, LATE, MADE_LATE
from tidegate.properties.runlog.routing import ROUTE
from tidegate.traces.runlog import RunLog, check_numbers, check_places

__all__ = ["INVARIANTS", "Invariant", "Status", "Verdict", "Violation", "check"]

INVARIANTS: tuple[Invariant, ...] = (
    WATERMARK, ORDER, LOSS, ROUTE, CREDIT, LATE, MADE_LATE, STATUS, END, BARRIER, RESULT, RECOVER
)  # fmt: skip


def check(log: RunLog, invariants: tuple[Invariant, ...] = INVARIANTS) -> tuple[Verdict, ...]:
    """A verdict for each invariant. A malformed log is refused."""
    check_places(log)
    check_numbers(log)
    return tuple(invariant.judge(log) for invariant in invariants)
