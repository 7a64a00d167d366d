"""What the harness knows of an engine: a few frozen values, and the interface that every kind of engine implements.

A `Request` is one case to replay, a `Reply` its outcome. Each kind of reply has its own verdict:
an engine that refuses (`Refused`) differs from one that breaks the protocol (`Broken`), hangs (`TimedOut`) or dies
(`Crashed`). A case that did not run (`NotRun`) is never a pass.

Text that an engine wrote in its own words (messages, standard error, its name) is printable and short in these values.
Observations are the exception: they are data to judge, exactly as read.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self

import attrs

PROTOCOL_VERSION = 1

#: What is wrong with a message: the message, the name of its schema, and for a reply the component.
Check = Callable[[Any, str, str | None], list[str]]


@attrs.frozen
class Request:
    """One case: its events, for a new instance of the component. All of it can be written as JSON."""

    case: str
    component: str
    config: dict[str, Any]
    events: list[dict[str, Any]]

    def as_case(self) -> dict[str, Any]:
        """The case as a Python engine receives it."""
        return {"case": self.case, "component": self.component, "config": self.config, "events": self.events}

    def as_message(self) -> dict[str, Any]:
        return {"op": "replay", **self.as_case()}


@attrs.frozen
class JobRequest:
    """One whole job: its program, its tasks and edges, its settings, and its faults.

    `log` is a file that the engine may write rows into while the job runs: these rows count even without an
    answer.
    """

    case: str
    program: dict[str, Any]
    graph: dict[str, Any]
    settings: dict[str, Any] = attrs.Factory(dict)
    faults: list[dict[str, Any]] = attrs.Factory(list)
    log: str = ""

    def as_job(self) -> dict[str, Any]:
        """The job as a Python engine receives it."""
        return attrs.asdict(self, recurse=False)

    def as_message(self) -> dict[str, Any]:
        return {"op": "job", **self.as_job()}


#: Requests to an engine process.
Asked = Request | JobRequest


@attrs.frozen
class Claim:
    """What an engine declares of one component.

    `None` means every kind, the default semantics, and no extension.
    """

    kinds: frozenset[str] | None = None
    semantics: frozenset[str] | None = None
    extensions: frozenset[str] | None = None


#: Promises of an engine about its channels, and about faults, as in a run log.
PROMISED = {"order_scope": ("channel", "key", "none"), "delivery": ("exactly_once", "at_least_once")}
#: Declared instead of operators by an engine whose programs are queries.
QUERY = "query"


@attrs.frozen(kw_only=True)
class Abilities:
    """What an engine declares for whole jobs: programs are drawn within that.

    `settings` are ways to run a job, each with its values, the default first; `sources` are more of them, about how
    sources read their scripts. `shows` are the kinds of rows that it can show. With `chaining` it fuses operators as
    the specification says; without, each operator is a task. Without `idle_ends` no source is idle when it ends.
    `uniform`: all operators but sources have the same parallelism. Without `twin_edges` no two edges between two tasks
    have the same partitioner.

    The rest is what it promises, as in a run log: `order_scope` ("channel", "key", "none"), `delivery` ("exactly_once",
    "at_least_once"), `known_routing`, `keys_meet`. With `counts_once`, a record that is read again after a fault is not
    counted again.
    """

    operators: tuple[str, ...]
    partitioners: tuple[str, ...]
    parallelism: int = 1
    watermarks: bool = False
    idleness: bool = False
    idle_ends: bool = True
    checkpoints: bool = False
    chaining: bool = False
    faults: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    settings: Mapping[str, tuple[Any, ...]] = attrs.Factory(dict)
    sources: Mapping[str, tuple[Any, ...]] = attrs.Factory(dict)
    uniform: bool = False
    twin_edges: bool = True
    order_scope: str = "channel"
    delivery: str = "exactly_once"
    known_routing: bool = True
    keys_meet: bool = False
    counts_once: bool = True

    @property
    def usual(self) -> dict[str, Any]:
        """Every setting with its default."""
        return {name: values[0] for name, values in (*self.settings.items(), *self.sources.items())}


@attrs.frozen
class Description:
    """What an engine declares in `hello`, and how many requests we keep in flight with it."""

    protocol: int
    name: str
    version: str
    language: str
    components: Mapping[str, Claim]
    window: int
    jobs: Abilities | None = None

    @property
    def implementation(self) -> dict[str, str]:
        return {"name": self.name, "version": self.version, "language": self.language}


@attrs.frozen
class Steps:
    """The engine's answer: for each event of the case, its observations."""

    steps: list[list[dict[str, Any]]]


@attrs.frozen
class Ran:
    """The answer to a job, with the fields of job-reply.json: its rows, or a file that has them, and more."""

    answer: dict[str, Any]


@attrs.frozen
class Refused:
    """The engine answered with an error of its own: `unsupported`, `bad_request` or `internal`."""

    kind: str
    message: str


@attrs.frozen
class Broken:
    """The engine broke the protocol: its output is not an answer to this case."""

    message: str
    stderr: tuple[str, ...] = ()


@attrs.frozen
class TimedOut:
    """The engine ran only this case, and did not answer in time."""

    seconds: float
    stderr: tuple[str, ...] = ()


@attrs.frozen
class Crashed:
    """The engine ran only this case, and died."""

    message: str
    stderr: tuple[str, ...] = ()


@attrs.frozen
class NotRun:
    """Unknown: the engine was given up before it answered this case."""

    reason: str


Reply = Steps | Refused | Broken | TimedOut | Crashed | NotRun
JobReply = Ran | Refused | Broken | TimedOut | Crashed | NotRun
Answer = Reply | JobReply


class Started(ABC):
    """A context manager that starts on entry and closes on exit."""

    @abstractmethod
    def start(self) -> object: ...

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class Engine(Started):
    """Anything that replays cases."""

    #: How often the engine was restarted after a failure.
    restarts: int = 0

    @abstractmethod
    def start(self) -> Description:
        """Start the engine unless it runs, and return what it declares.

        Raises
        ------
        CannotStartError
            It cannot be started, or does not shake hands.
        """

    def launch(self) -> None:
        """Begin to start, without waiting: a slow engine starts while something else runs."""

    @abstractmethod
    def replay(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Reply]]:
        """Replay the requests and yield each with its reply, in the order of the requests.

        Requests are drawn only as fast as the engine takes them, a few ahead of the replies, so that the caller judges
        one reply while the engine works on the next.
        """

    @abstractmethod
    def close(self) -> None:
        """Stop the engine and everything that it started. Closing twice does no harm."""
