"""The page of whole jobs: each kind of trouble as a job in space and time, with its program and what was expected."""

import json
from urllib.parse import unquote

import attrs
import pytest

from tests.conformance.web.conftest import LOOKS, fits, serious_barriers, shoot
from tests.conformance.web.test_report_page import HOSTILE
from tidegate.conformance.cli.main import main
from tidegate.conformance.judging.jobs.reference_jobs import ReferenceJobs
from tidegate.conformance.judging.jobs.run import run_jobs
from tidegate.conformance.kinds import resolve_jobs
from tidegate.conformance.web.jobs import make_page
from tidegate.conformance.web.serving import PORT

WRONG = "python:tests.conformance.judging.jobs.wrong_engines"


@pytest.fixture(scope="module")
def lossy():
    """Jobs of an engine that loses a record."""
    return run_jobs(resolve_jobs(f"{WRONG}:Loses"), f"{WRONG}:Loses", 6)


@pytest.fixture(scope="module")
def lossy_page(lossy, tmp_path_factory):
    file = tmp_path_factory.mktemp("jobs") / "index.html"
    file.write_text(make_page(lossy, "tidegate jobs --engine …"), encoding="utf-8")
    return file


def test_a_job_is_drawn_with_what_is_wrong(lossy, lossy_page, open_page):
    found = lossy.found["fail LOG-LOSS"]
    log = found.small.log
    with open_page(lossy_page.as_uri()) as page:
        assert f"{lossy.violations} violations" in page.locator("h1").inner_text()
        card = page.locator(".counterexample")
        assert card.locator("h3").inner_text().startswith("fail LOG-LOSS")
        assert "sent and not received" in card.locator(".wrongs").inner_text()
        seen, expected = card.locator(".spacetime:not(.sample)").all()
        assert seen.locator(".mark").count() == len(log.rows)
        assert seen.locator(".mark.wrong .halo").count() >= 1
        assert expected.locator(".mark.wrong").count() == 0
        assert expected.locator(".mark").count() > len(log.rows), "one row more: the one that was lost"
        assert card.locator(".graph .operator").count() == len(found.small.case.config.operators)
        assert "script 0:" in card.locator(".program pre").inner_text()
        assert "--jobs 1" in card.locator(".trace").inner_text()
        card.locator(".wrongs .rule").first.focus()
        assert "LOG-LOSS" in page.get_by_role("tooltip").inner_text()
        link = card.get_by_role("link", name="open in playground").get_attribute("href")
        page.get_by_text("Every job that did not pass").click()
        assert page.locator("table").last.locator("tbody tr").count() == lossy.violations
        shoot(page, "jobs")
    assert link.startswith(f"http://127.0.0.1:{PORT}/#job?config=")


def test_the_program_can_be_played(lossy, lossy_page, open_page, playground):
    """As the specification runs it: from the page of the jobs into the playground."""
    with open_page(lossy_page.as_uri()) as page:
        link = page.get_by_role("link", name="open in playground").get_attribute("href")
    with open_page(playground + link.partition("/")[2].partition("/")[2].partition("/")[2]) as page:
        page.locator(".spacetime").first.wait_for()
        config = json.loads(unquote(page.url.partition("config=")[2].partition("&")[0]))
        assert len(config["operators"]) == len(lossy.found["fail LOG-LOSS"].small.case.config.operators)


def test_expected_stands_beside_seen(tmp_path, open_page):
    """Where a subtask does other than the specification with what it received."""
    result = run_jobs(resolve_jobs(f"{WRONG}:Delays"), f"{WRONG}:Delays", 8)
    wrong = next(one.small.wrongs[0] for one in result.found.values() if one.small.wrongs[0].expected)
    file = tmp_path / "index.html"
    file.write_text(make_page(result), encoding="utf-8")
    with open_page(file.as_uri()) as page:
        boxes = page.locator(".wrongs .beside").first
        assert boxes.locator("div").first.inner_text() == f"expected\n{wrong.expected}"
        assert boxes.locator(".seenbox").inner_text() == f"seen\n{wrong.seen}"
        assert page.locator(".mark.wrong").count() >= 1


def test_what_an_engine_says_is_never_markup(lossy, tmp_path, open_page):
    """In its name, in what is wrong, in its rows, and in why nothing more could be run."""
    (kind, found), *_others = lossy.found.items()
    small = attrs.evolve(
        found.small,
        wrongs=[attrs.evolve(one, message=HOSTILE, seen=HOSTILE * 1000) for one in found.small.wrongs],
        log=attrs.evolve(found.small.log, rows=tuple(attrs.evolve(row, key=HOSTILE) for row in found.small.log.rows)),
    )
    named = attrs.evolve(lossy.description, name=HOSTILE, version=HOSTILE)
    result = attrs.evolve(
        lossy, engine=HOSTILE, description=named, found={kind: attrs.evolve(found, small=small)}, trouble=HOSTILE
    )
    text = make_page(result, f"tidegate jobs --engine '{HOSTILE}'")
    assert "<img" not in text
    assert "\u202e" not in text
    file = tmp_path / "index.html"
    file.write_text(text, encoding="utf-8")
    with open_page(file.as_uri()) as page:
        assert page.locator("img, script:not([id]):not([type=module])").count() == 0
        assert "alert(1)" in page.locator(".verdict").inner_text()
        assert "alert(1)" in page.locator(".wrongs").inner_text()
        assert fits(page)


def test_nothing_wrong_is_said_so(tmp_path, open_page):
    result = run_jobs(ReferenceJobs(), "reference", 3)
    file = tmp_path / "index.html"
    file.write_text(make_page(result), encoding="utf-8")
    with open_page(file.as_uri()) as page:
        assert page.locator(".verdict.good").count() == 1
        assert page.locator(".counterexample, .matrix .bad").count() == 0
        assert page.locator(".matrix tbody tr").count() == len(result.invariants)


def test_the_command_writes_it(tmp_path, capsys):
    assert main(["jobs", "--engine", "reference", "--jobs", "2", "--report", str(tmp_path)]) == 0
    capsys.readouterr()
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "2 jobs in" in text
    assert "Content-Security-Policy" in text


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_page_fits_and_everybody_can_use_it(lossy_page, open_page, width, scheme):
    with open_page(lossy_page.as_uri(), width=width, scheme=scheme) as page:
        page.get_by_text("Every job that did not pass").click()
        assert fits(page)
        assert serious_barriers(page) == []
        shoot(page, f"jobs-{width}-{scheme}")
