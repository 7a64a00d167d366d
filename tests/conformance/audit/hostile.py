"""Files that are no run logs, each wrong in a way of its own: what to write, and what an audit must say of it."""

import json
import os
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from tidegate.reference.partitioning import partitioner
from tidegate.reference.partitioning.keys import StringKey
from tidegate.traces.runlog import COLUMNS, INTEGERS

MOST = 10**9
#: Paints the terminal, turns the direction of text, is an element, a table and a link.
WORDS = "\x1b[31mred \x9b1m \u202eback <b>|bold|</b> [link](http://example.org) \u2066"


def with_metadata(table, **changes):
    known = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    return table.replace_schema_metadata(known | changes)


def with_job(table, change):
    job = json.loads(table.schema.metadata[b"job"])
    change(job)
    return with_metadata(table, job=json.dumps(job))


def with_edge(table, **changes):
    return with_job(table, lambda job: job["edges"][1].update(changes))


def without_edge_entry(table, name):
    return with_job(table, lambda job: job["edges"][1].pop(name))


def with_column(table, name, values):
    return table.set_column(table.schema.get_field_index(name), name, values)


def renamed(table, run):
    """The same log, of another run."""
    return with_metadata(with_column(table, "run", pa.array([run] * len(table), pa.string())), run=run)


def changed(table, name, place, value, kind=None):
    values = table[name].to_pylist()
    values[place] = value
    return with_column(table, name, pa.array(values, kind or table[name].type))


def with_broken_text(table, name):
    """Some text of the column is not UTF-8, and so are its statistics."""
    values = [None if value is None else value.encode() for value in table[name].to_pylist()]
    place = next(place for place, value in enumerate(values) if value is not None)
    values[place] = b"\xff\xfe" + values[place]
    return with_column(table, name, pa.array(values, pa.binary()).cast(pa.string(), safe=False))


def with_entry(table, key, value):
    known = dict(table.schema.metadata)
    return table.replace_schema_metadata(known | {key: value})


def with_double_entry(table, name):
    entries = [*table.schema.metadata.items(), (name.encode(), b"another")]
    return table.replace_schema_metadata(pa.KeyValueMetadata(entries))


def with_double_column(table, name):
    return table.append_column(name, table[name])


def double_key(table):
    job = table.schema.metadata[b"job"].decode()
    return with_metadata(table, job=job[:-1] + ', "engine": "another"}')


def deep(table):
    return with_metadata(table, job="[" * 200_000 + "]" * 200_000)


def huge(table):
    return with_job(table, lambda job: job.update(remark="x" * 5_000_000))


def many_edges(table):
    return with_job(table, lambda job: job.update(edges=[job["edges"][0]] * 20_000))


#: What is written instead of a log, and what is said of it.
TABLES = {
    "text-of-run": (lambda table: with_broken_text(table, "run"), "column run has text that is not UTF-8"),
    "text-of-task": (lambda table: with_broken_text(table, "task"), "column task has text that is not UTF-8"),
    "text-of-dir": (lambda table: with_broken_text(table, "dir"), "column dir has text that is not UTF-8"),
    "text-of-key": (lambda table: with_broken_text(table, "key"), "column key has text that is not UTF-8"),
    "metadata-text": (lambda table: with_entry(table, b"run", b"\xff\xfe"), "its metadata are not UTF-8"),
    "job-text": (lambda table: with_entry(table, b"job", b'{"\xff": 1}'), "its metadata are not UTF-8"),
    "deep-job": (deep, "nothing sensible about the job"),
    "huge-job": (huge, "characters, more than 4,194,304"),
    "many-edges": (many_edges, "edge 0 is described 20000 times"),
    "no-job": (lambda table: with_metadata(table, job="null"), "nothing sensible about the job"),
    "number-job": (lambda table: with_metadata(table, job="9" * 10_000), "nothing sensible about the job"),
    "nan-job": (lambda table: with_edge(table, producers=float("nan")), "nothing sensible about the job"),
    "double-key": (double_key, "'engine' is there more than once"),
    "double-entry": (lambda table: with_double_entry(table, "complete"), "metadata have complete more than once"),
    "double-column": (lambda table: with_double_column(table, "step"), "it has column step more than once"),
    "no-key-groups": (lambda table: without_edge_entry(table, "max_parallelism"), "hash and has no max_parallelism"),
    "key-groups": (lambda table: with_edge(table, max_parallelism=10**9), "must be in 1..32768"),
    "double-edge": (lambda table: with_edge(table, number=0), "edge 0 is described 2 times"),
    "pattern": (lambda table: with_edge(table, pattern="ring"), "pattern must be one of pointwise, all_to_all"),
    "no-producers": (lambda table: with_edge(table, producers=0), "producers must be at least 1"),
    "many-producers": (lambda table: with_edge(table, producers=10**30), "must be a 32-bit integer"),
    "complete-number": (lambda table: with_metadata(table, complete="1"), "complete is 1, which is neither"),
    "complete-text": (lambda table: with_metadata(table, complete='"true"'), "which is neither true nor false"),
    "complete-null": (lambda table: with_metadata(table, complete="null"), "which is neither true nor false"),
    "unsigned": (
        lambda table: changed(table, "position", 5, 2**64 - 1, pa.uint64()),
        "column position has a value that does not fit int64",
    ),
    "too-wide": (
        lambda table: changed(table, "consumer", 5, 2**40, pa.int64()),
        "column consumer has a value that does not fit int32",
    ),
    "reserved": (lambda table: changed(table, "timestamp", 5, -(2**63) + 1), "which stands for no value"),
    "no-position": (lambda table: changed(table, "position", 5, None), "column position has no value in row 5"),
    "edge": (lambda table: changed(table, "edge", 5, -3), "edge -3 is unknown"),
    "producer": (lambda table: changed(table, "producer", 5, -1), "has no channel from -1"),
    "step": (lambda table: changed(table, "step", 5, 10**15), "is missing, comes twice or is out of order"),
    "dir": (lambda table: changed(table, "dir", 5, "sideways", pa.string()), "dir 'sideways' is unknown"),
    "words": (lambda table: changed(table, "task", 5, WORDS, pa.string()), "task '"),
    "rows-of-words": (
        lambda table: with_column(table, "run", pa.array([WORDS] * len(table))),
        "but declares run",
    ),
    "other-type": (lambda table: with_column(table, "id", table["id"].cast(pa.float64())), "column id is double"),
    "binary": (
        lambda table: with_column(table, "kind", table["kind"].cast(pa.string()).cast(pa.binary())),
        "column kind is binary, not string",
    ),
    "nested": (
        lambda table: with_column(table, "step", pa.array([{"step": 1}] * len(table))),
        "column step is struct",
    ),
}


def write_table(table, name, folder):
    change, message = TABLES[name]
    parquet.write_table(change(renamed(table, f"run-{name}")), folder / f"{name}.parquet")
    return message


def write_bytes(table, folder):
    """Files that are cut, empty, broken inside, or none at all."""
    good = folder / "good.bytes"
    parquet.write_table(renamed(table, "run-bytes"), good)
    whole = good.read_bytes()
    broken = bytearray(whole)
    broken[100 : len(whole) // 2] = bytes(len(whole) // 2 - 100)
    texts = {
        "cut": (whole[: len(whole) // 2], "is not a Parquet file, or is cut short"),
        "zero": (b"", "is not a Parquet file, or is cut short"),
        "only-magic": (b"PAR1", "is not a Parquet file, or is cut short"),
        "magic-twice": (b"PAR1PAR1", "is not a Parquet file, or is cut short"),
        "length": (whole[:-8] + b"\xff\xff\xff\x7fPAR1", "is not a Parquet file, or is cut short"),
        "text": (b"run,task,subtask\n", "is not a Parquet file, or is cut short"),
        "pages": (bytes(broken), "cannot be read to its end"),
    }
    for name, (data, _message) in texts.items():
        (folder / f"{name}.parquet").write_bytes(data)
    return {name: message for name, (_data, message) in texts.items()}


def find_problem(report, name):
    """What is said of the file of this name."""
    names = {name, f"{name}.parquet", f"{name}\udcff.parquet"}
    (problem,) = [one.problem for one in report.problems if Path(one.paths[0]).name in names]
    assert f"/{name}" in problem
    assert problem.isprintable()
    return problem


def write_links(folder):
    """Links in a circle, one that leads nowhere, one that leads back; a pipe; a name that is not UTF-8."""
    (folder / "one.parquet").symlink_to("two.parquet")
    (folder / "two.parquet").symlink_to("one.parquet")
    (folder / "nowhere.parquet").symlink_to("somewhere")
    (folder / "below").mkdir()
    (folder / "below" / "above").symlink_to("..")
    os.mkfifo(folder / "pipe.parquet")
    Path(os.fsdecode(os.fsencode(folder) + b"/name-\xff.parquet")).write_bytes(b"PAR1")
    return {
        "one": "is a link that leads nowhere",
        "two": "is a link that leads nowhere",
        "nowhere": "is a link that leads nowhere",
        "above": "is a link that leads back to",
        "pipe": "is not a regular file",
        "name-": "its own name is not UTF-8",
    }


def make_row(run, edge, channel, way, position, kind, **fields):
    """The step is the position: there is one channel of a subtask."""
    producer, consumer = channel
    place = (
        {"task": f"in-{edge}", "subtask": producer} if way == "out" else {"task": f"out-{edge}", "subtask": consumer}
    )
    place |= {"run": run, "step": position, "dir": way, "edge": edge, "producer": producer, "consumer": consumer}
    return dict.fromkeys(COLUMNS) | place | {"position": position, "kind": kind} | fields


def write_wide_job(folder, name, *, invents=False):
    """A log of a few rows, of a job that declares a thousand million subtasks."""
    kinds = [("hash", "all_to_all"), ("rescale", "pointwise"), ("mine", "all_to_all")]
    edges = [
        {"number": number, "source": f"in-{number}", "target": f"out-{number}", "producers": MOST, "consumers": MOST}
        | {"partitioner": kind, "pattern": pattern, "max_parallelism": 128}
        for number, (kind, pattern) in enumerate(kinds)
    ]
    job = {"engine": "wide", "semantics": "flink-7728", "edges": edges, "capabilities": {"credit": False}}
    config = partitioner.Config(partitioner.Partitioner.HASH, MOST, 128)
    owner = partitioner.compute_channel_of_key(config, StringKey("a"))
    rows = []
    for edge, channel, key in [(0, (7, owner), "a"), (1, (9, 9), None), (2, (MOST - 1, 3), None)]:
        for way in ("out", "in"):
            number = 5 + (invents and way == "in")
            rows += [
                make_row(name, edge, channel, way, 0, "watermark", timestamp=0),
                make_row(name, edge, channel, way, 1, "record", timestamp=10, id=number, key=key),
                make_row(name, edge, channel, way, 2, "barrier", value=1),
            ]
    metadata = {"run": name, "complete": "false", "job": json.dumps(job)}
    schema = pa.schema(
        [(column, pa.int64() if column in INTEGERS else pa.string()) for column in COLUMNS], metadata=metadata
    )
    parquet.write_table(pa.Table.from_pylist(rows, schema), folder / f"{name}.parquet")
