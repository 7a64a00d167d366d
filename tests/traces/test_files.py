"""Trace files: whole or refused, by file and line."""

import gzip
import json

import pytest

from tidegate.properties.drawing.cases import draw_case
from tidegate.traces import files
from tidegate.traces.files import TraceFileError, read_traces, write_traces

CASES = [draw_case("valve", 1, index) for index in range(5)]


@pytest.fixture(params=["traces.jsonl", "traces.jsonl.gz"])
def path(request, tmp_path):
    path = tmp_path / request.param
    write_traces(path, CASES, seed=7)
    return path


def case_with(**parts):
    case = {"case": "new", "component": "valve", "config": {"channels": 1}, "events": [], **parts}
    return json.dumps(case).encode() + b"\n"


def rewrite(path, change):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    with opened(path, "wb") as file:
        file.write(b"".join(change(lines)))


def test_what_is_written_is_read(path):
    header, cases = read_traces(path, strict=True)
    assert (header.seed, cases) == (7, CASES)


def test_the_same_cases_pack_to_the_same_bytes(path, tmp_path):
    again = tmp_path / f"again-{path.name}"
    write_traces(again, CASES, seed=7)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (lambda lines: lines[:-1], 6, "without its footer"),
        (lambda lines: [*lines[:3], *lines[4:]], 6, "the footer counts 5 cases, the file has 4"),
        (lambda lines: [*lines[:-1], b'{"cases":5.0}\n'], 7, "the footer counts 5.0 cases"),
        (lambda lines: [*lines, b"{}\n"], 8, "after the footer"),
        (lambda lines: lines[1:], 1, "the header must say"),
        (lambda _lines: [], 1, "an empty file"),
        (lambda lines: [lines[0], b"{nonsense\n", *lines[1:]], 2, "not JSON"),
        (lambda lines: [lines[0], b'{"case":NaN}\n', *lines[1:]], 2, "NaN"),
        (lambda lines: [lines[0], b"[" * 100_000 + b"\n", *lines[1:]], 2, "nested deeper than"),
        (lambda lines: [lines[0], b"[" * 99 + b"]" * 99 + b"\n", *lines[1:]], 2, "nested deeper than"),
        (lambda lines: [lines[0], b"\xff\xfe\n", *lines[1:]], 2, "not UTF-8"),
        (lambda lines: [lines[0], "{}\n".encode("utf-16"), *lines[1:]], 2, "not UTF-8"),
        (lambda lines: [lines[0], rb'{"case":"\ud800"}' + b"\n", *lines[1:]], 2, "an unpaired surrogate"),
        (
            lambda lines: [lines[0], b'{"case":"a","case":"b"}\n', *lines[1:]],
            2,
            "the key 'case' is there more than once",
        ),
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], 4, "a second case 'valve-1-1'; the first is in line 3"),
        (lambda lines: [*lines, lines[-1]], 8, "after the footer"),
        (lambda lines: [lines[0], case_with(config={"channels": 10**9}), *lines[1:]], 2, "more than 32,768 parts"),
        (lambda lines: [lines[0], case_with(events=[[]] * 500_000), *lines[1:]], 2, "must be an object, not []"),
        (lambda lines: [lines[0], case_with(config={"x\x1b" * 9: 1, "channels": 1}), *lines[1:]], 2, "unknown key"),
        (
            lambda lines: [*lines[:2], lines[2].replace(b'"channel":', b'"chanel":', 1), *lines[3:]],
            3,
            "channel is missing",
        ),
    ],
)
def test_what_is_not_whole_is_refused_by_line(path, change, line, message):
    rewrite(path, change)
    with pytest.raises(TraceFileError) as caught:
        read_traces(path, strict=True)
    assert caught.value.line == line
    assert len(str(caught.value)) < 1000
    assert str(caught.value).isprintable()
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_half_a_gzip_file_is_refused(tmp_path):
    path = tmp_path / "traces.jsonl.gz"
    write_traces(path, CASES)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TraceFileError, match="gzip"):
        read_traces(path)


def test_a_gzip_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 10_000_000)
    path = tmp_path / "traces.jsonl.gz"
    with gzip.open(path, "wb") as file:
        file.write(b'{"format":"tidegate-traces/1"}\n')
        for _ in range(200):
            file.write(b'"' + b"a" * 100_000 + b'"\n')
    with pytest.raises(TraceFileError):
        read_traces(path)


def test_an_endless_line_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "traces.jsonl.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(40):
            file.write(b"a" * 2**20)
    with pytest.raises(TraceFileError, match="a line of over"):
        read_traces(path)
