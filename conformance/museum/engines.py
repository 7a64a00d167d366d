"""Engines made of the museum's components, for `python:conformance.museum.engines:Right` and its wrong siblings.

Each mutant has a class here under its name in camel case: `valve-never-flushes` is `ValveNeverFlushes`.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from conformance.museum import chain_lifecycle, combiner, mailbox, network_input, outputs, partitioner, statuses, valve
from conformance.museum.barriers import make_barriers
from conformance.museum.blocking_subpartition import BlockingSubpartition
from conformance.museum.buffer import Buffer
from conformance.museum.catalog import MUTANTS, find
from conformance.museum.chaining import Chaining
from conformance.museum.credit_connection import CreditConnection
from conformance.museum.credit_loop import CreditLoop
from conformance.museum.credit_receiver import CreditReceiver
from conformance.museum.credit_sender import CreditSender
from conformance.museum.deserializer import Deserializer
from conformance.museum.exchange import Exchange
from conformance.museum.gate import Gate
from conformance.museum.input_channels import InputChannels
from conformance.museum.job import Job
from conformance.museum.job_graph import JobGraph
from conformance.museum.multiple_inputs import MultipleInputs
from conformance.museum.multiplexer import SEMANTICS as MULTIPLEXER_SEMANTICS
from conformance.museum.multiplexer import Multiplexer
from conformance.museum.priority_gate import PriorityGate
from conformance.museum.result_partition import ResultPartition
from conformance.museum.serializer import Serializer
from conformance.museum.subpartition import Subpartition
from conformance.museum.task import Task
from conformance.museum.union_gate import UnionGate
from conformance.museum.wire import BadRequestError, Host, Json, Machine
from conformance.museum.wiring import Wiring
from conformance.museum.writer import Writer

COMPONENTS: dict[str, tuple[Callable[[Json, Host], Machine], Json]] = {
    "valve": (valve.make_valve, {"semantics": list(valve.SEMANTICS)}),
    "combiner": (combiner.Combiner, {"semantics": list(combiner.SEMANTICS)}),
    "partitioner": (partitioner.Partitioner, {"kinds": list(partitioner.KINDS)}),
    "wiring": (Wiring, {}),
    "serializer": (Serializer, {}),
    "deserializer": (Deserializer, {}),
    "chaining": (Chaining, {}),
    "credit_sender": (CreditSender, {}),
    "credit_receiver": (CreditReceiver, {}),
    "gate": (Gate, {}),
    "task": (Task, {}),
    "mailbox": (mailbox.Mailbox, {"semantics": list(mailbox.SEMANTICS)}),
    "subpartition": (Subpartition, {}),
    "chain_lifecycle": (chain_lifecycle.ChainLifecycle, {"semantics": list(chain_lifecycle.SEMANTICS)}),
    "barriers": (make_barriers, {}),
    "network_input": (network_input.NetworkInput, {"semantics": list(network_input.SEMANTICS)}),
    "outputs": (outputs.Outputs, {"semantics": list(outputs.SEMANTICS)}),
    "buffer": (Buffer, {}),
    "union_gate": (UnionGate, {}),
    "priority_gate": (PriorityGate, {}),
    "statuses": (statuses.Statuses, {"semantics": list(statuses.SEMANTICS)}),
    "input_channels": (InputChannels, {}),
    "multiple_inputs": (MultipleInputs, {}),
    "exchange": (Exchange, {}),
    "result_partition": (ResultPartition, {}),
    "blocking_subpartition": (BlockingSubpartition, {}),
    "multiplexer": (Multiplexer, {"semantics": list(MULTIPLEXER_SEMANTICS)}),
    "job": (Job, {"semantics": list(valve.SEMANTICS)}),
    "writer": (Writer, {}),
    "job_graph": (JobGraph, {}),
    "credit_connection": (CreditConnection, {}),
    "credit_loop": (CreditLoop, {}),
}


class Engine:
    """The right engine, or with `mutant` the wrong one of that name."""

    mutant: str | None = None

    def __init__(self, mutant: str | None = None, seed: int = 0) -> None:
        name = mutant if mutant is not None else self.mutant
        self.name = name or "right"
        self.components = [find(name).component] if name else list(COMPONENTS)
        self.host = Host(bug=name or "", random=Random(seed))

    def describe(self) -> Json:
        return {
            "implementation": {"name": f"museum {self.name}", "version": "1", "language": "python"},
            "components": {name: dict(COMPONENTS[name][1]) for name in self.components},
        }

    def replay(self, cases: list[Json]) -> list[Json]:
        return [self.replay_case(case) for case in cases]

    def replay_case(self, case: Json) -> Json:
        component = case.get("component")
        if component not in self.components:
            return make_error("unsupported", f"no component {component!r} here")
        config, events = case.get("config"), case.get("events")
        if not isinstance(config, dict) or not isinstance(events, list):
            return make_error("bad_request", "config must be an object and events a list")
        if not all(type(event) is dict for event in events):
            return make_error("bad_request", "an event is an object")
        try:
            step = COMPONENTS[component][0](config, self.host).step
            return {"steps": [step(event) for event in events]}
        except BadRequestError as error:
            return make_error("bad_request", str(error))
        except Exception as error:  # noqa: BLE001  a wrong engine may fail in any way, and says so
            return make_error("internal", f"{type(error).__name__}: {error}")


class Right(Engine):
    """Every component, no bug."""


def make_error(kind: str, message: str) -> Json:
    return {"error": {"kind": kind, "message": message}}


def engine(mutant_name: str | None) -> Engine:
    return Engine(mutant_name)


def to_class_name(mutant_name: str) -> str:
    return "".join(part.capitalize() for part in mutant_name.split("-"))


def __getattr__(name: str) -> Any:
    for mutant in MUTANTS:
        if to_class_name(mutant.name) == name:
            return type(name, (Engine,), {"mutant": mutant.name, "__doc__": mutant.story})
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
