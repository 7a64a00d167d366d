"""Adapters: one module per component, each driving Flink's own classes with the events of the protocol.

A module gives

    def declare(jvm) -> dict | None      what this version of Flink can do of the component; None where it lacks it
    def make(jvm, config) -> Machine     a fresh instance: step(event) gives its observations, close() is optional

JSON in, JSON out: the values are read by `engines.wire`, whose `BadRequestError` makes the whole case a bad request.
A Java exception that means refusal is turned into `rejected` by the adapter; one that escapes is an internal error of
the case. An adapter never asks the specification.
"""

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any


@cache
def load_all() -> dict[str, Any]:
    """The adapters by their components: the modules here that declare something; the others are parts of them."""
    modules = {info.name: import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)}
    return {name: module for name, module in modules.items() if hasattr(module, "declare")}
