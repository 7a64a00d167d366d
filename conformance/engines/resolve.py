"""From the text after `--engine` to an engine.

Each kind of engine is imported when it is asked for: Spark and Flink bring much with them.
"""

import importlib
import shlex
from collections.abc import Callable
from typing import Any

import attrs

from conformance.engines.base import Engine
from conformance.engines.errors import BadOptionError, UnknownEngineError, WholeJobsOnlyError
from conformance.engines.limits import MEBIBYTE, Limits
from conformance.engines.process import ProcessEngine
from conformance.engines.python import InProcess, PythonEngine
from conformance.engines.text import printable

#: Engines that run whole jobs and nothing else: no engines of the protocol.
WHOLE_JOBS = {"spark-native"}
#: The forms that the text may take, and what they mean.
FORMS = {
    "reference": "the specification itself",
    "flink[:VERSION]": "real Apache Flink (2.3.0 unless told otherwise); `tidegate flink fetch` brings it",
    "spark[:MASTER]": "the semantics in Spark's own terms, on Spark (local[*] unless told otherwise)",
    "spark-native[:MASTER]": "Spark's own event time, for `tidegate run` alone: it runs whole jobs",
    "python:package.module:Name": "a Python class with describe() and replay(cases)",
    "exec:COMMAND LINE": "a program that speaks the protocol over its standard input and output",
}


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
    unknown = sorted(options.keys() - {field.name for field in attrs.fields(Limits)})
    if unknown:
        raise BadOptionError(f"there is no option {', '.join(unknown)} of an engine")
    kind, colon, rest = text.partition(":")
    if kind in WHOLE_JOBS:
        raise WholeJobsOnlyError(
            f"{kind} runs whole jobs, and has no components that could be asked one by one",
            f"`tidegate run --engine {kind}` holds its jobs to the invariants of run logs; "
            "the engine spark has the components in Spark SQL",
        )
    given = {name: value for name, value in options.items() if value is not None}
    limits = Limits(**{**_LIMITS.get(kind, {}), **given})
    maker = _MAKERS.get(kind) if kind in _MAY_TAKE_MORE or bool(colon) == (kind in _TAKES_MORE) else None
    if maker is None:
        raise UnknownEngineError(f"there is no engine '{printable(text)}'", _forms())
    return maker(rest, limits, strict)


def _forms() -> str:
    return "an engine is one of " + "; ".join(f"{form} ({meaning})" for form, meaning in FORMS.items())


def _reference(_: str, limits: Limits, strict: bool) -> Engine:  # noqa: ARG001, FBT001 - we trust our own
    module = importlib.import_module("conformance.engines.reference")
    return InProcess(module.ReferenceEngine(), batch=limits.window)


def _flink(version: str, limits: Limits, strict: bool) -> Engine:  # noqa: FBT001
    module = importlib.import_module("conformance.flink.engine")
    made: Engine = module.FlinkEngine(version, limits, strict=strict)
    return made


def _spark(master: str, limits: Limits, strict: bool) -> Engine:  # noqa: FBT001
    module = importlib.import_module("conformance.spark.process")
    made: Engine = module.SparkEngine(master, limits, strict=strict)
    return made


def _python(path: str, limits: Limits, strict: bool) -> Engine:  # noqa: FBT001
    return PythonEngine(path, limits, strict=strict)


def _exec(command_line: str, limits: Limits, strict: bool) -> Engine:  # noqa: FBT001
    try:
        command = shlex.split(command_line)
    except ValueError as error:
        raise UnknownEngineError(f"'{printable(command_line)}' is no command line: {error}", _forms()) from error
    if not command:
        raise UnknownEngineError("exec: needs a command line", "for example exec:python3 examples/python/engine.py")
    return ProcessEngine(command, limits, strict=strict)


#: A Spark job costs the same for one case as for thousands, so thousands are on their way and are answered together:
#: the time for a case is that of a whole batch, on a cold JVM and a busy machine.
_LIMITS: dict[str, dict[str, Any]] = {
    "spark": {
        "case_timeout": 600.0,
        "start_timeout": 180.0,
        "window": 8192,
        "window_bytes": 64 * MEBIBYTE,
        "bye_grace": 10.0,
    },
}
_TAKES_MORE = {"python", "exec"}
_MAY_TAKE_MORE = {"flink", "spark"}
_MAKERS: dict[str, Callable[[str, Limits, bool], Engine]] = {
    "reference": _reference,
    "flink": _flink,
    "spark": _spark,
    "python": _python,
    "exec": _exec,
}
