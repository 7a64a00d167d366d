"""Engines written as a Python class: `python:package.module:Name`, in a process of its own or in ours.

`PythonEngine` is the careful way: the class runs in a child process behind the same transport as any other engine,
so it may hang, die or print. `InProcess` is the fast way, for a trusted object: the reference, and bulk
work.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import islice

from tidegate.conformance.engines import messages
from tidegate.conformance.engines.base import Broken, Check, Description, Engine, Reply, Request
from tidegate.conformance.engines.errors import BadHelloError, UnknownEngineError
from tidegate.conformance.engines.limits import Limits
from tidegate.conformance.engines.processes.process import ProcessEngine
from tidegate.conformance.engines.python.batches import BatchEngine, answer, as_line, describe_to_hello, in_words
from tidegate.conformance.engines.text import printable


class PythonEngine(ProcessEngine):
    """The class `module:Name`, hosted in a child process with the current directory on its path.

    `python`: the interpreter of that process, which must have this package, too; by default ours.
    """

    def __init__(
        self, path: str, limits: Limits | None = None, *, check: Check | None = None, python: str = sys.executable
    ) -> None:
        module, colon, name = path.partition(":")
        if not (colon and all(part.isidentifier() for part in (*module.split("."), *name.split(".")))):
            raise UnknownEngineError(
                f"'{printable(path)}' does not name a Python class",
                "python:package.module:Name, such as python:my_engine:Mine",
            )
        limits = limits or Limits()
        # A batch is answered as a whole: a quarter of the time allowed for a case is long enough for it.
        quick = limits.case_timeout / 4
        super().__init__(
            [python, "-m", "tidegate.conformance.engines.python.host", path, str(quick)], limits, check=check
        )


class InProcess(Engine):
    """A Python engine in this process, where nothing stops it if it hangs.

    With `careful`, it gets its own copies of cases, which it may change, and its answers are read as from a process.
    Trusted engines do without.
    """

    def __init__(self, engine: BatchEngine, batch: int = 256, *, careful: bool = False) -> None:
        self._engine = engine
        self._batch = batch
        self._careful = careful
        self._parser = messages.Parser()
        self._description: Description | None = None

    def start(self) -> Description:
        if self._description is None:
            try:
                hello = describe_to_hello(self._engine)
            except (Exception, SystemExit) as error:
                raise BadHelloError(f"describe() failed: {printable(in_words(error))}") from error
            self._description = messages.describe(hello, self._batch)
        return self._description

    def replay(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Reply]]:
        source = iter(requests)
        while batch := list(islice(source, self._batch)):
            yield from self._ask_carefully(batch) if self._careful else self._ask(batch)

    def _ask(self, batch: list[Request]) -> Iterator[tuple[Request, Reply]]:
        answers = answer(self._engine, [request.as_case() for request in batch])
        for request, content in zip(batch, answers, strict=True):
            yield request, messages.read_answer(content, len(request.events))

    def _ask_carefully(self, batch: list[Request]) -> Iterator[tuple[Request, Reply]]:
        texts = [json.dumps(request.as_case()) for request in batch]
        answers = answer(self._engine, [*map(json.loads, texts)], lambda index: json.loads(texts[index]))
        for request, content in zip(batch, answers, strict=True):
            try:
                message = self._parser.parse(as_line(1, content))
            except messages.MalformedLineError as error:
                yield request, Broken(str(error))
            else:
                yield request, messages.read_reply(message, len(request.events))

    def close(self) -> None:
        self._description = None
