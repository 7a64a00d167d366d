"""Survivors that are known and explained, in `equivalent.toml`: mutants that change nothing that could be observed.

An entry names a module and a change by its source, not by its line. Without `before` and `after` it speaks for all
survivors inside one function.
"""

import tomllib
from collections.abc import Iterable
from pathlib import Path

import attrs

from tests.mutation.running import Result
from tests.mutation.sites import Mutation

FILE = Path(__file__).parent / "equivalent.toml"


@attrs.frozen
class Entry:
    module: str
    reason: str
    within: str = ""
    before: str = ""
    after: str = ""

    def covers(self, mutation: Mutation) -> bool:
        if (self.module, self.within) != (mutation.path, mutation.within):
            return False
        return (self.before in ("", mutation.before)) and (self.after in ("", mutation.after))


def read_entries(file: Path = FILE) -> list[Entry]:
    tables = tomllib.loads(file.read_text(encoding="utf-8")).get("equivalent", [])
    return [Entry(**{name: " ".join(value.split()) for name, value in table.items()}) for table in tables]


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
