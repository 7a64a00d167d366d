"""The pages of `diff`, `smoke` and `museum`: a conclusion, a table, and findings that can be walked."""

import pytest

from tests.conformance.web.conftest import LOOKS, fits, serious_barriers, shoot
from tests.conformance.web.test_report_page import HOSTILE
from tidegate.conformance.cli.main import main
from tidegate.conformance.judging.kill_matrix import Kill, Row, summary_of
from tidegate.conformance.reports.summary import Summary
from tidegate.conformance.web.told import Drawn, make_page, write_page

RIGHT = "python:tidegate.conformance.engines.museum.engines:Right"
WRONG = "python:tidegate.conformance.engines.museum.engines:ValveAlwaysFlushes"


def test_engines_that_disagree(tmp_path, open_page, capsys):
    arguments = ["--component", "valve", "--cases", "40", "--report", str(tmp_path)]
    assert main(["diff", "--engine", RIGHT, "--engine", WRONG, *arguments]) == 1
    assert f"Report in {tmp_path}" in capsys.readouterr().out
    assert (tmp_path / "summary.md").read_text(encoding="utf-8").startswith("# Differences")
    with open_page((tmp_path / "index.html").as_uri()) as page:
        assert page.locator("h1").inner_text().startswith("The engines disagree")
        card = page.locator(".counterexample")
        assert "the engines disagree on VALVE-" in card.locator("h3").inner_text()
        shown = card.locator(".seenbox").inner_text()
        assert f"· {RIGHT}" in shown
        assert f"· {WRONG}" in shown
        at = int(card.locator("h4").first.inner_text().split()[1].rstrip(","))
        card.get_by_label("One step back").click()
        card.locator("h4", has_text=f"Step {at - 1}," if at > 1 else "start").wait_for()
        assert page.locator(".matrix tbody tr").all_text_contents()[0].startswith("valve")
        shoot(page, "diff")


def test_a_first_look(tmp_path, open_page, capsys):
    assert main(["smoke", "--engine", WRONG, "--report", str(tmp_path)]) == 0
    capsys.readouterr()
    with open_page((tmp_path / "index.html").as_uri()) as page:
        assert "smoke test" in page.locator("h1").inner_text()
        assert page.locator("tbody tr", has_text="valve").count() >= 1
        shoot(page, "smoke")


def test_the_kill_matrix(tmp_path, open_page):
    caught = Row(
        "valve-a", "valve", "VALVE-1", (Kill("golden", 3, 0.1, 2, ("VALVE-1",), named=True),), "VALVE-2", ("VALVE-1",)
    )
    write_page(tmp_path, "museum", summary_of([caught, Row("valve-b", "valve", "VALVE-3", ())]))
    with open_page((tmp_path / "index.html").as_uri()) as page:
        assert page.locator("h1").inner_text() == "1 of 2 wrong engines are caught"
        assert page.locator(".counterexample h3").inner_text() == "valve-b is not caught"
        assert "VALVE-2 (kept)" in page.locator("tbody tr").first.locator("td").all_text_contents()


def make(text):
    return Summary(
        title=text, about=(text,), header=("a", "b"), rows=((text, 1),), findings=(f"{text}\n  {text}",), notes=(text,),
        conclusion=text, exit_code=1,
    )  # fmt: skip


def test_what_an_engine_says_is_never_markup(tmp_path, open_page):
    file = tmp_path / "index.html"
    drawn = Drawn("valve", {"channels": 2}, "0w1 1w1", 1, (HOSTILE,))
    file.write_text(make_page("diff", make(HOSTILE), [drawn]), encoding="utf-8")
    assert "<img" not in file.read_text(encoding="utf-8")
    with open_page(file.as_uri()) as page:
        assert page.locator("img, script:not([id]):not([type=module])").count() == 0
        assert "alert(1)" in page.locator(".seenbox").inner_text()


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_page_fits_and_everybody_can_use_it(tmp_path, open_page, width, scheme):
    file = tmp_path / "index.html"
    drawn = Drawn("valve", {"channels": 2}, "0w1 1w1", 1, ("one: nothing", "another: watermark"))
    file.write_text(make_page("diff", make("the engines disagree"), [drawn]), encoding="utf-8")
    with open_page(file.as_uri(), width=width, scheme=scheme) as page:
        assert fits(page)
        assert serious_barriers(page) == []
