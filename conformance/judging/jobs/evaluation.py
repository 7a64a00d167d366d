"""What a query comes to by itself: its tables as they are in the end, read by SQLite.

Under any settings, and in whatever order its rows came, a query must give what SQL says of the rows that are there.
A join by version asks for the versions that a table has had, each from its time to that of the next. Queries that
SQLite has no words for (windows, patterns) are not evaluated; their results under different settings are compared all
the same.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from tidegate.conformance.judging.jobs.queries import CHANGING, TAKEN_BACK, Item, QueryCase, Script

#: The first version that knows RIGHT and FULL joins.
OLDEST = (3, 39)
INTERVAL = re.compile(r"INTERVAL '(\d+)' SECOND")
MILLIS = 1000
#: A join with the version of the table `c` that is valid at a time.
VERSION = re.compile(r"\bc FOR SYSTEM_TIME AS OF x\.ts AS y ON x\.k = y\.k")
#: Behind all time.
NEVER = 2**62
#: How an engine of queries writes a value that is not there.
NULL = "null"


class Average:
    """Of integers, an integer: what is beyond it is cut off."""

    def __init__(self) -> None:
        self.sum, self.count = 0, 0

    def step(self, value: int | None, /) -> None:
        if value is not None:
            self.sum, self.count = self.sum + value, self.count + 1

    def finalize(self) -> Any:
        return int(self.sum / self.count) if self.count else None


def evaluate(case: QueryCase) -> Counter[tuple[str, ...]] | None:
    """The rows of the result, as an engine writes them; None if SQLite cannot tell."""
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
    """The rows that each key has had, one after the other, and until when."""
    changes: dict[str, list[Item]] = {}
    for item in (item for script in scripts for item in script if item[0] in ("+I", "+U", *TAKEN_BACK)):
        changes.setdefault(item[1], []).append(item)
    for items in changes.values():
        for (kind, *cells), following in zip(items, [*items[1:], None], strict=True):
            if kind not in TAKEN_BACK:
                yield (*cells, following[4] if following else NEVER)


def rows_in_the_end(name: str, scripts: tuple[Script, ...]) -> Iterator[tuple[Any, ...]]:
    """What changes a row is in the script of the row, behind it."""
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
