"""The trace file: a header, one case per line, and a footer with the count of cases.

Files from outside are not trusted. Oversized lines and files, a missing footer, a wrong count, invalid cases and
duplicate names are refused with file and line.
"""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import attrs

from tidegate import __version__
from tidegate.traces.cases import Case
from tidegate.traces.codec import DecodeError, check_parts, decode_case, encode_case, show
from tidegate.traces.strict_json import JsonError, read_json

FORMAT = "tidegate-traces/1"
MAX_LINE_BYTES = 16 * 2**20
#: The whole file is kept in memory, and takes several times its size.
MAX_FILE_BYTES = 128 * 2**20


class TraceFileError(Exception):
    """An invalid trace file."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}, line {line}: {message}")
        self.path = path
        self.line = line


@attrs.frozen
class Header:
    suite: str = __version__
    seed: int = 0


@contextmanager
def open_traces(path: Path, mode: str) -> Iterator[IO[bytes]]:
    """Open the file, packed or not by its name; the same content always packs to the same bytes."""
    if path.suffix != ".gz":
        with path.open(mode) as plain:
            yield plain
        return
    with path.open(mode) as raw, gzip.GzipFile(filename="", fileobj=raw, mode=mode, mtime=0) as packed:
        yield packed  # type: ignore[misc]


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Each line with its number, as JSON."""
    total = 0
    number = 0
    try:
        with open_traces(path, "rb") as file:
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                total += len(line)
                if len(line) > MAX_LINE_BYTES:
                    raise TraceFileError(path, number, f"a line of over {MAX_LINE_BYTES} bytes")
                if total > MAX_FILE_BYTES:
                    raise TraceFileError(path, number, f"the file unpacks to over {MAX_FILE_BYTES} bytes")
                yield number, parse_line(path, number, line)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TraceFileError(path, number + 1, f"not a whole gzip file: {error}") from None


def parse_line(path: Path, number: int, line: bytes) -> Any:
    try:
        return read_json(line)
    except JsonError as error:
        raise TraceFileError(path, number, str(error)) from None


def read_traces(path: Path, *, strict: bool = False) -> tuple[Header, list[Case]]:
    """The complete file, or TraceFileError."""
    header: Header | None = None
    footer: Any = None
    cases: list[Case] = []
    lines: dict[str, int] = {}
    number = 0
    for number, value in read_lines(path):
        if footer is not None:
            raise TraceFileError(path, number, "a line after the footer")
        if header is None:
            header = check_header(path, value)
        elif isinstance(value, dict) and "cases" in value and "case" not in value:
            footer = value["cases"]
        else:
            try:
                cases.append(decode_case(value, strict=strict))
                check_parts(cases[-1].config)
            except DecodeError as error:
                raise TraceFileError(path, number, str(error)) from None
            name = cases[-1].name
            if lines.setdefault(name, number) != number:
                raise TraceFileError(path, number, f"a second case {show(name)}; the first is in line {lines[name]}")
    if header is None:
        raise TraceFileError(path, 1, "an empty file")
    if footer is None:
        raise TraceFileError(path, number, "the file ends without its footer: it was cut short")
    if type(footer) is not int or footer != len(cases):
        raise TraceFileError(path, number, f"the footer counts {show(footer)} cases, the file has {len(cases)}")
    return header, cases


def check_header(path: Path, value: Any) -> Header:
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise TraceFileError(path, 1, f'the header must say "format": "{FORMAT}"')
    suite, seed = value.get("suite", ""), value.get("seed", 0)
    if not isinstance(suite, str) or type(seed) is not int:
        raise TraceFileError(path, 1, "suite must be a string and seed an integer")
    return Header(suite, seed)


def write_traces(path: Path, cases: Iterable[Case], seed: int = 0) -> int:
    """Write a complete trace file. Returns the number of cases."""
    count = 0
    with open_traces(path, "wb") as file:
        file.write(dump({"format": FORMAT, "suite": __version__, "seed": seed}))
        for case in cases:
            file.write(dump(encode_case(case)))
            count += 1
        file.write(dump({"cases": count}))
    return count


def dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
