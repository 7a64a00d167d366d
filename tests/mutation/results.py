"""Results of an earlier run, in a file: a line for each mutant, written as it is known.

A run takes an hour of two cores, and tests are written for what survived it. While the reference is the same, what was
noticed before is noticed still, since tests are added and not taken away; and a survivor that is explained cannot be
noticed. Other survivors are examined again. A run without such a file, from nothing, is what decides.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs

from tests.mutation import modules
from tests.mutation.explained import Entry, explain
from tests.mutation.running import Result
from tests.mutation.sites import Mutation

NOTICED = ("killed", "timeout")


def digest_reference() -> str:
    """Of all code that is mutated, or that runs with it."""
    digest = hashlib.sha256()
    for path in modules.reference_modules().values():
        digest.update(path.read_bytes())
    return digest.hexdigest()


class Results:
    """Those that will not change, and a file for those to come."""

    def __init__(self, file: Path | None, entries: Iterable[Entry] = ()) -> None:
        self._file = file
        self._digest = digest_reference()
        self._entries = list(entries)
        self._known: dict[Mutation, Result] = {}
        if file is not None and file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                self._read(json.loads(line))

    def _read(self, line: dict[str, Any]) -> None:
        if line.pop("reference") == self._digest:
            result = Result(**{**line, "mutation": Mutation(**line["mutation"])})
            if result.status in NOTICED or explain(result.mutation, self._entries) is not None:
                self._known[result.mutation] = result

    def split(self, mutations: Iterable[Mutation]) -> tuple[list[Result], list[Mutation]]:
        """What is known of the mutants, and those of which nothing is."""
        wanted = list(mutations)
        known = [self._known[one] for one in wanted if one in self._known]
        return known, [one for one in wanted if one not in self._known]

    def write(self, result: Result) -> None:
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**attrs.asdict(result), "reference": self._digest}) + "\n")
