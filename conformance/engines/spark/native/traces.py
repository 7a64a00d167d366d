"""The input of a windowed count, micro-batch by micro-batch, and what can be counted of it.

The notation of a trace: `0r11 1i | 1r1`. Source 0 brings a record of time 11 and source 1 turns idle, both in the
first micro-batch; in the second source 1 brings a record of time 1. `0e` is the end of a source. Spark reads only
records and micro-batches: it has nothing like idle, active and end.
"""

import re
from collections.abc import Iterator

import attrs

#: The length of a window, in milliseconds.
WINDOW = 10
_TOKEN = re.compile(r"(\d+)(?:r(-?\d+)|([iae]))")


@attrs.frozen
class Event:
    """An event of a source: a record with its time, or `i`, `a`, `e`."""

    source: int
    kind: str
    time: int = 0

    def __str__(self) -> str:
        return f"{self.source}{self.kind}{self.time if self.kind == 'r' else ''}"


@attrs.frozen
class Trace:
    """Micro-batches of events. The records are numbered through the trace."""

    batches: tuple[tuple[Event, ...], ...]
    sources: int = 2

    def __str__(self) -> str:
        return " | ".join(" ".join(map(str, batch)) for batch in self.batches)

    def records(self) -> Iterator[tuple[int, int, Event]]:
        """The number, the micro-batch and the event of each record."""
        number = 0
        for batch, events in enumerate(self.batches):
            for event in events:
                if event.kind == "r":
                    yield number, batch, event
                    number += 1


def read_trace(text: str, sources: int = 2) -> Trace:
    batches = []
    for part in text.split("|"):
        events = []
        for token in part.split():
            found = _TOKEN.fullmatch(token)
            if found is None:
                raise ValueError(f"{token!r} is not an event: write 0r11, 0i, 0a or 0e")
            events.append(Event(int(found[1]), found[3] or "r", int(found[2] or 0)))
        batches.append(tuple(events))
    return Trace(tuple(batches), sources)


def window_end(time: int) -> int:
    return time // WINDOW * WINDOW + WINDOW


@attrs.frozen
class Counted:
    """The counted records, and those of them whose window was emitted."""

    counted: frozenset[int]
    fired: frozenset[int]
