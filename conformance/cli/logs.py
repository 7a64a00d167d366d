"""`tidegate generate log`: run logs of any size, with known faults."""

import argparse
import re
from pathlib import Path
from typing import Any


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import add_seed, at_least_one, spark_master

    parser.add_argument(
        "--events", type=at_least_one, required=True, metavar="N", help="events in all runs, roughly (such as 1e7)"
    )
    parser.add_argument(
        "--runs", type=at_least_one, metavar="N", help="number of runs (default: one per 10 million events)"
    )
    parser.add_argument("--files", type=at_least_one, default=1, metavar="N", help="files per run (default: 1)")
    parser.add_argument(
        "--faults",
        default="0",
        metavar="F",
        help="faults over all kinds of long runs, or per kind: lost=2,late=1,misrestored=1 (default: 0); faults of "
        "restored runs (committed-twice, uncommitted, misrestored) get a small run each",
    )
    add_seed(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="output folder; its planted.json lists the faults"
    )
    parser.add_argument(
        "--master", type=spark_master, metavar="URL", help='write runs in parallel on Spark, such as "local[2]"'
    )


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli.extras import need

    need("pyarrow", "numpy", extra="audit")
    from tidegate.conformance.engines.text import printable
    from tidegate.conformance.synthetic.planning import (
        PlanningError,
        make_tasks,
        write_here,
        write_manifest,
        write_on_spark,
    )
    from tidegate.conformance.synthetic.restored import PLANT, write_restored

    faults = read_faults(args)
    small = {name: faults.pop(name) for name in PLANT if name in faults}
    runs = args.runs or max(1, round(args.events / 10_000_000))
    try:
        tasks = make_tasks(args.out, args.events, runs, faults, args.seed, args.files)
    except PlanningError as error:
        args.parser.error(str(error))

    def observe(one: dict[str, Any]) -> None:
        told = f"{one['events']:12,} events, {len(one['faults'])} faults in {', '.join(one['files'])}"
        print(printable(told), flush=True)

    if args.master is None:
        written = write_here(tasks, observe)
    else:
        from tidegate.conformance.engines.spark.session import make_session

        session = make_session(args.master, "tidegate generate log")
        written = write_on_spark(session, tasks, observe)
        session.stop()
    for one in write_restored(args.out, small, args.seed):
        written.append(one)
        observe(one)
    print(printable(str(write_manifest(args.out, args.seed, written))))
    return 0


def read_faults(args: argparse.Namespace) -> dict[str, int]:
    from tidegate.conformance.synthetic import restored
    from tidegate.conformance.synthetic.faults import PLANT
    from tidegate.conformance.synthetic.planning import MOST_FAULTS, spread

    kinds = (*PLANT, *restored.PLANT)

    if re.fullmatch("[0-9]{1,9}", args.faults):
        return spread(int(args.faults))
    faults = {}
    for part in args.faults.split(","):
        name, _equals, count = part.partition("=")
        if name not in kinds or not re.fullmatch("[0-9]{1,9}", count):
            args.parser.error(f"--faults is a number or a list such as lost=2,late=1; the kinds are {', '.join(kinds)}")
        faults[name] = int(count)
    for name in restored.PLANT:
        if faults.get(name, 0) > MOST_FAULTS:
            args.parser.error(f"--faults: at most {MOST_FAULTS:,} of {name}")
    return faults
