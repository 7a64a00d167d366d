"""The page of an audit: what was checked, and the rows around violations as space-time diagrams."""

import attrs
import pytest

pytest.importorskip("pyarrow")

from tests.conformance.web.conftest import LOOKS, fits, serious_barriers, shoot
from tests.conformance.web.test_report_page import HOSTILE
from tidegate.conformance.audit.auditing import Options, audit
from tidegate.conformance.audit.writing import write_report
from tidegate.conformance.synthetic.planning import make_tasks, spread, write_here
from tidegate.conformance.web.runs import MOST_ROWS, describe_row, put_in_time
from tidegate.traces.runlog import Direction, Kind, Row, read_runlog, write_runlog


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """An audit of a run with one fault of every kind, and where its page is."""
    folder = tmp_path_factory.mktemp("audited")
    write_here(make_tasks(folder / "logs", 12_000, 1, spread(13), 3, 1), lambda _run: None)
    report = audit([folder / "logs"], Options(spark=None, show=1, workers=1))
    write_report(folder / "report", report)
    return report, folder / "report" / "index.html"


def test_each_violation_is_drawn_with_the_rows_around_it(audited, open_page):
    report, file = audited
    with open_page(file.as_uri()) as page:
        assert page.locator("h1").text_content().endswith(f"{report.violated} violations")
        tabs = page.get_by_role("group", name="Violations").get_by_role("button")
        assert tabs.count() == len(report.excerpts) > 5
        for number, excerpt in enumerate(report.excerpts):
            tabs.nth(number).click()
            card = page.locator(".violation")
            rows = excerpt.log.rows
            assert excerpt.finding.message in card.locator("h3").inner_text()
            assert card.locator(".jobrun .mark").count() == min(len(rows), MOST_ROWS)
            assert card.locator(".jobrun .mark.wrong").count() > 0
            if len(rows) <= MOST_ROWS:
                assert card.locator(".lane").count() == len({(row.task, row.subtask) for row in rows})
        assert page.locator(".audited .bad").count() == sum(
            report.tally(one.finding.invariant).violated > 0 for one in report.excerpts
        )
        shoot(page, "audit")


def test_a_channel_and_a_key_can_be_looked_at_alone(audited, open_page):
    with open_page(audited[1].as_uri()) as page:
        rows = page.evaluate("JSON.parse(document.getElementById('audit').textContent).beginning.rows")
        keyed = next(row for row in rows if row["key"])
        place = [keyed[name] for name in ("edge", "producer", "consumer")]
        of_channel = [row for row in rows if [row["edge"], row["producer"], row["consumer"]] == place]
        run = page.locator("section").last
        width = run.locator(".jobrun .spacetime").get_attribute("width")
        run.locator("[data-filter=zoom]").fill("90")
        assert float(run.locator(".jobrun .spacetime").get_attribute("width")) > float(width)
        run.locator("[data-filter=channel]").select_option("edge {}: {} to {}".format(*place))
        assert run.locator(".jobrun .mark").count() == len(of_channel) < len(rows)
        run.locator("[data-filter=channel]").select_option("")
        run.locator("[data-filter=key]").select_option(keyed["key"])
        assert run.locator(".jobrun .mark").count() == sum(row["key"] == keyed["key"] for row in rows)


def test_a_clean_run_is_drawn_from_its_beginning(tmp_path, open_page):
    write_here(make_tasks(tmp_path / "logs", 4_000, 1, {}, 3, 1), lambda _run: None)
    report = audit([tmp_path / "logs"], Options(spark=None, workers=1))
    write_report(tmp_path, report)
    with open_page((tmp_path / "index.html").as_uri()) as page:
        assert "all that was checked holds" in page.locator("h1").inner_text()
        assert page.locator(".violation").count() == 0
        assert page.locator(".spacetime .mark").count() > 100
        assert page.locator(".spacetime .travel:not(.waiting)").count() > 10
        lanes = [name.split()[0] for name in page.locator(".jobrun .name span").all_text_contents()]
        assert list(dict.fromkeys(lanes)) == ["source", "map", "count", "sink", "watch"]
        shoot(page, "audit-clean")


def test_words_of_a_log_are_never_markup(audited, tmp_path, open_page):
    report, _file = audited
    log = read_runlog(report.outcomes[0].paths[0])
    rows = tuple(attrs.evolve(row, key=row.key and HOSTILE) for row in log.rows[:500])
    write_runlog(tmp_path / "log.parquet", attrs.evolve(log, rows=rows, complete=False))
    write_report(tmp_path / "report", audit([tmp_path / "log.parquet"], Options(spark=None, workers=1)))
    file = tmp_path / "report" / "index.html"
    text = file.read_text(encoding="utf-8")
    assert "<img" not in text
    assert "\u202e" not in text
    with open_page(file.as_uri()) as page:
        assert page.locator("img, script:not([id]):not([type=module])").count() == 0
        assert (
            "alert(1)" in page.locator(".spacetime title").all_text_contents()[-1] + page.locator("main").inner_text()
        )


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_page_of_an_audit_fits_and_everybody_can_use_it(audited, open_page, width, scheme):
    report, file = audited
    short = min(range(len(report.excerpts)), key=lambda at: len(report.excerpts[at].log.rows))
    with open_page(file.as_uri(), width=width, scheme=scheme) as page:
        page.get_by_role("group", name="Violations").get_by_role("button").nth(short).click()
        page.locator(".violation summary").click()
        assert fits(page)
        page.locator("section").last.evaluate("(beginning) => beginning.remove()")
        assert serious_barriers(page) == []
        shoot(page, f"audit-{width}-{scheme}")


def row(task, step, direction, position, timestamp):
    return Row("run", task, 0, step, direction, 0, 0, 0, position, Kind.WATERMARK, timestamp)


def test_rows_are_in_an_order_that_can_have_been():
    sent = [row("a", step, Direction.OUT, step, 2 + step) for step in range(3)]
    read = [row("b", step, Direction.IN, step, 1 + step) for step in range(3)]
    times = {one: time for time, one in put_in_time([*read, *sent])}
    assert [times[one] for one in (*sent, *read)] == [1, 2, 3, 1, 2, 3]
    late = [row("c", 0, Direction.IN, 0, 4)]
    assert dict(map(reversed, put_in_time([*late, *sent])))[late[0]] == 4
    backwards = [row("b", step, Direction.IN, step, 3 - step) for step in range(2)]
    assert {one for _time, one in put_in_time([*backwards, *sent[:2]])} == {*backwards, *sent[:2]}


def test_numbers_that_a_page_cannot_hold_are_texts():
    described = describe_row(row("a", 0, Direction.OUT, 0, 2**63 - 1), 1, is_wrong=True)
    assert (described["timestamp"], described["wrong"]) == (str(2**63 - 1), True)
