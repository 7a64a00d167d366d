"""Adapters: one module a component, each driving Flink's own classes with the events of the protocol.

A module gives

    def declare(jvm) -> dict | None      what this version of Flink can do of the component; None where it lacks it
    def make(jvm, config) -> Machine     a fresh instance: step(event) gives its observations, close() is optional

JSON in, JSON out: the values are read by `conformance.museum.wire`, whose `BadRequestError` makes the whole case a bad
request. A Java exception that means refusal is turned into `rejected` by the adapter; one that escapes is an internal
error of the case. An adapter never asks the specification.
"""

import importlib
from typing import Any

#: The components that have an adapter, in the order of the protocol.
NAMES = (
    "valve",
    "combiner",
    "multiplexer",
    "partitioner",
    "wiring",
    "serializer",
    "writer",
    "deserializer",
    "chaining",
    "outputs",
    "chain_lifecycle",
    "buffer",
    "subpartition",
    "blocking_subpartition",
    "credit_sender",
    "credit_receiver",
    "gate",
    "priority_gate",
    "union_gate",
    "network_input",
    "multiple_inputs",
    "mailbox",
    "barriers",
)


def load(name: str) -> Any:
    """The module of an adapter."""
    return importlib.import_module(f"{__name__}.{name}")
