"""A first look at an engine: does it shake hands, is one case of each component right, and is the protocol kept?

The cases go through the harness, as in a run. Then the wire is read bare, one message at a time: what the harness
forgives, or has to give up on, is told here with what to do about it.
"""

import shlex
import time
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

import attrs

from tidegate.conformance.engines import base, messages, schemas
from tidegate.conformance.engines.connection import Connection
from tidegate.conformance.engines.errors import StrictModeUnavailableError
from tidegate.conformance.engines.limits import Limits
from tidegate.conformance.engines.process import ProcessEngine
from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.golden import read_golden
from tidegate.conformance.judging.runner import Encoder, Planned, Runner, accepts
from tidegate.conformance.judging.verdicts import UNDETERMINED, VIOLATIONS, Exit, Status, Verdict
from tidegate.properties.cases.directed import directed
from tidegate.properties.cases.drawing import NothingAcceptedError, draw_case
from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import AnyComponent
from tidegate.traces.cases import Case
from tidegate.traces.codec import DecodeError, decode_case

#: What to do about a complaint that holds the words, the first that fits.
HINTS = (
    ("Additional properties", "a key that the protocol does not know is ignored: leave it out"),
    ("is not of type 'string'", 'a 64-bit quantity is a decimal string, "timestamp":"5"; bytes are lowercase hex'),
    ("is not of type 'integer'", "an index, a count or a 32-bit key is a JSON number without a fraction"),
    ("does not match", "64-bit quantities are decimal without leading zeros, bytes are lowercase hex"),
    ("has none of the types", "every observation has a type that the component knows"),
    ("required property", "every key that the protocol shows is always present"),
)
STDOUT_HINT = "standard output carries the protocol alone, one object a line; print all else to standard error"
REFUSAL_HINT = 'check the whole case first, and answer {"id":…,"error":{"kind":"bad_request","message":"…"}}'


class Level(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@attrs.frozen
class Remark:
    """Something that the implementer should know: where, what, and what to do about it. All of it safe to show."""

    level: Level
    place: str
    message: str
    hint: str = ""
    reproduce: str = ""


@attrs.frozen
class Smoked:
    """What was found. `untried` are components that the engine declares in a way that leaves no case to try."""

    engine: str
    description: base.Description
    verdicts: tuple[Verdict, ...]
    untried: tuple[str, ...]
    remarks: tuple[Remark, ...]
    strict: bool = False

    def exit(self) -> Exit:
        bad = {Level.ERROR, Level.WARNING} if self.strict else {Level.ERROR}
        if any(one.status in VIOLATIONS for one in self.verdicts) or any(one.level in bad for one in self.remarks):
            return Exit.VIOLATIONS
        if not self.verdicts or self.untried or any(one.status in UNDETERMINED for one in self.verdicts):
            return Exit.UNDETERMINED
        return Exit.CONFORMANT


def smoke(engine: base.Engine, name: str, *, strict: bool = False) -> Smoked:
    """Look at an engine, which must not be a strict one: the probes break the schemas on purpose."""
    description = engine.start()
    remarks = list(lint_claims(description))
    picked = {one: pick_case(one, description.components[one]) for one in COMPONENTS if one in description.components}
    cases = [case for case in picked.values() if case is not None]
    verdicts = list(Runner(engine).run(Planned("smoke", case) for case in cases))
    # What the engine died of says enough already, and on the bare wire nobody would start it again.
    safe = [one.case for one in verdicts if one.status not in (Status.TIMEOUT, Status.CRASH, Status.NOT_RUN)]
    remarks += probe(engine, name, safe)
    engine.close()
    if isinstance(engine, ProcessEngine):
        remarks += lint_wire(engine, safe, strict=strict)
    untried = tuple(component for component, case in picked.items() if case is None)
    return Smoked(name, description, tuple(verdicts), untried, tuple(dict.fromkeys(remarks)), strict)


def pick_case(component: str, claim: base.Claim) -> Case | None:
    """A case that the engine said it can do: written by hand, or from the golden traces, or else generated."""
    for case in (*(one.case for one in directed(component)), *read_golden(component)):
        if accepts(claim, component, case.config):
            return case
    try:
        return draw_case(component, 0, 0, lambda config: accepts(claim, component, config))
    except NothingAcceptedError:
        return None


def lint_claims(description: base.Description) -> Iterator[Remark]:
    if not description.components:
        yield Remark(Level.WARNING, "hello", "no component is declared", 'for example "components":{"valve":{}}')
    for name, claim in description.components.items():
        place = f"hello, {name}"
        if name not in COMPONENTS:
            message = "this suite has no such component, so nothing of it is checked"
            yield Remark(Level.WARNING, place, message, suggest(name, COMPONENTS))
            continue
        yield from lint_names(place, "kinds", claim.kinds, kinds_of(COMPONENTS[name]))
        yield from lint_names(place, "semantics", claim.semantics, COMPONENTS[name].semantics)


def lint_names(place: str, what: str, declared: Iterable[str] | None, known: tuple[str, ...]) -> Iterator[Remark]:
    if declared is None:
        return
    names = sorted(declared)
    if not known:
        yield Remark(Level.WARNING, place, f"this component has no {what}", f'leave "{what}" out')
        return
    if not names:
        yield Remark(Level.WARNING, place, f"an empty list of {what} declares nothing", "leave it out, or name some")
    for name in names:
        if name not in known:
            yield Remark(Level.WARNING, place, f"{name} is none of the {what}", suggest(name, known))


def kinds_of(component: AnyComponent) -> tuple[str, ...]:
    """What a config may call its kind, or in the wiring its pattern."""
    named = [field.type for field in attrs.fields(component.config) if field.name in ("kind", "pattern")]
    return tuple(map(str, named[0])) if named else ()


def suggest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name.lower(), known, n=1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"


def probe(engine: base.Engine, name: str, cases: Iterable[Case]) -> Iterator[Remark]:
    """Cases that are no cases: the answer to each is `bad_request`."""
    for case in cases:
        probes = list(make_probes(Encoder().request(case)))
        replies = engine.replay(request for _what, request in probes)
        for (what, _), (request, reply) in zip(probes, list(replies), strict=True):
            if isinstance(reply, base.NotRun) or (isinstance(reply, base.Refused) and reply.kind == "bad_request"):
                continue
            level = Level.WARNING if isinstance(reply, base.Steps | base.Refused) else Level.ERROR
            message = f"{what} is not refused with bad_request: {describe_reply(reply)}"
            yield Remark(level, case.component, message, REFUSAL_HINT, by_hand(name, request))
            if isinstance(reply, base.TimedOut | base.Crashed):
                return  # each further one would cost as much time, and tell nothing new


def make_probes(good: base.Request) -> Iterator[tuple[str, base.Request]]:
    """One of each sort, made from a good case; the codec says whether it is really no case."""
    made = set()
    for sort, what, config, events in malformed(good):
        request = base.Request(f"{good.case}-{sort}", good.component, config, events)
        try:
            decode_case(request.as_case())
        except DecodeError:
            if sort not in made:
                yield what, request
            made.add(sort)


def malformed(good: base.Request) -> Iterator[tuple[str, str, dict[str, Any], list[dict[str, Any]]]]:
    config, events = good.config, good.events
    for key, value in config.items():
        yield "config-without", f"a config without {key}", {k: v for k, v in config.items() if k != key}, events
        if type(value) is int:
            yield "config-zero", f"a config with {key} 0", {**config, key: 0}, events
    # The malformed event comes last: the whole case is to be refused, not what follows.
    yield "event-type", "an event of an unknown type", config, [*events, {"type": "no_such_event"}]
    for event in events:
        for key, value in reversed(event.items()):
            less = {k: v for k, v in event.items() if k != key}
            yield "event-without", f"an event without {key}", config, [*events, less]
            if key != "type" and type(value) is str:
                yield "event-number", f"an event with the number 5 as {key}", config, [*events, {**event, key: 5}]


def describe_reply(reply: base.Steps | base.Refused | base.Broken | base.Crashed | base.TimedOut) -> str:
    if isinstance(reply, base.Steps):
        return "it was answered like a case"
    if isinstance(reply, base.Refused):
        return f"the answer was {reply.kind}, {reply.message}"
    return f"no answer in {reply.seconds:g} s" if isinstance(reply, base.TimedOut) else f"the engine {reply.message}"


def lint_wire(engine: ProcessEngine, cases: list[Case], *, strict: bool) -> list[Remark]:
    wire = Wire(Connection(engine.command, engine.limits), engine.limits, strict)
    try:
        wire.converse([Encoder().request(case) for case in cases])
    finally:
        wire.connection.kill()
    return wire.remarks


@attrs.define
class Wire:
    """One conversation, a message at a time, that goes on for as long as the engine answers at all."""

    connection: Connection
    limits: Limits
    strict: bool
    parser: messages.Parser = attrs.Factory(messages.Parser)
    remarks: list[Remark] = attrs.Factory(list)

    def converse(self, requests: list[base.Request]) -> None:
        alive = self.ask("hello", messages.hello(1), "hello", self.limits.start_timeout)
        for number, request in enumerate(requests, start=2):
            message, limit = messages.replay(number, request), self.limits.case_timeout
            alive = alive and self.ask(request.component, message, "replay", limit, request.component)
        if alive:
            self.leave(len(requests) + 2)

    def ask(self, place: str, message: dict[str, Any], schema: str, seconds: float, component: str = "") -> bool:
        """Send, wait for the answer, and look at both; false if none came."""
        self.check(place, message, f"{schema}-request", component)
        self.connection.send(messages.encode(message))
        self.connection.flush()
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and self.connection.failure() is None:
            self.connection.exchange(left)
            for answer in self.take(place):
                if answer.id != message["id"] or type(answer.id) is not int:
                    shown = printable(repr(answer.id), 40)
                    self.remark(place, f"the answer to id {message['id']} has the id {shown}", "echo the id as it came")
                if answer.oddity:
                    self.remark(place, f"the answer {answer.oddity}", "every number is an integer")
                self.check(place, answer.content, f"{schema}-reply", component)
                return True
        self.remark(place, "asked once more, the engine gave no answer", "a fresh process must answer as the first did")
        return False

    def take(self, place: str) -> Iterator[messages.Message]:
        """The lines that are messages; all others are remarked upon."""
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
        """`bye` first, with the input still open; then the end of the input."""
        self.connection.send(messages.encode(messages.bye(number)))
        self.connection.flush()
        deadline = time.monotonic() + self.limits.bye_grace
        while (left := deadline - time.monotonic()) > 0 and not self.connection.hung_up:
            self.connection.exchange(left)
            for _ in self.take("bye"):
                self.remark("bye", "the engine wrote an answer that nobody asked for", "bye has no reply")
        stayed = not self.connection.hung_up
        status = self.connection.close()
        if status is None:
            self.remark("bye", f"the engine did not leave in {self.limits.bye_grace:g} s and was killed", "exit with 0")
        elif stayed:
            hint = "bye means the same as the end of standard input"
            self.remark("bye", "the engine left only when its standard input ended", hint, Level.WARNING)
        if status:
            self.remark("bye", f"the engine left with status {status}", "exit with 0")

    def remark(self, place: str, message: str, hint: str, level: Level = Level.ERROR) -> None:
        self.remarks.append(Remark(level, place, message, hint))


def by_hand(name: str, *requests: base.Request) -> str:
    """A shell line that gives these requests to the program; empty for an engine that is no program."""
    if not name.startswith("exec:"):
        return ""
    said = [messages.hello(1), *(messages.replay(number, one) for number, one in enumerate(requests, start=2))]
    lines = " ".join(shlex.quote(messages.encode(one).decode().rstrip()) for one in said)
    return f"printf '%s\\n' {lines} | {shlex.join(shlex.split(name.removeprefix('exec:')))}"
