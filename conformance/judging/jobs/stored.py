"""A job in a file: its program, settings and faults, as in `summary.json` of each finding.

A file depends on no draw: it is always the same job. Settings that it does not name have their defaults.
"""

from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.engines.base import Abilities
from tidegate.conformance.judging.jobs.drawing import JobCase
from tidegate.conformance.judging.jobs.queries import QueryCase
from tidegate.reference.job.programs import Config
from tidegate.traces.codec import DecodeError, check_parts, decode
from tidegate.traces.files import TraceFileError
from tidegate.traces.strict_json import JsonError, read_json

Json = dict[str, Any]


@attrs.frozen
class Fault:
    fault: str
    after: int


@attrs.frozen
class StoredJob:
    path: Path
    program: Any
    settings: Json
    faults: tuple[Fault, ...] = ()

    @property
    def name(self) -> str:
        return self.path.stem

    def complain(self, why: object) -> TraceFileError:
        return TraceFileError(self.path, 1, str(why))


@attrs.frozen
class Content:
    program: Any
    settings: Json = attrs.Factory(dict)
    faults: tuple[Fault, ...] = ()


@attrs.frozen
class Query:
    query: str
    tables: dict[str, tuple[tuple[tuple[Any, ...], ...], ...]]
    key: tuple[str, ...] = ()


def read_job(path: Path) -> StoredJob:
    """Raise TraceFileError if the file holds no job."""
    try:
        content = decode(read_json(path.read_bytes()), Content, "the file")
    except OSError as error:
        raise TraceFileError(path, 1, error.strerror or str(error)) from None
    except (JsonError, DecodeError) as error:
        raise TraceFileError(path, 1, str(error)) from None
    return StoredJob(path, content.program, content.settings, content.faults)


def take_job(stored: StoredJob, abilities: Abilities) -> JobCase:
    """The job, if it is a program that the engine can run.

    Raises
    ------
    TraceFileError
        It is not a program, or has a setting or a fault that the engine does not have.
    """
    faults = tuple(attrs.asdict(fault) for fault in stored.faults)
    for fault in stored.faults:
        if fault.fault not in abilities.faults:
            raise stored.complain(f"the engine has no fault {fault.fault}")
    try:
        config = decode(stored.program, Config, "program")
        check_parts(config)
    except DecodeError as error:
        raise stored.complain(error) from None
    return JobCase(stored.name, config, take_settings(stored, abilities), faults)


def take_query(stored: StoredJob, abilities: Abilities) -> QueryCase:
    """The job, if it is a query. Raise TraceFileError as `take_job` does."""
    try:
        query = decode(stored.program, Query, "program")
    except DecodeError as error:
        raise stored.complain(error) from None
    return QueryCase(stored.name, "", query.query, query.tables, take_settings(stored, abilities), key=query.key)


def take_settings(stored: StoredJob, abilities: Abilities) -> Json:
    usual = abilities.usual
    for name in stored.settings:
        if name not in usual:
            raise stored.complain(f"the engine has no setting {name}")
    return usual | stored.settings
