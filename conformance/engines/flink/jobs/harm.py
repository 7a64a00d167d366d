"""A job with faults: programs at other parallelisms, a folder for its journals, options of Flink.

Each restore from a savepoint, or from the last checkpoint of a cancelled job, begins a generation, with another
parallelism and journals of its own. A generation shows its graph and its journals; the committed results of all
generations are files.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Json = dict[str, Any]

KILL_TASK_MANAGER, FAIL_TASK = "kill_taskmanager", "fail_task"
RESCALE, RESCALE_CHECKPOINT = "rescale", "rescale_checkpoint"
#: Restores at another parallelism, from a savepoint and from a retained checkpoint.
RESCALES = (RESCALE, RESCALE_CHECKPOINT)
MOST_PARALLELISM = 3
#: How long a source pauses after each item, in microseconds.
REST = 1_000
#: Milliseconds between checkpoints, if the job has no interval of its own.
INTERVAL = 20
#: Limit on restarts of a job that fails again and again.
OPTIONS = {
    "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    "execution.checkpointing.storage": "filesystem",
    "execution.checkpointing.tolerable-failed-checkpoints": "1000",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.delay": "50 ms",
    "restart-strategy.fixed-delay.attempts": "20",
}
#: A job is restored as a whole: an attempt covers all its tasks.
OF_THE_CLUSTER = {"jobmanager.execution.failover-strategy": "full"}


def make_options(folder: Path, options: Json) -> Json:
    usual = {"execution.checkpointing.interval": f"{INTERVAL} ms"}
    return {**OPTIONS, "execution.checkpointing.dir": (folder / "checkpoints").as_uri(), **usual, **options}


def make_programs(program: Json, faults: Iterable[Json]) -> list[Json]:
    """The program, and the same program after each restore at another parallelism."""
    programs = [program]
    for fault in faults:
        programs += [rescale(programs[-1])] if fault["fault"] in RESCALES else []
    return programs


def rescale(program: Json) -> Json:
    """Increase each parallelism by one, the maximum becomes 1: equal ones stay equal, so that chains stay the same.

    Sources stay the same, with operators that may be chained to them; so do readers of broadcasts, for which the
    number of records would change.
    """
    fixed = {one["id"] for one in program["operators"] if one["function"] == "source"}
    fixed |= {edge["target"] for edge in program["edges"] if edge.get("partitioner") == "broadcast"}
    near = [edge for edge in program["edges"] if edge.get("partitioner") in (None, "forward")]
    grew = True
    while grew:
        ends = [{edge["source"], edge["target"]} for edge in near]
        more = fixed.union(*(both for both in ends if both & fixed))
        grew, fixed = more != fixed, more
    operators = [
        one if one["id"] in fixed else {**one, "parallelism": one["parallelism"] % MOST_PARALLELISM + 1}
        for one in program["operators"]
    ]
    return {**program, "operators": operators}


def read_shown(folder: Path, graphs: list[Any], programs: list[Json]) -> Json:
    """`generations`, each with its graph, its parallelism and its journals, and the `committed` results."""
    generations = [
        {
            "graph": graph,
            "parallelism": {str(one["id"]): one["parallelism"] for one in program["operators"]},
            "journals": read_journals(folder / f"generation-{number}"),
        }
        for number, (graph, program) in enumerate(zip(graphs, programs, strict=False))
    ]
    lines = (line for path in sorted((folder / "committed").glob("*")) for line in read_lines(path))
    return {"generations": generations, "committed": [json.loads(line) for line in lines]}


def read_journals(folder: Path) -> list[list[Any]]:
    """Row by row; the first one identifies the subtask (java/Journal.java)."""
    journals = [[json.loads(line) for line in read_lines(path)] for path in sorted(folder.glob("*.rows"))]
    return [journal for journal in journals if journal]


def read_lines(path: Path) -> list[str]:
    """A line cut by a kill has no end, and does not count."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]
