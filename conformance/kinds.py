"""The kinds of engines: from the text after `--engine` to an engine.

One record per kind. What it needs is imported when it is asked for: Spark and Flink bring much with them. This module
stands between the two halves of `conformance/`, because one kind of engine is the specification itself.
"""

import shlex
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import attrs

from tidegate.conformance.engines.base import Check, Engine
from tidegate.conformance.engines.errors import (
    BadOptionError,
    CannotStartError,
    UnknownEngineError,
    WholeJobsOnlyError,
)
from tidegate.conformance.engines.jobs import JobEngine, ProtocolJobs
from tidegate.conformance.engines.limits import MEBIBYTE, Limits
from tidegate.conformance.engines.processes.process import ProcessEngine
from tidegate.conformance.engines.python.engine import PythonEngine
from tidegate.conformance.engines.text import printable

#: Makes an engine from what stands behind the colon. The last argument checks messages against the schemas, if strict.
Maker = Callable[[str, Limits, Check | None], Engine]
JobsMaker = Callable[[str, Limits, Check | None], JobEngine]


def make_reference(_: str, limits: Limits, check: Check | None) -> Engine:  # noqa: ARG001 - we trust our own
    module = import_module("tidegate.conformance.judging.reference_engine")
    made: Engine = module.Reference()
    return made


def make_flink(version: str, limits: Limits, check: Check | None) -> Engine:
    module = import_module("tidegate.conformance.engines.flink.engine")
    made: Engine = module.FlinkEngine(version, limits, check=check)
    return made


def make_spark(master: str, limits: Limits, check: Check | None) -> Engine:
    module = import_module("tidegate.conformance.engines.spark.process")
    made: Engine = module.SparkEngine(master, limits, check=check)
    return made


def make_python(path: str, limits: Limits, check: Check | None) -> Engine:
    return PythonEngine(path, limits, check=check)


def make_exec(command_line: str, limits: Limits, check: Check | None) -> Engine:
    try:
        command = shlex.split(command_line)
    except ValueError as error:
        raise UnknownEngineError(f"'{printable(command_line)}' is no command line: {error}", list_forms()) from error
    if not command:
        raise UnknownEngineError("exec: needs a command line", "for example exec:python3 examples/python/engine.py")
    return ProcessEngine(command, limits, check=check)


def make_flink_jobs(version: str, limits: Limits, check: Check | None) -> JobEngine:  # noqa: ARG001 - it is ours
    module = import_module("tidegate.conformance.engines.flink.jobs.engine")
    made: JobEngine = module.FlinkJobs(version, limits.case_timeout, limits.start_timeout)
    return made


def make_flink_v2_jobs(version: str, limits: Limits, check: Check | None) -> JobEngine:  # noqa: ARG001 - it is ours
    module = import_module("tidegate.conformance.engines.flink.jobs.engine")
    made: JobEngine = module.FlinkJobs(version, limits.case_timeout, limits.start_timeout, kit="v2")
    return made


def make_flink_splits_jobs(version: str, limits: Limits, check: Check | None) -> JobEngine:  # noqa: ARG001 - it is ours
    module = import_module("tidegate.conformance.engines.flink.jobs.engine")
    made: JobEngine = module.FlinkJobs(version, limits.case_timeout, limits.start_timeout, kit="splits")
    return made


def make_flink_cluster(version: str, limits: Limits, check: Check | None) -> JobEngine:  # noqa: ARG001 - it is ours
    module = import_module("tidegate.conformance.engines.flink.cluster.engine")
    made: JobEngine = module.FlinkClusterJobs(version)
    return made


def make_flink_sql(version: str, limits: Limits, check: Check | None) -> JobEngine:  # noqa: ARG001 - it is ours
    module = import_module("tidegate.conformance.engines.flink.jobs.sql")
    made: JobEngine = module.FlinkSql(version, limits.case_timeout, limits.start_timeout)
    return made


def make_spark_jobs(master: str, limits: Limits, check: Check | None) -> JobEngine:
    module = import_module("tidegate.conformance.engines.spark.process")
    return ProtocolJobs(module.SparkEngine(master, limits, check=check, what=module.JOBS))


def make_spark_native_jobs(master: str, limits: Limits, check: Check | None) -> JobEngine:
    module = import_module("tidegate.conformance.engines.spark.process")
    return ProtocolJobs(module.SparkEngine(master, limits, check=check, what=module.NATIVE_JOBS))


def make_reference_jobs(_: str, limits: Limits, check: Check | None) -> JobEngine:  # noqa: ARG001 - we trust our own
    module = import_module("tidegate.conformance.judging.jobs.reference_jobs")
    made: JobEngine = module.ReferenceJobs()
    return made


def make_python_jobs(path: str, limits: Limits, check: Check | None) -> JobEngine:
    return ProtocolJobs(PythonEngine(path, limits, check=check))


def make_exec_jobs(command_line: str, limits: Limits, check: Check | None) -> JobEngine:
    engine = make_exec(command_line, limits, check)
    assert isinstance(engine, ProcessEngine)
    return ProtocolJobs(engine)


#: Engines of whole jobs that are adapters: the package that each needs, and its class.
ADAPTERS = {
    "bytewax": ("bytewax", "tidegate.conformance.engines.bytewax.adapter:Bytewax"),
    "quix": ("quixstreams", "tidegate.conformance.engines.quix.adapter:Quix"),
    "faust": ("faust", "tidegate.conformance.engines.faust.adapter:Faust"),
    "beam": ("apache_beam", "tidegate.conformance.engines.beam.adapter:Beam"),
}


def make_adapter(name: str) -> JobsMaker:
    """In a process of its own, and with an interpreter of its own if one is named."""
    package, path = ADAPTERS[name]

    def make(python: str, limits: Limits, check: Check | None) -> JobEngine:
        if not python and find_spec(package) is None:
            raise CannotStartError(
                f"{name} is not installed",
                f"pip install 'tidegate[{name}]', here or in an environment of its own: {name}:/its/bin/python",
            )
        return ProtocolJobs(PythonEngine(path, limits, check=check, python=python or sys.executable))

    return make


@attrs.frozen(kw_only=True)
class Kind:
    """One kind of engine: how it is written, what that means, and how it is made.

    `form` shows what may or must stand behind the name: nothing, `[:MORE]` or `:MORE`. A kind without `make` runs whole
    jobs and nothing else; `make_jobs` makes what runs them for `tidegate jobs`. `side_by_side` is true where copies of
    the engine are cheap, so that `tidegate run` starts one for each core unless told otherwise. `limits` are its
    defaults where they differ from those of all engines, `job_limits` those for whole jobs.
    """

    form: str
    meaning: str
    make: Maker | None = None
    make_jobs: JobsMaker
    side_by_side: bool = False
    limits: dict[str, Any] = attrs.Factory(dict)
    job_limits: dict[str, Any] = attrs.Factory(dict)

    @property
    def name(self) -> str:
        return self.form.partition("[")[0].partition(":")[0]

    def takes(self, text: str) -> bool:
        """Whether the text has the form of this kind."""
        name, colon, _rest = text.partition(":")
        return name == self.name and ("[" in self.form or bool(colon) == (":" in self.form))


KINDS = (
    Kind(
        form="reference",
        meaning="the specification itself",
        make=make_reference,
        make_jobs=make_reference_jobs,
        side_by_side=True,
    ),
    Kind(
        form="flink[:VERSION]",
        meaning="real Apache Flink (2.3.0 unless told otherwise); `tidegate flink fetch` brings it",
        make=make_flink,
        make_jobs=make_flink_jobs,
    ),
    Kind(
        form="flink-v2[:VERSION]",
        meaning="the same jobs by DataStream V2 of Flink, for `tidegate jobs`",
        make_jobs=make_flink_v2_jobs,
    ),
    Kind(
        form="flink-splits[:VERSION]",
        meaning="the same jobs with sources that read in splits, for `tidegate jobs`",
        make_jobs=make_flink_splits_jobs,
    ),
    Kind(
        form="flink-cluster[:VERSION]",
        meaning="the same jobs on processes of their own, with kills, for `tidegate jobs`",
        make_jobs=make_flink_cluster,
    ),
    Kind(
        form="flink-sql[:VERSION]",
        meaning="queries of Flink SQL under many settings, for `tidegate jobs`",
        make_jobs=make_flink_sql,
    ),
    Kind(
        form="spark[:MASTER]",
        meaning="the semantics in Spark's own terms, on Spark (local[*] unless told otherwise)",
        make=make_spark,
        make_jobs=make_spark_jobs,
        job_limits={"case_timeout": 600.0, "start_timeout": 300.0},
        # A Spark job costs the same for one case as for thousands, so thousands are on their way and are answered
        # together: the time for a case is that of a whole batch, on a cold JVM and a busy machine.
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
        meaning="Spark's own event time: it runs whole jobs, for `tidegate run` and `tidegate jobs`",
        make_jobs=make_spark_native_jobs,
        job_limits={"case_timeout": 600.0, "start_timeout": 300.0},
    ),
    Kind(
        form="bytewax[:PYTHON]",
        meaning="Bytewax, with kills; pip install 'tidegate[bytewax]'",
        make_jobs=make_adapter("bytewax"),
        job_limits={"case_timeout": 600.0, "start_timeout": 300.0},
    ),
    Kind(
        form="quix[:PYTHON]",
        meaning="Quix Streams on a mock broker, with kills; pip install 'tidegate[quix]'",
        make_jobs=make_adapter("quix"),
        job_limits={"case_timeout": 600.0, "start_timeout": 300.0},
    ),
    Kind(
        form="faust[:PYTHON]",
        meaning="Faust on a mock broker, with kills; pip install 'tidegate[faust]'",
        make_jobs=make_adapter("faust"),
        job_limits={"case_timeout": 600.0, "start_timeout": 300.0},
    ),
    Kind(
        form="beam[:PYTHON]",
        meaning="Apache Beam's direct runner, fed by a TestStream; pip install 'tidegate[beam]'",
        make_jobs=make_adapter("beam"),
        job_limits={"case_timeout": 600.0, "start_timeout": 300.0},
    ),
    Kind(
        form="python:package.module:Name",
        meaning="a Python class with describe() and replay(cases)",
        make=make_python,
        make_jobs=make_python_jobs,
        side_by_side=True,
    ),
    Kind(
        form="exec:COMMAND LINE",
        meaning="a program that speaks the protocol over its standard input and output",
        make=make_exec,
        make_jobs=make_exec_jobs,
        side_by_side=True,
    ),
)


def list_forms() -> str:
    return "an engine is one of " + "; ".join(f"{kind.form} ({kind.meaning})" for kind in KINDS)


def find_kind(text: str) -> Kind:
    """The kind of engine that the text names.

    Raises
    ------
    UnknownEngineError
        The text has none of the forms.
    """
    for kind in KINDS:
        if kind.takes(text):
            return kind
    raise UnknownEngineError(f"there is no engine '{printable(text)}'", list_forms())


def resolve(text: str, *, strict: bool = False, **options: Any) -> Engine:
    """The engine that the text names, not started yet.

    The options are those of `Limits`: `case_timeout`, `start_timeout`, `window`, `max_restarts`, … Where one is None or
    not given, the default is that of the kind of engine.

    Raises
    ------
    UnknownEngineError
        The text has none of the forms.
    WholeJobsOnlyError
        It names an engine that replays no cases.
    BadOptionError
        An option is unknown or outside its domain.
    """
    kind = find_kind(text)
    if kind.make is None:
        raise WholeJobsOnlyError(
            f"{kind.name} runs whole jobs, and has no components that could be asked one by one",
            f"`tidegate run --engine {kind.name}` holds its jobs to the invariants of run logs; "
            "the engine spark has the components in Spark SQL",
        )
    return kind.make(text.partition(":")[2], limits_of(kind.limits, options), find_check(strict=strict))


def find_check(*, strict: bool) -> Check | None:
    """What strict mode checks messages with. The schemas of components are derived from the specification."""
    if not strict:
        return None
    check: Check = import_module("tidegate.conformance.schemas").check
    return check


#: Seconds that a whole job may take.
JOB_TIMEOUT = 60.0


def resolve_jobs(text: str, *, strict: bool = False, **options: Any) -> JobEngine:
    """The engine of whole jobs that the text names, not started yet; the options are those of `resolve`.

    Raises
    ------
    UnknownEngineError
        The text has none of the forms.
    BadOptionError
        An option is unknown or outside its domain.
    """
    kind = find_kind(text)
    usual = {"case_timeout": JOB_TIMEOUT, "start_timeout": 90.0, "window": 1, "max_restarts": 100, **kind.job_limits}
    limits = limits_of(usual, options)
    return kind.make_jobs(text.partition(":")[2], limits, find_check(strict=strict))


def limits_of(usual: dict[str, Any], options: dict[str, Any]) -> Limits:
    unknown = sorted(options.keys() - {field.name for field in attrs.fields(Limits)})
    if unknown:
        raise BadOptionError(f"there is no option {', '.join(unknown)} of an engine")
    given = {name: value for name, value in options.items() if value is not None}
    return Limits(**{**usual, **given})
