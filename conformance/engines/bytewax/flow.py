"""The dataflow that Bytewax runs: a step for each operator of a program, and a partition for each script.

Bytewax imports this module, in a process of its own: see `flows` for what is written down. An operator is not told
which worker it is: a thread stands for it.
"""

import json
import os
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from tidegate.conformance.engines.flows import Element, Journal, Program, Steps

operators: Any = import_module("bytewax.operators")
inputs: Any = import_module("bytewax.inputs")
outputs: Any = import_module("bytewax.outputs")
dataflow: Any = import_module("bytewax.dataflow")

PROGRAM = Program(json.loads(Path(os.environ["TIDEGATE_JOB"]).read_text(encoding="utf-8")))
STEPS = Steps(PROGRAM, Journal(Path(os.environ["TIDEGATE_JOURNALS"])))
#: What a step hands to those behind it: a target, and what goes there.
Sent = tuple[int, Element]


class Partition(inputs.StatefulSourcePartition):  # type: ignore[misc]  # Bytewax has no types here
    """Where it stands is all that it saves."""

    def __init__(self, source: int, script: int, place: int | None) -> None:
        self.source, self.script, self.place = source, script, place or 0
        self.records = PROGRAM.records_of(source, script)

    def next_batch(self) -> list[Sent]:
        batch = self.records[self.place : self.place + PROGRAM.settings["batch"]]
        if not batch:
            raise StopIteration
        made: list[Sent] = []
        for item in batch:
            made += STEPS.send_item(self.source, self.script, self.place, item)
            self.place += 1
        time.sleep(PROGRAM.settings["pause_millis"] / 1000)
        return made

    def snapshot(self) -> int:
        return self.place


class Source(inputs.FixedPartitionedSource):  # type: ignore[misc]  # Bytewax has no types here
    def __init__(self, source: int) -> None:
        self.source = source

    def list_parts(self) -> list[str]:
        return [str(script) for script in range(len(PROGRAM.operators[self.source]["scripts"]))]

    def build_part(self, _step: str, part: str, place: int | None) -> Partition:
        return Partition(self.source, int(part), place)


class Nothing(outputs.DynamicSink):  # type: ignore[misc]  # Bytewax has no types here
    """Every dataflow has an output; what sinks receive is written down by their steps."""

    def build(self, _step: str, _worker: int, _workers: int) -> Any:
        return Ignored()


class Ignored(outputs.StatelessSinkPartition):  # type: ignore[misc]  # Bytewax has no types here
    def write_batch(self, items: list[Any]) -> None:
        pass


def build() -> Any:
    flow = dataflow.Dataflow("tidegate")
    streams: dict[int, Any] = {}
    for number, operator in PROGRAM.operators.items():
        if operator["scripts"]:
            streams[number] = operators.input(f"input{number}", flow, Source(number))
            continue
        read = [streams[source] for _edge, source in PROGRAM.inputs_of(number)]
        merged = read[0] if len(read) == 1 else operators.merge(f"merge{number}", *read)
        mine = operators.filter(f"mine{number}", merged, lambda sent, number=number: sent[0] == number)
        keyed = operators.key_on(f"key{number}", mine, lambda sent: sent[1][1])
        stepped = operators.stateful_flat_map(f"step{number}", keyed, make_step(number))
        streams[number] = operators.map(f"sent{number}", stepped, lambda pair: pair[1])
        if operator["function"] == "sink":
            operators.output(f"output{number}", streams[number], Nothing())
    return flow


def make_step(number: int) -> Any:
    def step(total: int | None, sent: Sent) -> tuple[int, list[Sent]]:
        return STEPS.receive(number, STEPS.journal.name, sent[1], total or 0)

    return step


flow = build()
