"""Spark's own event time as an engine of whole jobs: one streaming query per sink, which shows only results.

Spark ignores the watermarks of scripts and makes its own: the delay says how far the records of a stream are out of
order. After the scripts come records of a far future, because Spark closes no window at the end of its input.
"""

import os
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tidegate.conformance.engines.flows import Program
from tidegate.conformance.engines.spark.native.query import SETTINGS
from tidegate.conformance.engines.spark.session import LOCAL, SHORT_LIVED, make_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Json = dict[str, Any]

JOBS = {
    "operators": ["source", "map", "flat_map", "filter", "union", "window", "sink"],
    "partitioners": ["hash"],
    "parallelism": 1,
    "uniform": True,
    "watermarks": True,
    # A query ends, and another one continues from its checkpoint.
    "faults": ["restart"],
    "shows": ["result"],
    "settings": {"files": [2, 1, 4]},
    "order_scope": "none",
    "known_routing": False,
}
SCHEMA = "key string, value bigint, time bigint"
#: Times after all scripts, each beyond the windows that the one before it has opened.
FAR = (1_000_000, 2_000_000, 3_000_000)
_EPOCH = 1_700_000_000


class SparkNativeJobs:
    """Its session is made, unless one is given."""

    def __init__(self, master: str = LOCAL, session: "SparkSession | None" = None) -> None:
        self._session = session or make_session(master, "tidegate spark-native jobs", SHORT_LIVED)

    def describe(self) -> Json:
        names = {"name": "spark-native", "version": self._session.version, "language": "Structured Streaming"}
        return {"implementation": names, "components": {}, "jobs": JOBS}

    def run_job(self, job: Json) -> Json:
        with TemporaryDirectory(prefix="tidegate-spark-") as folder:
            flow = Flow(self._session, Program(job), Path(folder))
            files = int(job["settings"]["files"])
            stops = sorted(max(1, files * int(fault["after"]) // 100) for fault in job["faults"])
            for stop in (*stops, files + len(FAR)):
                flow.run(stop)
            return {"rows": list(flow.make_rows()), "hit": [True] * len(stops)}


class Flow:
    """A program as queries. `committed` is the output of each sink, by the number of the micro-batch."""

    def __init__(self, session: "SparkSession", program: Program, folder: Path) -> None:
        self.session, self.program, self.folder = session.newSession(), program, folder
        for key, value in SETTINGS.items():
            self.session.conf.set(key, value)
        self.committed: dict[int, dict[int, list[tuple[str, int]]]] = defaultdict(dict)
        self.written = 0

    @property
    def scripts(self) -> Iterator[tuple[int, int]]:
        for source in self.program.sources:
            yield from ((source, script) for script in range(len(self.program.operators[source]["scripts"])))

    def run(self, files: int) -> None:
        """All queries, from their current position to the end of this many files."""
        for number in range(self.written, files):
            for source, script in self.scripts:
                write_file(self.stream(source, script), number, self.slice(source, script, number))
        self.written = files
        for sink in (number for number, one in self.program.operators.items() if one["function"] == "sink"):
            self.run_query(sink)

    def run_query(self, sink: int) -> None:
        def put(batch: "DataFrame", number: int) -> None:
            rows = [(row["key"], row["value"]) for row in batch.collect() if row["time"] < FAR[0]]
            self.committed[sink][number] = rows

        frame = self.build(sink).selectExpr("key", "value", "unix_millis(event_time) time")
        writer = frame.writeStream.foreachBatch(put).outputMode("append")
        writer = writer.option("checkpointLocation", str(self.folder / f"checkpoint{sink}"))
        writer.trigger(availableNow=True).start().awaitTermination()

    # --- input ------------------------------------------------------------------------------------------------

    def stream(self, source: int, script: int) -> Path:
        return self.folder / f"source{source}.{script}"

    def slice(self, source: int, script: int, number: int) -> list[Json]:
        """The content of a file: a part of the script, or after all parts a record of a far future."""
        files = int(self.program.settings["files"])
        if number >= files:
            return [{"key": "far", "value": 1, "timestamp": FAR[number - files]}]
        records = self.program.records_of(source, script)
        begin, end = (len(records) * at // files for at in (number, number + 1))
        return records[begin:end]

    # --- operators --------------------------------------------------------------------------------------------

    def build(self, number: int) -> "DataFrame":
        """The output of an operator."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - only where there is Spark

        operator = self.program.operators[number]
        if operator["scripts"]:
            return union([self.read(number, script) for script in range(len(operator["scripts"]))])
        read = union([self.follow(source, number) for _edge, source in self.program.inputs_of(number)])
        match operator["function"]:
            case "map":
                return read.withColumn("value", 2 * f.col("value"))
            case "flat_map":
                words = f.explode(f.filter(f.split("key", r"\s+"), lambda word: word != f.lit("")))
                return read.withColumn("key", words).withColumn("value", f.lit(1).cast("bigint"))
            case "filter":
                return read.where("value > 0")
            case "window":
                windows = read.groupBy(f.window("event_time", f"{operator['size']} milliseconds"), "key")
                sums = windows.agg(f.sum("value").alias("value"))
                return sums.select("key", "value", f.window_time("window").alias("event_time"))
            case _:
                return read

    def follow(self, source: int, target: int) -> "DataFrame":
        frame = self.build(source)
        return frame.where("false") if (source, target) in self.program.late else frame

    def read(self, source: int, script: int) -> "DataFrame":
        from pyspark.sql import functions as f  # noqa: PLC0415 - only where there is Spark

        reader = self.session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        rows: DataFrame = reader.parquet(str(self.stream(source, script)))
        delay = find_disorder([int(one["timestamp"]) for one in self.program.records_of(source, script)])
        rows = rows.select("key", "value", f.timestamp_millis("time").alias("event_time"))
        return rows.withWatermark("event_time", f"{delay} milliseconds")

    # --- output -----------------------------------------------------------------------------------------------

    def make_rows(self) -> Iterator[Json]:
        for sink, batches in self.committed.items():
            for key, value in (one for _number, rows in sorted(batches.items()) for one in rows):
                yield {"task": self.program.tasks[sink], "subtask": 0, "kind": "result", "key": key, "value": value}


def union(frames: "list[DataFrame]") -> "DataFrame":
    first, *others = frames
    for other in others:
        first = first.unionByName(other)
    return first


def find_disorder(times: list[int]) -> int:
    """How far a record is behind the latest record before it."""
    return max((latest - time for time, latest in zip(times, accumulate(times, max), strict=True)), default=0)


def write_file(folder: Path, number: int, records: list[Json]) -> None:
    """Even if it is empty: so a micro-batch has the same number everywhere."""
    pyarrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    folder.mkdir(exist_ok=True)
    columns = {
        "key": pyarrow.array([one["key"] for one in records], pyarrow.string()),
        "value": pyarrow.array([int(one["value"]) for one in records], pyarrow.int64()),
        "time": pyarrow.array([int(one["timestamp"]) for one in records], pyarrow.int64()),
    }
    path = folder / f"{number:04}.parquet"
    parquet.write_table(pyarrow.table(columns), path)
    os.utime(path, (_EPOCH + number, _EPOCH + number))
