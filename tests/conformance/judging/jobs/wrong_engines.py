"""Engines of whole jobs that are wrong, each in one way: the example in Python, spoilt."""

import importlib.util
import sys
import time
from pathlib import Path

EXAMPLE = Path(__file__).parents[4] / "examples" / "python" / "jobs.py"


def load():
    spec = importlib.util.spec_from_file_location("example_jobs", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drop(rows, **wanted):
    """Without the first row of this kind, on both ends of its channel or on one."""
    at = next((n for n, row in enumerate(rows) if all(row.get(k) == v for k, v in wanted.items())), None)
    return rows if at is None else rows[:at] + rows[at + 1 :]


def change(rows, at, **changes):
    return [{**row, **changes} if place == at else row for place, row in enumerate(rows)]


def without(rows, at, name):
    return [{k: v for k, v in row.items() if place != at or k != name} for place, row in enumerate(rows)]


class Example:
    def describe(self):
        return {name: value for name, value in load().HELLO.items() if name != "protocol"}

    def run_job(self, job):
        return self.spoil(load().Job(job).run(), job)

    def spoil(self, rows, _job):
        return rows


class Loses(Example):
    """The first record that is sent never arrives."""

    def spoil(self, rows, _job):
        return drop(rows, dir="in", kind="record")


class NewestFirst(Example):
    """Loses only with one of its settings."""

    def spoil(self, rows, job):
        return drop(rows, dir="in", kind="record") if job["settings"]["newest_first"] else rows


class Misroutes(Example):
    """Keys go where they like."""

    def run_job(self, job):
        module = load()
        module.murmur = len
        return module.Job(job).run()


class Delays(Example):
    """Every record is said to be of a moment later, on both ends of its channel."""

    def spoil(self, rows, _job):
        late = [str(int(row["timestamp"]) + 1) if row["kind"] == "record" else None for row in rows]
        return [row if time is None else {**row, "timestamp": time} for row, time in zip(rows, late, strict=True)]


class BadField(Example):
    def spoil(self, rows, _job):
        return change(rows, 1, edge="first")


class NoKind(Example):
    def spoil(self, rows, _job):
        return without(rows, 0, "kind")


class Stranger(Example):
    def spoil(self, rows, _job):
        return change(rows, 0, subtask=7)


class Fails(Example):
    def spoil(self, rows, _job):
        return {"rows": rows[:2], "error": "out of luck"}


class Raises(Example):
    def run_job(self, _job):
        raise RuntimeError("no such job")


class Hangs(Example):
    """Writes two rows, and never ends."""

    def run_job(self, job):
        rows = load().Job(job).run()
        Path(job["log"]).write_text("".join(f'{{"task": "{row["task"]}", "kind": "record"}}\n' for row in rows[:2]))
        time.sleep(60)


class Dies(Example):
    def run_job(self, _job):
        sys.stdout.flush()
        import os

        os._exit(3)


class InAFile(Example):
    """The rows stand in a Parquet file."""

    def spoil(self, rows, job):
        import pyarrow as pa
        from pyarrow import parquet

        names = dict.fromkeys(name for row in rows for name in row)
        table = pa.table({name: [row.get(name) for row in rows] for name in names})
        parquet.write_table(table, job["log"])
        return {"log": job["log"]}


class Mute(Example):
    """Runs jobs, and does not say so."""

    def describe(self):
        return {name: value for name, value in super().describe().items() if name != "jobs"}


class EveryThird(Example):
    """Loses a record in each third run, and sends keys where it likes in all but the first."""

    def __init__(self):
        self.runs = 0

    def run_job(self, job):
        self.runs += 1
        module = load()
        if self.runs > 1:
            module.murmur = len
        rows = module.Job(job).run()
        return drop(rows, dir="in", kind="record") if self.runs % 3 == 0 else rows
