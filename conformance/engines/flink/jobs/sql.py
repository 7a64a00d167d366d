"""SQL on the MiniCluster of a version as an engine of queries: `flink-sql[:VERSION]`.

A program is a query with the scripts of its tables; the answer is the changelog of its result.
"""

from collections.abc import Callable
from typing import Any

import attrs

from tidegate.conformance.engines.base import (
    PROTOCOL_VERSION,
    QUERY,
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
from tidegate.conformance.engines.flink.jobs.cluster import Cluster, ClusterDiedError
from tidegate.conformance.engines.flink.jobs.engine import OPTIONS, SHAPE
from tidegate.conformance.engines.jobs import JobEngine, weigh
from tidegate.conformance.engines.text import printable

#: Settings of a query, default value first; none of them may change its result.
SETTINGS: dict[str, tuple[Any, ...]] = {
    "parallelism": (1, 2, 3),
    "buffer_timeout": (0, 1, 100),
    "checkpoint_interval": (0, 10, 100),
    "unaligned": (False, True),
    "interruptible_timers": (False, True),
    "object_reuse": (False, True),
    "async_state": (False, True),
    "mini_batch_rows": (0, 5, 1000),
    "mini_batch_millis": (20, 100),
    "aggregate_phases": ("AUTO", "ONE_PHASE", "TWO_PHASE"),
    "split_distinct": (False, True),
    "incremental_aggregates": (True, False),
    "reuse_plans": (True, False),
    "join_reorder": (False, True),
    "multi_join": (False, True),
    "rank_cache": (10_000, 1),
    "compact_changes": (False, True),
    "sensitive_changes": (True, False),
    "unbounded_over": (2, 1),
    "unions_break": (True, False),
    "united_projects": (False, True),
    "window_buffer": (100_000, 1, 10),
    # Generated code is split into small methods.
    "code_length": (4_000, 1),
    "chaining": (True, False),
    "reuse_sources": (True, False),
    "distinct_buckets": (1024, 1),
    # A source fails once, after a checkpoint, and the job is restored.
    "fails_after": weigh(0, {0: 1, 30: 1, 80: 1}),
    "state_backend": ("hashmap", "rocksdb", "forst"),
    "changes_of_state": (False, True),
    "interval_cleanup_millis": (0, 5_000),
    "reuse_blocks": (False, True),
    # The final state of the tables is read in batch mode.
    "batch": weigh(False, {False: 3, True: 1}),
    # Rows of the result replace each other by a key, if the query has one.
    "by_key": (False, True),
    "materialize": ("AUTO", "FORCE"),
    "materialize_strategy": ("LEGACY", "MAP", "VALUE", "ADAPTIVE"),
    # The number of rows of a key after which the last of these changes its algorithm.
    "materialize_threshold": (0, 2),
}
#: Their options in Flink, besides those of any job.
TABLE_OPTIONS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "async_state": ("table.exec.async-state.enabled", str),
    "mini_batch_rows": ("table.exec.mini-batch.size", str),
    "mini_batch_millis": ("table.exec.mini-batch.allow-latency", lambda value: f"{value} ms"),
    "aggregate_phases": ("table.optimizer.agg-phase-strategy", str),
    "split_distinct": ("table.optimizer.distinct-agg.split.enabled", str),
    "incremental_aggregates": ("table.optimizer.incremental-agg-enabled", str),
    "reuse_plans": ("table.optimizer.reuse-sub-plan-enabled", str),
    "join_reorder": ("table.optimizer.join-reorder-enabled", str),
    "multi_join": ("table.optimizer.multi-join.enabled", str),
    "rank_cache": ("table.exec.rank.topn-cache-size", str),
    "compact_changes": ("table.exec.deduplicate.mini-batch.compact-changes-enabled", str),
    "sensitive_changes": ("table.exec.deduplicate.insert-update-after-sensitive-enabled", str),
    "unbounded_over": ("table.exec.unbounded-over.version", str),
    "unions_break": ("table.optimizer.union-all-as-breakpoint-enabled", str),
    "united_projects": ("table.optimizer.sql2rel.project-merge.enabled", str),
    "window_buffer": ("table.exec.window-agg.buffer-size-limit", str),
    "code_length": ("table.generated-code.max-length", str),
    "chaining": ("pipeline.operator-chaining.enabled", str),
    "reuse_sources": ("table.optimizer.reuse-source-enabled", str),
    "distinct_buckets": ("table.optimizer.distinct-agg.split.bucket-num", str),
    "state_backend": ("state.backend.type", str),
    "changes_of_state": ("state.changelog.enabled", str),
    "interval_cleanup_millis": ("table.exec.interval-join.min-cleanup-interval", lambda value: f"{value} ms"),
    "reuse_blocks": ("table.optimizer.reuse-optimize-block-with-digest-enabled", str),
    "materialize": ("table.exec.sink.upsert-materialize", str),
    "materialize_strategy": ("table.exec.sink.upsert-materialize-strategy.type", str),
    "materialize_threshold": ("table.exec.sink.upsert-materialize-strategy.adaptive.threshold.low", str),
}
#: A job that is to fail has checkpoints, and is restarted.
FAILING = {
    "execution.checkpointing.interval": "10 ms",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.delay": "1 ms",
    "restart-strategy.fixed-delay.attempts": "3",
}
#: A job with a fixed graph does not choose between joins later on.
IN_ONE_GO = {
    "table.optimizer.adaptive-broadcast-join.strategy": "none",
    "table.optimizer.skewed-join-optimization.strategy": "none",
}
ABILITIES = Abilities(operators=(QUERY,), partitioners=(), parallelism=3, watermarks=True, settings=SETTINGS)
#: The first version whose planner is a jar of its own.
OLDEST = (1, 15)
#: The first version with disaggregated state.
OLDEST_FORST = (2,)


class FlinkSql(JobEngine):
    def __init__(self, version: str, seconds: float = 60.0, start_timeout: float = 90.0) -> None:
        self.version = version or cache.DEFAULT_VERSION
        if not cache.is_version(self.version) or cache.version_key(self.version) < OLDEST:
            raise UnknownEngineError(
                f"'{printable(version)}' is not a version of Flink that queries run on",
                f"1.15.0 and later, for example flink-sql:{cache.DEFAULT_VERSION}",
            )
        self._cluster = Cluster(self.version, *SHAPE, start_timeout, sql=True)
        self._seconds = seconds
        self._abilities = ABILITIES
        if cache.version_key(self.version) < OLDEST_FORST:
            self._abilities = attrs.evolve(ABILITIES, settings={**SETTINGS, "state_backend": ("hashmap", "rocksdb")})

    def start(self) -> Description:
        self._cluster.start()
        return Description(PROTOCOL_VERSION, "Apache Flink SQL", self.version, "java", {}, 1, self._abilities)

    def run(self, request: JobRequest) -> JobReply:
        usual = {name: values[0] for name, values in SETTINGS.items()}
        settings = {**usual, **request.settings}
        own = {name: settings[name] for name in ("parallelism", "fails_after", "batch")}
        key = request.program.get("key", ()) if settings["by_key"] and not settings["batch"] else ()
        program = {**request.program, "key": key}
        asked = {**(settle(program) if settings["batch"] else program), **own, "options": to_options(settings)}
        try:
            answer = self._cluster.ask(asked, self._seconds)
        except ClusterDiedError as error:
            return Crashed(str(error))
        if "broken" in answer:
            return Refused("internal", answer["broken"])
        if "refused" in answer:
            return Refused("refused", answer["refused"])
        told: dict[str, Any] = {name: answer[name] for name in ("error", "timeout") if name in answer}
        changes = [one for of_subtask in answer.get("collected", {}).values() for one in of_subtask]
        return Ran({**told, "changes": changes})

    def close(self) -> None:
        self._cluster.close()


def settle(program: dict[str, Any]) -> dict[str, Any]:
    """The program with the final rows, and without time."""
    tables = {}
    for name, scripts in program["tables"].items():
        how = program["changing"].get(name)
        if how is None:
            tables[name] = [[item for item in script if item[0] == "record"] for script in scripts]
            continue
        key = {"k": 1, "id": 3}[how["key"]]
        there: dict[Any, Any] = {}
        for item in (item for script in scripts for item in script if item[0][0] in "+-"):
            there[item[key]] = ["record", *item[1:]] if item[0][0] == "+" else None
        tables[name] = [[row for row in there.values() if row]]
    return {**program, "tables": tables, "changing": {}}


def to_options(settings: dict[str, Any]) -> dict[str, str]:
    known = OPTIONS | TABLE_OPTIONS
    left_out = {
        name for name in ("checkpoint_interval", "mini_batch_rows", "materialize_threshold") if not settings[name]
    }
    options = {
        known[name][0]: known[name][1](value)
        for name, value in settings.items()
        if name in known and name not in left_out
    }
    failing = FAILING if settings["fails_after"] else {}
    if settings["materialize_threshold"]:
        high = "table.exec.sink.upsert-materialize-strategy.adaptive.threshold.high"
        options[high] = str(settings["materialize_threshold"] + 1)
    # The key of a result may differ from Flink's key of its rows.
    options["table.exec.sink.require-on-conflict"] = "false"
    options |= IN_ONE_GO if settings["batch"] else {}
    return {**failing, **options, "table.exec.mini-batch.enabled": str(settings["mini_batch_rows"] > 0)}
