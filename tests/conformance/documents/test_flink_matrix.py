"""Reports of releases for the version matrix, and the lists of what releases are known to do otherwise."""

import json

import pytest

import tidegate
from tidegate.conformance.documents.flink_matrix import examine, expectations_of, is_whole, run_usual_jobs
from tidegate.conformance.engines import museum
from tidegate.conformance.engines.flink.fetch import TESTED
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.suite import Budget
from tidegate.conformance.judging.verdicts import Status
from tidegate.conformance.web.matrix.columns import make_columns, read_report


@pytest.mark.parametrize("name", [*(f"flink-{version}" for version in TESTED), "flink-jobs", "flink-jobs-1.17.0"])
def test_lists_of_what_is_known_can_be_read(name):
    """Each entry names a rule that there is, or it would be refused."""
    assert all(entry.reason for entry in expectations_of(name).entries)
    assert expectations_of(name).entries or name not in ("flink-jobs", "flink-1.17.0")


def test_the_first_list_that_there_is_counts():
    assert expectations_of("flink-jobs-1.17.0", "flink-jobs") == expectations_of("flink-jobs-1.17.0")
    assert expectations_of("flink-jobs-2.3.0", "flink-jobs") == expectations_of("flink-jobs")
    assert expectations_of("no such list").entries == ()


def test_a_report_that_is_whole_need_not_be_made_again(tmp_path):
    assert not is_whole(tmp_path, 0), "nothing is there"
    tidegate.run(museum.engine(None), components=["valve"], stages=["directed"], report=tmp_path)
    assert is_whole(tmp_path, 0)
    assert not is_whole(tmp_path, 1), "of another seed"
    file = tmp_path / "report.jsonl"
    file.write_text("\n".join(file.read_text(encoding="utf-8").splitlines()[:-1]), encoding="utf-8")
    assert not is_whole(tmp_path, 0), "it has no end"


@pytest.mark.long
def test_jobs_on_the_release_whose_valve_dies(flink_version):
    """FLINK-31628 takes whole jobs with it, and is told from anything else that may be wrong."""
    result = run_usual_jobs(flink_version("1.17.0"), seed=2, jobs=40)
    assert (result.found, result.exit_code) == ({}, Exit.CONFORMANT)
    known = [job for job in result.jobs if job.get("message", "").startswith("expected: FLINK-31628")]
    assert known
    assert all(job["status"] == Status.XFAIL and "StatusWatermarkValve" in str(job["wrongs"]) for job in known)


@pytest.mark.long
def test_a_report_of_a_release_is_one_of_the_matrix(flink_version, tmp_path):
    """What it declares, as many cases as were asked for, and the semantics that it is held to."""
    told = []
    folder = examine(flink_version("2.3.0"), Budget(2, stages=("generated",)), tmp_path, told.append)
    (column,) = make_columns([read_report(folder)])
    assert column.engine == "flink:2.3.0"
    assert column.conclusion == ("conformant", "good")
    assert told == [f"flink:2.3.0: {sum(cell.total for cell in column.reports[0].cells.values())} cases, conformant"]
    assert column.reports[0].semantics["network_input"] == ("flink-1.17",)
    assert column.reports[0].generated == 2
    footer = json.loads((folder / "report.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert footer["complete"]
