"""The expected result of a query: its tables in their final state, queried with SQLite.

Under any settings, and for any order of arrival, a query must give what SQL gives for the rows that exist.
A temporal join reads the versions of a table, each valid from its time to that of the next. Queries that
SQLite cannot express (windows, patterns) are not evaluated; their results under different settings are still
compared.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from tidegate.conformance.judging.jobs.queries import CHANGING, TAKEN_BACK, Item, QueryCase, Script

#: The first version with RIGHT and FULL joins.
OLDEST = (3, 39)
INTERVAL = re.compile(r"INTERVAL '(\d+)' SECOND")
MILLIS = 1000
#: A join with the version of the table `c` that is valid at a time.
VERSION = re.compile(r"\bc FOR SYSTEM_TIME AS OF x\.ts AS y ON x\.k = y\.k")
#: After all times.
NEVER = 2**62
#: How engines of queries write NULL.
NULL = "null"


class Average:
    """The average of integers, an integer: the fraction is cut off."""

    def __init__(self) -> None:
        self.sum, self.count = 0, 0

    def step(self, value: int | None, /) -> None:
        if value is not None:
            self.sum, self.count = self.sum + value, self.count + 1

    def finalize(self) -> Any:
        return int(self.sum / self.count) if self.count else None


def evaluate(case: QueryCase) -> Counter[tuple[str, ...]] | None:
    """The rows of the result, as an engine writes them; None if SQLite cannot evaluate the query."""
    if sqlite3.sqlite_version_info < OLDEST:
        return None
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.create_aggregate("AVG", 1, Average)
        for name, scripts in case.tables.items():
            fill(connection, name, "", rows_in_the_end(name, scripts))
        fill(connection, "versions", ", until INTEGER", versions_of(case.tables.get("c", ())))
        query = VERSION.sub("versions y ON x.k = y.k AND y.ts <= x.ts AND x.ts < y.until", case.query)
        try:
            found = connection.execute(INTERVAL.sub(lambda one: str(int(one[1]) * MILLIS), query))
            return Counter(tuple(NULL if cell is None else str(cell) for cell in row) for row in found)
        except sqlite3.OperationalError:
            return None


def fill(connection: sqlite3.Connection, name: str, more: str, rows: Iterator[tuple[Any, ...]]) -> None:
    connection.execute(f"CREATE TABLE {name} (k TEXT, v INTEGER, id INTEGER, ts INTEGER{more})")
    for row in rows:
        connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - a name of ours


def versions_of(scripts: tuple[Script, ...]) -> Iterator[tuple[Any, ...]]:
    """The rows of each key, one after the other, and until when each is valid."""
    changes: dict[str, list[Item]] = {}
    for item in (item for script in scripts for item in script if item[0] in ("+I", "+U", *TAKEN_BACK)):
        changes.setdefault(item[1], []).append(item)
    for items in changes.values():
        for (kind, *cells), following in zip(items, [*items[1:], None], strict=True):
            if kind not in TAKEN_BACK:
                yield (*cells, following[4] if following else NEVER)


def rows_in_the_end(name: str, scripts: tuple[Script, ...]) -> Iterator[tuple[Any, ...]]:
    """A change of a row follows it in the same script."""
    key = ("k", "v", "id").index(CHANGING[name]["key"]) if name in CHANGING else None
    for script in scripts:
        there: dict[Any, Item] = {}
        for kind, *cells in script:
            if kind == "record":
                yield tuple(cells)
            elif key is not None and kind in TAKEN_BACK:
                there.pop(cells[key], None)
            elif key is not None and kind in ("+I", "+U"):
                there[cells[key]] = tuple(cells)
        yield from there.values()
