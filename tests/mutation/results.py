"""Results of earlier runs, in a file: a line for each mutant, written as it is known.

A run takes long, and tests are written for what survived it. While a module is the same, and all that runs in the
check that noticed a mutant, that is noticed still, since tests are added and not taken away. A survivor that is
explained is known while nothing changes that imports its module. Other survivors are examined again. A run without such
a file, from nothing, decides. What is recalled for a page is of modules that are the same themselves, on the day that
it names.
"""

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
def digest_around(module: str, behind: tuple[str, ...]) -> str:
    """Of a mutated module and what the check is about that noticed it, or who imports it; and of all they import."""
    found = {module, *behind} if behind else modules.dependents(module)
    if not found <= {*modules.reference_modules()}:
        return "gone"
    digest = hashlib.sha256()
    for name in sorted(modules.closure(frozenset(found))):
        digest.update(modules.reference_modules()[name].read_bytes())
    return digest.hexdigest()


@functools.cache
def digest_of(module: str) -> str:
    return hashlib.sha256(modules.reference_modules()[module].read_bytes()).hexdigest()


class Results:
    """Those that will not change, and a file for those to come."""

    def __init__(self, file: Path | None, entries: Iterable[Entry] = ()) -> None:
        self._file = file
        self._entries = list(entries)
        self._known: dict[Mutation, Result] = {}
        #: What was seen last of each mutant, survivors included.
        self._latest: dict[Mutation, Result] = {}
        if file is not None and file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                self._read(json.loads(line))

    def _read(self, line: dict[str, Any]) -> None:
        own, around, behind = line.pop("own"), line.pop("around"), tuple(line.pop("behind"))
        mutation = Mutation(**line["mutation"])
        if mutation.module in modules.mutated_modules() and own == digest_of(mutation.module):
            result = Result(**{**line, "mutation": mutation})
            self._latest[mutation] = result
            is_settled = result.status in NOTICED or explain(mutation, self._entries) is not None
            if is_settled and around == digest_around(mutation.module, behind):
                self._known[mutation] = result

    def split(self, mutations: Iterable[Mutation]) -> tuple[list[Result], list[Mutation]]:
        """What is known of the mutants, and those of which nothing is."""
        wanted = list(mutations)
        known = [self._known[one] for one in wanted if one in self._known]
        return known, [one for one in wanted if one not in self._known]

    def recall(self, mutations: Iterable[Mutation]) -> list[Result]:
        """What was seen last of the mutants, of those that were tried."""
        return [self._latest[one] for one in mutations if one in self._latest]

    def write(self, result: Result, behind: tuple[str, ...] = ()) -> None:
        """Keep a result; `behind` are the modules that the check which noticed it is about, if that is known."""
        if self._file is not None:
            module = result.mutation.module
            about = {"own": digest_of(module), "around": digest_around(module, behind), "behind": behind}
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**attrs.asdict(result), **about}) + "\n")
