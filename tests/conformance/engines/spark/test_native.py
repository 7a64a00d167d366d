"""The engine spark-native: Spark's own event time on real Spark, from the command line and in process."""

import io
import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, redirect_stdout

import pytest

from tests.paths import ROOT
from tidegate.conformance.cli.main import main
from tidegate.conformance.documents.spark_page.page import NATIVE_CASES
from tidegate.conformance.engines.spark.native import engine as engines
from tidegate.conformance.engines.spark.native import mutants
from tidegate.conformance.engines.spark.native.engine import POLICIES, Order, SparkNative
from tidegate.conformance.engines.spark.native.mutants import MUTANTS
from tidegate.conformance.engines.spark.native.traces import read_trace
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.event_time import exam
from tidegate.conformance.judging.event_time.drawing import make_corners
from tidegate.conformance.judging.event_time.exam import UNEXPLAINED, examine
from tidegate.properties.runlog import check
from tidegate.traces.runlog import read_runlog

PAGE = ROOT / "docs" / "spark.md"


# --- the command line -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(spark, tmp_path_factory):
    """What the page is written from, by the command that it names, on the session that is there."""
    folder, said = tmp_path_factory.mktemp("native"), io.StringIO()
    options = ["--engine", "spark-native", "--cases", str(NATIVE_CASES), "--format", "json", "--report", str(folder)]
    with redirect_stdout(said):
        code = main(["run", *options])
    assert code == Exit.CONFORMANT, said.getvalue()
    return json.loads(said.getvalue()), folder


@pytest.mark.long
def test_what_it_declares(finished):
    said, _folder = finished
    assert said["implementation"]["name"] == "spark-native"
    assert said["capabilities"]["idleness"] is False
    assert said["capabilities"]["clock_scope"] == "job"
    assert [way["name"] for way in said["policies"]["min"]].count("no-idleness") == 1


@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES)
def test_invariants_hold_or_are_skipped_for_what_spark_lacks(finished, policy):
    outcomes = {one["id"]: one["outcome"] for one in finished[0]["invariants"] if one["policy"] == policy}
    runs = sum(one["policy"] == policy for one in finished[0]["runs"])
    kept = {"LOG-ORDER", "LOG-LOSS"}
    assert {name for name, outcome in outcomes.items() if outcome == f"{runs} passed"} == kept
    passed, undetermined = map(
        int, re.fullmatch(r"(\d+) passed, (\d+) undetermined", outcomes.pop("LOG-WATERMARK")).groups()
    )
    assert passed > 0
    assert passed + undetermined == runs  # some have no watermark at all
    assert all(outcome.startswith("skipped: ") for name, outcome in outcomes.items() if name not in kept)
    assert "idleness" in outcomes["LOG-STATUS"]
    assert "single subtasks" in outcomes["LOG-LATE"]


@pytest.mark.long
def test_every_shortest_trace_differs_on_spark_itself_as_declared(finished):
    assert finished[0]["differences"]
    for one in finished[0]["differences"]:
        assert one["spark"] == one["declared"] != one["flink"], one["trace"]
        assert one["because"]
        assert one["rules"]
    assert finished[0]["violations"] == finished[0]["not_run"] == []


@pytest.mark.long
def test_other_traces_are_as_declared_too(finished):
    others = [one for one in finished[0]["runs"] if not one["run"].startswith("shortest")]
    assert len(others) >= 2 * NATIVE_CASES + 10
    assert all(one["spark"] == one["declared"] for one in others)
    assert any(one["spark"] != one["flink"] for one in others)


@pytest.mark.long
def test_the_report_keeps_the_run_logs(finished):
    said, folder = finished
    logs = [read_runlog(path) for path in sorted((folder / "runs").glob("*.parquet"))]
    assert sorted(log.run for log in logs) == sorted(one["run"] for one in said["runs"])
    assert {log.job.semantics for log in logs} == {"spark-min", "spark-max"}
    for log in logs:
        assert not [one for verdict in check(log) for one in verdict.violations]
    header, *runs, footer = map(json.loads, (folder / "report.jsonl").read_text(encoding="utf-8").splitlines())
    assert header["engine"] == "spark-native"
    assert footer["runs"] == len(runs) == len(said["runs"])
    assert 'failures="0"' in (folder / "junit.xml").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_page_says_what_was_seen(finished):
    """The rows about invariants and differences are those of the run."""
    native_part = PAGE.read_text(encoding="utf-8").partition("## Spark's own event time")[2]
    summary = (finished[1] / "summary.md").read_text(encoding="utf-8")

    def rows(text):
        return [line for line in text.splitlines() if line.startswith(("| LOG-", "| `m"))]

    assert rows(native_part) == rows(summary) != []


# --- wrong queries --------------------------------------------------------------------------------------------

IN_A_WINDOW = str(make_corners()["order-in-a-window"])
#: A trace of `tidegate run` that shows it, its policy, and what is found.
SHOWN = {
    "spark-native-loses-rows": (IN_A_WINDOW, "min", "LOG-LOSS"),
    "spark-native-counts-twice": (IN_A_WINDOW, "max", "LOG-LOSS"),
    "spark-native-loses-order": (IN_A_WINDOW, "min", "LOG-ORDER"),
    "spark-native-swaps-policies": ("0r1 0r11", "max", UNEXPLAINED),
    "spark-native-keeps-late-rows": ("0r11 | 0r1 | 0r1", "max", UNEXPLAINED),
    "spark-native-drops-by-its-own-watermark": ("0r11 1r11 | 0r1", "min", UNEXPLAINED),
}


@pytest.fixture(scope="module")
def exams(spark):
    """By mutant; several at once, for a micro-batch is mostly waiting."""

    def examine_trace(engine, trace, policy):
        wanted = (trace, policy)
        return examine(engine, cases=0, wanted=lambda one: (str(one.trace), one.policy) == wanted, most_runs=0)

    with ExitStack() as stack, ThreadPoolExecutor(engines.AT_ONCE) as pool:
        wrong = {name: stack.enter_context(SparkNative(mutant=name)) for name in SHOWN}
        futures = {name: pool.submit(examine_trace, engine, *SHOWN[name][:2]) for name, engine in wrong.items()}
        return {name: future.result() for name, future in futures.items()}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_wrong_queries_are_caught(exams, mutant):
    _trace, policy, wrong = SHOWN[mutant.name]
    found = exams[mutant.name]
    assert len(found.runs) == 1
    assert (policy, wrong) in found.examples
    assert mutant.breaks in ("", wrong)
    assert found.exit_code is Exit.VIOLATIONS


def test_the_command_fails_a_wrong_query(spark, monkeypatch, capsys):
    trace, policy, _wrong = SHOWN["spark-native-swaps-policies"]
    monkeypatch.setattr(engines, "SparkNative", lambda *args: SparkNative(*args, mutant="spark-native-swaps-policies"))
    monkeypatch.setattr(exam, "make_orders", lambda *_args: [Order("one", read_trace(trace), policy)])
    assert main(["run", "--engine", "spark-native"]) == Exit.VIOLATIONS
    out = capsys.readouterr().out
    assert "policy max: unexplained difference" in out
    assert "declared counts #1, #2; emits #1" in out
    assert "Spark    counts #1, #2; emits none" in out
    assert "spark-native-swaps-policies" in out
    assert "is not conformant" in out


def test_a_query_that_fails_is_not_run(spark, monkeypatch):
    monkeypatch.setitem(mutants.PIECES, "kept", "no_such_column > 0")
    with SparkNative() as engine:
        found = examine(engine, cases=0, wanted=lambda one: str(one.trace) == "0r-5")
    assert found.exit_code is Exit.UNDETERMINED
    assert {order.policy for order, _reason in found.not_run} == set(POLICIES)
    assert "no_such_column" in found.not_run[0][1]


def test_a_session_that_was_there_is_not_stopped(spark):
    with SparkNative() as engine:
        assert engine.describe().version == spark.version
    assert spark.range(3).count() == 3
