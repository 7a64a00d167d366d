"""From the answer to a job, in the format of the protocol, to its run logs: docs/protocol.md, whole jobs.

Every engine of jobs answers in this format: no module of this folder knows a particular engine.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from tidegate.conformance.engines.base import Abilities
from tidegate.conformance.judging.jobs.drawing import JobCase, describe_graph
from tidegate.conformance.judging.jobs.explanation import Result
from tidegate.conformance.judging.jobs.rows import BadRowsError, capabilities_of, read_rows
from tidegate.conformance.judging.jobs.splits import Reasons, read_scripts
from tidegate.reference.job.programs import Config
from tidegate.reference.model import InvalidInputError
from tidegate.traces.codec import DecodeError, decode
from tidegate.traces.runlog import Capabilities, RunLog

Json = dict[str, Any]


class OtherGraphError(ValueError):
    """The job graph that the engine made of the program differs from that of the specification."""


@attrs.frozen
class Shown:
    """What a job has shown: a log per generation, and the kinds of rows that these may have.

    `config` has the scripts that the sources followed, `reasons` the rules behind their items. `collected` and `totals`
    are the results of sinks and sums, where they are shown.
    """

    logs: tuple[RunLog, ...]
    kinds: frozenset[str]
    config: Config
    reasons: Reasons = attrs.Factory(dict)
    collected: tuple[Result, ...] | None = None
    totals: tuple[Result, ...] | None = None


def read_answer(case: JobCase, answer: Json, engine: str, abilities: Abilities) -> Shown:
    """Read the answer to a job.

    Raises
    ------
    OtherGraphError
        The job graph differs.
    BadRowsError, BadSplitsError
        Something breaks the schema, and the message names it.
    """
    kinds = frozenset(answer.get("shows", abilities.shows))
    ended = "error" not in answer
    generations = answer.get("generations")
    if generations is None:
        logs = [read_generation(case.config, answer, case.name, engine, capabilities_of(abilities, kinds), ended=ended)]
    else:
        logs = list(read_generations(case, generations, engine, abilities, kinds, ended=ended))
    shown = Shown(tuple(logs), kinds, case.config)
    if "totals" in answer:
        collected, totals = read_results(answer)
        shown = attrs.evolve(shown, collected=collected, totals=totals)
    if ended and abilities.sources and answer.get("read"):
        followed = read_scripts(case.config, answer["read"])
        shown = attrs.evolve(shown, config=followed.config, reasons=followed.reasons)
    return shown


def read_generations(
    case: JobCase, generations: list[Json], engine: str, abilities: Abilities, kinds: frozenset[str], *, ended: bool
) -> Iterator[RunLog]:
    """A restore at another parallelism is a fault; only the last generation may complete."""
    if not 1 <= len(generations) <= 1 + len(case.faults):
        raise BadRowsError(f"there are {len(generations)} generations, and the job has {len(case.faults)} faults")
    capabilities = capabilities_of(abilities, kinds)
    for number, one in enumerate(generations):
        config = change_widths(case.config, one.get("parallelism", {}), abilities.parallelism)
        is_last = number == len(generations) - 1
        yield read_generation(config, one, f"{case.name}.{number}", engine, capabilities, ended=ended and is_last)


def read_generation(
    config: Config, shown: Json, run: str, engine: str, capabilities: Capabilities, *, ended: bool
) -> RunLog:
    check_graph(config, shown)
    return read_rows(config, shown, run, engine, capabilities, complete=ended)


def change_widths(config: Config, parallelism: dict[str, int], most: int) -> Config:
    """The program at the parallelism of a generation."""
    if any(not 1 <= width <= most for width in parallelism.values()):
        raise BadRowsError(f"a generation has a parallelism that is not in 1..{most}")
    try:
        operators = tuple(
            attrs.evolve(one, parallelism=parallelism.get(str(one.id), one.parallelism)) for one in config.operators
        )
        return attrs.evolve(config, operators=operators)
    except InvalidInputError as error:
        raise BadRowsError(f"the parallelism of a generation: {error}") from None


def read_results(answer: Json) -> tuple[tuple[Result, ...], tuple[Result, ...]]:
    """The results that sinks collected and that sums hold, by operator."""
    try:
        totals = [(int(at), key, int(value)) for at, known in answer["totals"].items() for key, value in known.items()]
        collected = [
            (int(at), str(key), int(value)) for at, pairs in answer["collected"].items() for key, value in pairs
        ]
    except (LookupError, TypeError, AttributeError, ValueError):
        raise BadRowsError("totals and collected must be results by operator: keys with whole numbers") from None
    return tuple(collected), tuple(totals)


# --- job graphs -----------------------------------------------------------------------------------------------


@attrs.frozen
class ShownTask:
    name: str
    operators: tuple[int, ...]
    parallelism: int


@attrs.frozen
class ShownEdge:
    source: str
    target: str
    partitioner: str
    pattern: str


@attrs.frozen
class ShownGraph:
    """A job graph as in a request or an answer; the names of its tasks are those of its author."""

    tasks: tuple[ShownTask, ...]
    edges: tuple[ShownEdge, ...]

    def tell_tasks(self) -> list[str]:
        return [f"{tell_operators(task)} × {task.parallelism}" for task in self.tasks]

    def tell_edges(self) -> list[str]:
        tasks = {task.name: tell_operators(task) for task in self.tasks}
        return [
            f"{tasks.get(edge.source)} to {tasks.get(edge.target)} ({edge.partitioner}, {edge.pattern})"
            for edge in self.edges
        ]


def tell_operators(task: ShownTask) -> str:
    return "[" + " ".join(map(str, sorted(task.operators))) + "]"


def check_graph(config: Config, shown: Json) -> None:
    """The job graph of an engine must equal that of the specification: otherwise rows mean something else."""
    if "graph" not in shown:
        return
    wanted = decode(describe_graph(config), ShownGraph, "graph")
    try:
        seen = decode(shown["graph"], ShownGraph, "graph")
    except DecodeError as error:
        raise BadRowsError(f"the job graph cannot be read: {error}") from None
    for what, ours, theirs in (
        ("tasks", wanted.tell_tasks(), seen.tell_tasks()),
        ("edges", wanted.tell_edges(), seen.tell_edges()),
    ):
        if Counter(ours) != Counter(theirs):
            raise OtherGraphError(f"its {what} are {tell(theirs)}, those of the specification {tell(ours)}")


def tell(words: Iterable[str]) -> str:
    return ", ".join(sorted(words)) or "none"
