"""A component in the Spark engine: rows in, one query, steps out.

A batch of cases becomes a table, one row per case: its `id`, its config and its events as columns. One query answers
the whole table with `id` and `steps`. Python works only at the border: it refuses what the protocol does not allow
before the batch, and writes the answers as JSON after it.

The query is a template. Its *pieces* are the conditions that decide something; a mutant is the same query with one
piece replaced by a wrong one.
"""

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from tidegate.conformance.engines.wire import Json, Observations

LOWEST = "cast('-9223372036854775808' AS BIGINT)"


@attrs.frozen
class Component:
    name: str
    #: its declaration in `hello`
    claim: Json
    #: the columns of a row beside its id, as Spark writes a schema
    columns: str
    #: the values of these columns, from the config and the events of a case; BadRequestError if they are malformed
    read: Callable[[Json, list[Json]], Json]
    #: the views of the query, in order: the first reads `cases`, the last answers with `id` and `steps`
    views: Mapping[str, str]
    #: named conditions, in the views as `{name}`
    pieces: Mapping[str, str]
    #: the observations of one step, from the result of the query
    show: Callable[[Any], Observations]
    #: views that several others read, computed once
    kept: frozenset[str] = frozenset()
    #: views that another query recomputes from themselves, until no row is `changed`
    repeated: Mapping[str, str] = attrs.Factory(dict)

    def queries(self, wrong: Mapping[str, str] | None = None) -> dict[str, str]:
        """The text of each view, with these pieces instead of the right ones."""
        pieces = {**self.pieces, **(wrong or {})}
        assert pieces.keys() == self.pieces.keys(), f"{self.name} has no such piece: {wrong}"
        return {name: text.format_map(pieces) for name, text in self.views.items()}


def let(name: str, value: str, body: str) -> str:
    """SQL has no local names; a lambda over a list of one value is one."""
    return f"transform(array({value}), {name} -> {body})[0]"


def fold(start: str, step: str) -> str:
    """The query that folds `step`, of a state `s` and an event `e`, over the events of each case."""
    return f"SELECT id, aggregate(events, {start}, (s, e) -> {step}, s -> s.seen) AS steps FROM cases"


def show_words(words: list[str]) -> Observations:
    """Time and idleness: a word is a status, `rejected`, or else the timestamp of a watermark."""
    return [_WORDS.get(word) or {"type": "watermark", "timestamp": word} for word in words]


_WORDS: dict[str, Json] = {
    "rejected": {"type": "rejected"},
    "idle": {"type": "status", "status": "idle"},
    "active": {"type": "status", "status": "active"},
}
