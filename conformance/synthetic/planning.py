"""Plans how many runs the events need and where each fault goes, and writes the runs, here or on Spark."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tidegate.conformance.synthetic.faults import MOST, PLANT, Fault, is_quiet
from tidegate.conformance.synthetic.files import Task, write_run
from tidegate.conformance.synthetic.job import Plan, events_of_epoch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MANIFEST = "planted.json"

#: Records per source and epoch, if there is room.
RECORDS = 1000
#: With fewer records, some channels have no record in the middle of an epoch.
LEAST_RECORDS = 64
#: The plan is in memory, so its size is limited.
MOST_RUNS = MOST_FILES = MOST_FAULTS = 10_000
MOST_EVENTS = 10**10


class PlanningError(ValueError):
    """The faults do not fit into the runs, or a number is too large."""


def make_tasks(folder: Path, events: int, runs: int, faults: dict[str, int], seed: int, files: int = 1) -> list[Task]:
    """`faults`: how many of each name. They are spread over the runs in turn."""
    for count, most, what in (
        (runs, MOST_RUNS, "runs"),
        (events // runs, MOST_EVENTS, "events in a run"),
        (files, MOST_FILES, "files of a run"),
        (sum(faults.values()), MOST_FAULTS, "faults"),
    ):
        if count > most:
            raise PlanningError(f"at most {most:,} {what}, not {count:,}")
    dealt: list[list[str]] = [[] for _ in range(runs)]
    wanted = [name for name, count in faults.items() for _ in range(count)]
    for number, name in enumerate(wanted):
        dealt[number % runs].append(name)
    return [
        Task(plan, place_faults(plan, names), str(folder), files)
        for plan, names in (
            (make_plan(f"run-{number:04}", seed, events // runs, len(names)), names)
            for number, names in enumerate(dealt)
        )
    ]


def make_plan(run: str, seed: int, events: int, faults: int) -> Plan:
    """Every fault needs its own epoch, and a third of all epochs has too many status changes for any."""
    least = 4 + faults * 2
    records = RECORDS
    while records > LEAST_RECORDS and events < least * events_of_epoch(records):
        records = max(LEAST_RECORDS, records // 2)
    return Plan(run, seed, max(least, round(events / events_of_epoch(records))), records)


def place_faults(plan: Plan, names: list[str]) -> tuple[Fault, ...]:
    for name in names:
        if names.count(name) > MOST.get(name, len(names)):
            raise PlanningError(f"a run has room for {MOST[name]} faults of the kind {name}: ask for more runs")
    quiet = [epoch for epoch in range(1, plan.epochs - 1) if is_quiet(epoch)]
    epochs = Random(f"{plan.seed}/{plan.run}").sample(quiet, len(names))
    return tuple(
        Fault(name, number, names[:number].count(name), plan.epochs - 1 if name == "continued" else epochs[number])
        for number, name in enumerate(names)
    )


def spread(count: int) -> dict[str, int]:
    """Spread the faults over all kinds in turn."""
    return {name: (count + len(PLANT) - 1 - place) // len(PLANT) for place, name in enumerate(PLANT)}


def write_here(tasks: Iterable[Task], observe: Callable[[dict[str, Any]], None]) -> list[dict[str, Any]]:
    written = []
    for task in tasks:
        written.append(write_run(task))
        observe(written[-1])
    return written


def write_on_spark(
    session: "SparkSession", tasks: list[Task], observe: Callable[[dict[str, Any]], None]
) -> list[dict[str, Any]]:
    """Each run is a Spark task; every worker must be able to write to the folder."""
    numbered = session.sparkContext.parallelize(tasks, len(tasks)).map(lambda task: json.dumps(write_run(task)))
    written = []
    for line in numbered.toLocalIterator(prefetchPartitions=True):
        written.append(json.loads(line))
        observe(written[-1])
    return written


def write_manifest(folder: Path, seed: int, written: list[dict[str, Any]]) -> Path:
    path = folder / MANIFEST
    text = {"seed": seed, "events": sum(one["events"] for one in written), "runs": written}
    path.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")
    return path


def read_planted(folder: Path) -> Iterator[tuple[str, str, tuple[int, ...], str, int]]:
    """Run, invariant, channel, direction and position of exactly the violations that an audit must find."""
    for run in json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["runs"]:
        for fault in run["faults"]:
            for one in fault["shows"]:
                yield run["run"], one["invariant"], tuple(one["channel"]), one["dir"], one["position"]
