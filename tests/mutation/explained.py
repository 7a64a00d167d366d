"""Survivors that are known and explained, in `equivalent.toml`: mutants that change nothing that could be observed.

An entry names a change by its definition and its operator, as `reference/gate/gate.py on_poll: 0 to 1`, and where the
definition has several such changes of which not all are meant, by its number among them, as `0 to 1 #2`. So it stays
right when lines move, locals get other names, or the code gets another form.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from tests.mutation.running import Result
from tests.mutation.sites import Mutation

FILE = Path(__file__).parent / "equivalent.toml"
CHANGES = re.compile(r"(?P<path>\S+) (?P<within>\S*): (?P<operators>.+)")


@attrs.frozen
class Entry:
    path: str
    within: str
    operator: str
    ordinal: int | None
    reason: str

    def covers(self, mutation: Mutation) -> bool:
        key = (self.path, self.within, self.operator, self.ordinal or mutation.ordinal)
        return key == mutation.key

    def __str__(self) -> str:
        return f"{self.path} {self.within}: {self.operator}{f' #{self.ordinal}' if self.ordinal else ''}"


def read_entries(file: Path = FILE) -> list[Entry]:
    tables = tomllib.loads(file.read_text(encoding="utf-8"))["equivalent"]
    return [
        entry
        for table in tables
        for changes in table["changes"]
        for entry in read_changes(changes, " ".join(table["reason"].split()))
    ]


def read_changes(text: str, reason: str) -> Iterator[Entry]:
    found = CHANGES.fullmatch(text)
    if found is None:
        raise ValueError(f"{FILE.name}: {text!r} is not of the form 'PATH DEFINITION: OPERATOR, OPERATOR #NUMBER'")
    for one in found["operators"].split(", "):
        operator, _, ordinal = one.partition(" #")
        yield Entry(found["path"], found["within"], operator, int(ordinal) if ordinal else None, reason)


def explain(mutation: Mutation, entries: Iterable[Entry]) -> str | None:
    return next((entry.reason for entry in entries if entry.covers(mutation)), None)


def find_stale(entries: Iterable[Entry], mutations: list[Mutation], results: list[Result]) -> list[tuple[Entry, str]]:
    """Entries that explain nothing: the change is not there any more, or all that they speak for were run and died."""
    examined = {result.mutation: result.status for result in results}
    stale = []
    for entry in entries:
        covered = [mutation for mutation in mutations if entry.covers(mutation)]
        if not covered:
            stale.append((entry, "there is no such change any more"))
        elif all(examined.get(mutation) in ("killed", "timeout") for mutation in covered):
            stale.append((entry, "it is noticed now"))
    return stale
