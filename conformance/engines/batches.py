"""What a Python engine is: any object that describes itself and replays many cases at once.

    class Mine:
        def describe(self):
            implementation = {"name": "mine", "version": "1", "language": "python"}
            return {"implementation": implementation, "components": {"valve": {}}}

        def replay(self, cases):
            return [{"steps": [[], []]} for case in cases]

It imports nothing of ours. Each result is `{"steps": …}`, `{"error": {"kind": …, "message": …}}`, or the bare list of
steps. An exception is an answer too: the cases of its batch are tried one by one, and whichever raises again gets
`internal`, so that one bad case does not spoil its neighbours.
"""

import sys
import traceback
from collections.abc import Sequence
from typing import Any, Protocol

from tidegate.conformance.engines.base import PROTOCOL_VERSION


class BatchEngine(Protocol):
    """The class behind `python:package.module:Name`."""

    def describe(self) -> dict[str, Any]:
        """The implementation and its components, as in the reply to `hello`."""

    def replay(self, cases: list[dict[str, Any]]) -> Sequence[Any]:
        """One result for each case, in order."""


def describe_to_hello(engine: BatchEngine) -> dict[str, Any]:
    """The content of `ok` in the reply to `hello`."""
    description = engine.describe()
    if not isinstance(description, dict):
        raise TypeError(f"describe() must give a dict, not {type(description).__name__}")
    return {"protocol": PROTOCOL_VERSION, **description}


def answer(engine: BatchEngine, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """An `ok` or an `error` for each case."""
    try:
        return _answer_together(engine, cases)
    except Exception as error:  # noqa: BLE001 - the engine is somebody else's: anything may come out of it
        if len(cases) == 1:
            traceback.print_exc(file=sys.stderr)
            return [internal(f"{type(error).__name__}: {error}")]
    return [alone for case in cases for alone in answer(engine, [case])]


def _answer_together(engine: BatchEngine, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    results = list(engine.replay(cases))
    if len(results) != len(cases):
        raise ValueError(f"replay() gave {len(results)} results for {len(cases)} cases")
    return [_as_answer(result) for result in results]


def _as_answer(result: Any) -> dict[str, Any]:
    if isinstance(result, dict):
        if "steps" in result and "error" not in result:
            return {"ok": {"steps": result["steps"]}}
        if "error" in result and "steps" not in result:
            return {"error": result["error"]}
    elif isinstance(result, list | tuple):
        return {"ok": {"steps": list(result)}}
    return internal('a result must be {"steps": …}, {"error": …} or a list of steps')


def internal(message: str) -> dict[str, Any]:
    return {"error": {"kind": "internal", "message": message}}
