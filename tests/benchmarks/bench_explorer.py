"""The explorer: every state, and fewer: by symmetry of parts, and by one order of independent choices.

    python -m tests.benchmarks explorer
    python -m tests.benchmarks.bench_explorer --write docs/benchmarks.md

Every exploration is a process of its own. With and without, the same claims must be broken by traces as short, and the
same be reached, or the benchmark fails.
"""

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

from tests.benchmarks.pages import write_between
from tidegate.properties.explorer import closures
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.elements import Long, Status, Watermark
from tidegate.reference.job.examples import make_word_count
from tidegate.reference.job.programs import Config, Edge, Function, Operator, Record
from tidegate.reference.watermarks import valve

DEFECT, FIXED = valve.SEMANTICS


def make_lanes(count):
    """Sources that write to a map each, all of which a keyed sum reads."""
    script = (Record("a", Long(1), Long(1)), Watermark(Long(1)))
    operators = (
        Operator(1, "in", Function.SOURCE, count, (script,) * count),
        Operator(2, "double", Function.MAP, count),
        Operator(3, "sum", Function.SUM),
    )
    return Config(operators, (Edge(1, 2, Partitioner.RESCALE), Edge(2, 3, Partitioner.HASH)))


def of_loop(channels, load):
    (closure,) = closures.of_credit_loop(channels, (0,), (1,), [load])
    return closure


CLOSURES = {
    "valve 3 × 3": lambda: closures.of_valve(3, 3, DEFECT),
    "valve 5 × 3": lambda: closures.of_valve(5, 3, DEFECT),
    "valve 5 × 3, flink-40475": lambda: closures.of_valve(5, 3, FIXED),
    "valve 8 × 3": lambda: closures.of_valve(8, 3, DEFECT),
    "combiner 5 × 3": lambda: closures.of_combiner(5, 3, "flink-18934"),
    "multiplexer 3 × 2": lambda: closures.of_multiplexer(3, 2, "flink-18934"),
    "credit_loop, 2 channels": lambda: of_loop(2, (2, 1)),
    "credit_loop, 3 channels": lambda: of_loop(3, (1, 0)),
    "WordCount": lambda: closures.of_job("WordCount", make_word_count()),
    "two lanes into a sum": lambda: closures.of_job("lanes", make_lanes(2)),
}
#: Every state of these would take too long.
REDUCED_ONLY = ("valve 8 × 3",)


def explore_here(name, *, whole):
    closure = CLOSURES[name]()
    (config,) = closure.configs
    started = time.process_time()
    found = closure.explore(config, symmetry=not whole, reduction=not whole)
    seconds = time.process_time() - started
    return {
        "seconds": seconds,
        "states": found.states,
        "transitions": found.transitions,
        "broken": {one.name: len(one.trace) for one in found.broken},
        "reached": sorted(one.name for one in found.reached),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def explore(name, *, whole=False):
    """In a process of its own, so that its memory is its own."""
    command = [sys.executable, "-m", "tests.benchmarks.bench_explorer", "--only", name, *["--whole"] * whole]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def explore_twice(name):
    whole, reduced = explore(name, whole=True), explore(name)
    for told in ("broken", "reached"):
        assert whole[told] == reduced[told], f"{name}: {told} {whole[told]} in all states, {reduced[told]} in fewer"
    return whole, reduced


def compare(whole, reduced):
    states, seconds = (reduced[what] / whole[what] for what in ("states", "seconds"))
    return f"{states:.3f} of the states, {seconds:.3f} of the CPU"


def measure():
    whole, reduced = explore_twice("valve 3 × 3")
    text = f"{reduced['seconds']:.2f} CPU s, traces of {' and '.join(map(str, reduced['broken'].values()))} events"
    yield "FLINK-40475 found, valve 3 × 3", text, "well under 1 s"
    whole, reduced = explore_twice("valve 5 × 3")
    text = f"{whole['seconds']:.1f} CPU s, {whole['megabytes']:.0f} MB, {whole['states']:,} states, "
    yield "every state of the valve 5 × 3", text + f"{whole['transitions']:,} transitions", "≤ 30 s, ≤ 500 MB"
    yield "with symmetry over every state, valve 5 × 3", compare(whole, reduced), "≤ 0.03 of the states"
    large = explore("valve 8 × 3")
    yield "valve 8 × 3, with symmetry", f"{large['seconds']:.1f} CPU s, {large['states']:,} states", "≤ 15 s"
    whole, reduced = explore_twice("WordCount")
    yield "independent choices in one order over every schedule, WordCount", compare(whole, reduced), ""
    yield "one step of the valve", f"{measure_step() * 1e6:.2f} µs", ""


def measure_step():
    (state,) = valve.start(valve.Config(4))
    events = [valve.ChannelWatermark(c, t) for t in range(1, 6) for c in range(4)]
    events += [valve.ChannelStatus(1, Status.IDLE), valve.ChannelStatus(1, Status.ACTIVE)]
    started = time.perf_counter()
    for index in range(200_000):
        state = valve.step(state, events[index % len(events)])[0].state
    return (time.perf_counter() - started) / 200_000


def as_page():
    lines = [
        f"Python {platform.python_version()}, {platform.machine()}, one core; the same claims broken and reached.",
        "",
    ]
    lines += ["| closure | by | states, all | followed | ratio | CPU s, all | followed | ratio |"]
    lines += ["|---|---|--:|--:|--:|--:|--:|--:|"]
    for name, make in CLOSURES.items():
        closure = make()
        how = "order of choices" if closure.reduced else f"symmetry of {closure.component.symmetry.parts}"
        if name in REDUCED_ONLY:
            fewer = explore(name)
            lines.append(f"| {name} | {how} | | {fewer['states']:,} | | | {fewer['seconds']:.2f} | |")
            continue
        whole, fewer = explore_twice(name)
        ratios = [f"{fewer[what] / whole[what]:.3f}" for what in ("states", "seconds")]
        lines.append(
            f"| {name} | {how} | {whole['states']:,} | {fewer['states']:,} | {ratios[0]} "
            f"| {whole['seconds']:.2f} | {fewer['seconds']:.2f} | {ratios[1]} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=CLOSURES, help="explore this one here, and print what was found as JSON")
    parser.add_argument("--whole", action="store_true", help="with --only: every state")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the table into this page")
    args = parser.parse_args()
    if args.only:
        print(json.dumps(explore_here(args.only, whole=args.whole)))
        return
    text = as_page()
    print(text)
    if args.write:
        write_between(args.write, "explorer", text)


if __name__ == "__main__":
    main()
