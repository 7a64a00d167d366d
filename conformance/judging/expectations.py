"""Known failures: a file that lists what an engine is known to get wrong, and why.

One entry per line: `case PATTERN -- reason` or `rule ID -- reason`, patterns as in a shell. A listed failure is an
xfail. A listed entry that no failure needed is wrong itself: either the engine was mended, or the name is stale.
"""

import re
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

import attrs

from tidegate.conformance.judging.verdicts import Status, Verdict

ENTRY = re.compile(r"(case|rule)\s+(\S+)\s+--\s+(\S.*)")
FAILING = (Status.FAIL, Status.ERROR, Status.TIMEOUT, Status.CRASH)


class ExpectationsFileError(ValueError):
    """A line that is no expectation."""


@attrs.frozen
class Entry:
    kind: str
    pattern: str
    reason: str

    def covers(self, verdict: Verdict) -> bool:
        if self.kind == "case":
            return fnmatchcase(verdict.case.name, self.pattern)
        return self.pattern in verdict.rules

    @property
    def is_exact(self) -> bool:
        return self.kind == "case" and not set(self.pattern) & set("*?[")


@attrs.define
class Expectations:
    """The entries, and how often each was met by a case that failed, and by one that did not."""

    entries: tuple[Entry, ...] = ()
    failed: Counter[Entry] = attrs.Factory(Counter)
    passed: Counter[Entry] = attrs.Factory(Counter)

    def apply(self, verdict: Verdict) -> Verdict:
        for entry in self.entries:
            if verdict.status in FAILING and entry.covers(verdict):
                self.failed[entry] += 1
                return attrs.evolve(verdict, status=Status.XFAIL, message=f"expected: {entry.reason}")
            if verdict.status is Status.PASS and entry.kind == "case" and entry.covers(verdict):
                self.passed[entry] += 1
                if entry.is_exact:
                    return attrs.evolve(verdict, status=Status.XPASS, message=f"listed as failing: {entry.reason}")
        return verdict

    def add(self, other: "Expectations") -> None:
        """Take over what the same entries have met elsewhere."""
        self.failed.update(other.failed)
        self.passed.update(other.passed)

    def problems(self) -> tuple[str, ...]:
        """The entries that nothing needed."""
        return tuple(
            f"{entry.kind} {entry.pattern}: " + ("it no longer fails" if self.passed[entry] else "nothing failed by it")
            for entry in self.entries
            if not self.failed[entry]
        )


def read_expectations(path: Path | None) -> Expectations:
    """Those of the file; none without one."""
    if path is None:
        return Expectations()
    return parse_expectations(path.read_text(encoding="utf-8"), str(path))


def parse_expectations(content: str, name: str) -> Expectations:
    entries = []
    for number, line in enumerate(content.splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = ENTRY.fullmatch(text)
        if match is None:
            raise ExpectationsFileError(f"{name}, line {number}: not `case PATTERN -- reason` or `rule ID -- reason`")
        entries.append(Entry(*match.groups()))
    return Expectations(tuple(entries))


def write_expectations(path: Path, findings: Iterable[Verdict], known: Expectations) -> int:
    """Write what failed in this run, keeping the reasons of entries that are still needed; the count of entries."""
    lines = ["# Known failures. One a line: case PATTERN -- reason, or rule ID -- reason."]
    kept = [entry for entry in known.entries if known.failed[entry]]
    lines += [f"{entry.kind} {entry.pattern} -- {entry.reason}" for entry in kept]
    fresh = [verdict for verdict in findings if verdict.status in FAILING]
    lines += [f"case {verdict.case.name} -- {why(verdict)}" for verdict in fresh]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(lines) - 1


def why(verdict: Verdict) -> str:
    return f"breaks {', '.join(verdict.rules)}" if verdict.rules else verdict.message.splitlines()[0]
