"""From the rows in an engine's answer, or in a file that it wrote, to a run log.

Everything is checked first: an error names the number and the field of a row that lacks a column, or has a value
outside its domain. The rows of a subtask are in its own order, which is that of `step` if every row has one.
"""

import json
import stat
from collections import Counter, deque
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import attrs

from tidegate.conformance.engines.base import Abilities
from tidegate.conformance.engines.text import printable
from tidegate.properties.runlog.recording import make_job
from tidegate.reference.elements import MAX, MIN
from tidegate.reference.job.layout import Layout, compute_layout
from tidegate.reference.job.programs import Config
from tidegate.reference.partitioning.partitioner import Partitioner
from tidegate.traces.runlog import (
    COLUMNS,
    INTEGERS,
    MOST_OF_SHORT,
    OWN,
    OWN_KINDS,
    Capabilities,
    Delivery,
    Direction,
    Job,
    Kind,
    MalformedLogError,
    OrderScope,
    Row,
    RunLog,
    check_places,
    renumber,
)
from tidegate.traces.strict_json import JsonError, read_json

Json = dict[str, Any]

#: Columns that the harness fills in if they are missing.
OURS = ("run", "step", "position")
ENUMS: dict[str, type[Direction] | type[Kind]] = {"dir": Direction, "kind": Kind}
#: Limits: rows of a job, bytes of all of them and of one. They are far above what a job needs.
MOST_ROWS = 100_000
LARGEST_FILE = 64 * 2**20
LONGEST_ROW = 64 * 2**10
#: How many rows are printed of a job that did not complete.
LAST_ROWS = 5
#: How many rows of a Parquet file are read at once.
BATCH = 256


class BadRowsError(ValueError):
    """The rows are not a run log of this job."""


def read_rows(
    config: Config, shown: Json, run: str, engine: str, capabilities: Capabilities, *, complete: bool
) -> RunLog:
    """The run log of a job, or of one of its generations.

    Raises
    ------
    BadRowsError
        A row breaks the schema, and the message names it.
    """
    if not {"rows", "log"} & shown.keys():
        raise BadRowsError("the answer has no rows")
    raw: Iterable[Any] = shown["rows"] if "rows" in shown else read_file(Path(shown["log"]))
    rows, in_order = [], True
    for at, one in enumerate(raw):
        if at == MOST_ROWS:
            raise BadRowsError(f"the job shows more than {MOST_ROWS} rows")
        rows.append(read_row(one, at, run))
        in_order &= one.get("step") is not None
    if in_order:
        rows.sort(key=lambda row: row.step)
    job = attrs.evolve(
        make_job(config),
        engine=engine,
        capabilities=capabilities,
        restored=shown.get("restored", {}),
    )
    return make_runlog(config, job, rows, run, complete=complete)


def make_runlog(config: Config, job: Job, rows: list[Row], run: str, *, complete: bool) -> RunLog:
    keyed = {edge.number for edge in job.edges if edge.partitioner == Partitioner.HASH}
    rows = [row if row.edge in keyed or row.kind is not Kind.RECORD else attrs.evolve(row, key=None) for row in rows]
    log = RunLog(run, job, tuple(rows), complete)
    try:
        check_places(renumber(log))
    except MalformedLogError as error:
        raise BadRowsError(str(error)) from None
    return renumber(attrs.evolve(log, rows=tuple(number_records(rows, compute_layout(config)))))


def number_records(rows: list[Row], layout: Layout) -> Iterator[Row]:
    """Number records as the specification does: per subtask, in the order of emission.

    A record that was received and never sent keeps a unique number.
    """
    places = {(place.task.name, place.number): at for at, place in enumerate(layout.places)}
    made: Counter[int] = Counter()
    numbers: dict[int | None, int] = {}
    for row in rows:
        if row.kind is Kind.RECORD and row.dir is Direction.OUT and row.id not in numbers:
            place = places[row.task, row.subtask]
            numbers[row.id] = made[place] * len(places) + place
            made[place] += 1
    for row in rows:
        known = numbers.get(row.id, -1 - (row.id or 0))
        yield attrs.evolve(row, id=known) if row.kind is Kind.RECORD else row


def capabilities_of(abilities: Abilities, shows: Container[str]) -> Capabilities:
    """What the run log can show, and what the engine promises."""
    return Capabilities(
        explicit_watermarks=Kind.WATERMARK in shows,
        idleness=Kind.STATUS in shows,
        checkpoints=Kind.BARRIER in shows,
        endings=Kind.END_OF_DATA in shows and Kind.END_OF_PARTITION in shows,
        known_routing=abilities.known_routing,
        keys_meet=abilities.keys_meet,
        order_scope=OrderScope(abilities.order_scope),
        delivery=Delivery(abilities.delivery),
    )


# --- rows -----------------------------------------------------------------------------------------------------


def read_row(raw: Any, at: int, run: str) -> Row:
    if not isinstance(raw, dict):
        raise BadRowsError(f"row {at} must be an object, not {quote(raw)}")
    columns = {field.name: field for field in attrs.fields(Row)}
    unknown = sorted(map(str, raw.keys() - columns.keys()))
    if unknown:
        raise BadRowsError(f"row {at} has the field {printable(unknown[0], 60)}, which run logs do not have")
    values: Json = {"run": run, "step": 0, "position": 0}
    if raw.get("kind") in tuple(OWN_KINDS) and isinstance(raw.get("subtask"), int):
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
            raise BadRowsError(f"row {at}, field {name}: {quote(value)} is not one of {', '.join(ENUMS[name])}")
        return ENUMS[name](value)
    if name not in INTEGERS:
        if not isinstance(value, str):
            raise BadRowsError(f"row {at}, field {name}: must be a string, not {quote(value)}")
        return value
    least, most = (OWN if name == "edge" else 0, MOST_OF_SHORT) if INTEGERS[name] == 32 else (MIN, MAX)
    number = value
    if isinstance(value, str) and INTEGERS[name] == 64 and value.removeprefix("-").isdecimal() and value.isascii():
        number = int(value)
    if type(number) is not int or not least <= number <= most:
        raise BadRowsError(f"row {at}, field {name}: must be a whole number in {least}..{most}, not {quote(value)}")
    return number


def quote(value: Any) -> str:
    try:
        return printable(json.dumps(value, default=str), 80)
    except RecursionError:
        return "a deeply nested value"


# --- files ----------------------------------------------------------------------------------------------------


def read_file(path: Path, *, cut: bool = False) -> Iterator[Any]:
    """JSON lines, or Parquet. With `cut`, the last line may be incomplete: its writer may have died."""
    try:
        check_file(path)
        with path.open("rb") as file:
            is_parquet = file.read(4) == b"PAR1"
            file.seek(0)
            yield from read_parquet(file) if is_parquet else read_json_lines(file, cut=cut)
    except ModuleNotFoundError as error:
        raise BadRowsError(
            f"the log is Parquet, and {error.name} is not installed: pip install 'tidegate[audit]'"
        ) from None
    except BadRowsError:
        raise
    except (OSError, ValueError) as error:
        raise BadRowsError(
            f"the log {printable(str(path), 200)} cannot be read: {printable(str(error), 200)}"
        ) from None


def check_file(path: Path) -> None:
    """Only regular files: opening a pipe would wait for its writer."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise BadRowsError(f"the log {printable(str(path), 200)} is not a regular file")
    if found.st_size > LARGEST_FILE:
        raise BadRowsError(f"the log {printable(str(path), 200)} has over {LARGEST_FILE} bytes")


def read_json_lines(file: IO[bytes], *, cut: bool) -> Iterator[Any]:
    at, size = 0, 0
    while line := file.readline(LONGEST_ROW + 1):
        size += len(line)
        if len(line) > LONGEST_ROW or size > LARGEST_FILE:  # it may have grown since
            raise BadRowsError(f"row {at} has over {LONGEST_ROW} bytes, or all have over {LARGEST_FILE}")
        try:
            yield read_json(line)
        except JsonError as error:
            if cut:
                return
            said = printable(line[:80].decode(errors="replace"), 80)
            raise BadRowsError(f"row {at} cannot be read: {error}: {said}") from None
        at += 1


def read_parquet(file: IO[bytes]) -> Iterator[Json]:
    """Check sizes before unpacking: a few bytes of a file may expand to very many."""
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    try:
        schema = parquet.read_schema(file)
        check_columns(schema)
        words = [name for name in schema.names if name not in INTEGERS]
        log = parquet.ParquetFile(file, read_dictionary=words, pre_buffer=False)
        sizes = [log.metadata.row_group(at).total_byte_size for at in range(log.metadata.num_row_groups)]
        if log.metadata.num_rows > MOST_ROWS or not 0 <= sum(sizes) <= LARGEST_FILE:
            raise BadRowsError(f"the log has over {MOST_ROWS} rows, or over {LARGEST_FILE} bytes when it is unpacked")
        size = 0
        for batch in log.iter_batches(BATCH, use_threads=False):
            size += sum(count_letters(batch.column(name)) for name in words)
            if size > LARGEST_FILE:
                raise BadRowsError(f"the strings of the log have over {LARGEST_FILE} bytes")
            lines = batch.to_pylist()
            yield from ({name: value for name, value in line.items() if value is not None} for line in lines)
    except arrow.ArrowException as error:
        raise BadRowsError(f"the log cannot be read: {printable(str(error), 200)}") from None


def check_columns(schema: Any) -> None:
    types: Any = import_module("pyarrow").types
    for name in schema.names:
        if schema.names.count(name) > 1:
            raise BadRowsError(f"the log has the column {printable(name, 60)} more than once")
        if name not in COLUMNS:
            raise BadRowsError(f"the log has the column {printable(name, 60)}, which run logs do not have")
        kind = schema.field(name).type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        is_word = types.is_string(kind) or types.is_large_string(kind)
        if not (is_word or types.is_null(kind) or (name in INTEGERS and types.is_integer(kind))):
            raise BadRowsError(f"the log has a column {name} of {printable(str(kind), 60)}")


def count_letters(column: Any) -> int:
    compute: Any = import_module("pyarrow.compute")
    if not import_module("pyarrow").types.is_dictionary(column.type):
        return int(column.nbytes)
    return compute.sum(compute.binary_length(column.dictionary).take(column.indices)).as_py() or 0


def read_what_stands(path: Path) -> tuple[int, list[Json]]:
    """How many rows a job had shown before it hung or died, and the last few of them."""
    count, last = 0, deque[Json](maxlen=LAST_ROWS)
    with suppress(BadRowsError):
        for one in read_file(path, cut=True):
            if isinstance(one, dict):
                count += 1
                last.append(one)
    return count, [*last]
