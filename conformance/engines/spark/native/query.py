"""A windowed count on Spark's own event time, run on a trace."""

import json
import os
from collections.abc import Callable
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from tidegate.conformance.engines.spark.native.mutants import PIECES, RIGHT, Mutant
from tidegate.conformance.engines.spark.native.traces import WINDOW, Counted, Event, Trace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Settings that make a micro-batch cheap and do not affect event time: one task for the count of a few records, and
#: a checkpoint writer that starts no program (readlink) for each file. No query is started twice.
SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}
_EPOCH = 1_700_000_000
#: A record of this time after the trace closes every window, which shows everything that was counted.
FAR = 1_000_000
_FAR_ID = -1
SCHEMA = "id bigint, source int, time bigint, key string"


@attrs.frozen
class Observed:
    """What Spark did: the watermark of each micro-batch of the trace, and what was counted and emitted.

    `order` is the ids of each window and key in the order in which the count processed them.
    """

    watermarks: tuple[int, ...]
    counts: Counted
    order: tuple[tuple[int, ...], ...]


class UnfinishedError(Exception):
    """A query that did not complete in time."""


def observe(
    spark: "SparkSession", folder: Path, trace: Trace, policy: str, timeout: float, mutant: Mutant = RIGHT
) -> Observed:
    """Run the trace and then, to see which windows are open, a micro-batch of records of a far future.

    That micro-batch itself has the final watermark of the trace; the one after it closes every window.
    """
    count = len(trace.batches)
    for source in range(trace.sources):
        (folder / f"source{source}").mkdir(parents=True)
    write_batches(folder, trace)
    write_slices(folder, trace.sources, count, [(_FAR_ID, Event(source, "r", FAR)) for source in range(trace.sources)])
    windows: list[tuple[int, tuple[int, ...]]] = []
    session = spark.newSession()  # the policy is a setting of the session, and other queries run in parallel
    pieces = {**PIECES, **mutant.pieces}
    settings = {**SETTINGS, "spark.sql.streaming.multipleWatermarkPolicy": pieces[policy], **mutant.settings}
    for key, value in settings.items():
        session.conf.set(key, value)
    run(make_windows(session, folder, trace.sources, pieces), folder, windows.append, timeout)
    fired = frozenset(number for batch, ids in windows if batch <= count for number in ids)
    counted = frozenset(number for _batch, ids in windows for number in ids) - {_FAR_ID}
    order = tuple(sorted(ids for _batch, ids in windows))
    return Observed(read_watermarks(folder / "checkpoint", count), Counted(counted, fired), order)


def make_windows(spark: "SparkSession", folder: Path, sources: int, pieces: dict[str, str]) -> "DataFrame":
    """One stream per source, each with a watermark of its own; a map and a filter; windows by key."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - only where there is Spark

    streams = []
    for source in range(sources):
        reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        rows: DataFrame = reader.parquet(str(folder / f"source{source}"))
        rows = rows.withColumn("event_time", f.timestamp_millis("time"))
        streams.append(rows.withWatermark("event_time", pieces["delay"]))
    union = streams[0]
    for stream in streams[1:]:
        union = union.union(stream)
    mapped = union.withColumn("key", f.upper("key")).where(pieces["kept"])
    return mapped.groupBy(f.window("event_time", f"{WINDOW} milliseconds"), "key").agg(f.expr(pieces["gathered"]))


def run(
    windows: "DataFrame", folder: Path, take: Callable[[tuple[int, tuple[int, ...]]], None], timeout: float
) -> None:
    """`take` gets each emitted window: the number of the micro-batch, and the ids of its records."""

    def put(batch: "DataFrame", number: int) -> None:
        for row in batch.collect():
            take((number, tuple(row[2])))

    writer = windows.writeStream.foreachBatch(put).outputMode("append")
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    if not query.awaitTermination(ceil(timeout)):
        query.stop()
        raise UnfinishedError(f"no end in {timeout:g} s")


def read_watermarks(checkpoint: Path, count: int) -> tuple[int, ...]:
    """What Spark wrote before each micro-batch of the trace."""
    watermarks = []
    for number in range(count):
        _version, metadata, *_offsets = (checkpoint / "offsets" / str(number)).read_text(encoding="utf-8").splitlines()
        watermarks.append(json.loads(metadata)["batchWatermarkMs"])
    return tuple(watermarks)


# --- files ----------------------------------------------------------------------------------------------------


def write_batches(folder: Path, trace: Trace) -> None:
    records = list(trace.records())
    for batch in range(len(trace.batches)):
        write_slices(folder, trace.sources, batch, [(number, event) for number, at, event in records if at == batch])


def write_slices(folder: Path, sources: int, batch: int, records: list[tuple[int, Event]]) -> None:
    """A file for each source, even if it is empty: so a micro-batch has the same number everywhere."""
    pyarrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    types = [("id", pyarrow.int64()), ("source", pyarrow.int32()), ("time", pyarrow.int64()), ("key", pyarrow.string())]
    for source in range(sources):
        mine = [(number, source, event.time, "a") for number, event in records if event.source == source]
        columns = {name: [row[place] for row in mine] for place, (name, _type) in enumerate(types)}
        path = folder / f"source{source}" / f"{batch:04}.parquet"
        parquet.write_table(pyarrow.table(columns, schema=pyarrow.schema(types)), path)
        os.utime(path, (_EPOCH + batch, _EPOCH + batch))
