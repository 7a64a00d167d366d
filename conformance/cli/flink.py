"""`tidegate flink`: bring real Flink into the cache, say what is there, and compare versions."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

NAME = "flink"
HELP = "bring versions of Flink from PyPI into the cache, list those that are there, compare them"
EXAMPLE = """tidegate flink fetch 2.3.0 1.17.0
  tidegate flink list
  tidegate flink matrix --out docs/flink-versions.md"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli import options

    parser.add_argument(
        "action", choices=("fetch", "list", "jobs", "matrix"), help="what to do; jobs moved: tidegate jobs"
    )
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="versions of Flink, such as 2.3.0")
    parser.add_argument("--json", action="store_true", help="list: print JSON")
    parser.add_argument(
        "--jobs", type=options.at_least_one, default=100, metavar="N", help="matrix: jobs per version (default: 100)"
    )
    options.add_seed(parser)
    parser.add_argument(
        "--cases",
        type=options.at_least_one,
        default=1000,
        metavar="N",
        help="matrix: generated cases per component (default: 1000)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="matrix: write the page into this file")


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
    from tidegate.conformance.cli.console import telling
    from tidegate.conformance.engines.flink.cache import damage_of, folder_of, is_fetched, is_version
    from tidegate.conformance.engines.flink.fetch import TESTED, fetch
    from tidegate.conformance.exits import Exit

    for version in args.versions:
        if not is_version(version):
            args.parser.error(f"{version!r} is no version of Flink; a version is three numbers, such as {TESTED[-1]}")
    for version in args.versions:
        if is_fetched(version) and damage_of(version) is None:
            print(f"Flink {version} is there already: {folder_of(version)}")
            continue
        with telling(args) as tell:

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
        print(f"no version in {flink_folder()}; `tidegate flink fetch 2.3.0` brings one")
    return Exit.CONFORMANT


def write_matrix(args: argparse.Namespace) -> int:
    """Versions that are missing are fetched; a difference that nothing explains is a violation."""
    from datetime import UTC, datetime

    from tidegate.conformance.documents.flink_matrix import as_page, make_matrix
    from tidegate.conformance.engines.flink.fetch import TESTED, fetch
    from tidegate.conformance.exits import Exit
    from tidegate.conformance.judging.suite import Budget

    versions = args.versions or list(TESTED)
    for version in versions:
        fetch(version)
    budget = Budget(args.cases, args.seed)
    cells = []
    for cell in make_matrix(versions, budget, args.jobs):
        cells.append(cell)
        print(f"{cell.version} {cell.component}: {cell.cases} cases, {cell.agreed} agree", file=sys.stderr, flush=True)
    page = as_page(cells, budget, datetime.now(UTC).date())
    if args.out is not None:
        args.out.write_text(page, encoding="utf-8")
    else:
        print(page, end="")
    return Exit.VIOLATIONS if any(cell.unexplained for cell in cells) else Exit.CONFORMANT
