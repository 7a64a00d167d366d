"""Audits of run logs: the command, its kernel, a bare scan, Spark in two ways, and hand-tuned DuckDB and Polars.

    python -m tests.benchmarks audit
    python -m tests.benchmarks.bench_audit --events 1e7,1e8 --folder /tmp/logs --write docs/benchmarks.md

Every audit is a process of its own, with two cores; Spark has audited the smallest logs before it is measured. Every
contender must find exactly what was planted. Logs are written once, and found again in the folder.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.pages import write_between
from tidegate.conformance.synthetic.faults import PLANT
from tidegate.conformance.synthetic.planning import (
    MANIFEST,
    make_tasks,
    read_planted,
    write_here,
    write_manifest,
)

CONTENDERS = ("scan", "kernel", "command", "files", "shuffle", "duckdb", "polars")
#: One of each kind that all contenders look for.
FAULTS = {name: 1 for name in PLANT if name != "made-late"}
#: These are measured in turn, so many times, and the median counts: what they are compared by is little.
QUICK, TURNS, FEW = ("scan", "kernel", "command"), 3, 20_000_000
#: SQL engines need memory for all rows at once: beyond this many they are not asked.
MOST_EVENTS = {"duckdb": 20_000_000, "polars": 20_000_000}


def write_logs(folder, events):
    """As `tidegate generate log` does: ten million events are a run."""
    if not (folder / MANIFEST).exists():
        runs = max(1, round(events / 10_000_000))
        write_manifest(folder, 1, write_here(make_tasks(folder, events, runs, FAULTS, 1), lambda _run: None))
    return json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["events"]


def audit(contender, folder, warm):
    command = [sys.executable, "-m", "tests.benchmarks.audits.contenders", contender, str(folder)]
    command += ["--warm", str(warm)] if contender in ("files", "shuffle") else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{contender} failed on {folder}:\n{done.stderr[-3000:]}")
    measured = json.loads(done.stdout.splitlines()[-1])
    planted = sorted([run, name, list(channel), *place] for run, name, channel, *place in read_planted(folder))
    if contender != "scan":
        told = f"{contender} found {len(measured['found'])} of {len(planted)}, or other ones"
        assert measured["found"] == planted, told
    return measured


def measure_all(sizes, folder, contenders, most=MOST_EVENTS):
    """What each contender took for each size; the smallest logs warm Spark up."""
    results = {}
    folders = {events: folder / f"events-{events}" for events in sizes}
    for events, place in folders.items():
        count = write_logs(place, events)
        asked = [one for one in contenders if events <= most.get(one, events)]
        turns = [asked, *[[one for one in asked if one in QUICK]] * ((TURNS - 1) * (events <= FEW))]
        tried = [(one, audit(one, place, folders[min(sizes)])) for turn in turns for one in turn]
        for contender in asked:
            by_cpu = sorted((measured for one, measured in tried if one == contender), key=lambda one: one["cpu"])
            results[contender, events] = by_cpu[len(by_cpu) // 2]
            print(describe(contender, count, results[contender, events]), file=sys.stderr, flush=True)
    return results


def describe(contender, events, one):
    memory = one["memory"]
    worker = f"{memory['worker']:,.0f}" if contender in ("files", "shuffle") else ""
    cells = f"{one['cpu']:,.2f}", f"{one['wall']:,.1f}", f"{memory['total']:,.0f}", worker, str(len(one["found"]))
    return f"| {events:,} | {contender} | " + " | ".join(cells) + " |"


def ratios(results):
    """What the goals speak of: name, measured, goal. Two are compared at a size that both were measured at."""

    def sizes_of(contender):
        return {events for name, events in results if name == contender}

    def compare(above, below, most, wanted):
        both = sizes_of(above) & sizes_of(below)
        if both:
            size = min(both, key=lambda one: abs(one - wanted))
            ratio = results[above, size]["cpu"] / results[below, size]["cpu"]
            yield f"{above} over {below}, {size:.0e}", f"{ratio:.2f}", f"≤ {most} at {wanted:.0e}"

    def peak(text, contender, what, goal):
        peaks = [one["memory"][what] for (name, _), one in results.items() if name == contender]
        if peaks:
            yield f"{text}, {contender}", f"{max(peaks):,.0f} MB", goal

    yield from compare("command", "kernel", 1.3, 1e7)
    yield from compare("kernel", "scan", 2.5, 1e7)
    for other in ("duckdb", "polars"):
        yield from compare("command", other, 0.65, 1e7)
    for contender in ("command", "kernel", "files"):
        *_, smaller, largest = 0, 0, *sorted(sizes_of(contender))
        if smaller:
            ratio = results[contender, largest]["cpu"] / results[contender, smaller]["cpu"]
            yield f"{contender}: {largest:.0e} over {smaller:.0e} events", f"{ratio:.2f}", "≤ 11"
    yield from compare("files", "kernel", 2, 1e8)
    yield from compare("files", "duckdb", 1, 1e7)
    yield from compare("shuffle", "files", 5, 1e8)
    yield from peak("largest Python worker", "files", "worker", "≤ 512 MB")
    yield from peak("all processes", "shuffle", "total", "≤ 4096 MB")


def measure():
    """For `make bench`: small."""
    with tempfile.TemporaryDirectory() as folder:
        sizes = [200_000, 2_000_000]
        yield from ratios(measure_all(sizes, Path(folder), CONTENDERS))


def as_page(results, folder):
    machine = f"Python {platform.python_version()}, {platform.machine()}, two cores"
    columns = "events | audit | CPU s | wall s | peak MB, all processes | largest Python worker MB | violations found"
    lines = [f"{machine}; {len(FAULTS)} faults planted per size, all found, none invented.", "", f"| {columns} |"]
    lines += ["|--:|---|--:|--:|--:|--:|--:|"]
    for (contender, events), one in results.items():
        count = json.loads((folder / f"events-{events}" / MANIFEST).read_text(encoding="utf-8"))["events"]
        lines.append(describe(contender, count, one))
    lines += ["", "| ratio of CPU seconds, or memory | measured | goal |", "|---|--:|---|"]
    lines += [f"| {name} | {measured} | {goal} |" for name, measured, goal in ratios(results)]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", default="1e6,1e7", help="sizes, as 1e6,1e7,1e8")
    parser.add_argument("--contenders", default=",".join(CONTENDERS))
    parser.add_argument("--most", action="append", default=[], metavar="NAME=EVENTS", help="as shuffle=2e7: no more")
    parser.add_argument("--folder", type=Path, help="where logs are kept (default: a temporary one); 3 bytes an event")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the table into this page")
    args = parser.parse_args()
    sizes = [int(float(text)) for text in args.events.split(",")]
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or Path(temporary)
        most = MOST_EVENTS | {name: float(events) for name, events in (one.split("=") for one in args.most)}
        text = as_page(measure_all(sizes, folder, args.contenders.split(","), most), folder)
    print(text)
    if args.write:
        write_between(args.write, "audit", text)


if __name__ == "__main__":
    main()
