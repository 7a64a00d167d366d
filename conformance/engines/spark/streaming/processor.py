"""A subtask in Spark's state store: its state is read before a micro-batch and written after it."""

from collections.abc import Iterator, MutableMapping
from typing import Any

import attrs
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import MapState, StatefulProcessor, StatefulProcessorHandle

from tidegate.conformance.engines.spark.streaming.elements import SCHEMA, Line
from tidegate.conformance.engines.spark.streaming.faults import Fault
from tidegate.conformance.engines.spark.streaming.layout import Layout
from tidegate.conformance.engines.spark.streaming.memory import SCHEMA as MEMORY_SCHEMA
from tidegate.conformance.engines.spark.streaming.memory import VALVE_SCHEMA, Memory
from tidegate.conformance.engines.spark.streaming.subtask import Subtask


class StoredTotals(MutableMapping[tuple[int, str], int]):
    """The totals of one subtask, each a separate entry of the state store."""

    def __init__(self, store: MapState) -> None:
        self.store = store

    def __getitem__(self, at: tuple[int, str]) -> int:
        found = self.store.getValue(at)
        if found is None:
            raise KeyError(at)
        total: int = found[0]
        return total

    def __setitem__(self, at: tuple[int, str], total: int) -> None:
        self.store.updateValue(at, (total,))

    def __delitem__(self, at: tuple[int, str]) -> None:
        self.store.removeKey(at)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        known = self.store.keys()
        return iter([(operator, key) for operator, key in known])

    def __len__(self) -> int:
        return sum(1 for _ in self)


@attrs.define
class Program:
    """The jobs of a query by run; their mistakes, if any; how often the query was started before."""

    layouts: dict[str, Layout]
    bugs: dict[str, str] = attrs.Factory(dict)
    incarnation: int = 0
    fault: Fault | None = None


class TaskProcessor(StatefulProcessor):
    """Runs the tasks of one level; rows for other levels pass through."""

    def __init__(self, level: int, program: Program) -> None:
        self.level, self.program = level, program

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.memory = handle.getValueState("memory", MEMORY_SCHEMA)
        self.clock = handle.getValueState("valve", VALVE_SCHEMA)
        self.held = handle.getListState("held", SCHEMA)
        self.totals = handle.getMapState("totals", "operator int, key string", "total bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: ARG002, N802, N803 - Spark's names
        lines = [Line(*row) for row in rows]
        mine = [line for line in lines if line.level == self.level]
        yield from (Row(**line._asdict()) for line in lines if line.level != self.level)
        if not mine:
            return
        if self.program.fault is not None:
            self.program.fault.strike(mine)
        yield from (Row(**line._asdict()) for line in self.run(key, mine))

    def run(self, key: Any, arrived: list[Line]) -> list[Line]:
        run, number, place = key
        bug = self.program.bugs.get(run, "")
        subtask = Subtask(self.program.layouts[run], run, number, place, StoredTotals(self.totals), bug)
        self.restore(subtask, bug)
        held = [Line(*row) for row in self.held.get()] if self.held.exists() else []
        waiting = subtask.read([*held, *arrived])
        if waiting and bug != "forgets-held":
            self.held.put([tuple(line) for line in waiting])
        elif held:
            self.held.clear()
        self.memory.update(subtask.memory.to_row(self.program.incarnation))
        self.clock.update(subtask.clock.to_row(self.program.incarnation))
        return subtask.lines

    def restore(self, subtask: Subtask, bug: str) -> None:
        stored = self.memory.get()
        if stored is not None:
            subtask.memory = Memory.of_row(stored)
        clock = self.clock.get()
        is_old = clock is not None and clock[0] < self.program.incarnation
        if clock is not None and not (is_old and bug == "valve-forgets-on-restart"):
            subtask.clock.restore(clock)

    def close(self) -> None:
        pass
