"""A real cluster of a version as an engine of whole jobs: `flink-cluster[:VERSION]`.

It runs the programs of `flink`, under the same settings, in processes that are killed. If a job hangs, its
cluster is lost and its logs stay; the next job gets a new one.
"""

from typing import Any

import attrs

from tidegate.conformance.engines.base import PROTOCOL_VERSION, Crashed, Description, JobReply, JobRequest, Ran
from tidegate.conformance.engines.errors import CannotStartError, UnknownEngineError
from tidegate.conformance.engines.flink import cache
from tidegate.conformance.engines.flink.cluster.processes import ClusterError, FlinkCluster
from tidegate.conformance.engines.flink.cluster.running import FAULTS, Run
from tidegate.conformance.engines.flink.jobs.cluster import USUAL
from tidegate.conformance.engines.flink.jobs.engine import ABILITIES, kit_of, to_options
from tidegate.conformance.engines.flink.jobs.translation import translate_harmed
from tidegate.conformance.engines.jobs import JobEngine
from tidegate.conformance.engines.text import printable

#: The first version with our names of configuration options.
OLDEST = (2,)


class FlinkClusterJobs(JobEngine):
    def __init__(self, version: str) -> None:
        self.version = version or cache.DEFAULT_VERSION
        if not cache.is_version(self.version) or cache.version_key(self.version) < OLDEST:
            raise UnknownEngineError(
                f"'{printable(version)}' is not a version of Flink that clusters run on",
                f"2.0.0 and later, for example flink-cluster:{cache.DEFAULT_VERSION}",
            )
        self._cluster: FlinkCluster | None = None
        self._options: dict[str, str] = {}

    def start(self) -> Description:
        if self._cluster is None:
            try:
                self._find(self._options)
            except ClusterError as error:
                raise CannotStartError(str(error), "on a busy machine, try again") from error
        abilities = attrs.evolve(ABILITIES, faults=FAULTS)
        return Description(PROTOCOL_VERSION, "Apache Flink", self.version, "java", {}, 1, abilities)

    def _find(self, options: dict[str, str]) -> FlinkCluster:
        """A cluster with these options, which are those of its processes."""
        if self._cluster is None or self._options != options:
            self.close()
            self._cluster, self._options = FlinkCluster(self.version, options).__enter__(), options
        return self._cluster

    def run(self, request: JobRequest) -> JobReply:
        options: dict[str, Any] = to_options(request.settings)
        try:
            cluster = self._find(options.pop("cluster"))
        except ClusterError as error:
            return Crashed(str(error))
        asked = {**USUAL, **options, "kit": kit_of(request.settings), "config": request.program}
        answer = Run(cluster, {**asked, "faults": request.faults}).run()
        if "timeout" in answer:
            self.close(keep=True)
        return Ran(translate_harmed(request.graph, answer))

    def close(self, *, keep: bool = False) -> None:
        if self._cluster is not None:
            self._cluster.close(keep=keep)
            self._cluster = None
