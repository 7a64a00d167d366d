"""`tidegate flink jobs` and `tidegate flink matrix`: real Flink, checked by everything that we know."""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any


def add_options(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import at_least_one

    parser.add_argument("--jobs", type=at_least_one, default=100, metavar="N", help="jobs: how many (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="jobs: the same seed gives the same jobs (default: 0)")
    parser.add_argument(
        "--cases",
        type=at_least_one,
        default=1000,
        metavar="N",
        help="matrix: generated cases a component (default: 1000)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="matrix: write the page into this file")
    parser.add_argument(
        "--task-managers", type=at_least_one, default=4, metavar="N", help="jobs: of one slot each (default: 4)"
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="DIR",
        help="jobs: write the run logs (Parquet) and summary.json into this folder",
    )


def run_jobs(args: argparse.Namespace, version: str) -> int:
    from tidegate.conformance.engines.flink.jobs.cluster import Cluster
    from tidegate.conformance.exits import Exit
    from tidegate.conformance.judging.jobs.drawing import draw_job
    from tidegate.conformance.judging.jobs.judging import run_job

    results = Results(version, args.seed, args.task_managers)
    with Cluster(version, args.task_managers, 1) as cluster:
        for index in range(args.jobs):
            judged = run_job(cluster, draw_job(args.seed, index))
            results.take(judged, cluster)
            if args.report is not None:
                write_log(args.report, judged)
            if sys.stderr.isatty():
                print(f"\r{index + 1}/{args.jobs} jobs, {results.wrong} wrong", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    if args.report is not None:
        (args.report / "summary.json").write_text(json.dumps(results.as_json(), indent=2) + "\n", encoding="utf-8")
    print(json.dumps(results.as_json(), indent=2) if args.json else results.as_text())
    return Exit.VIOLATIONS if results.wrong else Exit.CONFORMANT


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


def write_log(folder: Path, judged: Any) -> None:
    from tidegate.traces.runlog import write_runlog

    folder.mkdir(parents=True, exist_ok=True)
    if judged.log is not None:
        write_runlog(folder / f"{judged.case.name}.parquet", judged.log)


class Results:
    """What the jobs have shown: counted, and of each kind of trouble the first job, made small."""

    def __init__(self, version: str, seed: int, task_managers: int) -> None:
        self.version, self.seed, self.task_managers = version, seed, task_managers
        self.counts: Counter[str] = Counter()
        self.invariants: dict[str, Counter[str]] = {}
        self.kinds: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.examples: dict[str, Any] = {}

    @property
    def wrong(self) -> int:
        return self.counts["wrong"]

    def take(self, judged: Any, cluster: Any) -> None:
        self.counts["jobs"] += 1
        self.counts["explained"] += judged.explained and not judged.wrongs
        if judged.log is not None:
            self.counts["rows"] += len(judged.log.rows)
            self.counts["records"] += sum(row.kind == "record" and row.dir == "in" for row in judged.log.rows)
        for verdict in judged.verdicts:
            self.invariants.setdefault(verdict.invariant, Counter())[verdict.status] += 1
        for defect in judged.known:
            self.known[defect] += 1
            self.keep(defect, judged, cluster, lambda again, defect=defect: defect in again.known)
        if judged.wrongs:
            self.counts["wrong"] += 1
            kind = kind_of(judged)
            self.kinds[kind] += 1
            self.keep(kind, judged, cluster, lambda again: bool(again.wrongs) and kind_of(again) == kind)

    def keep(self, kind: str, judged: Any, cluster: Any, is_same: Any) -> None:
        from tidegate.conformance.judging.jobs.judging import shrink_job

        if kind not in self.examples:
            self.examples[kind] = shrink_job(cluster, judged, is_same)

    def as_json(self) -> dict[str, Any]:
        from tidegate.traces.codec import encode

        return {
            "engine": f"flink:{self.version}",
            "seed": self.seed,
            "task_managers": self.task_managers,
            **{name: self.counts[name] for name in ("jobs", "explained", "rows", "records", "wrong")},
            "invariants": {name: dict(counts) for name, counts in self.invariants.items()},
            "kinds": dict(self.kinds),
            "known_defects": dict(self.known),
            "examples": {
                kind: {"wrongs": list(one.wrongs), "config": encode(one.case.config)}
                for kind, one in self.examples.items()
            },
        }

    def as_text(self) -> str:
        from tidegate.conformance.judging.jobs.judging import tell_job

        counts = self.counts
        where = f"Flink {self.version}, {counts['jobs']} jobs on {self.task_managers} task managers"
        lines = [
            f"{where}: {counts['rows']} rows, {counts['records']} records received.",
            f"{counts['explained']} runs are runs of the specification, subtask by subtask; {self.wrong} are wrong.",
            "",
        ]
        lines += [f"{name:14} {', '.join(f'{n} {s}' for s, n in one.items())}" for name, one in self.invariants.items()]
        for kind, example in self.examples.items():
            often = self.known[kind] or self.kinds[kind]
            what = "known defect" if kind in self.known else "wrong"
            lines += ["", f"{what}: {kind} ({often} jobs). A small one:", tell_job(example.case)]
            lines += [f"  {wrong}" for wrong in example.wrongs[:3]]
        return "\n".join(lines)


def kind_of(judged: Any) -> str:
    """The first words of the first complaint."""
    return str(judged.wrongs[0]).partition("\n")[0].partition(": channel")[0][:100]
