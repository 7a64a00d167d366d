"""The page of a report, opened from disk in a real browser."""

import json
import re
from random import Random
from urllib.parse import unquote

import pytest

import tidegate
from tests.conformance.web.conftest import fits, serious_barriers, shoot
from tidegate.conformance.documents.stepping import step_through
from tidegate.conformance.engines.museum import engine
from tidegate.conformance.web.report import make_page
from tidegate.conformance.web.serving import PORT
from tidegate.traces.notation.text import read_case

HOSTILE = '</script><script>alert(1)</script>"><img src=x onerror=alert(2)>\u202e<!--'
#: Rows of the list that are there at once, whatever their number.
FEW = 60


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    """A run of a wrong engine: its result, and the page."""
    folder = tmp_path_factory.mktemp("wrong")
    stages = ["directed", "golden"]
    result = tidegate.run(engine("valve-never-flushes"), components=["valve"], stages=stages, report=folder)
    return result, folder / "index.html"


class Hostile:
    """Says what would be dangerous if it were taken for markup, wherever an engine can say anything."""

    def describe(self):
        components = {"valve": {"semantics": ["flink-7728"]}, "combiner": {"semantics": ["flink-38454"]}}
        return {"implementation": {"name": HOSTILE, "version": HOSTILE, "language": HOSTILE}, "components": components}

    def replay(self, cases):
        return [self.answer(case) for case in cases]

    def answer(self, case):
        if case["component"] == "valve":
            return {"error": {"kind": "internal", "message": HOSTILE + "x" * 2_000_000}}
        return {"steps": [[{"type": "rejected", "reason": HOSTILE}] for _event in case["events"]]}


def test_a_counterexample_is_a_picture_that_can_be_walked(wrong, open_page):
    result, page_file = wrong
    finding = result.counterexamples[0].finding
    with open_page(page_file.as_uri()) as page:
        assert page.locator("h1").text_content() == "not conformant"
        card = page.locator(".counterexample")
        assert finding.title in card.locator("h3").inner_text()
        assert finding.trace in card.inner_text()
        assert "it behaves like valve-never-flushes" in card.inner_text()
        assert card.locator(".lanes .step.wrong.at").count() == 1
        assert card.locator(".cell.wrong").inner_text() == "status idle"
        assert card.locator(".seenbox").inner_text().endswith("status(status idle)")
        for step in range(finding.step + 1, 0, -1):
            card.locator("h4", has_text=f"Step {step},").wait_for()
            card.locator(".scroll").first.press("ArrowLeft")
        card.get_by_text("At the start.").wait_for()
        card.get_by_label("One step on").click()
        assert "Step 1" in card.inner_text()
        link = page.get_by_role("link", name="open in playground").first.get_attribute("href")
        shoot(page, "report")
    assert link.startswith(f"http://127.0.0.1:{PORT}/#valve?config=")
    assert unquote(link).endswith(f"trace={finding.trace}")


def test_the_states_are_those_of_the_specification(wrong, open_page, playground):
    """From the report, in the playground by its link, and as `tidegate explain` steps through it."""
    result, page_file = wrong
    finding = result.counterexamples[0].finding
    steps = step_through(read_case("valve", json.loads(finding.config), finding.trace))
    with open_page(page_file.as_uri()) as page:
        shown = page.evaluate("JSON.parse(document.getElementById('result').textContent).counterexamples[0].picture")
        link = page.get_by_role("link", name="open in playground").first.get_attribute("href")
    assert [(one["event"], one["words"]) for one in shown["steps"]] == [(step.event, step.state) for step in steps]
    with open_page(playground + link.partition("/#")[2].join(["#", ""])) as page:
        page.locator(".lanes").wait_for()
        assert page.locator("#words").text_content() == steps[-1].state


def test_findings_are_listed_filtered_and_opened(wrong, open_page):
    result, page_file = wrong
    with open_page(page_file.as_uri()) as page:
        assert page.locator("[role=status]").inner_text() == f"{len(result.findings)} findings"
        page.get_by_role("button", name="valve, directed").click()
        directed = [one for one in result.findings if one.stage == "directed"]
        assert page.locator(".row").count() == len(directed)
        page.locator(".list").press("ArrowDown")
        page.locator(".detail", has_text=directed[0].case.name).wait_for()
        assert page.locator(".detail .token.wrong").count() == 1
        page.get_by_label("Search findings").fill("no such thing")
        assert page.locator(".row").count() == 0


def test_what_an_engine_says_is_never_markup(tmp_path, open_page):
    result = tidegate.run(Hostile(), stages=["directed"], report=tmp_path)
    assert result.exit_code == 1
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<img" not in text
    assert text.count("<script") == 4
    with open_page((tmp_path / "index.html").as_uri()) as page:
        assert page.locator("img, script:not([id]):not([type=module])").count() == 0
        page.locator("[data-filter=component]").select_option("combiner")
        page.locator(".row").first.click()
        page.locator(".detail .seenbox").wait_for()
        assert "alert(1)" in page.locator(".verdict").inner_text()
        assert fits(page)


def test_ten_thousand_findings_are_a_small_file_and_a_short_list(wrong, open_page, tmp_path):
    result, page_file = wrong
    lines = page_file.with_name("report.jsonl").read_text(encoding="utf-8").splitlines()
    failed = [json.loads(line) for line in lines if '"verdict":"fail"' in line]
    many = [json.dumps({**failed[number % len(failed)], "case": f"case-{number}"}) for number in range(10_000)]
    file = tmp_path / "index.html"
    file.write_text(make_page(result, many), encoding="utf-8")
    assert file.stat().st_size < 5_000_000
    with open_page(file.as_uri()) as page:
        assert page.locator("[role=status]").inner_text() == "10,000 findings"
        assert page.locator(".row").count() < FEW
        page.locator(".list").press("End")
        page.locator(".detail", has_text="case-9999").wait_for()
        assert page.locator(".row").count() < FEW


def test_what_does_not_fit_is_left_to_the_report(wrong):
    """Values that cannot be packed: the file stays small, and says how many findings it left out."""
    result, page_file = wrong
    lines = page_file.with_name("report.jsonl").read_text(encoding="utf-8").splitlines()
    failed = next(json.loads(line) for line in lines if '"verdict":"fail"' in line)
    noisy = (json.dumps({**failed, "trace": Random(number).randbytes(2000).hex()}) for number in range(3_000))
    text = make_page(result, noisy)
    assert len(text.encode()) < 5_000_000
    assert re.search(r'"left":[1-9]', text)


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1600, "light")])
def test_the_page_fits_and_everybody_can_use_it(wrong, open_page, width, scheme):
    with open_page(wrong[1].as_uri(), width=width, scheme=scheme) as page:
        page.locator(".row").first.click()
        page.locator(".detail h3").wait_for()
        page.locator("summary", has_text="exercised").click()
        assert fits(page)
        assert serious_barriers(page) == []
        shoot(page, f"report-{width}-{scheme}")
