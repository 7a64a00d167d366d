"""Reads the wire directly, message by message, and remarks on what the harness forgives or has to give up on."""

import shlex
import time
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import attrs

from tidegate.conformance import schemas
from tidegate.conformance.engines import base, messages
from tidegate.conformance.engines.errors import StrictModeUnavailableError
from tidegate.conformance.engines.limits import Limits
from tidegate.conformance.engines.processes.connection import Connection
from tidegate.conformance.engines.processes.process import ProcessEngine
from tidegate.conformance.engines.text import command_line, printable
from tidegate.conformance.judging.trial import Encoder
from tidegate.traces.cases import Case

#: What to do about a complaint: the first entry whose words occur in it.
HINTS = (
    ("Additional properties", "a key that the protocol does not know is ignored: leave it out"),
    ("is not of type 'string'", 'a 64-bit quantity is a decimal string, "timestamp":"5"; bytes are lowercase hex'),
    ("is not of type 'integer'", "an index, a count or a 32-bit key is a JSON number without a fraction"),
    ("does not match", "64-bit quantities are decimal without leading zeros, bytes are lowercase hex"),
    ("has none of the types", "every observation has a type that the component knows"),
    ("required property", "every key that the protocol shows is always present"),
)
STDOUT_HINT = "standard output carries only the protocol, one object per line; print everything else to standard error"


class Level(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@attrs.frozen
class Remark:
    """What the implementer should know: where, what, and what to do about it. Everything in it is safe to print."""

    level: Level
    place: str
    message: str
    hint: str = ""
    reproduce: str = ""

    def text(self) -> str:
        lines = [f"{self.level}: {self.place}: {self.message}"]
        lines += [f"  hint: {self.hint}"] * bool(self.hint) + [f"  by hand: {self.reproduce}"] * bool(self.reproduce)
        return "\n".join(lines)


def lint_wire(engine: ProcessEngine, cases: list[Case], *, strict: bool) -> list[Remark]:
    wire = Wire(Connection(engine.command, engine.limits), engine.limits, strict)
    try:
        wire.converse([Encoder().request(case) for case in cases])
    finally:
        wire.connection.kill()
    return wire.remarks


@attrs.define
class Wire:
    """One conversation, message by message, which goes on while the engine answers."""

    connection: Connection
    limits: Limits
    strict: bool
    parser: messages.Parser = attrs.Factory(messages.Parser)
    remarks: list[Remark] = attrs.Factory(list)

    def converse(self, requests: list[base.Request]) -> None:
        alive = self.ask("hello", messages.hello(1), "hello", self.limits.start_timeout)
        for number, request in enumerate(requests, start=2):
            message, limit = messages.ask(number, request), self.limits.case_timeout
            alive = alive and self.ask(request.component, message, "replay", limit, request.component)
        if alive:
            self.leave(len(requests) + 2)

    def ask(self, place: str, message: dict[str, Any], schema: str, seconds: float, component: str = "") -> bool:
        """Send a message, wait for the answer, and check both; false if no answer came."""
        self.check(place, message, f"{schema}-request", component)
        self.connection.send(messages.encode(message))
        self.connection.flush()
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and self.connection.failure() is None:
            self.connection.exchange(left)
            for answer in self.take(place):
                if answer.id != message["id"] or type(answer.id) is not int:
                    shown = printable(repr(answer.id), 40)
                    self.remark(place, f"the answer to id {message['id']} has the id {shown}", "echo the id unchanged")
                if answer.oddity:
                    self.remark(place, f"the answer {answer.oddity}", "every number is an integer")
                self.check(place, answer.content, f"{schema}-reply", component)
                return True
        self.remark(place, "asked again, the engine gave no answer", "a new process must answer as the first one did")
        return False

    def take(self, place: str) -> Iterator[messages.Message]:
        """The lines that are messages; every other line becomes a remark."""
        while (line := self.connection.take_line()) is not None:
            try:
                message = self.parser.parse(line)
            except messages.MalformedLineError as error:
                self.remark(place, f"the engine {error}", STDOUT_HINT)
                continue
            yield message

    def check(self, place: str, message: dict[str, Any], schema: str, component: str = "") -> None:
        try:
            complaints = schemas.check(message, schema, component=component)
        except StrictModeUnavailableError as error:
            if self.strict:
                raise
            self.remark("schemas", "messages were not checked against them", error.hint, Level.NOTE)
            return
        for complaint in complaints:
            hint = next((hint for words, hint in HINTS if words in complaint), f"the schema is {schema}.json")
            level = Level.WARNING if "Additional properties" in complaint else Level.ERROR
            self.remark(place, f"{schema}: {complaint}", hint, level)

    def leave(self, number: int) -> None:
        """Send `bye` while the input is still open, then close the input."""
        self.connection.send(messages.encode(messages.bye(number)))
        self.connection.flush()
        deadline = time.monotonic() + self.limits.bye_grace
        while (left := deadline - time.monotonic()) > 0 and not self.connection.hung_up:
            self.connection.exchange(left)
            for _ in self.take("bye"):
                self.remark("bye", "the engine wrote an answer without a request", "bye has no reply")
        stayed = not self.connection.hung_up
        status = self.connection.close()
        if status is None:
            self.remark("bye", f"the engine was killed: no exit within {self.limits.bye_grace:g} s", "exit with 0")
        elif stayed:
            hint = "bye means the same as the end of standard input"
            self.remark("bye", "the engine exited only when its standard input ended", hint, Level.WARNING)
        if status:
            self.remark("bye", f"the engine exited with status {status}", "exit with 0")

    def remark(self, place: str, message: str, hint: str, level: Level = Level.ERROR) -> None:
        self.remarks.append(Remark(level, place, message, hint))


def by_hand(name: str, *requests: base.Request) -> str:
    """A shell line that sends these requests to the program; empty if the engine is not a program."""
    if not name.startswith("exec:"):
        return ""
    said = [messages.hello(1), *(messages.ask(number, one) for number, one in enumerate(requests, start=2))]
    lines = command_line(messages.encode(one).decode().rstrip() for one in said)
    return f"printf '%s\\n' {lines} | {command_line(shlex.split(name.removeprefix('exec:')))}"
