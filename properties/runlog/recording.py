"""The run log of a job of the specification: its numbered observations, with the description of the job."""

from collections.abc import Iterable

import attrs

from tidegate.reference.job.layout import TaskEdge, compute_layout
from tidegate.reference.job.programs import Config
from tidegate.reference.job.states import Logged, Observation
from tidegate.reference.job.step import Choice, is_done, start, step
from tidegate.reference.model import Rejected, follow
from tidegate.traces.runlog import Capabilities, Edge, Job, Row, RunLog, renumber


def record(config: Config, choices: Iterable[Choice], run: str = "run") -> RunLog:
    """Run the job with these choices, and log it."""
    (state,) = start(config)
    seen: list[Observation | Rejected] = []
    for outcome in follow(step, state, choices):
        seen += outcome.observations
        state = outcome.state
    return make_log(config, seen, run, complete=is_done(state))


def make_log(
    config: Config, seen: Iterable[Observation | Rejected], run: str = "run", *, complete: bool = True
) -> RunLog:
    rows = tuple(make_row(run, one) for one in seen if isinstance(one, Logged))
    return renumber(RunLog(run, make_job(config), rows, complete))


def make_row(run: str, seen: Logged) -> Row:
    return Row(run=run, step=0, position=0, **attrs.asdict(seen))


def make_job(config: Config) -> Job:
    layout = compute_layout(config)
    names = {operator: task.name for task in layout.tasks for operator in task.operators}
    credit = config.wire.exclusive if config.wire else None
    edges = tuple(make_edge(edge, names, credit) for edge in layout.edges)
    return Job("reference", config.semantics, edges, Capabilities(credit=config.wire is not None))


def make_edge(edge: TaskEdge, names: dict[int, str], credit: int | None) -> Edge:
    return Edge(
        edge.number,
        names[edge.source],
        names[edge.target],
        edge.kind.value,
        edge.pattern.value,
        edge.producers,
        edge.consumers,
        edge.max_parallelism,
        credit,
    )
