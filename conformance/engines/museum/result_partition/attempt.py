"""What one attempt of a producer has set up: its subpartitions, the views of them, and how far the writer is."""

import attrs

from tidegate.conformance.engines.museum.blocking_subpartition import BlockingSubpartition
from tidegate.conformance.engines.museum.subpartition import Subpartition
from tidegate.conformance.engines.wire import Observations

Part = Subpartition | BlockingSubpartition


@attrs.define(eq=False)
class View:
    """`place` is its number within a blocking subpartition."""

    subpartition: int
    place: int
    left: int = 0


@attrs.define(eq=False)
class Attempt:
    """What one attempt of the producer has set up."""

    parts: list[Part]
    views: list[View] = attrs.Factory(list)
    shared: bool = False
    drains: bool | None = None
    finished: bool = False
    closed: bool = False
    released: bool = False
    failed: bool = False
    #: Only for a wrong writer: buffers that it takes for open although they were written to the file.
    stale: set[int] = attrs.Factory(set)

    def is_open(self, index: int) -> bool:
        part = self.parts[index]
        if isinstance(part, Subpartition):
            return part.has_open()
        return part.last is not None and part.last.open

    def tell(self, index: int, kind: str, /, **fields: object) -> Observations:
        seen = self.parts[index].step({"type": kind, **fields})
        if {"type": "data_available"} not in seen:
            return []
        woken = [number for number, view in enumerate(self.views) if view.subpartition == index]
        return [{"type": "data_available", "view": number} for number in woken]

    def tell_all(self, kind: str, /, **fields: object) -> Observations:
        return [one for index in range(len(self.parts)) for one in self.tell(index, kind, **fields)]

    def finish_buffers(self) -> Observations:
        self.shared = False
        return [
            one for index in range(len(self.parts)) if self.is_open(index) for one in self.tell(index, "finish_buffer")
        ]
