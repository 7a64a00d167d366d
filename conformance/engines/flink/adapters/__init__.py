"""Adapters: one module per component, each driving Flink's own classes with the events of the protocol.

A module has

    def declare(jvm) -> dict | None      the part of the component in this version; None without any
    def make(jvm, config) -> Machine     a new instance: step(event) returns observations, close() is optional

JSON in, JSON out: `engines.wire` reads the values, and its `BadRequestError` makes the whole case a bad request.
The adapter turns a Java exception that means refusal into `rejected`; any other one is an internal error of
the case. An adapter never uses the specification.
"""

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any


@cache
def load_all() -> dict[str, Any]:
    """The adapters by component: modules here that have `declare`; the others are helpers."""
    modules = {info.name: import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)}
    return {name: module for name, module in modules.items() if hasattr(module, "declare")}
