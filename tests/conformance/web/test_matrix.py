"""`tidegate matrix`: reports of several runs on one page."""

import json
from xml.etree import ElementTree as ET

import pytest

import tidegate
from tests.conformance.web.conftest import fits, serious_barriers, shoot
from tidegate.conformance.cli.main import main
from tidegate.conformance.engines.museum import engine
from tidegate.conformance.judging.expectations import parse_expectations
from tidegate.conformance.judging.jobs.report import JobsReport, finish_report, head_of
from tidegate.conformance.judging.jobs.run import describe, run_jobs
from tidegate.conformance.kinds import resolve_jobs
from tidegate.conformance.web.matrix.page import make_badge

WRONG = "python:tests.conformance.judging.jobs.wrong_engines:Loses"
HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A right engine, and before it a wrong one that goes by the same name."""
    folder = tmp_path_factory.mktemp("reports")
    for name, mutant in (("old", "valve-never-flushes"), ("new", None)):
        result = tidegate.run(engine(mutant), components=["valve"], stages=["directed"], report=folder / name)
        assert result.exit_code == (1 if mutant else 0)
    other = folder / "other"
    other.mkdir()
    lines = (folder / "new" / "report.jsonl").read_text(encoding="utf-8").splitlines()
    lines[0] = json.dumps({**json.loads(lines[0]), "engine": HOSTILE})
    (other / "report.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_engines_components_links_and_differences(reports, tmp_path, open_page):
    paths = [str(reports / name) for name in ("old", "new", "other")]
    assert main(["matrix", *paths, "--out", str(tmp_path)]) == 0
    with open_page((tmp_path / "index.html").as_uri()) as page:
        cells = page.locator("tbody td")
        assert [cell.get_attribute("class") for cell in cells.all()] == ["bad", "good", "good"]
        assert "4 of 26" in cells.nth(0).inner_text()
        assert "← 4 of 26" in cells.nth(1).inner_text(), "what the same engine did before"
        assert "←" not in cells.nth(2).inner_text()
        assert HOSTILE in page.locator("thead").inner_text()
        assert page.locator("img, script").count() == 0
        assert fits(page)
        assert serious_barriers(page) == []
        shoot(page, "matrix")
        cells.nth(0).get_by_role("link").click()
        page.locator(".counterexample").wait_for()
    badges = sorted(path.read_text(encoding="utf-8") for path in (tmp_path / "badges").iterdir())
    assert len(badges) == 3
    assert any("not conformant" in ET.fromstring(one).get("aria-label") for one in badges)  # noqa: S314 - ours


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lines: lines[:-1], "without its footer"),
        (lambda lines: [*lines[:2], lines[-1]], "the footer counts"),
        (lambda lines: lines[1:], "the header must say"),
        (lambda lines: [lines[0], "{", *lines[1:]], "line 2: not JSON"),
        (lambda lines: [lines[0], "7", *lines[1:]], "not a verdict"),
        (lambda lines: [*lines, lines[-1]], "a line after the footer"),
        (lambda lines: [*lines[:-1], lines[-1].replace('"exit"', '"exits"')], "must have an exit"),
        (
            lambda lines: [lines[0], '{"component":1,"component":"valve"}', *lines[1:]],
            "'component' is there more than once",
        ),
    ],
)
def test_a_report_that_is_not_whole_is_refused_by_its_name(reports, tmp_path, capsys, change, said):
    lines = (reports / "new" / "report.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "report.jsonl").write_text("\n".join(change(lines)), encoding="utf-8")
    assert main(["matrix", str(tmp_path), "--out", str(tmp_path / "out")]) == 65
    message = capsys.readouterr().err
    assert said in message
    assert str(tmp_path / "report.jsonl") in message
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """Two versions of an engine, each on components and on whole jobs, with failures that were known."""
    folder = tmp_path_factory.mktemp("versions")
    for version, mutant, lossy in (("1.0", "valve-never-flushes", True), ("2.0", None, False)):
        known = folder / f"{version}.txt"
        known.write_text("rule VALVE-10 -- it never flushes\n" if mutant else "", encoding="utf-8")
        place = folder / version
        tidegate.run(engine(mutant), components=["valve"], stages=["directed"], expect=known, report=place)
        rename(place / "report.jsonl", f"mine:{version}")
        listed = parse_expectations('rule LOG-LOSS "not received" -- it loses records', "known") if lossy else None
        name = WRONG if lossy else "reference"
        with JobsReport(folder / f"{version}-jobs") as report:
            report.add(head_of(f"mine:{version}", 0))
            jobs = run_jobs(
                resolve_jobs(name),
                f"mine:{version}",
                4,
                expectations=listed,
                observe=lambda judged, result, report=report: report.add(
                    describe(judged, result.description.implementation)
                ),
            )
            finish_report(report, jobs, str)
    return folder


def rename(file, name):
    first, *rest = file.read_text(encoding="utf-8").splitlines()
    header = json.dumps({**json.loads(first), "engine": name})
    file.write_text("\n".join([header, *rest]), encoding="utf-8")


def test_versions_components_and_whole_jobs_as_a_page_and_a_document(versions, tmp_path, open_page, capsys):
    paths = [str(versions / name) for name in ("1.0", "1.0-jobs", "2.0", "2.0-jobs")]
    document = tmp_path / "versions.md"
    out = tmp_path / "out"
    assert main(["matrix", *paths, "--out", str(out), "--title", "Mine", "--document", str(document)]) == 0
    assert str(document) in capsys.readouterr().out
    text = document.read_text(encoding="utf-8")
    assert text.startswith("# Mine\n")
    assert "| | 1.0 | 2.0 |" in text, "of one kind, so that their versions are their names"
    table = text.partition("\n## ")[0].splitlines()
    rows = {line.split("|")[1].strip(): line for line in table if line.startswith("| ")}
    valve, jobs = (list(map(str.strip, rows[name].split("|")[2:4])) for name in ("valve", "whole jobs"))
    assert valve[0] == f"{valve[1]} / 4", "as many cases, of which four differ, and that was known"
    assert jobs[0].startswith("4 / ")
    assert jobs[1] == "4"
    assert "- 1.0, valve: 4 cases. it never flushes." in text
    assert "1.0, whole jobs:" in text
    assert "it loses records" in text
    assert "| valve | flink-40475, flink-7728 | 1.0, 2.0 |" in text
    with open_page((out / "index.html").as_uri()) as page:
        assert page.locator("thead th").count() == 3, "a column of each version, for its components and its jobs"
        assert page.locator("td.known").count() == 2
        assert page.locator("td.good").count() == 2
        assert "it never flushes" in page.locator("section").inner_text()
        assert fits(page)
        assert serious_barriers(page) == []
        shoot(page, "matrix-versions")


def test_jobs_that_are_not_counted_are_refused(versions, tmp_path, capsys):
    lines = (versions / "2.0-jobs" / "report.jsonl").read_text(encoding="utf-8").splitlines()
    for wrong, said in (
        (lines[:-1], "without its footer"),
        ([lines[0], *lines[2:]], "the footer counts 4 jobs, the report has 3"),
        ([lines[0], '{"case":"a"}', *lines[1:]], "not a job"),
    ):
        (tmp_path / "report.jsonl").write_text("\n".join(wrong), encoding="utf-8")
        assert main(["matrix", str(tmp_path), "--out", str(tmp_path / "out")]) == 65
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("tone", ["good", "bad", "open"])
def test_a_badge_is_a_picture(tone):
    assert ET.fromstring(make_badge("undetermined", tone)).tag.endswith("svg")  # noqa: S314 - ours
