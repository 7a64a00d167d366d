"""`tidegate flink`: download real Flink into the cache, list cached versions, and compare them."""

import argparse
import json
from pathlib import Path
from typing import Any

NAME = "flink"
HELP = "download Flink versions from PyPI into the cache, list cached versions, compare them"
EXAMPLE = """tidegate flink fetch 2.3.0 1.17.0
  tidegate flink list
  tidegate flink matrix --out build/flink-matrix --document docs/flink-versions.md"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli import options

    parser.add_argument(
        "action", choices=("fetch", "list", "jobs", "matrix"), help="what to do; jobs moved: tidegate jobs"
    )
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="Flink versions, such as 2.3.0")
    parser.add_argument("--json", action="store_true", help="list: print JSON")
    parser.add_argument(
        "--jobs",
        type=options.at_least_zero,
        default=100,
        metavar="N",
        help="matrix: jobs per version (default: 100; 0: components only)",
    )
    options.add_seed(parser)
    parser.add_argument(
        "--cases",
        type=options.at_least_one,
        default=1000,
        metavar="N",
        help="matrix: generated cases per component (default: 1000)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="matrix: folder for the reports of each version and the page of all versions",
    )
    parser.add_argument("--document", type=Path, metavar="FILE", help="matrix: write the Markdown to this file")
    parser.add_argument("--resume", action="store_true", help="matrix: keep complete reports in --out")


def run(args: argparse.Namespace) -> int:
    if args.action == "list":
        if args.versions:
            args.parser.error("list takes no versions")
        return show_fetched(args)
    if args.action == "jobs":
        args.parser.error(f"`tidegate jobs --engine flink:{(*args.versions, 'VERSION')[0]}` runs whole jobs now")
    if args.action == "matrix":
        return write_matrix(args)
    if not args.versions:
        args.parser.error("fetch needs a version, such as 2.3.0")
    return fetch_all(args)


def fetch_all(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli.console import show_progress
    from tidegate.conformance.engines.flink.cache import damage_of, folder_of, is_fetched, is_version, sql_folder_of
    from tidegate.conformance.engines.flink.fetch import TESTED, fetch
    from tidegate.conformance.exits import Exit

    for version in args.versions:
        if not is_version(version):
            args.parser.error(f"{version!r} is not a Flink version; a version is three numbers, such as {TESTED[-1]}")
    for version in args.versions:
        if is_fetched(version) and damage_of(version) is None and sql_folder_of(version).is_dir():
            print(f"Flink {version} is already in the cache: {folder_of(version)}")
            continue
        with show_progress(args) as tell:

            def observe(size: int, doing: str, version: str = version) -> None:
                tell(f"Flink {version}: {doing}, {size // 1024**2} MB")

            folder = fetch(version, observe)
        print(f"Flink {version}: {folder}")
    return Exit.CONFORMANT


def show_fetched(args: argparse.Namespace) -> int:
    from tidegate.conformance.engines.flink.cache import fetched_versions, flink_folder, folder_of
    from tidegate.conformance.engines.flink.fetch import size_of
    from tidegate.conformance.exits import Exit

    rows: list[dict[str, Any]] = [
        {"version": version, "bytes": size_of(folder_of(version)), "folder": str(folder_of(version))}
        for version in fetched_versions()
    ]
    if args.json:
        print(json.dumps(rows, indent=2))
    elif rows:
        for row in rows:
            print(f"{row['version']:8} {row['bytes'] // 1024**2:4} MB  {row['folder']}")
    else:
        print(f"no version in {flink_folder()}; `tidegate flink fetch 2.3.0` downloads one")
    return Exit.CONFORMANT


def write_matrix(args: argparse.Namespace) -> int:
    """Fetches missing versions. An unexplained difference is a violation."""
    from tidegate.conformance.cli.console import tell_line
    from tidegate.conformance.documents.flink_matrix import write_reports
    from tidegate.conformance.engines.flink.fetch import TESTED, fetch
    from tidegate.conformance.exits import Exit
    from tidegate.conformance.judging.suite import Budget
    from tidegate.conformance.reports.writing import writing
    from tidegate.conformance.web.matrix.columns import BAD, read_report
    from tidegate.conformance.web.matrix.page import write_matrix

    if args.out is None:
        args.parser.error("matrix needs --out DIR for the reports of each version")
    versions = args.versions or list(TESTED)
    for version in versions:
        fetch(version)
    with writing(args.out):
        budget = Budget(args.cases, args.seed)
        folders = list(write_reports(versions, budget, args.jobs, args.out, tell_line, resume=args.resume))
        reports = [read_report(folder) for folder in folders]
        for path in write_matrix(reports, args.out, "Flink, version by version", args.document):
            print(path)
    is_wrong = any(cell.tone == BAD for report in reports for cell in report.cells.values())
    return Exit.VIOLATIONS if is_wrong else Exit.CONFORMANT
