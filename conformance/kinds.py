"""The kinds of engines: from the text after `--engine` to an engine.

One record per kind. Its imports are lazy: Spark and Flink are large. This module sits between the two halves of
`conformance/`, because one kind of engine is the specification itself.
"""

import shlex
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import attrs

from tidegate.conformance.engines.errors import (
    BadOptionError,
    CannotStartError,
    UnknownEngineError,
    WholeJobsOnlyError,
)
from tidegate.conformance.engines.limits import MEBIBYTE, Limits
from tidegate.conformance.engines.text import command_line, printable

if TYPE_CHECKING:
    from tidegate.conformance.engines.base import Check, Engine
    from tidegate.conformance.engines.jobs import JobEngine

ENGINES = "tidegate.conformance.engines"
JUDGING = "tidegate.conformance.judging"

FLINK_JOBS, SPARK, PYTHON = f"{ENGINES}.flink.jobs", f"{ENGINES}.spark", f"{ENGINES}.python.engine:PythonEngine"

#: Makes an engine from the text after the colon. The last argument checks messages against the schemas (strict mode).
Make = Callable[[str, Limits, "Check | None"], Any]


@attrs.frozen
class Maker:
    """How to make an engine: the path of its class, imported lazily, and its arguments.

    `given` are the positional arguments: `text` is the text after the colon, the others come from `Limits`. A class
    that `checks` can validate messages against the schemas; our own engines need not. `more` are extra keywords.
    """

    path: str
    given: tuple[str, ...] = ("text", "limits")
    checks: bool = True
    more: dict[str, Any] = attrs.Factory(dict)

    def __call__(self, text: str, limits: Limits, check: "Check | None") -> Any:
        known = {"text": text, "limits": limits, **attrs.asdict(limits)}
        more = {"check": check, **self.more} if self.checks else self.more
        return self.load()(*(known[name] for name in self.given), **more)

    def load(self) -> Any:
        module, _colon, name = self.path.partition(":")
        return getattr(import_module(module), name)


def make_exec(command: str, limits: Limits, check: "Check | None") -> Any:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UnknownEngineError(f"'{printable(command)}' is not a command line: {error}", list_forms()) from error
    if not words:
        raise UnknownEngineError("exec: needs a command line", "for example exec:python3 examples/python/engine.py")
    return Maker(f"{ENGINES}.processes.process:ProcessEngine").load()(words, limits, check=check)


def over_protocol(make: Make) -> Make:
    """Makes whole-job engines from engines that speak the protocol."""

    def make_jobs(text: str, limits: Limits, check: "Check | None") -> Any:
        return Maker(f"{ENGINES}.jobs:ProtocolJobs").load()(make(text, limits, check))

    return make_jobs


#: Adapters for whole jobs: the package that each needs, and its class.
ADAPTERS = {
    "bytewax": ("bytewax", f"{ENGINES}.bytewax.adapter:Bytewax"),
    "quix": ("quixstreams", f"{ENGINES}.quix.adapter:Quix"),
    "faust": ("faust", f"{ENGINES}.faust.adapter:Faust"),
    "beam": ("apache_beam", f"{ENGINES}.beam.adapter:Beam"),
}


def make_adapter(name: str) -> Make:
    """Runs in its own process, with the given interpreter if one is named."""
    package, path = ADAPTERS[name]

    def make(python: str, limits: Limits, check: "Check | None") -> Any:
        if not python and find_spec(package) is None:
            raise CannotStartError(
                f"{name} is not installed",
                f"pip install 'tidegate[{name}]', here or in a separate environment: {name}:/its/bin/python",
            )
        return Maker(PYTHON, more={"python": python or sys.executable})(path, limits, check)

    return over_protocol(make)


#: Default limits of whole jobs, unless their kind of engine has others.
JOB_LIMITS = {"case_timeout": 60.0, "start_timeout": 90.0, "window": 1, "max_restarts": 100}


@attrs.frozen(kw_only=True)
class Kind:
    """One kind of engine: its text form, its meaning, and how to make it.

    `form` shows what may or must follow the name: nothing, `[:MORE]` or `:MORE`. `make` makes an engine for cases of
    components; a kind without it only runs whole jobs. `make_jobs` makes an engine for `tidegate jobs`. `make_exam`
    makes the exam of `tidegate run` for an engine without components. `side_by_side` is true if copies of the engine
    are cheap: then `tidegate run` starts one per core by default. `limits` are the defaults that differ from those of
    all engines, `job_limits` those for whole jobs.
    """

    form: str
    meaning: str
    make: Make | None = None
    make_exam: Make | None = None
    make_jobs: Make
    side_by_side: bool = False
    limits: dict[str, Any] = attrs.Factory(dict)
    job_limits: dict[str, Any] = attrs.Factory(dict)

    @property
    def name(self) -> str:
        return self.form.partition("[")[0].partition(":")[0]

    @property
    def takes_master(self) -> bool:
        return self.form.endswith("[:MASTER]")

    @property
    def usual_limits(self) -> Limits:
        return Limits(**self.limits)

    @property
    def usual_job_limits(self) -> Limits:
        return Limits(**JOB_LIMITS | self.job_limits)

    def takes(self, text: str) -> bool:
        """Whether the text has the form of this kind."""
        name, colon, _rest = text.partition(":")
        return name == self.name and ("[" in self.form or bool(colon) == (":" in self.form))


#: Jobs of these engines are slow on a cold or busy machine.
SLOW_JOBS = {"case_timeout": 600.0, "start_timeout": 300.0}
#: Keywords of our own Flink job engines: seconds for an answer and for the handshake.
SECONDS = ("text", "case_timeout", "start_timeout")

KINDS = (
    Kind(
        form="reference",
        meaning="the specification itself",
        make=Maker(f"{JUDGING}.reference_engine:Reference", (), checks=False),
        make_jobs=Maker(f"{JUDGING}.jobs.reference_jobs:ReferenceJobs", (), checks=False),
        side_by_side=True,
    ),
    Kind(
        form="flink[:VERSION]",
        meaning="real Apache Flink (default: 2.3.0); `tidegate flink fetch` downloads it",
        make=Maker(f"{ENGINES}.flink.engine:FlinkEngine"),
        make_jobs=Maker(f"{FLINK_JOBS}.engine:FlinkJobs", SECONDS, checks=False),
    ),
    Kind(
        form="flink-v2[:VERSION]",
        meaning="the same jobs with Flink's DataStream V2, for `tidegate jobs`",
        make_jobs=Maker(f"{FLINK_JOBS}.engine:FlinkJobs", SECONDS, checks=False, more={"kit": "v2"}),
    ),
    Kind(
        form="flink-splits[:VERSION]",
        meaning="the same jobs with sources that read in splits, for `tidegate jobs`",
        make_jobs=Maker(f"{FLINK_JOBS}.engine:FlinkJobs", SECONDS, checks=False, more={"kit": "splits"}),
    ),
    Kind(
        form="flink-cluster[:VERSION]",
        meaning="the same jobs in separate processes, with kills, for `tidegate jobs`",
        make_jobs=Maker(f"{ENGINES}.flink.cluster.engine:FlinkClusterJobs", ("text",), checks=False),
    ),
    Kind(
        form="flink-sql[:VERSION]",
        meaning="Flink SQL queries under many settings, for `tidegate jobs`",
        make_jobs=Maker(f"{FLINK_JOBS}.sql:FlinkSql", SECONDS, checks=False),
    ),
    Kind(
        form="spark[:MASTER]",
        meaning="the semantics built on Spark (default: local[*])",
        make=Maker(f"{SPARK}.process:SparkEngine"),
        make_jobs=over_protocol(
            Maker(f"{SPARK}.process:SparkEngine", more={"what": f"{SPARK}.streaming.jobs:SparkJobs"})
        ),
        job_limits=SLOW_JOBS,
        # A Spark job costs the same for one case as for thousands, so thousands are sent and answered together:
        # the time for a case is that of a whole batch, on a cold JVM and a busy machine.
        limits={
            "case_timeout": 600.0,
            "start_timeout": 180.0,
            "window": 8192,
            "window_bytes": 64 * MEBIBYTE,
            "bye_grace": 10.0,
        },
    ),
    Kind(
        form="spark-native[:MASTER]",
        meaning="Spark's own event time: whole jobs, for `tidegate run` and `tidegate jobs`",
        make_exam=Maker(f"{SPARK}.native.engine:SparkNative", ("text", "case_timeout"), checks=False),
        make_jobs=over_protocol(
            Maker(f"{SPARK}.process:SparkEngine", more={"what": f"{SPARK}.native.jobs:SparkNativeJobs"})
        ),
        limits={"case_timeout": 600.0},
        job_limits=SLOW_JOBS,
    ),
    Kind(
        form="bytewax[:PYTHON]",
        meaning="Bytewax, with kills, for `tidegate jobs`; pip install 'tidegate[bytewax]'",
        make_jobs=make_adapter("bytewax"),
        job_limits=SLOW_JOBS,
    ),
    Kind(
        form="quix[:PYTHON]",
        meaning="Quix Streams on a mock broker, with kills, for `tidegate jobs`; pip install 'tidegate[quix]'",
        make_jobs=make_adapter("quix"),
        job_limits=SLOW_JOBS,
    ),
    Kind(
        form="faust[:PYTHON]",
        meaning="Faust on a mock broker, with kills, for `tidegate jobs`; pip install 'tidegate[faust]'",
        make_jobs=make_adapter("faust"),
        job_limits=SLOW_JOBS,
    ),
    Kind(
        form="beam[:PYTHON]",
        meaning="Apache Beam's direct runner, fed by a TestStream, for `tidegate jobs`; pip install 'tidegate[beam]'",
        make_jobs=make_adapter("beam"),
        job_limits=SLOW_JOBS,
    ),
    Kind(
        form="python:package.module:Name",
        meaning="a Python class with describe() and replay(cases)",
        make=Maker(PYTHON),
        make_jobs=over_protocol(Maker(PYTHON)),
        side_by_side=True,
    ),
    Kind(
        form="exec:COMMAND LINE",
        meaning="a program that speaks the protocol over its standard input and output",
        make=make_exec,
        make_jobs=over_protocol(make_exec),
        side_by_side=True,
    ),
)


def list_forms(kinds: Iterable[Kind] = KINDS) -> str:
    return "an engine is one of " + "; ".join(f"{kind.form} ({kind.meaning})" for kind in kinds)


def find_kind(text: str) -> Kind:
    """The kind of engine in the text.

    Raises
    ------
    UnknownEngineError
        The text matches no kind of engine.
    """
    for kind in KINDS:
        if kind.takes(text):
            return kind
    raise UnknownEngineError(f"there is no engine '{printable(text)}'", list_forms())


def find_maker(text: str) -> Make:
    """The maker of the engine in the text, for cases of components.

    Raises
    ------
    UnknownEngineError
        The text matches no kind of engine.
    WholeJobsOnlyError
        The engine replays no cases.
    """
    kind = find_kind(text)
    if kind.make is None:
        verbs = ["jobs"] if kind.make_exam is None else ["jobs", "run"]
        commands = [f"`{command_line(['tidegate', verb, '--engine', text])}`" for verb in verbs]
        raise WholeJobsOnlyError(
            f"{kind.name} runs whole jobs and does not replay single components",
            f"use {' or '.join(commands)} to run and judge its jobs",
        )
    return kind.make


def resolve(text: str, *, strict: bool = False, **options: Any) -> "Engine":
    """The engine in the text, not started yet.

    The options are those of `Limits`: `case_timeout`, `start_timeout`, `window`, `max_restarts`, … If one is None or
    missing, the default of the kind of engine applies.

    Raises
    ------
    UnknownEngineError
        The text matches no kind of engine.
    WholeJobsOnlyError
        The engine replays no cases.
    BadOptionError
        An option is unknown or outside its domain.
    """
    make = find_maker(text)
    limits = limits_of(find_kind(text).usual_limits, options)
    engine: Engine = make(text.partition(":")[2], limits, find_check(strict=strict))
    return engine


def resolve_exam(text: str, **options: Any) -> Any:
    """The exam of `tidegate run` for an engine without components; the rest is as in `resolve`."""
    kind = find_kind(text)
    assert kind.make_exam is not None
    return kind.make_exam(text.partition(":")[2], limits_of(kind.usual_limits, options), None)


def find_check(*, strict: bool) -> "Check | None":
    """The message check of strict mode. The schemas of components are derived from the specification."""
    if not strict:
        return None
    check: Check = import_module("tidegate.conformance.schemas").check
    return check


def resolve_jobs(text: str, *, strict: bool = False, **options: Any) -> "JobEngine":
    """The whole-job engine in the text, not started yet; the options are those of `resolve`.

    Raises
    ------
    UnknownEngineError
        The text matches no kind of engine.
    BadOptionError
        An option is unknown or outside its domain.
    """
    kind = find_kind(text)
    limits = limits_of(kind.usual_job_limits, options)
    engine: JobEngine = kind.make_jobs(text.partition(":")[2], limits, find_check(strict=strict))
    return engine


def limits_of(usual: Limits, options: dict[str, Any]) -> Limits:
    unknown = sorted(options.keys() - {field.name for field in attrs.fields(Limits)})
    if unknown:
        raise BadOptionError(f"engines have no option {', '.join(unknown)}")
    return attrs.evolve(usual, **{name: value for name, value in options.items() if value is not None})
