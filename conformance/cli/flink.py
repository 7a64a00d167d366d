"""`tidegate flink`: bring real Flink into the cache, say what is there, and run whole jobs on it."""

import argparse
import json
from typing import Any

NAME = "flink"
HELP = "bring versions of Flink from PyPI into the cache, list those that are there, run jobs on one, compare them"
EXAMPLE = """tidegate flink fetch 2.3.0 1.17.0
  tidegate flink list
  tidegate flink jobs 2.3.0 --jobs 300 --report flink-jobs
  tidegate flink matrix --out docs/flink-versions.md"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.flink_jobs import add_options

    parser.add_argument("action", choices=("fetch", "list", "jobs", "matrix"), help="what to do")
    parser.add_argument(
        "versions", nargs="*", metavar="VERSION", help="versions of Flink, such as 2.3.0; jobs takes one"
    )
    parser.add_argument("--json", action="store_true", help="list, jobs: print JSON")
    add_options(parser)


def run(args: argparse.Namespace) -> int:
    if args.action == "list":
        if args.versions:
            args.parser.error("list takes no versions")
        return show_fetched(args)
    if args.action == "jobs":
        from tidegate.conformance.cli.flink_jobs import run_jobs
        from tidegate.conformance.engines.flink.cache import DEFAULT_VERSION

        if len(args.versions) > 1:
            args.parser.error("jobs takes one version")
        return run_jobs(args, *(args.versions or [DEFAULT_VERSION]))
    if args.action == "matrix":
        from tidegate.conformance.cli.flink_jobs import write_matrix

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
