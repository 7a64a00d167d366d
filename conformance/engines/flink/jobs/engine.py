"""The MiniCluster of a version as an engine of whole jobs: `flink[:VERSION]`."""

from tidegate.conformance.engines.base import (
    PROTOCOL_VERSION,
    Abilities,
    Crashed,
    Description,
    JobReply,
    JobRequest,
    Ran,
)
from tidegate.conformance.engines.errors import UnknownEngineError
from tidegate.conformance.engines.flink import cache
from tidegate.conformance.engines.flink.jobs.cluster import Cluster, ClusterDiedError
from tidegate.conformance.engines.jobs import JobEngine
from tidegate.conformance.engines.text import printable

#: Ways to run a job, the usual value first.
SETTINGS = {
    # Beyond 4 KiB a record spans buffers, beyond 32 KiB it spans many.
    "padding": (0, 0, 100, 5_000, 40_000),
    "slow_micros": (0, 0, 200),
    "buffer_timeout": (0, 1, 100),
    "checkpoint_interval": (0, 0, 0, 10),
}
ABILITIES = Abilities(
    operators=("source", "map", "flat_map", "filter", "sum", "union", "join", "sink"),
    partitioners=("forward", "rebalance", "rescale", "global", "broadcast", "hash"),
    parallelism=3,
    watermarks=True,
    idleness=True,
    checkpoints=True,
    chaining=True,
    shows=("record", "watermark", "status", "barrier", "end_of_data", "end_of_partition"),
    settings=SETTINGS,
)
#: Task managers, and slots of each: every exchange between subtasks of different slots goes over the network.
SHAPE = (4, 1)


class FlinkJobs(JobEngine):
    def __init__(self, version: str, seconds: float = 60.0, start_timeout: float = 90.0) -> None:
        self.version = version or cache.DEFAULT_VERSION
        if not cache.is_version(self.version):
            raise UnknownEngineError(
                f"'{printable(version)}' is no version of Flink", f"for example flink:{cache.DEFAULT_VERSION}"
            )
        self._cluster = Cluster(self.version, *SHAPE, start_timeout)
        self._seconds = seconds

    def start(self) -> Description:
        self._cluster.start()
        return Description(PROTOCOL_VERSION, "Apache Flink", self.version, "java", {}, 1, ABILITIES)

    def run(self, request: JobRequest) -> JobReply:
        try:
            return Ran(self._cluster.run(request.program, request.settings, self._seconds))
        except ClusterDiedError as error:
            return Crashed(str(error))

    def close(self) -> None:
        self._cluster.close()
