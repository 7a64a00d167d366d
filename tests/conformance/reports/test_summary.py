"""What is told at the end: the same counts, findings and notes as text and as Markdown."""

from tidegate.conformance.reports.summary import Summary

SUMMARY = Summary(
    title="Conformance of x",
    about=("one", "two"),
    header=("component", "pass", "fail"),
    rows=(("valve", 12, 0), ("gate", 3, 1)),
    findings=("gate breaks GATE-1\n  trace     ```",),
    notes=("error: hello: no version\n  hint: say one", "Nothing else."),
    claims=("It is complete.", "So is this."),
    conclusion="x is not conformant",
    exit_code=1,
)


def test_text():
    assert SUMMARY.text().splitlines() == [
        "component  pass  fail",
        "valve      12        ",
        "gate       3     1   ",
        "",
        "gate breaks GATE-1",
        "  trace     ```",
        "",
        "error: hello: no version",
        "  hint: say one",
        "Nothing else.",
        "Passed with every case of a scope: 2 suites; JSON has what that claims.",
        "x is not conformant",
    ]


def test_colours_change_nothing_but_colours():
    painted = []

    def paint(text, style):
        painted.append((text.strip(), style))
        return text

    assert SUMMARY.text(paint) == SUMMARY.text()
    assert {("12", "green"), ("1", "red"), ("gate breaks GATE-1", "bold red"), ("error", "bold red")} <= set(painted)
    assert painted[-1] == ("x is not conformant", "bold red")


def test_markdown():
    page = SUMMARY.markdown()
    assert page.startswith(
        "# Conformance of x\n\n- one\n- two\n\nx is not conformant.\n\n| component | pass | fail |\n"
    )
    assert "|---|---:|---:|\n| valve | 12 | 0 |\n| gate | 3 | 1 |\n" in page
    assert "- So is this.\n\n## gate breaks GATE-1\n\n```\ngate breaks GATE-1\n  trace     '''\n```\n" in page
