"""What a component is to the Spark engine: rows in, one query, steps out.

A batch of cases becomes a table, one row a case: its `id`, its config and its events as columns. One query answers the
whole table with `id` and `steps`. Python stands at the border only: it refuses what the protocol does not allow before
the batch, and spells the answers as JSON after it.

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
    #: what `hello` says of it
    claim: Json
    #: the columns of a row beside its id, as Spark writes a schema
    columns: str
    #: the values of these columns, from the config and the events of a case; BadRequestError if they are no case
    read: Callable[[Json, list[Json]], Json]
    #: the views that the query is made of, in order: the first sees `cases`, the last answers with `id` and `steps`
    views: Mapping[str, str]
    #: named conditions, which the views hold as `{name}`
    pieces: Mapping[str, str]
    #: the observations of one step, from what the query gave for it
    show: Callable[[Any], Observations]
    #: views that several others read, computed once
    kept: frozenset[str] = frozenset()
    #: views that are computed again from themselves by another query, until no row of them is `changed`
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
