"""The specification as an engine of whole jobs: each job runs under a schedule drawn from its name."""

from collections.abc import Iterator
from random import Random
from typing import Any

from tidegate import __version__
from tidegate.conformance.engines.base import PROTOCOL_VERSION, Abilities, Description, JobReply, JobRequest, Ran
from tidegate.conformance.engines.jobs import JobEngine
from tidegate.reference.job.programs import OFFERED, Config, Function
from tidegate.reference.job.states import Logged, State
from tidegate.reference.job.step import Action, Choice, enabled, start, step
from tidegate.traces.codec import decode, encode

ABILITIES = Abilities(
    operators=tuple(Function),
    partitioners=OFFERED,
    parallelism=3,
    watermarks=True,
    idleness=True,
    # The default semantics is that of Flink up to 2.3: a source that is idle when it ends sends nothing (FLINK-40499).
    idle_ends=False,
    chaining=True,
    shows=("record", "watermark", "status", "barrier", "end_of_data", "end_of_partition", "timer"),
)


class ReferenceJobs(JobEngine):
    def start(self) -> Description:
        return Description(PROTOCOL_VERSION, "reference", __version__, "python", {}, 1, ABILITIES)

    def run(self, request: JobRequest) -> JobReply:
        (state,) = start(decode(request.program, Config, "program"))
        random = Random(request.case)
        rows: list[dict[str, Any]] = []
        while possible := enabled(state):
            choice = random.choice(possible)
            rows += list(tell_timer(state, choice))
            (outcome,) = step(state, choice)
            state = outcome.state
            logged = [encode(one) for one in outcome.observations if isinstance(one, Logged)]
            rows += [{name: value for name, value in row.items() if name != "type"} for row in logged]
        return Ran({"rows": rows})

    def close(self) -> None:
        pass


def tell_timer(state: State, choice: Choice) -> Iterator[dict[str, Any]]:
    """A timer that fires has a row of its own."""
    timed = state.subtasks[choice.at].timed if choice.action is Action.FIRE else None
    if timed is not None:
        place, timer = state.layout.places[choice.at], timed.due[0]
        yield {
            "task": place.task.name,
            "subtask": place.number,
            "kind": "timer",
            "key": timer.key,
            "timestamp": str(timer.time),
        }
