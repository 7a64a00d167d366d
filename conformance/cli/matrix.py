"""`tidegate matrix`: engines and components, from the reports of any number of runs."""

import argparse
from pathlib import Path

NAME = "matrix"
HELP = "make one page of several reports: engines and components, what differs between runs, and badges"
EXAMPLE = """tidegate matrix report-v1 report-v2 --out matrix"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "reports",
        nargs="+",
        type=Path,
        metavar="REPORT",
        help="folders of --report; of one engine, the older one first",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder for index.html and badges/")


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.web.matrix import read_report, write_matrix

    for path in write_matrix([read_report(report) for report in args.reports], args.out):
        print(path)
    return 0
