"""The process in which a Python engine runs: `python -m tidegate.conformance.engines.python.host package.module:Name`.

It speaks protocol 1 for a class that does not know it. The requests that wait on standard input become one batch.
Both standard streams are out of the class's reach: its output goes to standard error, and its input is empty.

Choices
-------
A batch is answered as a whole, so a long one would look like a hang. Its size grows while batches are fast and
shrinks when they are not; a class that handles a thousand cases in the time of one soon gets a thousand.
"""

import gc
import importlib
import json
import os
import select
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tidegate.conformance.engines.python.batches import (
    BatchEngine,
    answer,
    as_line,
    describe_to_hello,
    in_words,
    internal,
    run_job,
)

_CHUNK = 1024 * 1024


class Requests:
    """The waiting lines of a pipe, many at a time."""

    def __init__(self, descriptor: int, linger: float = 0.0) -> None:
        self._descriptor = descriptor
        self._linger = linger
        self._rest = b""
        self._lines: list[bytes] = []
        self._ended = False

    def take(self, most: int) -> list[bytes]:
        """Wait for a request, and take those that arrive with it or soon after. Empty at the end of input."""
        while not self._ended and (not self._lines or (len(self._lines) < most and self._is_readable())):
            chunk = os.read(self._descriptor, _CHUNK)
            self._ended = not chunk
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            self._lines += lines
        taken, self._lines = self._lines[:most], self._lines[most:]
        return taken

    def _is_readable(self) -> bool:
        return bool(select.select([self._descriptor], [], [], self._linger)[0])


class Host:
    def __init__(
        self, load: Callable[[], BatchEngine], requests: Requests, output: int, quick: float, batch: int = 1
    ) -> None:
        self._load = load
        self._engine: BatchEngine | None = None
        self._requests = requests
        self._output = output
        self._quick = quick
        self._batch = batch

    def run(self) -> None:
        while lines := self._requests.take(self._batch):
            replays: list[tuple[bytes, dict[str, Any]]] = []
            for line in lines:
                request = json.loads(line)
                if request.get("op") == "replay" and self._engine is not None:
                    replays.append((line, request))
                    continue
                self._replay(replays)
                replays = []
                if request.get("op") == "bye":
                    return
                is_job = request.get("op") == "job" and self._engine is not None
                self._reply([request], [run_job(self._engine, request) if is_job else self._greet(request)])
            self._replay(replays)

    def _greet(self, request: dict[str, Any]) -> dict[str, Any]:
        if request.get("op") != "hello":
            return {"error": {"kind": "bad_request", "message": "hello comes first, then replay, then bye"}}
        try:
            self._engine = self._load()
            return {"ok": describe_to_hello(self._engine)}
        except BaseException as error:  # noqa: BLE001 - whatever the import or the constructor raises, the reader is told
            self._engine = None
            return internal(in_words(error))

    def _replay(self, replays: list[tuple[bytes, dict[str, Any]]]) -> None:
        if not replays or self._engine is None:
            return
        began = time.monotonic()
        requests = [request for _line, request in replays]

        def again(index: int) -> dict[str, Any]:
            return as_case(json.loads(replays[index][0]))

        self._reply(requests, answer(self._engine, [*map(as_case, requests)], again, hosted=True))
        if time.monotonic() - began > self._quick:
            self._batch = max(1, len(requests) // 2)
        elif len(requests) == self._batch:
            self._batch *= 4

    def _reply(self, requests: list[dict[str, Any]], answers: list[dict[str, Any]]) -> None:
        lines = (as_line(request["id"], content) for request, content in zip(requests, answers, strict=True))
        unwritten = memoryview(b"".join(lines))
        while unwritten:
            unwritten = unwritten[os.write(self._output, unwritten) :]


def as_case(request: dict[str, Any]) -> dict[str, Any]:
    return {key: request[key] for key in ("case", "component", "config", "events")}


def load(path: str) -> BatchEngine:
    module_name, _, name = path.partition(":")
    found: Any = importlib.import_module(module_name)
    for part in name.split("."):
        found = getattr(found, part)
    engine: BatchEngine = found()
    return engine


def serve(make: Callable[[], BatchEngine], quick: float, batch: int = 1, linger: float = 0.0) -> None:
    """Serve the engine from `make`, until `bye`. The first batch may have `batch` cases.

    If a batch costs the same whatever its size, `linger` is how long to wait for more cases.
    """
    requests, output = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    with suppress(FileNotFoundError):  # a deleted current folder has no modules
        if "" not in sys.path and os.getcwd() not in sys.path:  # noqa: PTH109 - sys.path holds strings
            sys.path.insert(0, os.getcwd())  # noqa: PTH109
    # Requests and answers make no cycles: the garbage collector would find little.
    gc.set_threshold(20_000, 20, 20)
    Host(make, Requests(requests, linger), output, quick, batch).run()


def main(path: str, quick: float) -> None:
    serve(lambda: load(path), quick)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 2.0)
