"""The page itself: the facts, in Markdown."""

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

#: Random traces for Spark's own event time, each run under both policies.
NATIVE_CASES = 2

HEAD = """\
<!-- Written by `make spark-page` from runs on Spark. Do not edit. -->
# What a Spark user should know about these semantics

Two things were run on Spark {version}. First, Flink's semantics, built from what Structured Streaming offers: state in
the state store, a shuffle for every edge, micro-batches. Second, Spark's own event time, on the same kind of job. The
first is judged by the specification and holds. The second is another semantics, and the last part of this page says
where it parts from the first, with the shortest traces that show it. Every figure and verdict below comes from those
runs.
"""


JOBS = """\
## Flink's semantics can be had on Structured Streaming

{jobs} jobs ran in one streaming query: {count} random ones, and {corners} in the corners of idleness and
lateness (an idle source, all sources idle, one that comes back, an end while idle, late records). Together they wrote
{row_count} rows of run logs and {results} results. Their scripts came in {files} files, one a micro-batch, cut
by chance, with lines that came early, late or twice. The query went down again and again, and was started from its
checkpoint each time:

{happened}

Every subtask was replayed alone by the specification, with what it received, and had to emit the same; so did every
sum and every sink. {wrongs} The invariants over the run logs:

| invariant | says | runs |
|---|---|---|
{verdicts}

To know that this would be noticed if it were not so, the same query ran jobs with mistakes in them:

| mistake | found out |
|---|---|
{bugs}

What it takes:

- **Positions.** A shuffle does not keep order, not even inside a group. Every element carries its position in its
  channel; what comes early waits in the state store, what comes twice is known by its position.
- **One group a subtask.** A valve needs all channels of its subtask in one place, so rows are grouped by subtask, and
  keyed state is a map inside it. A key goes to its subtask by Flink's key groups; Spark's own `hash` is another one.
- **A choice that can be repeated.** Which channel is read first is free, but a micro-batch that is done again must
  choose the same. Here a hash of channel and position decides.
- **A sink that knows micro-batches.** `foreachBatch` is called again for a micro-batch that was not committed. Its
  number names the place of what comes of it, so the second time takes the place of the first.
"""

NATIVE = """\
## Spark's own event time is another semantics

A count in windows of {window} ms on `withWatermark("event_time", "0 milliseconds")`, one stream a source, with
`spark.sql.streaming.multipleWatermarkPolicy` at `min` and at `max`. It declares what it has: one event time for the
whole query, which moves between micro-batches; no idleness, no end of event time, no barriers or credit that could be
seen, and keys that are spread by a hash of its own. A record counts as received if it was counted or if Spark's own
watermark says that it was too late; order can be seen among the records of one source and window, and only there.

`tidegate run --engine spark-native` runs it, checks the invariants, and shows the differences below; `--cases` and
`--seed` choose random traces, `--report` keeps the run logs, `--master` names a cluster, whose machines must all see
the folder for temporary files (`TMPDIR`). Each invariant, and in how many runs it was kept:

| invariant | policy `min` | policy `max` |
|---|---|---|
{verdicts}

Where it parts from Flink. Traces have two sources: `0r11` is a record of time 11 from source 0, `1i` source 1 turns
idle, `0e` source 0 ends, and `|` begins the next micro-batch; records are numbered from #1. On Flink's side every
record is followed by a watermark just below the highest time of its source so far. They were found by searching all
traces of up to four events with records of times 1 and 11 (and of -5, alone) on a model of Spark, so that none with
fewer events shows the same. The model is Flink's count, changed in the ways that the last column names; these are the
fewest that account for the trace, with the rules that say otherwise. Each trace was then run on Spark itself, which
did what the model says, as it did on {others} longer traces under both policies, {random} of them random.

{differences}

What that means:

- **Lateness is a matter of micro-batches.** A record is dropped only if its window was closed by the watermark of the
  micro-batch *before* the one that brings it, which itself knows only what came before that: a record may be two
  micro-batches behind and still be counted. How files are cut into micro-batches decides what is counted.
- **A silent source holds everything back** under `min`, and there is no way to say that it is idle. Under `max` the
  fastest source decides, and what slower ones bring is dropped.
- **Nothing ends.** When all sources have ended Flink emits every window that is open; Spark waits for a watermark
  that nobody sends.
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
    """On the session that is there."""
    with SparkNative() as engine:
        return examine(engine, cases=NATIVE_CASES)


def find_surprises(jobs: JobFacts, native: Exam) -> list[str]:
    """What would make the page wrong: runs that differ, mistakes that nobody notices, traces that Spark disowns."""
    surprises = [f"{run}: {wrong}" for run, wrongs in jobs.wrongs.items() for wrong in wrongs]
    surprises += [f"nobody notices that {BUGS[bug]}" for bug in BUGS if bug not in jobs.found]
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
