"""An engine in a process of its own, spoken to over its standard input and output: `exec:COMMAND LINE`.

This is the life cycle of the engine: start, `hello`, requests from a `Conversation`, restarts after failures
(ten times, then given up), `bye` and exit. `Connection` moves the bytes, `Child` owns the process.
"""

import contextlib
import time
import weakref
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any, cast

from tidegate.conformance.engines import messages
from tidegate.conformance.engines.base import (
    Answer,
    Asked,
    Broken,
    Check,
    Description,
    Engine,
    JobReply,
    JobRequest,
    Reply,
    Request,
)
from tidegate.conformance.engines.errors import BadHelloError, CannotStartError, EngineBusyError
from tidegate.conformance.engines.limits import Limits
from tidegate.conformance.engines.processes.connection import Connection
from tidegate.conformance.engines.processes.conversation import Conversation

_STDOUT_HINT = (
    "standard output carries only the protocol, one JSON object per line; print everything else to standard error"
)

#: The id of the first request.
HELLO = 1
#: After this many hangs on single cases, an engine gets only this share of the time for each answer.
HANGS = 2
IMPATIENCE = 5


class ProcessEngine(Engine):
    """A persistent process with several requests in flight. A hang or a death costs one case.

    With `check`, every message of both sides is checked: it reports what breaks the JSON Schemas of the protocol.
    """

    def __init__(self, command: Sequence[str], limits: Limits | None = None, *, check: Check | None = None) -> None:
        self.command = tuple(command)
        self.limits = limits or Limits()
        self.check = check
        self.restarts = 0
        #: the exit status after `bye`; None while it runs, and if it had to be killed
        self.exit_status: int | None = None
        self._description: Description | None = None
        #: the first description of the engine: it must not change
        self._first: Description | None = None
        #: weak, so that a replay that its reader forgets is closed, and makes room for the next
        self._running: weakref.ref[Generator[tuple[Asked, Answer], None, None]] | None = None
        #: to an engine that got `hello`, and whose answer was not awaited yet
        self._launched: Connection | None = None
        self._reset()

    def _reset(self) -> None:
        self.connection: Connection | None = None
        self.parser = messages.Parser()
        self.writer = messages.Writer()
        self.last_id = 0
        self.window = self.limits.window
        self.given_up = ""
        self._hangs = 0

    # What every engine does

    def launch(self) -> None:
        if self._description is None and self._launched is None:
            self._launched = self._open()

    def start(self) -> Description:
        if self._description is None:
            self._reset()
            self.restarts = 0
            self._description = self._connect()
        return self._description

    def replay(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Reply]]:
        return cast("Iterator[tuple[Request, Reply]]", self._ask(requests))

    def run_job(self, request: JobRequest) -> JobReply:
        """Run one whole job on the engine, and wait for its answer."""
        ((_request, reply),) = self._ask([request])
        return cast("JobReply", reply)

    def _ask(self, requests: Iterable[Asked]) -> Generator[tuple[Asked, Answer], None, None]:
        self.start()
        if self._running is not None and self._running() is not None:
            raise EngineBusyError("this engine is still replaying", "read or close the earlier replay first")
        replies = self._replay(requests)
        self._running = weakref.ref(replies)
        return replies

    def _replay(self, requests: Iterable[Asked]) -> Generator[tuple[Asked, Answer], None, None]:
        conversation = Conversation(self, requests)
        try:
            yield from conversation.replies()
        finally:
            self._running = None
            if conversation.is_open:  # the caller left; late answers would count for other cases
                self.disconnect()

    def close(self) -> None:
        running = self._running() if self._running else None
        if running is not None:
            with contextlib.suppress(ValueError):  # it is running: one of its requests closes us
                running.close()
        self._running = None
        connection, self.connection, self._description = self.connection, None, None
        launched, self._launched = self._launched, None
        if launched is not None:
            launched.kill()
        if connection is not None:
            connection.send(messages.encode(messages.bye(self.next_id())))
            self.exit_status = connection.close()

    # What a conversation needs

    def next_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def connect(self) -> Connection | None:
        """The connection, restored if it was lost; None if the engine had to be given up."""
        if self.given_up:
            return None
        if self.connection is None:
            try:
                self._connect()
            except CannotStartError as error:
                self.given_up = f"the engine could not be restarted: {error.message}"
        return self.connection

    def disconnect(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.kill()

    def count_restart(self) -> None:
        if self.restarts >= self.limits.max_restarts:
            self.given_up = f"the engine was given up after {self.restarts} restarts"
        else:
            self.restarts += 1

    def count_hang(self) -> None:
        self._hangs += 1

    @property
    def patience(self) -> float:
        """Seconds in which the engine must answer: fewer once it has hung, because each hang may take minutes."""
        return self.limits.case_timeout / (1 if self._hangs < HANGS else IMPATIENCE)

    def narrow_window(self) -> None:
        self.window = max(1, self.window // 2)

    def complaint_about_request(self, request: Asked) -> str:
        schema = "job-request" if isinstance(request, JobRequest) else "replay-request"
        return self._complaint(messages.ask(2, request), schema) if self.check else ""

    def read_reply(self, message: messages.Message, request: Asked) -> Answer:
        reply: Answer
        component: str | None
        if isinstance(request, JobRequest):
            reply, schema, component = messages.read_job_reply(message), "job-reply", None
        else:
            reply, schema = messages.read_reply(message, len(request.events)), "replay-reply"
            component = request.component
        if not isinstance(reply, Broken):
            complaint = self._complaint(message.content, schema, component)
            if complaint:
                return Broken(f"the reply breaks the schema of the protocol: {complaint}")
        return reply

    def _complaint(self, message: dict[str, Any], schema: str, component: str | None = None) -> str:
        return "; ".join(self.check(message, schema, component)[:3]) if self.check is not None else ""

    # Greeting

    def _open(self) -> Connection:
        connection = Connection(self.command, self.limits)
        connection.send(messages.encode(messages.hello(HELLO)))
        connection.flush()
        return connection

    def _connect(self) -> Description:
        connection, self._launched = self._launched or self._open(), None
        self.last_id = HELLO
        try:
            description = self._await_description(connection)
            self._check_identity(description)
        except BaseException:
            connection.kill()
            raise
        self.connection = connection
        return description

    def _check_identity(self, description: Description) -> None:
        first = self._first = self._first or description
        if description != first:
            names = [f"{one.name} {one.version} ({', '.join(one.components)})" for one in (description, first)]
            raise BadHelloError(
                f"after a restart, the engine reports another name: {names[0]}, not {names[1]}",
                "an engine must report the same name each time, so that the result is about one engine",
            )

    def _await_description(self, connection: Connection) -> Description:
        line = self._await_line(connection)
        try:
            message = self.parser.parse(line)
            if type(message.id) is not int or message.id != HELLO:
                raise BadHelloError(
                    "the first line that the engine wrote is not the answer to hello, id 1", _STDOUT_HINT
                )
            if complaint := self._complaint(message.content, "hello-reply"):
                raise BadHelloError(f"the reply to hello breaks the schema of the protocol: {complaint}")
            return messages.read_description(message, self.limits.window)
        except messages.MalformedLineError as error:
            raise BadHelloError(
                f"the engine {error} instead of an answer to hello", _STDOUT_HINT, connection.stderr()
            ) from None
        except CannotStartError as error:
            error.stderr = connection.stderr()
            raise

    def _await_line(self, connection: Connection) -> bytes:
        deadline = time.monotonic() + self.limits.start_timeout
        while (left := deadline - time.monotonic()) > 0:
            connection.exchange(left)
            line = connection.take_line()
            if line is not None:
                return line
            failure = connection.failure()
            if failure is not None:
                raise CannotStartError(
                    f"the engine {failure.message} before it answered hello", "does it start by hand?", failure.stderr
                )
        raise CannotStartError(
            f"the engine did not answer hello in {self.limits.start_timeout:g} s",
            "flush standard output after each line; give a slow engine more time with a longer start timeout",
            connection.stderr(),
        )
