"""Jobs in files: those of the findings, those of reports, and files that hold none."""

import json
import re
import shlex

import attrs
import pytest

from tests.paths import ROOT
from tidegate.conformance.cli.main import main
from tidegate.conformance.engines.flink.cluster.running import FAULTS
from tidegate.conformance.engines.flink.jobs.engine import ABILITIES, ABILITIES_SPLITS, ABILITIES_V2
from tidegate.conformance.engines.flink.jobs.sql import ABILITIES as ABILITIES_SQL
from tidegate.conformance.engines.kafka.mock_broker import JOBS as ON_A_BROKER
from tidegate.conformance.engines.messages import describe
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.jobs.stored import read_job, take_job, take_query
from tidegate.traces.files import TraceFileError

FINDINGS = ROOT / "docs" / "findings"
WRONG = "python:tests.conformance.judging.jobs.wrong_engines:NewestFirst"
NAMES = {"name": "n", "version": "v", "language": "l"}
#: What each kind of engine on the pages can be given.
KINDS = {
    "flink": ABILITIES,
    "flink-cluster": attrs.evolve(ABILITIES, faults=FAULTS),
    "flink-v2": ABILITIES_V2,
    "flink-splits": ABILITIES_SPLITS,
    "flink-sql": ABILITIES_SQL,
    "faust": describe({"protocol": 1, "implementation": NAMES, "components": {}, "jobs": ON_A_BROKER}, 1).jobs,
}


def list_commands():
    """The commands of all findings that run one job."""
    for page in sorted(FINDINGS.glob("*.md")):
        for line in re.findall(r"^tidegate jobs .*$", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
            yield page.name, line


def test_findings_name_no_job_by_a_number_that_a_draw_may_give_to_another():
    assert [line for _page, line in list_commands() if "--first" in line] == []


def test_the_jobs_of_findings_can_be_given_to_their_engines():
    used = set()
    for page, line in list_commands():
        words = shlex.split(line)
        if "--case" not in words:
            continue
        kind, path = words[words.index("--engine") + 1].partition(":")[0], ROOT / words[words.index("--case") + 1]
        assert path.name.startswith(page.removesuffix(".md")), page
        take = take_query if kind == "flink-sql" else take_job
        assert take(read_job(path), KINDS[kind]).size > 0
        used.add(path)
    assert used == {*FINDINGS.glob("*.json")}, "each file has its command"


def test_a_finding_of_a_report_is_a_job_that_shows_it_again(tmp_path, capsys):
    main(["jobs", "--engine", WRONG, "--jobs", "6", "--report", str(tmp_path)])
    (found,) = json.loads((tmp_path / "summary.json").read_text())["findings"].values()
    path = tmp_path / "small.json"
    path.write_text(json.dumps(found))
    capsys.readouterr()
    assert main(["jobs", "--engine", WRONG, "--case", str(path), "--until-fail", "2"]) == Exit.VIOLATIONS
    said = capsys.readouterr().out
    assert "small fails, in run 1 of at most 2." in said
    assert f"--case {path} --until-fail" in said
    path.write_text(json.dumps({**found, "settings": {}}))
    assert main(["jobs", "--engine", WRONG, "--case", str(path)]) == Exit.CONFORMANT, "as usual, nothing is lost"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "line 1"),
        ("[]", "must be an object"),
        ("{}", "program is missing"),
        ({"program": {}}, "operators is missing"),
        ({"settings": {"colour": 1}}, "the engine has no setting colour"),
        ({"faults": [{"fault": "flood", "after": 5}]}, "the engine has no fault flood"),
    ],
)
def test_files_that_hold_no_job_of_the_engine_are_refused(tmp_path, content, message):
    path = tmp_path / "job.json"
    good = json.loads((FINDINGS / "flink-idle-end.json").read_text())
    path.write_text(json.dumps({**good, **content}) if isinstance(content, dict) else content)
    with pytest.raises(TraceFileError, match=message):
        take_job(read_job(path), ABILITIES)


def test_a_file_that_is_not_there_is_told(tmp_path, capsys):
    assert main(["jobs", "--engine", WRONG, "--case", str(tmp_path / "none.json")]) == Exit.BAD_INPUT
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize("option", [("--first", "2"), ("--faults", "1"), ("--resume",)])
def test_a_job_of_a_file_is_not_drawn(option, capsys):
    with pytest.raises(SystemExit):
        main(["jobs", "--engine", WRONG, "--case", "x.json", *option])
    assert "--case fixes the job and its faults" in capsys.readouterr().err
