"""The dataflow that Bytewax runs: partitions of scripted records, a running count of each key, a sink.

Bytewax imports this module, in a process of its own. What happens is written down as it happens, one file per process
and thread, so that it stays when the process is killed: an operator is not told which worker it is.
"""

import json
import os
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

operators: Any = import_module("bytewax.operators")
inputs: Any = import_module("bytewax.inputs")
outputs: Any = import_module("bytewax.outputs")
dataflow: Any = import_module("bytewax.dataflow")

#: Records that a partition gives at a time.
BATCH = 4
CASE = json.loads(Path(os.environ["TIDEGATE_JOB"]).read_text(encoding="utf-8"))
FOLDER = Path(os.environ["TIDEGATE_JOURNALS"])
HERE = threading.local()


def tell(text: str) -> None:
    if not hasattr(HERE, "file"):
        HERE.file = (FOLDER / f"{os.getpid()}-{threading.get_ident()}.rows").open("a", encoding="utf-8", buffering=1)
    HERE.file.write(text + "\n")


class Partition(inputs.StatefulSourcePartition):  # type: ignore[misc]  # Bytewax has no types here
    """Where it stands is all that it saves."""

    def __init__(self, number: int, place: int | None) -> None:
        self.number, self.place = number, place or 0

    def next_batch(self) -> list[tuple[int, int, str]]:
        keys = CASE["scripts"][self.number][self.place : self.place + BATCH]
        if not keys:
            raise StopIteration
        made = [(self.number, self.place + at, key) for at, key in enumerate(keys)]
        for number, place, key in made:
            tell(f"out {number} {place} {key}")
        self.place += len(made)
        time.sleep(CASE["pause"] / 1000)
        return made

    def snapshot(self) -> int:
        return self.place


class Source(inputs.FixedPartitionedSource):  # type: ignore[misc]  # Bytewax has no types here
    def list_parts(self) -> list[str]:
        return [str(number) for number in range(len(CASE["scripts"]))]

    def build_part(self, _step: str, part: str, place: int | None) -> Partition:
        return Partition(int(part), place)


class Sink(outputs.DynamicSink):  # type: ignore[misc]  # Bytewax has no types here
    def build(self, _step: str, _worker: int, _workers: int) -> Any:
        return Results()


class Results(outputs.StatelessSinkPartition):  # type: ignore[misc]  # Bytewax has no types here
    def write_batch(self, items: list[tuple[str, int]]) -> None:
        for key, count in items:
            tell(f"result {key} {count}")


def count(state: int | None, record: tuple[int, int, str]) -> tuple[int, int]:
    number, place, key = record
    tell(f"in {number} {place} {key}")
    return (state or 0) + 1, (state or 0) + 1


flow = dataflow.Dataflow("tidegate")
keyed = operators.key_on("key", operators.input("input", flow, Source()), lambda record: record[2])
operators.output("output", operators.stateful_map("count", keyed, count), Sink())
