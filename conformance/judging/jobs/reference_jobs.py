"""The specification as an engine of whole jobs: each job under a schedule that its name draws."""

from random import Random

from tidegate import __version__
from tidegate.conformance.engines.base import PROTOCOL_VERSION, Abilities, Description, JobReply, JobRequest, Ran
from tidegate.conformance.engines.jobs import JobEngine
from tidegate.properties.cases.job.draw import draw_run
from tidegate.reference.job.programs import OFFERED, Config, Function
from tidegate.reference.job.states import Logged
from tidegate.traces.codec import decode, encode

ABILITIES = Abilities(
    operators=tuple(Function),
    partitioners=OFFERED,
    parallelism=3,
    watermarks=True,
    idleness=True,
    # The default semantics is that of Flink up to 2.3: a source that is idle when it ends says nothing (FLINK-40499).
    idle_ends=False,
    chaining=True,
    shows=("record", "watermark", "status", "barrier", "end_of_data", "end_of_partition"),
)


class ReferenceJobs(JobEngine):
    def start(self) -> Description:
        return Description(PROTOCOL_VERSION, "reference", __version__, "python", {}, 1, ABILITIES)

    def run(self, request: JobRequest) -> JobReply:
        config = decode(request.program, Config, "program")
        run = draw_run(Random(request.case), config)
        rows = [encode(one) for one in run.seen if isinstance(one, Logged)]
        return Ran({"rows": [{name: value for name, value in row.items() if name != "type"} for row in rows]})

    def close(self) -> None:
        pass
