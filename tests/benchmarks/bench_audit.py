"""Audits of run logs: by the bare kernel, on Spark by files and by channels, and by hand-tuned DuckDB and Polars.

    python -m tests.benchmarks audit
    python -m tests.benchmarks.bench_audit --events 1e6,1e7,1e8 --folder /tmp/logs --write docs/benchmarks.md

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
from tidegate.conformance.synthetic.planning import (
    MANIFEST,
    make_tasks,
    read_planted,
    spread,
    write_here,
    write_manifest,
)

CONTENDERS = ("kernel", "files", "shuffle", "duckdb", "polars")
FAULTS = 50
#: SQL engines need memory for all rows at once: beyond this many they are not asked.
MOST_FOR_SQL = 20_000_000


def write_logs(folder, events):
    """Ten million events are a run; at least two, so that two workers have something to do."""
    if not (folder / MANIFEST).exists():
        runs = max(2, round(events / 10_000_000))
        write_manifest(folder, 1, write_here(make_tasks(folder, events, runs, spread(FAULTS), 1), lambda _run: None))
    return json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["events"]


def audit(contender, folder, warm):
    command = [sys.executable, "-m", "tests.benchmarks.audits.contenders", contender, str(folder)]
    command += ["--warm", str(warm)] if contender in ("files", "shuffle") else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{contender} failed on {folder}:\n{done.stderr[-3000:]}")
    measured = json.loads(done.stdout.splitlines()[-1])
    planted = sorted([run, name, list(channel), *place] for run, name, channel, *place in read_planted(folder))
    assert measured["found"] == planted, f"{contender} found {len(measured['found'])} of {len(planted)}, or other ones"
    return measured


def measure_all(sizes, folder, contenders):
    """What each contender took for each size; the smallest logs warm Spark up."""
    results = {}
    folders = {events: folder / f"events-{events}" for events in sizes}
    for events, place in folders.items():
        count = write_logs(place, events)
        for contender in contenders:
            if contender in ("duckdb", "polars") and events > MOST_FOR_SQL:
                continue
            results[contender, events] = audit(contender, place, folders[min(sizes)])
            print(describe(contender, count, results[contender, events]), file=sys.stderr, flush=True)
    return results


def describe(contender, events, one):
    memory = one["memory"]
    worker = f"{memory['worker']:,.0f}" if contender in ("files", "shuffle") else ""
    cells = f"{one['cpu']:,.1f}", f"{one['wall']:,.1f}", f"{memory['total']:,.0f}", worker, str(len(one["found"]))
    return f"| {events:,} | {contender} | " + " | ".join(cells) + " |"


def ratios(results, sizes):
    """What the goals speak of: name, measured, goal."""
    largest = max(sizes)

    def cpu(contender, events):
        return results[contender, events]["cpu"] if (contender, events) in results else None

    def ratio(above, below):
        return f"{above / below:.2f}" if above and below else "not measured"

    worker = max((one["memory"]["worker"] for (name, _), one in results.items() if name == "files"), default=0)
    shuffle = max((one["memory"]["total"] for (name, _), one in results.items() if name == "shuffle"), default=0)
    yield f"Spark by files over bare kernel, {largest:.0e}", ratio(cpu("files", largest), cpu("kernel", largest)), "≤ 2"
    yield "largest Python worker, by files", f"{worker:,.0f} MB", "≤ 512 MB"
    for other in ("duckdb", "polars"):
        most = max((events for name, events in results if name == other), default=0)
        goal = "≤ 1 at 10 M" if other == "duckdb" else ""
        yield f"Spark by files over {other}, {most:.0e}", ratio(cpu("files", most), cpu(other, most)), goal
        yield f"bare kernel over {other}, {most:.0e}", ratio(cpu("kernel", most), cpu(other, most)), ""
    text = ratio(cpu("shuffle", largest), cpu("files", largest))
    yield f"Spark by channels over by files, {largest:.0e}", text, "≤ 5"
    yield "all processes, by channels", f"{shuffle:,.0f} MB", "≤ 4096 MB"
    if len(sizes) > 1:
        smaller = sorted(sizes)[-2]
        for contender in ("kernel", "files"):
            text = ratio(cpu(contender, largest), cpu(contender, smaller))
            yield f"{contender}: {largest:.0e} over {smaller:.0e} events", text, "≤ 11"


def measure():
    """For `make bench`: small."""
    with tempfile.TemporaryDirectory() as folder:
        sizes = [200_000, 2_000_000]
        yield from ratios(measure_all(sizes, Path(folder), CONTENDERS), sizes)


def as_page(results, sizes, folder):
    machine = f"Python {platform.python_version()}, {platform.machine()}, two cores"
    columns = "events | audit | CPU s | wall s | peak MB, all processes | largest Python worker MB | violations found"
    lines = [f"{machine}; {FAULTS} faults planted a size, all found, none invented.", "", f"| {columns} |"]
    lines += ["|--:|---|--:|--:|--:|--:|--:|"]
    for (contender, events), one in results.items():
        count = json.loads((folder / f"events-{events}" / MANIFEST).read_text(encoding="utf-8"))["events"]
        lines.append(describe(contender, count, one))
    lines += ["", "| ratio of CPU seconds, or memory | measured | goal |", "|---|--:|---|"]
    lines += [f"| {name} | {measured} | {goal} |" for name, measured, goal in ratios(results, sizes)]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", default="1e6,1e7", help="sizes, as 1e6,1e7,1e8")
    parser.add_argument("--contenders", default=",".join(CONTENDERS))
    parser.add_argument("--folder", type=Path, help="where logs are kept (default: a temporary one); 3 bytes an event")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the table into this page")
    args = parser.parse_args()
    sizes = [int(float(text)) for text in args.events.split(",")]
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or Path(temporary)
        text = as_page(measure_all(sizes, folder, args.contenders.split(",")), sizes, folder)
    print(text)
    if args.write:
        write_between(args.write, "audit", text)


if __name__ == "__main__":
    main()
