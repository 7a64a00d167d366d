"""`tidegate matrix`: reports of several runs on one page."""

import json
from xml.etree import ElementTree as ET

import pytest

import tidegate
from tests.conformance.web.conftest import fits, serious_barriers, shoot
from tidegate.conformance.cli.main import main
from tidegate.conformance.engines.museum import engine
from tidegate.conformance.web.matrix import make_badge

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
        assert "3 of 23" in cells.nth(0).inner_text()
        assert "← 3 of 23" in cells.nth(1).inner_text(), "what the same engine did before"
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
        (lambda lines: [lines[0], "7", *lines[1:]], "no verdict"),
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


@pytest.mark.parametrize("tone", ["good", "bad", "open"])
def test_a_badge_is_a_picture(tone):
    assert ET.fromstring(make_badge("undetermined", tone)).tag.endswith("svg")  # noqa: S314 - ours
