"""The Bytewax dataflow: a step for each operator of a program, and a partition for each script.

It runs in a process of its own: see `flows` for its journals. An operator does not know its worker: its thread
stands for it.
"""

import json
import time
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from tidegate.conformance.engines.flows import Element, Journal, Program, Steps

operators: Any = import_module("bytewax.operators")
inputs: Any = import_module("bytewax.inputs")
outputs: Any = import_module("bytewax.outputs")
dataflow: Any = import_module("bytewax.dataflow")
recovery: Any = import_module("bytewax.recovery")
running: Any = import_module("bytewax.run")

#: The output of a step: a target, and the element for it.
Sent = tuple[int, Element]


class Partition(inputs.StatefulSourcePartition):  # type: ignore[misc]  # Bytewax has no types here
    """It saves only its position."""

    def __init__(self, steps: Steps, source: int, script: int, place: int | None) -> None:
        self.steps, self.source, self.script, self.place = steps, source, script, place or 0
        self.records = steps.program.records_of(source, script)
        self.settings = steps.program.settings

    def next_batch(self) -> list[Sent]:
        batch = self.records[self.place : self.place + self.settings["batch"]]
        if not batch:
            raise StopIteration
        made: list[Sent] = []
        for item in batch:
            made += self.steps.send_item(self.source, self.script, self.place, item)
            self.place += 1
        time.sleep(self.settings["pause_millis"] / 1000)
        return made

    def snapshot(self) -> int:
        return self.place


class Source(inputs.FixedPartitionedSource):  # type: ignore[misc]  # Bytewax has no types here
    def __init__(self, steps: Steps, source: int) -> None:
        self.steps, self.source = steps, source

    def list_parts(self) -> list[str]:
        return [str(script) for script in range(len(self.steps.program.operators[self.source]["scripts"]))]

    def build_part(self, _step: str, part: str, place: int | None) -> Partition:
        return Partition(self.steps, self.source, int(part), place)


class Nothing(outputs.DynamicSink):  # type: ignore[misc]  # Bytewax has no types here
    """Every dataflow needs an output; the steps of sinks write down what they receive."""

    def build(self, _step: str, _worker: int, _workers: int) -> Any:
        return Ignored()


class Ignored(outputs.StatelessSinkPartition):  # type: ignore[misc]  # Bytewax has no types here
    def write_batch(self, items: list[Any]) -> None:
        pass


def build(steps: Steps) -> Any:
    program = steps.program
    flow = dataflow.Dataflow("tidegate")
    streams: dict[int, Any] = {}
    for number, operator in program.operators.items():
        if operator["scripts"]:
            streams[number] = operators.input(f"input{number}", flow, Source(steps, number))
            continue
        read = [streams[source] for _edge, source in program.inputs_of(number)]
        merged = read[0] if len(read) == 1 else operators.merge(f"merge{number}", *read)
        mine = operators.filter(f"mine{number}", merged, lambda sent, number=number: sent[0] == number)
        keyed = operators.key_on(f"key{number}", mine, lambda sent: sent[1][1])
        stepped = operators.stateful_flat_map(f"step{number}", keyed, make_step(steps, number))
        streams[number] = operators.map(f"sent{number}", stepped, lambda pair: pair[1])
        if operator["function"] == "sink":
            operators.output(f"output{number}", streams[number], Nothing())
    return flow


def make_step(steps: Steps, number: int) -> Callable[[int | None, Sent], tuple[int, list[Sent]]]:
    return lambda total, sent: steps.receive(number, steps.journal.name, sent[1], total or 0)


def run(path: str, journals: str, saved: str, workers: str) -> None:
    """A snapshot as often as possible; older ones are not kept."""
    program = Program(json.loads(Path(path).read_text(encoding="utf-8")))
    saves = recovery.RecoveryConfig(saved, timedelta(0))
    flow = build(Steps(program, Journal(Path(journals))))
    running.cli_main(flow, workers_per_process=int(workers), epoch_interval=timedelta(0), recovery_config=saves)
