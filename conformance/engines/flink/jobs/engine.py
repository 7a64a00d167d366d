"""The MiniCluster of a version as an engine of whole jobs: `flink[:VERSION]`, `flink-v2`, `flink-splits`.

All run the same programs; a kit selects Flink's operators for them (java/Kit.java).
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.engines.base import (
    PROTOCOL_VERSION,
    Abilities,
    Crashed,
    Description,
    JobReply,
    JobRequest,
    Ran,
    Refused,
)
from tidegate.conformance.engines.errors import UnknownEngineError
from tidegate.conformance.engines.flink import cache
from tidegate.conformance.engines.flink.jobs import harm
from tidegate.conformance.engines.flink.jobs.cluster import USUAL, Cluster, ClusterDiedError
from tidegate.conformance.engines.flink.jobs.compiling import OLDEST_ASYNC, OLDEST_SPLITS
from tidegate.conformance.engines.flink.jobs.translation import SHOWN, translate_harmed, translate_run
from tidegate.conformance.engines.jobs import JobEngine, weigh
from tidegate.conformance.engines.text import printable

#: Settings of a job, default value first.
SETTINGS = {
    # Beyond 4 KiB a record spans buffers, beyond 32 KiB it spans many.
    "padding": (0, 100, 5_000, 40_000),
    "slow_micros": (0, 200, 2_000),
    "slow_timers_micros": (0, 500, 5_000),
    "buffer_timeout": (0, 1, 100),
    "checkpoint_interval": (0, 10, 100),
    "unaligned": (False, True),
    "interruptible_timers": (False, True),
    "processing_timers": (False, True),
    "object_reuse": (False, True),
    "buffer_debloating": (False, True),
    # Such operators have no interruptible timers, so half of the jobs with many settings do not have them.
    "async_state": weigh(False, {False: 1, True: 1}),
    # The following only matter if a job is restored.
    # Subtasks that write in-flight data into one file.
    "unaligned_shared_files": (5, 1),
    # In-flight data of a task is recovered before the next task starts.
    "unaligned_to_downstream": (False, True),
    # Checkpoints are taken during recovery.
    "unaligned_while_restored": weigh(False, {False: 1, True: 1}),
    # Parts of a checkpoint are merged into larger files.
    "with_merged_files": (False, True),
}
#: How sources with splits read their scripts.
SOURCES = {
    "splits": (1, 2, 3),
    # A split is assigned when the one before it is done; in half of the jobs with many settings, it is not.
    "splits_in_turn": weigh(False, {False: 1, True: 1}),
    # The script is cut into parts; else items are dealt out one by one.
    "splits_in_parts": (False, True),
    "items_fetched": (1, 4),
    "item_rest_micros": (0, 200, 2_000),
    # Milliseconds of event time by which a source may be ahead of the others, and how many samples are examined.
    "alignment_drift": (0, 1, 5),
    "alignment_samples": (3, 1),
    # Milliseconds after which a silent split is idle.
    "idle_after": (0, 5, 50),
}
#: Settings that are options of a job in Flink, and how a value is written there.
OPTIONS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "buffer_timeout": ("execution.buffer-timeout.interval", lambda value: f"{value} ms"),
    "checkpoint_interval": ("execution.checkpointing.interval", lambda value: f"{value} ms"),
    "unaligned": ("execution.checkpointing.unaligned.enabled", str),
    "interruptible_timers": ("execution.checkpointing.unaligned.interruptible-timers.enabled", str),
    "object_reuse": ("pipeline.object-reuse", str),
    "alignment_samples": ("pipeline.watermark-alignment.buffer-size", str),
    "unaligned_shared_files": ("execution.checkpointing.unaligned.max-subtasks-per-channel-state-file", str),
    "unaligned_to_downstream": ("execution.checkpointing.unaligned.recover-output-on-downstream.enabled", str),
    "unaligned_while_restored": ("execution.checkpointing.during-recovery.enabled", str),
    "with_merged_files": ("execution.checkpointing.file-merging.enabled", str),
}
#: Options of the cluster.
OF_THE_CLUSTER = {"buffer_debloating": "taskmanager.network.memory.buffer-debloat.enabled"}
ABILITIES = Abilities(
    operators=(
        *("source", "map", "flat_map", "filter", "sum", "union", "join", "sink"),
        *("timer", "co_timer", "window"),
    ),
    partitioners=("forward", "rebalance", "rescale", "global", "broadcast", "hash"),
    parallelism=3,
    watermarks=True,
    idleness=True,
    checkpoints=True,
    chaining=True,
    twin_edges=False,
    shows=SHOWN,
    settings=SETTINGS,
    faults=(harm.KILL_TASK_MANAGER, harm.FAIL_TASK, harm.RESCALE, harm.RESCALE_CHECKPOINT),
)
#: DataStream V2 has neither unions nor a choice of partitioners, and its windows no timers of processing time. A source
#: itself emits the end of event time, and must be active for that.
ABILITIES_V2 = attrs.evolve(
    ABILITIES,
    operators=tuple(name for name in ABILITIES.operators if name != "union"),
    partitioners=("global", "hash"),
    idle_ends=False,
    faults=(),
    settings={name: values for name, values in SETTINGS.items() if name not in ("interruptible_timers", "async_state")},
)
#: Sources that read splits have no faults.
ABILITIES_SPLITS = attrs.evolve(ABILITIES, sources=SOURCES, faults=())
#: The name of a kit in Java, and its abilities.
KITS = {"": ("Classic", ABILITIES), "v2": ("VersionTwo", ABILITIES_V2), "splits": ("Classic", ABILITIES_SPLITS)}
#: The first version with event time in DataStream V2.
OLDEST_V2 = (2,)
#: The first version with our names of checkpoint options.
OLDEST_HARMED = (2,)
#: Task managers, and slots of each: every exchange between subtasks of different slots uses the network.
SHAPE = (4, 1)
#: How much longer a job may take that is killed and restored.
HARMED = 2


class FlinkJobs(JobEngine):
    def __init__(self, version: str, seconds: float = 60.0, start_timeout: float = 90.0, kit: str = "") -> None:
        self.version = version or cache.DEFAULT_VERSION
        if not cache.is_version(self.version):
            raise UnknownEngineError(
                f"'{printable(version)}' is not a version of Flink", f"for example flink:{cache.DEFAULT_VERSION}"
            )
        if kit == "v2" and cache.version_key(self.version) < OLDEST_V2:
            raise UnknownEngineError(f"Flink {self.version} has no DataStream V2", "2.0.0 and later have it")
        if kit == "splits" and cache.version_key(self.version) < OLDEST_SPLITS:
            raise UnknownEngineError(f"Flink {self.version} cannot pause a split", "1.17.0 and later can")
        self._kit, self._abilities = KITS[kit]
        if cache.version_key(self.version) < OLDEST_ASYNC:
            known = {name: values for name, values in self._abilities.settings.items() if name != "async_state"}
            self._abilities = attrs.evolve(self._abilities, settings=known)
        if cache.version_key(self.version) < OLDEST_HARMED:
            self._abilities = attrs.evolve(self._abilities, faults=())
        self._cluster = Cluster(self.version, *SHAPE, start_timeout)
        self._seconds = seconds

    def start(self) -> Description:
        self._cluster.start()
        return Description(PROTOCOL_VERSION, "Apache Flink", self.version, "java", {}, 1, self._abilities)

    def run(self, request: JobRequest) -> JobReply:
        options = {**to_options(request.settings), "kit": kit_of(request.settings, self._kit)}
        try:
            if request.faults:
                answer = self.harm(request, options)
            else:
                answer = self._cluster.run(request.program, options, self._seconds)
        except ClusterDiedError as error:
            return Crashed(str(error))
        if "broken" in answer or "timeout" in answer:
            self._cluster.close()  # remains of the job would show in the next one
        for fault in ("broken", "refused"):
            if fault in answer:
                return Refused(fault, answer[fault])
        if request.faults:
            return Ran(translate_harmed(request.graph, answer))
        return Ran(translate_run(request.graph, answer, unaligned=bool(request.settings.get("unaligned"))))

    def harm(self, request: JobRequest, options: dict[str, Any]) -> dict[str, Any]:
        """A job that is killed and restored."""
        programs = harm.make_programs(request.program, request.faults)
        with tempfile.TemporaryDirectory(prefix="tidegate-harm-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            asked = {**USUAL, **options, "configs": programs, "faults": request.faults, "rest_micros": harm.REST}
            asked["folder"] = name
            asked["options"] = harm.make_options(folder, options["options"])
            asked["cluster"] = {**options["cluster"], **harm.OF_THE_CLUSTER}
            answer = self._cluster.ask(asked, HARMED * self._seconds)
            graphs = answer.pop("graphs", [])
            return {**answer, **harm.read_shown(folder, graphs, programs)} if graphs else answer

    def close(self) -> None:
        self._cluster.close()


def kit_of(settings: dict[str, Any], usual: str = KITS[""][0]) -> str:
    return "AsyncState" if settings.get("async_state") else usual


def to_options(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings in the host's format: options of the job, options of the cluster, and its own."""
    given = {name: value for name, value in settings.items() if value}
    if settings.get("buffer_timeout") == 0:
        given["buffer_timeout"] = 0
    options = {OPTIONS[name][0]: OPTIONS[name][1](value) for name, value in given.items() if name in OPTIONS}
    cluster = {OF_THE_CLUSTER[name]: str(value) for name, value in given.items() if name in OF_THE_CLUSTER}
    own = {name: value for name, value in given.items() if name not in OPTIONS and name not in OF_THE_CLUSTER}
    return {**own, "options": options, "cluster": cluster}
