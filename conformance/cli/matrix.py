"""`tidegate matrix`: engines by components, from the reports of any number of runs."""

import argparse
from pathlib import Path

NAME = "matrix"
HELP = "combine reports into one page: engines by components, differences between runs, and badges"
EXAMPLE = """tidegate matrix report-v1 report-v2 --out matrix
  tidegate matrix build/flink/* --out build/flink-matrix --title "Flink, version by version" \\
    --document docs/flink-versions.md"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "reports",
        nargs="+",
        type=Path,
        metavar="REPORT",
        help="folders of `run --report` and `jobs --report`; for the same engine, the older first",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for index.html, matrix.md and badges/"
    )
    add_page_options(parser)


def add_page_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--title", default="Engines and components", metavar="TEXT", help="title of the page")
    parser.add_argument(
        "--document", type=Path, metavar="FILE", help="write the Markdown to this file instead of matrix.md"
    )


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.engines.text import printable
    from tidegate.conformance.reports.writing import writing
    from tidegate.conformance.web.matrix.columns import read_report
    from tidegate.conformance.web.matrix.page import write_matrix

    reports = [read_report(report) for report in args.reports]
    with writing(args.out):
        for path in write_matrix(reports, args.out, args.title, args.document):
            print(printable(str(path)))
    return 0
