"""What a job that is harmed on its way needs: programs of other widths, a place for its journals, options of Flink's.

Each restore from a savepoint, or from the last checkpoint of a job that was cancelled, begins a generation, with other
widths and with journals of its own. What a generation has shown are its graph and its journals; what all of them have
committed are files.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Json = dict[str, Any]

KILL_TASK_MANAGER, FAIL_TASK = "kill_taskmanager", "fail_task"
RESCALE, RESCALE_CHECKPOINT = "rescale", "rescale_checkpoint"
#: Restores at other widths, from a savepoint and from a checkpoint that was kept.
RESCALES = (RESCALE, RESCALE_CHECKPOINT)
MOST_PARALLELISM = 3
#: How long a source rests behind each item, in microseconds.
REST = 1_000
#: Milliseconds between checkpoints, where a job is said to have none.
INTERVAL = 20
#: A job that fails again and again is not brought back for ever.
OPTIONS = {
    "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    "execution.checkpointing.storage": "filesystem",
    "execution.checkpointing.tolerable-failed-checkpoints": "1000",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.delay": "50 ms",
    "restart-strategy.fixed-delay.attempts": "20",
}
#: A job is restored as a whole: an attempt is of all its tasks.
OF_THE_CLUSTER = {"jobmanager.execution.failover-strategy": "full"}


def make_options(folder: Path, options: Json) -> Json:
    usual = {"execution.checkpointing.interval": f"{INTERVAL} ms"}
    return {**OPTIONS, "execution.checkpointing.dir": (folder / "checkpoints").as_uri(), **usual, **options}


def make_programs(program: Json, faults: Iterable[Json]) -> list[Json]:
    """The program as it is, and as it is behind each restore at other widths."""
    programs = [program]
    for fault in faults:
        programs += [rescale(programs[-1])] if fault["fault"] in RESCALES else []
    return programs


def rescale(program: Json) -> Json:
    """One wider, and the widest one wide: who is as wide as another stays so, so that the same operators are chained.

    Sources stay as they are, with those that may be chained to them; and so do readers of broadcasts, of which the same
    records would otherwise be more, or fewer.
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
    """`generations`, each with its graph, its widths and its journals, and what was `committed`."""
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
    """Row by row; the first says whose it is (java/Journal.java)."""
    journals = [[json.loads(line) for line in read_lines(path)] for path in sorted(folder.glob("*.rows"))]
    return [journal for journal in journals if journal]


def read_lines(path: Path) -> list[str]:
    """A line that was cut by a kill has no end, and is none."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]
