"""Known failures: a file that lists what an engine is known to get wrong, and why.

One entry per line: `case PATTERN -- reason` or `rule ID -- reason`, with patterns as in a shell. For whole jobs, an id
may be an invariant, or `job`, which stands for jobs that fail, hang or die. With a text in quotes after the pattern or
id, an entry covers failures whose message, or whose reason for a refusal, contains that text. A listed failure is an
xfail. An entry that covers no failure is itself an error: the engine was fixed, or the name is stale.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import translate
from pathlib import Path

import attrs

from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.conformance.reports.writing import write_whole, writing
from tidegate.properties.runlog import INVARIANTS
from tidegate.reference.rules import all_rules

ENTRY = re.compile(r'(case|rule)\s+(\S+)(?:\s+"([^"]+)")?\s+--\s+(\S.*)')
WILD = re.compile(r"[*?\[\]]")
#: Limits of a file: a line is a name and a reason, and names are short.
LONGEST_LINE = 10_000
LARGEST_FILE = 64 * 1024 * 1024
#: From this many failures by one rule on, the rule is listed.
SEVERAL = 3
FAILING = (Status.FAIL, Status.ERROR, Status.TIMEOUT, Status.CRASH)


class ExpectationsFileError(ValueError):
    """A file or a line that is not a list of expectations."""


@attrs.frozen
class Entry:
    kind: str
    pattern: str
    reason: str
    text: str = ""

    @property
    def is_exact(self) -> bool:
        return self.kind == "case" and not set(self.pattern) & set("*?[")

    def __str__(self) -> str:
        return f'{self.kind} {self.pattern} "{self.text}"' if self.text else f"{self.kind} {self.pattern}"


class Index:
    """Finds the entries that cover a case without looking at each: by its name, both ends of it, and its rules."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self._entries = entries
        self._by_rule: defaultdict[str, list[int]] = defaultdict(list)
        self._by_name: dict[str, int] = {}
        #: Patterns by their literal beginning or end, whichever is longer.
        self._by_start: defaultdict[str, list[int]] = defaultdict(list)
        self._by_end: defaultdict[str, list[int]] = defaultdict(list)
        self._compiled: dict[int, re.Pattern[str]] = {}
        for number, entry in enumerate(entries):
            if entry.kind == "rule":
                self._by_rule[entry.pattern].append(number)
            elif entry.is_exact:
                self._by_name.setdefault(entry.pattern, number)
            else:
                start, *_, end = WILD.split(entry.pattern)
                (self._by_start[start] if len(start) >= len(end) else self._by_end[end]).append(number)
        self._starts, self._ends = {*map(len, self._by_start)}, {*map(len, self._by_end)}

    def of_case(self, name: str) -> list[int]:
        """The numbers of the entries for cases that cover it, in their order."""
        found = [number for number in self._candidates(name) if self._matches(number, name)]
        return sorted([*found, self._by_name[name]] if name in self._by_name else found)

    def of_failure(self, name: str, rules: Iterable[str], message: str) -> int | None:
        """The number of the first entry that covers a failure."""
        by_rule = [number for rule in rules for number in self._by_rule.get(rule, ())]
        covering = (number for number in [*by_rule, *self.of_case(name)] if self._entries[number].text in message)
        return min(covering, default=None)

    def _candidates(self, name: str) -> Iterator[int]:
        for length in self._starts:
            yield from self._by_start.get(name[:length], ())
        for length in self._ends:
            yield from self._by_end.get(name[len(name) - length :], ())

    def _matches(self, number: int, name: str) -> bool:
        if number not in self._compiled:
            self._compiled[number] = re.compile(translate(self._entries[number].pattern))
        return self._compiled[number].match(name) is not None


@attrs.define
class Expectations:
    """The entries, and how often each matched a case that failed, and one that did not."""

    entries: tuple[Entry, ...] = ()
    failed: Counter[Entry] = attrs.Factory(Counter)
    passed: Counter[Entry] = attrs.Factory(Counter)
    _index: Index = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(lambda self: Index(self.entries), takes_self=True)
    )

    def apply(self, verdict: Verdict) -> Verdict:
        if not self.entries:
            return verdict
        status, message = self.judge(verdict.case.name, verdict.status, verdict.rules, verdict.words)
        return verdict if status is verdict.status else attrs.evolve(verdict, status=status, message=message)

    def judge(self, name: str, status: Status, rules: Iterable[str], message: str = "") -> tuple[Status, str]:
        """The status where failures are expected, and the reason that the file gives."""
        if status in FAILING:
            number = self._index.of_failure(name, rules, message)
            if number is not None:
                self.failed[self.entries[number]] += 1
                return Status.XFAIL, f"expected: {self.entries[number].reason}"
        elif status is Status.PASS:
            for entry in map(self.entries.__getitem__, self._index.of_case(name)):
                self.passed[entry] += 1
                if entry.is_exact:
                    return Status.XPASS, f"listed as failing: {entry.reason}"
        return status, ""

    def add(self, other: "Expectations") -> None:
        """Add the matches of the same entries elsewhere."""
        self.failed.update(other.failed)
        self.passed.update(other.passed)

    def problems(self) -> tuple[str, ...]:
        """The entries that cover no failure."""
        return tuple(
            f"{printable(str(entry))}: "
            + (
                "it no longer fails: delete the line"
                if self.passed[entry]
                else "nothing failed by it: delete the line, or correct the name"
            )
            for entry in self.entries
            if not self.failed[entry]
        )


def read_expectations(path: Path | None) -> Expectations:
    """The expectations in the file; none without a file."""
    if path is None:
        return Expectations()
    with path.open("rb") as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise ExpectationsFileError(f"{path}: over {LARGEST_FILE} bytes are too large for a list of known failures")
    try:
        return parse_expectations(content.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ExpectationsFileError(f"{path}, line {line}: not UTF-8") from None


def parse_expectations(content: str, name: str) -> Expectations:
    entries = []
    for number, line in enumerate(content.splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = ENTRY.fullmatch(text) if len(text) <= LONGEST_LINE else None
        if match is None:
            raise ExpectationsFileError(f"{name}, line {number}: not `case PATTERN -- reason` or `rule ID -- reason`")
        if match[1] == "rule" and (why := doubt(match[2])):
            raise ExpectationsFileError(f"{name}, line {number}: {why}")
        entries.append(Entry(match[1], match[2], printable(match[4]), match[3] or ""))
    return Expectations(tuple(entries))


def doubt(rule: str) -> str:
    """Why nothing can fail by this rule; empty if it is a rule, an invariant, or `job`."""
    known = [*all_rules(), *(one.id for one in INVARIANTS), "job"]
    if rule in known:
        return ""
    near = get_close_matches(rule.upper(), known, 1)
    hint = f"; did you mean {near[0]}?" if near else "; `tidegate rules` lists them"
    return f"no rule {printable(rule)}{hint}"


@attrs.frozen
class Failure:
    """What a file of known failures needs to know of a failure."""

    case: str
    rules: tuple[str, ...]
    why: str


def failure_of(verdict: Verdict) -> Failure:
    words = verdict.message.partition("\n")[0][:200]
    return Failure(verdict.case.name, verdict.rules, f"breaks {', '.join(verdict.rules)}" if verdict.rules else words)


def write_expectations(path: Path, failures: Sequence[Failure], known: Expectations) -> int:
    """Write what failed in this run, keep the reasons of entries that are still needed, and return how many there are.

    A rule that explains several failures takes one line, the others one each.
    """
    lines = ["# Known failures. One per line: case PATTERN -- reason, or rule ID -- reason."]
    kept = [entry for entry in known.entries if known.failed[entry]]
    lines += [f"{entry} -- {entry.reason}" for entry in kept]
    deciding = Counter(failure.rules[0] for failure in failures if failure.rules)
    explaining = {rule: count for rule, count in deciding.items() if count >= SEVERAL}
    lines += [f"rule {rule} -- {count} failures when this was written" for rule, count in explaining.items()]
    others = [failure for failure in failures if not explaining.keys() & set(failure.rules)]
    lines += [f"case {failure.case} -- {failure.why}" for failure in others]
    with writing(path):
        write_whole(path, ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"))
    return len(lines) - 1
