"""The command line as a user meets it: a real process, its output and its exit code."""

import json
import re
import shlex
import signal
import sys
from xml.etree import ElementTree as ET

import pytest

from tests.conformance.engines.conftest import HOSTILE
from tests.conformance.reports.reading import read_report
from tests.processes import PATIENCE, launch, tidegate_command, wait_until
from tests.processes import run_tidegate as tidegate
from tidegate.conformance.cli.main import main
from tidegate.conformance.exits import Exit
from tidegate.properties.drawing.cases import draw_case
from tidegate.traces.files import write_traces

WRONG = "python:tidegate.conformance.engines.museum.engines:ValveAlwaysFlushes"
QUICK = ("--component", "valve", "--stage", "directed", "--stage", "golden", "--stage", "generated", "--cases", "100")


def test_a_right_engine_is_conformant():
    done = tidegate("run", "--engine", "reference", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "conformant" in done.stdout


def test_a_wrong_engine_is_caught_and_the_reproduction_works():
    done = tidegate("run", "--engine", WRONG, *QUICK)
    assert done.returncode == 1, done.stderr
    assert "valve breaks VALVE-10" in done.stdout
    assert "allowed   status(status idle)" in done.stdout
    (again, *_) = re.findall(r"^  reproduce (.*)$", done.stdout, re.MULTILINE)
    words = shlex.split(again)
    assert words[0] == "tidegate"
    repeated = tidegate(*words[1:])
    assert repeated.returncode == 1
    assert "valve breaks VALVE-10" in repeated.stdout
    on_the_right = ["reference" if word == WRONG else word for word in words[1:]]
    assert tidegate(*on_the_right).returncode == 0


def test_a_finding_under_another_semantics_is_repeated_under_it():
    engine = ("--engine", "python:tests.conformance.cli.engines:OnlyTheOldValve")
    done = tidegate("run", *engine, "--component", "valve", "--semantics", "flink-40475", "--stage", "directed")
    assert done.returncode == 1, done.stderr
    (again, *_) = re.findall(r"^  reproduce (.*)$", done.stdout, re.MULTILINE)
    assert again.endswith("--semantics flink-40475")
    assert tidegate(*shlex.split(again)[1:]).returncode == 1


def test_the_same_seed_gives_the_same_run(tmp_path):
    reports = []
    for name in ("a", "b"):
        tidegate("run", "--engine", WRONG, *QUICK, "--seed", "5", "--report", tmp_path / name)
        reports.append((tmp_path / name / "report.jsonl").read_text(encoding="utf-8"))
    assert reports[0] == reports[1]


def test_reports(tmp_path):
    done = tidegate("run", "--engine", WRONG, *QUICK, "--report", tmp_path, "--format", "json")
    summary = json.loads(done.stdout)
    assert (summary["exit"], summary["conclusion"]) == (1, "not conformant")
    header, verdicts, footer = read_report(tmp_path / "report.jsonl")
    assert header["engine"] == WRONG
    assert footer.pop("semantics") == {"valve": ["flink-40475", "flink-7728"]}
    assert footer == {"verdicts": len(verdicts), "complete": True, "exit": 1}
    assert sum(one["verdict"] == "fail" for one in verdicts) > 0
    suites = ET.parse(tmp_path / "junit.xml").getroot()  # noqa: S314 - our own file
    assert sum(int(suite.get("failures")) for suite in suites) > 0
    assert "## valve breaks VALVE-10" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_expectations(tmp_path):
    expectations = tmp_path / "known.txt"
    stages = ("--component", "valve", "--stage", "directed", "--stage", "golden")
    run = ("run", "--engine", WRONG, *stages, "--expect", expectations)
    assert tidegate(*run, "--update-expectations").returncode == 0
    assert re.search(r"^rule VALVE-10 -- \d+ failures when this was written$", expectations.read_text(), re.MULTILINE)
    known = tidegate(*run)
    assert known.returncode == 0
    assert re.search(r" is conformant but for \d+ known failures: ", known.stdout)
    expectations.write_text("rule VALVE-10 -- always flushes\n", encoding="utf-8")
    assert tidegate(*run).returncode == 0
    with expectations.open("a", encoding="utf-8") as file:
        file.write("case valve-directed-pending-minimum -- no longer fails\n")
    stale = tidegate(*run)
    assert stale.returncode == 1
    assert "it no longer fails: delete the line" in stale.stdout
    headline = r" is conformant but for \d+ known failures, and 1 line of the known failures must be deleted: "
    assert re.search(headline, stale.stdout), "every failure is known, and there is one line too many"
    expectations.write_text("nonsense\n", encoding="utf-8")
    broken = tidegate(*run)
    assert broken.returncode == 65
    assert "known.txt, line 1" in broken.stderr
    expectations.write_bytes(b"# known\n\xff\n")
    unreadable = tidegate(*run)
    assert unreadable.returncode == 65
    assert "known.txt, line 2: not UTF-8" in unreadable.stderr


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ('{"channels":1,"channels":2}', "the key 'channels' is there more than once"),
        ("[" * 9999, "nested deeper"),
        ('{"channels":' + "9" * 5000 + "}", "not JSON"),
    ],
)
def test_a_config_that_is_not_taken(config, said):
    done = tidegate("replay", "--component", "valve", "--config", config, "--trace", "0w1")
    assert done.returncode == 64
    assert said in done.stderr


def test_a_part_of_the_failures_is_no_file_of_them(tmp_path):
    expectations = tmp_path / "known.txt"
    engine = f"exec:{sys.executable} {HOSTILE} dies_after_hello"
    options = ("--component", "valve", "--stage", "directed", "--expect", expectations, "--update-expectations")
    done = tidegate("run", "--engine", engine, *options)
    assert done.returncode == 74
    assert f"{expectations} is unchanged, since not every failure is known: " in done.stderr
    assert "cases were not run" in done.stderr
    assert not expectations.exists()


def test_files_are_replayed_and_truncated_ones_refused(tmp_path):
    path = tmp_path / "traces.jsonl"
    write_traces(path, [draw_case("valve", 3, index) for index in range(20)])
    assert tidegate("replay", path).returncode == 0
    path.write_text("\n".join(path.read_text(encoding="utf-8").splitlines()[:-1]), encoding="utf-8")
    done = tidegate("replay", path)
    assert done.returncode == 65
    assert "traces.jsonl, line 21" in done.stderr
    assert tidegate("replay", tmp_path / "missing.jsonl").returncode == 65


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["run", "--engine", "nonsense"], 64, "exec:COMMAND LINE"),
        (["run", "--engine", "exec:/no/such/program"], 69, "no/such/program"),
        (["run", "--engine", "python:no_such_module:Mine"], 69, "no_such_module"),
        (["run", "--engine", "exec:true"], 69, ""),
        (["run", "--engine", "reference", "--component", "vlave"], 64, "no component 'vlave'"),
        (["run", "--engine", "reference", "--stage", "x"], 64, "no stage 'x'"),
        (["run", "--engine", "reference", "--cases", "-1"], 64, "whole number from 0 on"),
        (["nonsense"], 64, "invalid choice"),
        (["explain", "VALVE-99"], 64, "there are VALVE-1 to VALVE-18"),
        (["rules", "vlave"], 64, "no rules of 'vlave'"),
        (["replay"], 64, "give trace files"),
        (["replay", "--component", "valve", "--trace", "0x"], 64, "is missing"),
        (["replay", "--component", "valve", "--config", '{"channels":2}', "--trace", "0x"], 64, "is no event of valve"),
    ],
)
def test_errors_are_clear(args, code, message):
    done = tidegate(*args)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_engine_that_declares_nothing_known_is_undetermined(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    def describe(self):\n"
        "        implementation = {'name': 'm', 'version': '1', 'language': 'python'}\n"
        "        return {'implementation': implementation, 'components': {'x': {}}}\n"
        "    def replay(self, cases):\n"
        "        return []\n",
        encoding="utf-8",
    )
    done = tidegate("run", "--engine", "python:mine:Mine", cwd=tmp_path)
    assert done.returncode == 2
    assert "No case was run" in done.stdout


def test_explain_steps_through_an_example():
    done = tidegate("explain", "valve-13")
    assert done.returncode == 0
    assert "VALVE-13" in done.stdout
    assert "state afterwards" in done.stdout
    assert json.loads(tidegate("explain", "VALVE-13", "--format", "json").stdout)["rule"]["id"] == "VALVE-13"


def test_rules_say_whether_engines_are_held_to_them():
    rows = tidegate("rules", "comb", "--format", "markdown").stdout.splitlines()
    assert any(row.startswith("| COMB-2 | must | judged |") for row in rows)
    assert any(row.startswith("| COMB-5 | must | internal |") for row in rows)
    *prefixes, total = json.loads(tidegate("rules", "--status", "--format", "json").stdout)
    for kind in ("rules", "judged", "internal", "out_of_scope"):
        assert sum(row[kind] for row in prefixes) == total[kind] > 0
    assert total["judged"] + total["internal"] + total["out_of_scope"] == total["rules"]
    assert "Internal A combiner of the protocol" in tidegate("explain", "COMB-5").stdout


def test_help_teaches():
    assert "exit codes" in tidegate("--help").stdout
    for verb in ("run", "replay", "explore", "generate", "museum", "rules", "explain", "smoke", "diff"):
        assert "example:" in tidegate(verb, "--help").stdout


def test_generated_traces_are_replayed(tmp_path):
    path = tmp_path / "gate.jsonl.gz"
    assert tidegate("generate", "traces", "gate", "--cases", "20", "--seed", "7", "--out", path).returncode == 0
    done = tidegate("replay", path, "--engine", "python:tidegate.conformance.engines.museum.engines:Right", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_interrupt_keeps_what_is_known(tmp_path):
    engine = "python:tests.conformance.cli.engines:StopsAtTwoThousand"
    options = ("--cases", 5000, "--stage", "generated", "--component", "valve", "--timeout", 600, "--jobs", 1)
    report = tmp_path / "report.jsonl"
    with launch(tidegate_command("run", "--engine", engine, *options, "--report", tmp_path)) as process:
        wait_until(lambda: report.exists() and report.read_bytes().count(b"\n") > 51, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, err
    assert "interrupted" in out
    _header, verdicts, footer = read_report(report)
    assert footer["complete"] is False
    assert 50 < len(verdicts) <= 2000, "the header, and more than 50 verdicts, were there before"


def test_a_component_takes_one_row_and_what_is_not_declared_one_line():
    engine = ("--engine", "python:tests.conformance.cli.engines:OnlyTheOldValve", "--stage", "directed")
    short, long = (tidegate("run", *engine, *more).stdout for more in ((), ("--details",)))
    (line,) = [line for line in short.splitlines() if "Not declared" in line]
    assert re.search(r": \d+, such as chaining, job_graph, .*--details", line)
    assert [line.split()[:2] for line in short.splitlines()].count(["chaining", "golden"]) == 0
    assert [line.split()[:2] for line in long.splitlines()].count(["chaining", "golden"]) == 1


def test_nothing_is_generated_over_files_of_others(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["generate", "docs"])
    assert ended.value.code == 64
    assert "is not a checkout of tidegate; choose an output folder with --out DIR" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_schemas_are_listed_printed_and_written(tmp_path, capsys):
    assert main(["schemas"]) == 0
    assert {"common", "hello-reply", "valve"} <= set(capsys.readouterr().out.split())
    assert main(["schemas", "valve"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["$defs"]["config"]["properties"]["channels"]["$ref"] == "common.json#/$defs/count"
    assert main(["schemas", "--to", str(tmp_path / "schemas")]) == 0
    assert json.loads((tmp_path / "schemas" / "valve.json").read_text()) == printed
    with pytest.raises(SystemExit):
        main(["schemas", "valves"])
    assert "no schema 'valves'" in capsys.readouterr().err


def test_python_without_docstrings_is_refused():
    """A violation (exit 1) is about an engine: here none was asked."""
    done = tidegate("rules", "valve", PYTHONOPTIMIZE="2")
    assert done.returncode == Exit.USAGE
    assert "-OO" in done.stderr
