"""The page of a report with 10,000 findings, in a real browser: until something is there, and after a click."""

import json
import tempfile
from pathlib import Path
from statistics import median

import tidegate
from tests.conformance.web.conftest import launched
from tidegate.conformance.engines.museum import engine
from tidegate.conformance.web.report import make_page

FINDINGS = 10_000
#: From a click on a row to what is known about it on the screen.
CLICK = """async () => {
  const times = [];
  const after = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  for (let number = 0; number < 10; number += 1) {
    const begun = performance.now();
    document.getElementById(`finding-${number}`).click();
    do await after(); while (!document.querySelector(".detail").textContent.includes(`case-${number} `));
    times.push(performance.now() - begun);
  }
  return times;
}"""


def measure():
    with tempfile.TemporaryDirectory() as folder:
        page_file = write_large_page(Path(folder))
        megabytes = page_file.stat().st_size / 1e6
        with launched() as browser:
            looks = [look_at(browser, page_file) for _time in range(3)]
    paint, click = (median(times) for times in zip(*looks, strict=True))
    name = f"report page of {FINDINGS:,} findings"
    yield f"{name}: its file", f"{megabytes:.1f} MB", "≤ 5 MB"
    yield f"{name}: first contentful paint", f"{paint / 1000:.2f} s", "≤ 1 s"
    yield f"{name}: a click on a finding, the slowest of ten", f"{click:.0f} ms", "≤ 100 ms"


def write_large_page(folder):
    """Of a real run, whose findings are repeated under other names."""
    stages = ["directed", "golden"]
    result = tidegate.run(engine("valve-never-flushes"), components=["valve"], stages=stages, report=folder)
    lines = (folder / "report.jsonl").read_text(encoding="utf-8").splitlines()
    failed = [json.loads(line) for line in lines if '"verdict":"fail"' in line]
    many = [json.dumps({**failed[number % len(failed)], "case": f"case-{number}"}) for number in range(FINDINGS)]
    page_file = folder / "index.html"
    page_file.write_text(make_page(result, many), encoding="utf-8")
    return page_file


def look_at(browser, page_file):
    page = browser.new_page()
    page.goto(page_file.as_uri())
    page.locator(".row").first.wait_for()
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    clicks = page.evaluate(CLICK)
    page.close()
    return paint, max(clicks)
