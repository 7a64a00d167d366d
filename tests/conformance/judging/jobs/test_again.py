"""Jobs that do not fail each time: run until they fail, and run again to know how often."""

import json
import shlex
from collections import Counter

import pytest

from tidegate.conformance.cli.main import main
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.jobs.again import MISSED, MOST_RUNS, Again, runs_needed
from tidegate.conformance.judging.jobs.reference_jobs import ReferenceJobs
from tidegate.conformance.judging.jobs.report import ToldJobs
from tidegate.conformance.judging.jobs.run import run_jobs
from tidegate.conformance.kinds import resolve_jobs
from tidegate.conformance.web.jobs import make_page

#: Loses a record in each third run, and sends keys where it likes in all but the first.
ENGINE = "python:tests.conformance.judging.jobs.wrong_engines:EveryThird"
#: One that shows only the loss, and one that shows both.
LOSES, BOTH = 4, 6


def run(first, **options):
    return run_jobs(resolve_jobs(ENGINE), ENGINE, 1, first=first, shrink=0, **options)


def command(*words):
    return ["jobs", "--engine", ENGINE, "--jobs", "1", *map(str, words)]


def test_a_job_is_run_until_it_fails_and_no_further(capsys):
    assert main(command("--first", LOSES, "--until-fail", 9)) == Exit.VIOLATIONS
    said = capsys.readouterr().out
    assert f"job-0-{LOSES} fails, in run 3 of at most 9." in said
    assert "1 jobs: 1 fail" in said


def test_a_job_that_does_not_fail_is_not_reproduced(capsys):
    assert main(command("--first", LOSES, "--until-fail", 2)) == Exit.CONFORMANT
    assert "1 job did not fail in 2 runs: not reproduced here." in capsys.readouterr().out


def test_what_breaks_another_rule_is_not_the_failure_that_is_looked_for(capsys):
    assert main(command("--first", BOTH, "--until-fail", 9)) == Exit.VIOLATIONS
    assert "in run 2 of" in capsys.readouterr().out
    assert main(command("--first", BOTH, "--until-fail", 9, "--rule", "LOG-LOSS")) == Exit.VIOLATIONS
    said = capsys.readouterr().out
    assert f"job-0-{BOTH} fails by LOG-LOSS, in run 3 of at most 9." in said
    assert "1 runs failed in other ways, or as expected." in said
    assert main(command("--first", BOTH, "--until-fail", 2, "--rule", "LOG-LOSS")) == Exit.CONFORMANT
    said = capsys.readouterr().out
    assert "1 job did not fail by LOG-LOSS in 2 runs: not reproduced here." in said
    assert "is conformant, as far as LOG-LOSS goes" in said


def test_an_engine_that_says_nothing_leaves_open_whether_a_rule_is_broken():
    engine = ENGINE.replace("EveryThird", "Fails")
    result = run_jobs(resolve_jobs(engine), engine, 2, rule="LOG-LOSS", until_fail=2, shrink=0)
    assert (result.counts["unknown"], result.counts["runs"], result.exit_code) == (2, 4, Exit.UNDETERMINED)
    result = run_jobs(resolve_jobs(engine), engine, 2, rule="job", until_fail=2, shrink=0)
    assert (result.counts["fail"], result.counts["runs"], result.exit_code) == (2, 2, Exit.VIOLATIONS)


@pytest.mark.parametrize("word", ["LOG-LOS", "job "])
def test_a_rule_that_there_is_not_is_refused(word, capsys):
    with pytest.raises(SystemExit) as ended:
        main(command("--rule", word))
    assert ended.value.code == Exit.USAGE
    assert "argument --rule: no rule" in capsys.readouterr().err


def test_jobs_that_failed_are_run_again_and_the_run_that_failed_is_not_counted():
    told = ToldJobs(run(BOTH, until_fail=3, again=6)).json()
    assert (told["jobs"], told["runs"]) == (1, 2)
    rates = {one["kind"]: (one["failed"], one["again"]) for one in told["failures"]}
    assert rates["fail LOG-ROUTE"] == (6, 6)
    assert "fail LOG-LOSS" not in rates, "it had not failed by that"
    told = ToldJobs(run(BOTH, until_fail=3, rule="LOG-LOSS", again=6)).json()
    assert [(one["kind"], one["failed"], one["again"]) for one in told["failures"]] == [("fail LOG-LOSS", 2, 6)]


def test_the_command_of_a_failure_shows_it_again(capsys):
    result = run(LOSES, until_fail=3, again=6)
    (failure,) = ToldJobs(result).json()["failures"]
    assert failure["missed"] < MISSED
    assert failure["reproduce"] in ToldJobs(result).text()
    assert (
        f"run again, it fails in 2 of 6 runs; the chance that {words_of(failure)['--until-fail']} runs do not show"
        in (ToldJobs(result).text())
    )
    assert main(shlex.split(failure["reproduce"])[1:]) == Exit.VIOLATIONS
    assert f"job-0-{LOSES} fails by LOG-LOSS, in run 3 of" in capsys.readouterr().out


def words_of(failure):
    words = shlex.split(failure["reproduce"])
    return dict(zip(words[2::2], words[3::2], strict=True))


def test_of_a_job_that_was_not_run_again_no_chance_is_told():
    result = run(LOSES, until_fail=3)
    (failure,) = ToldJobs(result).json()["failures"]
    assert (failure["again"], failure["missed"]) == (0, None)
    words = words_of(failure)
    assert (words["--first"], words["--jobs"], words["--until-fail"]) == (str(LOSES), "1", "100")
    assert "chance" not in ToldJobs(result).text()


def test_the_page_tells_how_often():
    page = make_page(run(LOSES, until_fail=3, again=6))
    assert "fails in 2 of 6" in page
    assert "run again, it fails in 2 of 6 runs" in page


@pytest.mark.parametrize(
    ("failed", "runs", "needed"), [(0, 0, 100), (5, 5, 4), (2, 5, 18), (1, 5, 50), (0, 5, 595), (0, 99, MOST_RUNS)]
)
def test_as_many_runs_are_asked_for_as_the_rate_needs(failed, runs, needed):
    """With every rate as likely before, the chance is a quotient of products: 4·5·6/(22·23·24) for 2 of 5, and 18."""
    asked, missed = runs_needed(Again(runs, Counter({"R": failed})), "R")
    assert asked == needed
    assert (missed < MISSED) is (needed < MOST_RUNS)
    if (failed, runs) == (2, 5):
        assert missed == pytest.approx(4 * 5 * 6 / (22 * 23 * 24))


# --- reports ----------------------------------------------------------------------------------------------------


def lines_of(folder):
    return [json.loads(line) for line in (folder / "report.jsonl").read_text().splitlines()]


def test_a_report_has_a_line_and_a_log_for_the_last_run_of_each_job(tmp_path):
    main(command("--first", LOSES, "--until-fail", 9, "--again", 6, "--report", tmp_path))
    _head, job, tail = lines_of(tmp_path)
    assert (job["status"], job["runs"]) == ("fail", 3)
    assert [*(tmp_path / "runs").glob("*.parquet")] == [tmp_path / "runs" / f"job-0-{LOSES}.parquet"]
    main(["audit", "--local", str(tmp_path / "runs"), "--report", str(tmp_path / "audit")])
    assert "LOG-LOSS" in (tmp_path / "audit" / "summary.md").read_text(), "the log is of the run that failed"
    assert [tail["failures"]] == [json.loads((tmp_path / "summary.json").read_text())["failures"]]
    assert shlex.split(tail["command"])[-4:] == ["--until-fail", "9", "--again", "6"]


def test_a_report_goes_on_where_jobs_did_not_pass_often_enough(tmp_path):
    main(command("--first", LOSES, "--report", tmp_path))
    assert lines_of(tmp_path)[1]["status"] == "pass"
    again = command("--first", LOSES, "--report", tmp_path, "--resume")
    assert main(again) == Exit.CONFORMANT
    assert main([*again, "--until-fail", "9"]) == Exit.VIOLATIONS
    assert lines_of(tmp_path)[1]["runs"] == 3


def test_failures_of_a_report_are_run_again_and_judged_no_more(tmp_path):
    """The engine is new, so that its first two runs lose nothing: they change the rate, and not the verdict."""
    main(command("--first", LOSES, "--until-fail", 9, "--report", tmp_path))
    again = command("--first", LOSES, "--report", tmp_path, "--resume", "--again", 2, "--shrink", 0)
    assert main(again) == Exit.VIOLATIONS
    _head, job, tail = lines_of(tmp_path)
    assert (job["status"], job["runs"]) == ("fail", 3)
    assert [(one["failed"], one["again"]) for one in tail["failures"]] == [(0, 2)]


def test_a_report_of_one_rule_is_not_gone_on_with_for_all(tmp_path, capsys):
    main(command("--rule", "LOG-LOSS", "--report", tmp_path))
    assert main(command("--rule", "LOG-LOSS", "--report", tmp_path, "--resume")) == Exit.CONFORMANT
    assert main(command("--report", tmp_path, "--resume")) == Exit.BAD_INPUT
    assert "a report of other jobs" in capsys.readouterr().err


def test_an_interrupt_while_jobs_are_run_again_keeps_what_is_known():
    def stop(words):
        if "run again, 3 of 6" in words:
            raise KeyboardInterrupt

    result = run(LOSES, until_fail=3, again=6, tell=stop)
    assert (result.complete, result.again[f"job-0-{LOSES}"].runs, result.exit_code) == (False, 2, Exit.VIOLATIONS)


def test_right_engines_have_nothing_to_run_again():
    result = run_jobs(ReferenceJobs(), "reference", 3, until_fail=2, again=5)
    assert (result.counts["runs"], result.again, ToldJobs(result).json()["failures"]) == (6, {}, [])
