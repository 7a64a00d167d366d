"""The interface of a Python engine: any object that describes itself and replays many cases at once.

    class Mine:
        def describe(self):
            implementation = {"name": "mine", "version": "1", "language": "python"}
            return {"implementation": implementation, "components": {"valve": {}}}

        def replay(self, cases):
            return [{"steps": [[], []]} for case in cases]

A class that runs whole jobs also has `run_job(job)`, which returns rows of a run log, and declares `jobs`.

This module imports nothing of ours. Each result is `{"steps": …}`, `{"error": {"kind": …, "message": …}}`, or the bare
list of steps. An exception is an answer, too: the cases of its batch run again one by one, and a case that raises again
gets `internal`, so that one bad case does not spoil the others.
"""

import contextlib
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tidegate.conformance.engines.base import PROTOCOL_VERSION
from tidegate.conformance.engines.messages import encode


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


def run_job(engine: Any, request: dict[str, Any]) -> dict[str, Any]:
    """An `ok` or an `error` for a whole job: the result of `run_job` of the class, which may be a bare list of rows."""
    job = {key: value for key, value in request.items() if key not in ("id", "op")}
    try:
        shown = engine.run_job(job)
    except BaseException as error:  # noqa: BLE001 - whatever the engine raises is its answer
        return _as_error(error)
    if isinstance(shown, dict) and isinstance(shown.get("error"), dict):
        return shown
    return {"ok": {"rows": shown} if isinstance(shown, list) else shown}


def answer(
    engine: BatchEngine,
    cases: list[dict[str, Any]],
    again: Callable[[int], dict[str, Any]] | None = None,
    *,
    hosted: bool = False,
) -> list[dict[str, Any]]:
    """An `ok` or an `error` for each case.

    `again` returns a new copy of a case, for an engine that may have changed the first. Whatever an engine raises is
    an answer; but if it is not `hosted`, a KeyboardInterrupt may be meant for the harness.
    """
    count = len(cases)
    originals = None if again else list(cases)
    try:
        return _answer_together(engine, cases, count)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not hosted:
            raise
        if count == 1:
            return [_as_error(error)]
    singles = originals or (again(index) for index in range(count) if again)
    return [answer(engine, [case], hosted=hosted)[0] for case in singles]


def _answer_together(engine: BatchEngine, cases: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    results = list(engine.replay(cases))
    if len(results) != count:
        raise ValueError(f"replay() returned {len(results)} results for {count} cases")
    return [_as_answer(result) for result in results]


def _as_error(error: BaseException) -> dict[str, Any]:
    with contextlib.suppress(Exception):  # the engine may have replaced standard error
        traceback.print_exception(error, file=sys.stderr)
    return internal(in_words(error))


def in_words(error: BaseException) -> str:
    """The type and the text of an exception, even of one whose text fails."""
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException:  # noqa: BLE001 - it is as odd as the exception
        return f"{type(error).__name__}, whose text cannot be read"


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


def as_line(number: int, content: dict[str, Any]) -> bytes:
    """An answer as a line of the protocol; an error if it is not JSON."""
    try:
        return encode({"id": number, **content})
    except Exception as error:  # noqa: BLE001 - what is in it is the engine's
        return encode({"id": number, **internal(f"the result is not JSON: {in_words(error)}")})
