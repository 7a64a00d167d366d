"""Results of earlier runs, in a file: a line for each mutant, written as it is known, with the day.

A run takes an hour of two cores, and tests are written for what survived it. While a module is the same, and all that
runs with it, what was noticed before is noticed still, since tests are added and not taken away; and a survivor that is
explained cannot be noticed. Other survivors are examined again. A run without such a file, from nothing, decides.
"""

import datetime as dt
import functools
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


@functools.cache
def digest_around(module: str) -> str:
    """Of a module that is mutated, those that import it, and all that runs with them."""
    digest = hashlib.sha256()
    for name in sorted(modules.closure(frozenset(modules.dependents(module)))):
        digest.update(modules.reference_modules()[name].read_bytes())
    return digest.hexdigest()


class Results:
    """Those that will not change, and a file for those to come."""

    def __init__(self, file: Path | None, entries: Iterable[Entry] = ()) -> None:
        self._file = file
        self._entries = list(entries)
        self._known: dict[Mutation, Result] = {}
        #: What was seen last of each mutant, survivors included.
        self._latest: dict[Mutation, Result] = {}
        #: The last day on which something became known of a module.
        self.days: dict[str, str] = {}
        if file is not None and file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                self._read(json.loads(line))

    def _read(self, line: dict[str, Any]) -> None:
        digest, day, mutation = line.pop("reference"), line.pop("day"), Mutation(**line["mutation"])
        if mutation.module in modules.mutated_modules() and digest == digest_around(mutation.module):
            result = Result(**{**line, "mutation": mutation})
            self._latest[mutation] = result
            if result.status in NOTICED or explain(mutation, self._entries) is not None:
                self._known[mutation] = result
                self.days[mutation.module] = max(day, self.days.get(mutation.module, ""))

    def split(self, mutations: Iterable[Mutation]) -> tuple[list[Result], list[Mutation]]:
        """What is known of the mutants, and those of which nothing is."""
        wanted = list(mutations)
        known = [self._known[one] for one in wanted if one in self._known]
        return known, [one for one in wanted if one not in self._known]

    def recall(self, mutations: Iterable[Mutation]) -> list[Result]:
        """What was seen last of the mutants; of each something must have been."""
        wanted = list(mutations)
        if missing := sorted({one.path for one in wanted if one not in self._latest}):
            raise SystemExit(f"not all mutants were tried of {', '.join(missing)}")
        return [self._latest[one] for one in wanted]

    def write(self, result: Result) -> None:
        if self._file is not None:
            day = dt.datetime.now(dt.UTC).date().isoformat()
            about = {"reference": digest_around(result.mutation.module), "day": day}
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**attrs.asdict(result), **about}) + "\n")
