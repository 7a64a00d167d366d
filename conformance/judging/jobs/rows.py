"""From the rows that an engine answered with, or the file that it wrote, to a run log.

Nothing is believed before it was looked at: a row that lacks a column, or has a value outside its domain, is named
with its number and its field. Rows of a subtask stand in its own order, which is that of `step` if every row has one.
"""

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.engines.base import Abilities
from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.jobs.reading import number_records
from tidegate.properties.runlog.recording import make_job
from tidegate.reference.elements import MAX, MIN
from tidegate.reference.job.layout import compute_layout
from tidegate.reference.job.programs import Config
from tidegate.reference.partitioning.partitioner import Partitioner
from tidegate.traces.runlog import (
    INTEGERS,
    MOST_OF_SHORT,
    OWN,
    OWN_KINDS,
    Capabilities,
    Direction,
    Kind,
    MalformedLogError,
    Row,
    RunLog,
    check_places,
    renumber,
)

Json = dict[str, Any]

#: Columns that the harness fills in itself if they are missing.
OURS = ("run", "step", "position")
ENUMS: dict[str, type[Direction] | type[Kind]] = {"dir": Direction, "kind": Kind}
#: Bytes of a file of rows.
LARGEST_FILE = 1024 * 1024 * 1024


class BadRowsError(ValueError):
    """Rows that are no rows of a run log of this job."""


def read_rows(config: Config, answer: Json, run: str, engine: str, abilities: Abilities) -> RunLog:
    """The run log of a job that the engine answered.

    Raises
    ------
    BadRowsError
        A row breaks the schema, and the message names it.
    """
    raw = answer["rows"] if "rows" in answer else list(read_file(Path(answer["log"])))
    rows = [read_row(one, at, run) for at, one in enumerate(raw)]
    if rows and all(isinstance(one, dict) and one.get("step") is not None for one in raw):
        rows.sort(key=lambda row: row.step)
    return make_runlog(config, rows, run, engine, abilities, complete="error" not in answer)


def make_runlog(
    config: Config, rows: list[Row], run: str, engine: str, abilities: Abilities, *, complete: bool
) -> RunLog:
    job = attrs.evolve(make_job(config), engine=engine, capabilities=capabilities_of(abilities))
    keyed = {edge.number for edge in job.edges if edge.partitioner == Partitioner.HASH}
    rows = [row if row.edge in keyed or row.kind is not Kind.RECORD else attrs.evolve(row, key=None) for row in rows]
    log = RunLog(run, job, tuple(rows), complete)
    try:
        check_places(renumber(log))
    except MalformedLogError as error:
        raise BadRowsError(str(error)) from None
    return renumber(attrs.evolve(log, rows=tuple(number_records(rows, compute_layout(config)))))


def capabilities_of(abilities: Abilities) -> Capabilities:
    shows = set(abilities.shows)
    return Capabilities(
        explicit_watermarks=Kind.WATERMARK in shows,
        idleness=Kind.STATUS in shows,
        checkpoints=Kind.BARRIER in shows,
        endings={Kind.END_OF_DATA, Kind.END_OF_PARTITION} <= shows,
    )


# --- rows -----------------------------------------------------------------------------------------------------


def read_row(raw: Any, at: int, run: str) -> Row:
    if not isinstance(raw, dict):
        raise BadRowsError(f"row {at} is no object but {quote(raw)}")
    columns = {field.name: field for field in attrs.fields(Row)}
    unknown = sorted(map(str, raw.keys() - columns.keys()))
    if unknown:
        raise BadRowsError(f"row {at} has the field {printable(unknown[0], 60)}, which no run log has")
    values: Json = {"run": run, "step": 0, "position": 0}
    if raw.get("kind") in OWN_KINDS and isinstance(raw.get("subtask"), int):
        raw = {"dir": "out", "edge": OWN, "producer": raw["subtask"], "consumer": raw["subtask"], **raw}
    for name, field in columns.items():
        value = raw.get(name)
        if value is not None:
            values[name] = run if name == "run" else read_value(name, value, at)
        elif field.default is attrs.NOTHING and name not in OURS:
            raise BadRowsError(f"row {at} has no field {name}")
    return Row(**values)


def read_value(name: str, value: Any, at: int) -> Any:
    """64-bit numbers may be decimal strings, as everywhere in the protocol."""
    if name in ENUMS:
        if not isinstance(value, str) or value not in set(ENUMS[name]):
            raise BadRowsError(f"row {at}, field {name}: {quote(value)} is none of {', '.join(ENUMS[name])}")
        return ENUMS[name](value)
    if name not in INTEGERS:
        if not isinstance(value, str):
            raise BadRowsError(f"row {at}, field {name}: a string is wanted, not {quote(value)}")
        return value
    least, most = (OWN if name == "edge" else 0, MOST_OF_SHORT) if INTEGERS[name] == 32 else (MIN, MAX)
    number = value
    if isinstance(value, str) and INTEGERS[name] == 64 and value.removeprefix("-").isdecimal() and value.isascii():
        number = int(value)
    if type(number) is not int or not least <= number <= most:
        raise BadRowsError(f"row {at}, field {name}: a whole number in {least}..{most} is wanted, not {quote(value)}")
    return number


def quote(value: Any) -> str:
    return printable(json.dumps(value, default=str), 80)


# --- files ----------------------------------------------------------------------------------------------------


def read_file(path: Path, *, cut: bool = False) -> Iterator[Any]:
    """JSON lines, or Parquet. With `cut`, what stands before a half line is enough: the writer may have died."""
    try:
        with path.open("rb") as file:
            if file.read(4) == b"PAR1":
                parquet: Any = import_module("pyarrow.parquet")
                lines = parquet.read_table(path).to_pylist()
                yield from ({name: value for name, value in line.items() if value is not None} for line in lines)
                return
            file.seek(0)
            content = file.read(LARGEST_FILE + 1)
    except ModuleNotFoundError as error:
        raise BadRowsError(
            f"the log is Parquet, and {error.name} is not installed: pip install 'tidegate[audit]'"
        ) from None
    except (OSError, ValueError) as error:
        raise BadRowsError(
            f"the log {printable(str(path), 200)} cannot be read: {printable(str(error), 200)}"
        ) from None
    if len(content) > LARGEST_FILE:
        raise BadRowsError(f"the log {printable(str(path), 200)} has over {LARGEST_FILE} bytes")
    for at, line in enumerate(content.splitlines()):
        try:
            yield json.loads(line)
        except ValueError:
            if cut:
                return
            raise BadRowsError(f"row {at} is no JSON: {printable(line[:80].decode(errors='replace'), 80)}") from None


def read_what_stands(path: Path) -> list[Json]:
    """What a job had shown before it hung or died; nothing, if it wrote nothing."""
    try:
        return [one for one in read_file(path, cut=True) if isinstance(one, dict)]
    except BadRowsError:
        return []
