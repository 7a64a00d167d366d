"""The messages of protocol 1: requests as lines, and lines as replies, checked completely before use.

A line is parsed once. If it names a request in flight, an error in it is a finding about that
case. If not (no JSON, no object, an unknown id), its case is unknown, and `MalformedLineError`
is raised.

Choices
-------
Requests are sent in ASCII, which is UTF-8 for every engine, whatever its locale. A reply with floats or NaN breaks the
protocol, which has none: `2.0` would pass for `2`, and `1e400` could not be reported as JSON. A reply with very many
values is refused before it is parsed, because parsing multiplies its size by up to thirty. A duplicate key
breaks the protocol: readers differ in which value they take. A check of every object would double the cost of parsing,
so colons are counted: only if there are more of them than keys, for example in strings, a line is parsed again.
"""

import json
import re
from collections.abc import Callable
from itertools import chain
from operator import itemgetter
from typing import Any

import attrs

from tidegate import __version__
from tidegate.conformance.engines import base
from tidegate.conformance.engines.errors import BadHelloError, VersionMismatchError
from tidegate.conformance.engines.text import printable, quoted

ERROR_KINDS = ("unsupported", "bad_request", "internal")
#: Values (numbers, strings, lists, objects) in one line.
VALUES_LIMIT = 500_000
#: Bytes of one line as text: one wide character makes all of them take four bytes.
TEXT_LIMIT = 32 * 1024 * 1024
#: Approximate bytes of a value besides its characters.
_VALUE_SIZE = 100
_WIDE = re.compile(rb"[\xf0-\xf4]")
#: Observations are flat except for a list or two; deeper nesting would only break code that shows or compares it.
_DEPTH_LIMIT = 16
_TYPE = itemgetter("type")
#: How many configs and events are remembered as texts.
_MOST_TEXTS = 100_000
_HINT = (
    'the reply looks like {"id":1,"ok":{"protocol":1,"implementation":{"name":"…","version":"…","language":"…"},'
    '"components":{"valve":{}}}}'
)
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class MalformedLineError(Exception):
    """A line that belongs to no known request."""


@attrs.frozen
class Message:
    """A line that is a JSON object, its memory size, and what it holds that no reply may hold."""

    id: Any
    content: dict[str, Any]
    #: bytes, approximately
    weight: int
    #: upper bound of its lists and objects: brackets in its strings count, too
    brackets: int
    oddity: str | None


def encode(message: dict[str, Any]) -> bytes:
    return _encode(message).encode("ascii") + b"\n"


def hello(number: int) -> dict[str, Any]:
    return {"id": number, "op": "hello", "protocol": [base.PROTOCOL_VERSION], "suite": __version__}


def ask(number: int, request: base.Request | base.JobRequest) -> dict[str, Any]:
    return {"id": number, **request.as_message()}


def bye(number: int) -> dict[str, Any]:
    return {"id": number, "op": "bye"}


class Writer:
    """Writes requests. A few configs and events make up most of them, so their texts are remembered."""

    def __init__(self) -> None:
        #: By identity; holding the object keeps its id valid.
        self._known: dict[int, tuple[Any, str]] = {}

    def write(self, number: int, request: base.Request | base.JobRequest) -> bytes:
        """The line of the request."""
        if isinstance(request, base.JobRequest):
            return encode(ask(number, request))
        if len(self._known) > _MOST_TEXTS:
            self._known.clear()
        known, remember = self._known, self._remember
        events = ",".join([(known.get(id(event)) or remember(event))[1] for event in request.events])
        case, component, config = _encode(request.case), _encode(request.component), request.config
        text = (known.get(id(config)) or remember(config))[1]
        line = (
            f'{{"id":{number},"op":"replay","case":{case},"component":{component},"config":{text},"events":[{events}]}}'
        )
        return line.encode("ascii") + b"\n"

    def _remember(self, value: Any) -> tuple[Any, str]:
        known = self._known[id(value)] = (value, _encode(value))
        return known


class Parser:
    """Parses lines. It remembers, for the current line, whether it held anything that JSON or the protocol forbids."""

    def __init__(self) -> None:
        self._oddities: list[str] = []
        self._decoder = json.JSONDecoder(parse_constant=self._note, parse_float=self._note)
        self._doubles = json.JSONDecoder(object_pairs_hook=self._note_doubles)

    def parse(self, line: bytes) -> Message:
        brackets = line.count(b"[") + line.count(b"{")
        # A short line needs no count.
        values = brackets + line.count(b",") if len(line) > 4096 else len(line) // 2
        if values > VALUES_LIMIT:
            raise MalformedLineError(f"wrote a line of more than {VALUES_LIMIT} values: {quoted(line)}")
        size = len(line) * (1 if line.isascii() else 4 if _WIDE.search(line) else 2)
        if size > TEXT_LIMIT:
            raise MalformedLineError(f"wrote a line that takes more than {TEXT_LIMIT} bytes as text: {quoted(line)}")
        self._oddities.clear()
        try:
            text = line.decode("utf-8")
            content = self._decoder.decode(text)
            if type(content) is dict and line.count(b":") > _count_keys(content):
                self._doubles.decode(text)
        except UnicodeDecodeError as error:
            raise MalformedLineError(f"wrote a line that is not UTF-8: {quoted(line)}") from error
        except RecursionError as error:
            raise MalformedLineError(f"wrote a line that is nested too deeply: {quoted(line)}") from error
        except ValueError as error:  # no JSON, or a number with more digits than Python takes
            raise MalformedLineError(f"wrote a line that is not JSON: {quoted(line)}") from error
        if type(content) is not dict:
            raise MalformedLineError(f"wrote a line that is not a JSON object: {quoted(line)}")
        oddity = self._oddities[0] if self._oddities else None
        if oddity is None and b"\\u" in line and _has_unpaired_surrogate(content):
            oddity = "holds an unpaired surrogate"
        return Message(content.get("id"), content, size + values * _VALUE_SIZE, brackets, oddity)

    def _note(self, text: str) -> int:
        self._oddities.append(f"holds {printable(text, 40)}: the protocol has no floats")
        return 0

    def _note_doubles(self, pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _value in pairs]
        if len(set(names)) < len(names):
            name = max(names, key=names.count)
            self._oddities.append(f"holds the key {printable(repr(name), 40)} more than once")


def _count_keys(content: dict[str, Any]) -> int:
    """The keys of a reply whose observations are flat; fewer of any other."""
    ok = content.get("ok")
    try:
        return len(content) + len(ok) + sum(map(len, chain.from_iterable(ok["steps"])))  # type: ignore[arg-type,index]
    except (TypeError, KeyError):
        return len(content)


def _has_unpaired_surrogate(content: Any) -> bool:
    try:
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    except RecursionError:
        return False  # the depth is checked elsewhere
    return False


def read_reply(message: Message, events: int) -> base.Reply:
    """Read the reply to a `replay` with this number of events."""
    if message.oddity:
        return base.Broken(f"the reply {message.oddity}")
    reply = read_answer(message.content, events)
    if isinstance(reply, base.Steps):
        # The whole and ok, steps, each step, each observation: if that accounts for all brackets, nothing is nested.
        flat = 3 + len(reply.steps) + sum(map(len, reply.steps))
        if message.brackets > flat and _is_deeper(reply.steps, _DEPTH_LIMIT):
            return base.Broken("an observation is nested too deeply")
    return reply


def read_job_reply(message: Message) -> base.JobReply:
    """Read the reply to a `job`; the judge checks its rows."""
    if message.oddity:
        return base.Broken(f"the reply {message.oddity}")
    refused = _read_refusal(message.content)
    if refused is not None:
        return refused
    ok = message.content["ok"]
    if type(ok) is not dict or sum(name in ok for name in _SHOWN) != 1:
        return base.Broken('ok must be an object that holds "rows", or "log", the path of a file with rows')
    if complaint := _complaint_about_job(ok):
        return base.Broken(complaint)
    for one in ok.get("generations", ()):
        if complaint := _complaint_about_generation(one):
            return base.Broken(f"a generation: {complaint}")
    return base.Ran({name: ok[name] for name in (*_SHOWN, *_JOB_FIELDS) if name in ok})


def _is_list_of(kind: type) -> Callable[[Any], bool]:
    return lambda value: type(value) is list and all(type(one) is kind for one in value)


def _is_object_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: type(value) is dict and all(map(is_right, value.values()))


def _are_restores(value: Any) -> bool:
    return type(value) is dict and all(map(_is_restore, value.items()))


def _are_changes(value: Any) -> bool:
    return type(value) is list and all(one and _is_list_of(str)(one) for one in value)


#: An answer to a job has one of these.
_SHOWN = ("rows", "log", "generations", "changes")
#: Checks of each field of an answer to a job, and of a generation. The judge reads rows, graphs and results.
_JOB_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "rows": (lambda value: type(value) is list, "rows must be a list, log a string"),
    "log": (lambda value: type(value) is str, "rows must be a list, log a string"),
    "generations": (lambda value: bool(value) and _is_list_of(dict)(value), "generations must be a list of objects"),
    "changes": (_are_changes, "changes must be a list: of each change its kind and its cells, all of them strings"),
    "error": (lambda value: type(value) is str, "error must be a string: why the job failed"),
    "timeout": (
        lambda value: type(value) is bool,
        "timeout must be true or false: whether the job did not end in time",
    ),
    "restored": (
        _are_restores,
        "restored must say of each attempt behind the first, by its number, a checkpoint or null",
    ),
    "hit": (_is_list_of(bool), "hit must be a list: of each fault, whether it hit"),
    "shows": (_is_list_of(str), "shows must be a list: the kinds of rows that this run shows"),
    "graph": (lambda value: type(value) is dict, "graph must be an object: the tasks and edges of the job graph"),
    "read": (
        _is_object_of(_is_list_of(list)),
        "read must be an object: what each subtask of a source has done, a list",
    ),
    "totals": (_is_object_of(lambda value: type(value) is dict), "totals must be an object: a total of each key"),
    "collected": (_is_object_of(_is_list_of(list)), "collected must be an object: pairs of key and value"),
    "parallelism": (
        _is_object_of(lambda value: type(value) is int),
        "parallelism must be an object: of each operator, by its id",
    ),
}
_OF_A_GENERATION = ("rows", "log", "restored", "graph", "parallelism")


def _complaint_about_job(ok: dict[str, Any]) -> str:
    """The first wrong field, in words; empty if all are right."""
    known = ((name, *_JOB_FIELDS[name]) for name in ok if name in _JOB_FIELDS)
    return next((complaint for name, is_right, complaint in known if not is_right(ok[name])), "")


def _complaint_about_generation(one: dict[str, Any]) -> str:
    if ("rows" in one) is ("log" in one):
        return 'it must hold "rows", or "log"'
    return _complaint_about_job({name: value for name, value in one.items() if name in _OF_A_GENERATION})


def _is_restore(item: tuple[str, Any]) -> bool:
    attempt, checkpoint = item
    is_number = attempt.isascii() and attempt.isdecimal() and not attempt.startswith("0") and len(attempt) < 10
    return is_number and (checkpoint is None or (type(checkpoint) is int and 0 <= checkpoint < 2**63))


def _read_refusal(content: dict[str, Any]) -> base.Refused | base.Broken | None:
    """An answer that is an error, or neither; None for `ok`."""
    if "error" in content:
        return base.Broken("the reply holds both ok and error") if "ok" in content else _read_error(content["error"])
    return None if "ok" in content else base.Broken("the reply holds neither ok nor error")


def read_answer(content: dict[str, Any], events: int) -> base.Reply:
    """Read `{"ok": …}` or `{"error": …}`."""
    refused = _read_refusal(content)
    if refused is not None:
        return refused
    ok = content["ok"]
    if type(ok) is not dict or "steps" not in ok:
        return base.Broken('ok must be an object that holds "steps"')
    steps = ok["steps"]
    complaint = _complaint_about_steps(steps, events)
    return base.Broken(complaint) if complaint else base.Steps(steps)


def _read_error(error: Any) -> base.Refused | base.Broken:
    if type(error) is not dict:
        return base.Broken('error must be an object of "kind" and "message"')
    kind, message = error.get("kind"), error.get("message")
    if kind not in ERROR_KINDS:
        return base.Broken(f"error.kind must be one of {', '.join(ERROR_KINDS)}, not {printable(repr(kind), 100)}")
    if type(message) is not str:
        return base.Broken(f"error.message must be a string, not {printable(repr(message), 100)}")
    return base.Refused(kind, printable(message))


def _complaint_about_steps(steps: Any, events: int) -> str | None:
    if type(steps) is not list:
        return "steps must be a list, one list of observations for each event"
    if len(steps) != events:
        return f"the reply has {len(steps)} steps, the case has {events} events"
    # Sets of types are found at the speed of C; only suspicious ones are examined one by one.
    if not set(map(type, steps)) <= {list}:
        at = next(i for i, step in enumerate(steps) if type(step) is not list)
        return f"step {at + 1} must be a list of observations"
    observations = list(chain.from_iterable(steps))
    if not set(map(type, observations)) <= {dict}:
        at = next(i for i, step in enumerate(steps) for each in step if type(each) is not dict)
        return f"step {at + 1} holds an observation that is not an object"
    try:
        of_types = set(map(type, map(_TYPE, observations)))
    except KeyError:
        of_types = {type(None)}
    if not of_types <= {str}:
        at = next(i for i, step in enumerate(steps) for each in step if type(each.get("type")) is not str)
        return f'step {at + 1} holds an observation without a "type"'
    return None


def _is_deeper(value: Any, depth: int) -> bool:
    if type(value) is dict:
        value = value.values()
    elif type(value) is not list:
        return False
    return depth == 0 or any(_is_deeper(each, depth - 1) for each in value)


def read_description(message: Message, window: int) -> base.Description:
    """Read the reply to `hello`.

    Raises
    ------
    BadHelloError, VersionMismatchError
        It is anything else.
    """
    content = message.content
    if message.oddity:
        raise BadHelloError(f"the reply to hello {message.oddity}", _HINT)
    if "error" in content:
        refusal = _read_error(content["error"])
        said = f"{refusal.kind}: {refusal.message}" if isinstance(refusal, base.Refused) else refusal.message
        raise BadHelloError(f"the engine answered hello with an error: {said}")
    ok = content.get("ok")
    if type(ok) is not dict:
        raise BadHelloError("the reply to hello holds neither ok nor error", _HINT)
    return describe(ok, window)


def describe(ok: dict[str, Any], window: int) -> base.Description:
    version = ok.get("protocol")
    if type(version) is not int:
        raise BadHelloError("the reply to hello must name the protocol, a number", _HINT)
    if version != base.PROTOCOL_VERSION:
        raise VersionMismatchError(
            f"the engine speaks protocol {printable(str(version), 20)}, this suite speaks {base.PROTOCOL_VERSION}",
            f"answer hello with one of the versions that it lists: [{base.PROTOCOL_VERSION}]",
        )
    implementation, components = ok.get("implementation"), ok.get("components")
    if type(implementation) is not dict:
        raise BadHelloError("implementation must be an object of name, version and language", _HINT)
    names = {}
    for key in ("name", "version", "language"):
        if type(implementation.get(key)) is not str:
            raise BadHelloError(f"implementation.{key} must be a string", _HINT)
        names[key] = printable(implementation[key], 100)
    if type(components) is not dict:
        raise BadHelloError("components must be an object: a key for each component that the engine implements", _HINT)
    claims = {printable(name, 100): _read_claim(name, claim) for name, claim in components.items()}
    jobs = _read_abilities(ok["jobs"]) if "jobs" in ok else None
    return base.Description(protocol=version, components=claims, window=window, jobs=jobs, **names)


def _read_abilities(jobs: Any) -> base.Abilities:
    """What an engine declares for whole jobs. It cannot do anything else."""
    if type(jobs) is not dict:
        raise BadHelloError("jobs must be an object: what the engine can do with whole jobs", _HINT)
    fields = attrs.fields(base.Abilities)
    unknown = sorted(jobs.keys() - {field.name for field in fields})
    if unknown:
        raise BadHelloError(f"jobs.{printable(unknown[0], 100)} is unknown", _HINT)
    read: dict[str, Any] = {}
    for name, value in jobs.items():
        if name in ("operators", "partitioners", "faults", "shows"):
            fits = type(value) is list and all(type(one) is str for one in value)
            read[name] = tuple(printable(one, 100) for one in value) if fits else None
        elif name in ("settings", "sources"):
            fits = type(value) is dict and all(type(one) is list and one for one in value.values())
            fits = fits and not _is_deeper(value, _DEPTH_LIMIT) and json.dumps(value, ensure_ascii=False).isprintable()
            read[name] = {key: tuple(values) for key, values in value.items()} if fits else None
        elif name in base.PROMISED:
            fits = type(value) is str and value in base.PROMISED[name]
            read[name] = value
        else:
            fits = type(value) is (int if name == "parallelism" else bool) and value >= 0
            read[name] = value
        if not fits:
            raise BadHelloError(f"jobs.{name} is invalid: see hello-reply.json", _HINT)
    for name in ("operators", "partitioners"):
        if not read.get(name):
            raise BadHelloError(f"jobs.{name} must name at least one", _HINT)
    return base.Abilities(**read)


def _read_claim(component: str, claim: Any) -> base.Claim:
    if type(claim) is not dict:
        raise BadHelloError(f"components.{printable(component, 100)} must be an object; {{}} declares all of it", _HINT)
    sets: list[frozenset[str] | None] = []
    for key in ("kinds", "semantics", "extensions"):
        names = claim.get(key)
        if key in claim and (type(names) is not list or not all(type(name) is str for name in names)):
            raise BadHelloError(f"components.{printable(component, 100)}.{key} must be a list of strings", _HINT)
        sets.append(None if names is None else frozenset(printable(name, 100) for name in names))
    return base.Claim(kinds=sets[0], semantics=sets[1], extensions=sets[2])
