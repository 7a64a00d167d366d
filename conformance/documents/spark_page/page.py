"""The Markdown of the page."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tidegate.conformance.documents.spark_page.facts import JobFacts, judge_jobs, run_jobs
from tidegate.conformance.documents.spark_page.jobs import BUGS, CORNERS, COUNT, make_right_jobs
from tidegate.conformance.engines.spark.native.engine import SparkNative
from tidegate.conformance.engines.spark.native.traces import WINDOW
from tidegate.conformance.engines.spark.streaming.campaign import FILES
from tidegate.conformance.judging.event_time.drawing import CORNERS as TRACES
from tidegate.conformance.judging.event_time.exam import Exam, examine
from tidegate.conformance.judging.event_time.report import difference_table, table
from tidegate.properties.runlog import INVARIANTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Random traces for Spark's own event time, each run with both policies.
NATIVE_CASES = 2

HEAD = """\
<!-- Written by `make spark-page` from runs on Spark. Do not edit. -->
# What a Spark user should know about these semantics

This page reports two experiments on Spark {version}. First, Flink's semantics, built on Structured Streaming: state in
the state store, a shuffle for every edge, micro-batches. Second, Spark's own event time, on the same kind of job. The
first conforms to the specification. The second is another semantics; the last part of this page shows where it differs
from the first, with the shortest traces that show it. Every figure and verdict below comes from these runs.
"""


JOBS = """\
## Flink's semantics work on Structured Streaming

{jobs} jobs ran in one streaming query: {count} random ones, and {corners} in the corners of idleness and
lateness (an idle source, all sources idle, one that comes back, an end while idle, late records). Together they wrote
{row_count} rows of run logs and {results} results. Their scripts arrived in {files} files, one per micro-batch, cut at
random, with lines that came early, late or twice. The query was interrupted several times, and restarted from its
checkpoint each time:

{happened}

The specification replayed every subtask with the elements that it received; the subtask, every sum and every sink had
to emit the same. {wrongs} The invariants over the run logs:

| invariant | says | runs |
|---|---|---|
{verdicts}

To show that the checks find mistakes, the same query ran jobs with mistakes in them:

| mistake | found |
|---|---|
{bugs}

What it takes:

- **Positions.** A shuffle does not keep order, not even inside a group. Every element carries its position in its
  channel. Early elements wait in the state store, and duplicates are dropped by their position.
- **One group per subtask.** A valve needs all channels of its subtask in one place, so rows are grouped by subtask, and
  keyed state is a map inside the group. Flink's key groups assign keys to subtasks; Spark's own `hash` differs.
- **A repeatable choice.** Which channel is read first is free, but a micro-batch that runs again must choose the same
  one. Here a hash of channel and position decides.
- **A sink that knows micro-batches.** `foreachBatch` is called again for a micro-batch that was not committed. The
  output is stored under the number of the micro-batch, so the second call overwrites the first.
"""

NATIVE = """\
## Spark's own event time is another semantics

A count in windows of {window} ms on `withWatermark("event_time", "0 milliseconds")`, one stream a source, with
`spark.sql.streaming.multipleWatermarkPolicy` set to `min` and to `max`. It declares one event time for the whole query,
which advances between micro-batches; no idleness, no end of event time, no visible barriers or credit, and a hash of
its own for keys. A record counts as received if it was counted, or if Spark's own watermark says that it was too late.
Order is visible only among the records of one source and window.

`tidegate run --engine spark-native` runs it, checks the invariants, and shows the differences below. `--cases` and
`--seed` choose random traces, `--report` keeps the run logs, and `--master` names a cluster, whose machines must share
the folder for temporary files (`TMPDIR`). Each invariant, with the number of runs that kept it:

| invariant | policy `min` | policy `max` |
|---|---|---|
{verdicts}

Where it differs from Flink. Traces have two sources: `0r11` is a record of time 11 from source 0, `1i` source 1 turns
idle, `0e` source 0 ends, and `|` begins the next micro-batch; records are numbered from #1. On Flink's side every
record is followed by a watermark just below the highest time of its source so far. A search over all traces of up to
four events, with records of times 1 and 11 (and of -5, alone), on a model of Spark found them, so no shorter trace
shows the same. The model is Flink's count with the changes in the last column: the fewest that explain the trace, with
the rules that they break. Each trace then ran on Spark itself, which did what the model says, as it did on {others}
longer traces with both policies, {random} of them random.

{differences}

What that means:

- **Lateness depends on micro-batches.** A record is dropped only if the watermark of the *previous* micro-batch closed
  its window, and that watermark only knows the records before that. So a record may be two micro-batches behind and
  still be counted. How files are cut into micro-batches decides which records are counted.
- **A silent source holds everything back** with `min`, and it cannot be marked idle. With `max` the fastest source
  decides, and late records of slower sources are dropped.
- **Nothing ends.** When all sources have ended, Flink emits every open window; Spark waits for a watermark that never
  comes.
- **Event time begins at 0.** A record of a window that ended by 1970 is late from the start.
"""


def write_page(spark: "SparkSession", path: Path) -> tuple[JobFacts, Exam]:
    with TemporaryDirectory() as folder:
        right = make_right_jobs()
        campaign, outcomes = run_jobs(spark, Path(folder) / "jobs", right)
        jobs = judge_jobs(campaign.happened, outcomes, right)
    native = run_native()
    parts = [HEAD.format(version=spark.version), describe_jobs(jobs), describe_native(native)]
    path.write_text("\n".join(parts), encoding="utf-8")
    return jobs, native


def run_native() -> Exam:
    """Runs on the current session."""
    with SparkNative() as engine:
        return examine(engine, cases=NATIVE_CASES)


def find_surprises(jobs: JobFacts, native: Exam) -> list[str]:
    """Everything that contradicts the page: runs that differ, missed mistakes, traces that Spark rejects."""
    surprises = [f"{run}: {wrong}" for run, wrongs in jobs.wrongs.items() for wrong in wrongs]
    surprises += [f"no check finds the mistake: {BUGS[bug]}" for bug in BUGS if bug not in jobs.found]
    for run in native.runs:
        surprises += [f"{run.order.name}, {run.order.trace}: {wrong}: {how}" for wrong, how in run.wrongs.items()]
    return surprises + [f"{order.name}, {order.trace}: {reason}" for order, reason in native.not_run]


# --- Flink's semantics on Structured Streaming ----------------------------------------------------------------


def describe_jobs(facts: JobFacts) -> str:
    happened = "\n".join(f"{number}. It {what}." for number, what in enumerate(facts.happened, 1))
    rows = "\n".join(
        f"| {one.id} | {one.statement} | {describe_counts(facts.verdicts[one.id])} |" for one in INVARIANTS
    )
    bugs = "\n".join(f"| {BUGS[bug]} | {'yes' if bug in facts.found else '**no**'} |" for bug in BUGS)
    wrongs = f"{len(facts.wrongs)} runs differ." if facts.wrongs else "No run differs."
    return JOBS.format(
        jobs=facts.jobs,
        count=COUNT,
        corners=len(CORNERS),
        row_count=facts.rows,
        results=facts.results,
        files=FILES,
        happened=happened,
        wrongs=wrongs,
        verdicts=rows,
        bugs=bugs,
    )


def describe_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))


# --- Spark's own event time -----------------------------------------------------------------------------------


def describe_native(exam: Exam) -> str:
    rows = "\n".join("| " + " | ".join(line) + " |" for line in table(exam))
    differences = "\n".join(difference_table(exam))
    others = len(TRACES) + exam.cases
    return NATIVE.format(window=WINDOW, verdicts=rows, differences=differences, others=others, random=exam.cases)
