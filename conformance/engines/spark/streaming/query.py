"""The streaming query: script files in, a stage for each level of tasks, and a sink that knows its micro-batches."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from tidegate.conformance.engines.spark.streaming.elements import OUT, SCHEMA
from tidegate.conformance.engines.spark.streaming.faults import Fault
from tidegate.conformance.engines.spark.streaming.layout import make_layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

#: Settings of every query: a state store that keeps its state on disk, and as few stages as possible.
SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.shuffle.partitions": "2",
}
#: Called after a micro-batch with its number, before Spark commits it.
Hook = Callable[[int], None]


@attrs.frozen
class Folder:
    """The files of a query: its jobs, its scripts, its checkpoint, and its output."""

    path: Path

    @property
    def jobs(self) -> Path:
        return self.path / "jobs.json"

    @property
    def scripts(self) -> Path:
        return self.path / "scripts"

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint"

    @property
    def batches(self) -> Path:
        return self.path / "batches"

    def create(self, jobs: dict[str, dict[str, Any]]) -> None:
        for one in (self.scripts, self.batches):
            one.mkdir(parents=True)
        self.jobs.write_text(json.dumps(jobs), encoding="utf-8")

    def read_jobs(self) -> dict[str, dict[str, Any]]:
        jobs: dict[str, dict[str, Any]] = json.loads(self.jobs.read_text(encoding="utf-8"))
        return jobs


@attrs.frozen
class Options:
    """`bugs` are mistakes by run. `incarnation` counts the earlier starts of the query."""

    bugs: dict[str, str] = attrs.Factory(dict)
    incarnation: int = 0
    fault: Fault | None = None
    hook: Hook = lambda _number: None


def start_query(spark: "SparkSession", folder: Folder, options: Options | None = None) -> "StreamingQuery":
    """Start the query, or restart it from its checkpoint; it ends when it has read all present scripts."""
    from tidegate.conformance.engines.spark.streaming.processor import Program, TaskProcessor  # noqa: PLC0415 - needs pyspark

    options = options or Options()
    for key, value in SETTINGS.items():
        spark.conf.set(key, value)
    layouts = {run: make_layout(job) for run, job in folder.read_jobs().items()}
    program = Program(layouts, options.bugs, options.incarnation, options.fault)
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    lines: DataFrame = reader.parquet(str(folder.scripts))
    for level in range(max(layout.levels for layout in layouts.values())):
        subtasks = lines.groupBy("run", "task", "subtask")
        lines = subtasks.transformWithState(TaskProcessor(level, program), SCHEMA, "Append", "None")
    writer = lines.where(lines.level == OUT).writeStream.foreachBatch(make_sink(folder, options.hook))
    return writer.option("checkpointLocation", str(folder.checkpoint)).trigger(availableNow=True).start()


def make_sink(folder: Folder, hook: Hook) -> Callable[["DataFrame", int], None]:
    """A micro-batch has one folder, named by its number: a repeated batch overwrites it."""

    def put(batch: "DataFrame", number: int) -> None:
        batch.write.mode("overwrite").parquet(str(folder.batches / str(number)))
        hook(number)

    return put


def run_query(spark: "SparkSession", folder: Folder, options: Options | None = None) -> None:
    """Run the query to the end of the present scripts."""
    start_query(spark, folder, options).awaitTermination()
