"""One job on a real cluster: run, read, judged, and made small if something is wrong with it."""

from collections.abc import Callable, Iterator

import attrs

from tidegate.conformance.engines.flink.jobs.cluster import Cluster, ClusterDiedError
from tidegate.conformance.judging.jobs.drawing import JobCase, with_scripts
from tidegate.conformance.judging.jobs.explanation import find_wrongs
from tidegate.conformance.judging.jobs.reading import Json, OtherGraphError, read_run
from tidegate.properties.runlog import Verdict, check
from tidegate.reference.elements import MAX
from tidegate.reference.job.programs import Config
from tidegate.traces.codec import encode
from tidegate.traces.runlog import Kind, RunLog

#: A job that shows a fault is run so often again to find a smaller one.
MOST_RUNS = 120
#: The defect that Flink up to 2.3 is known to have, and that the default semantics describes as it is.
SWALLOWED_END = "FLINK-40499"


@attrs.frozen
class Judged:
    """`wrongs` are in words; `known` are defects of Flink that the run shows and the specification tells of."""

    case: JobCase
    wrongs: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    log: RunLog | None = None
    explained: bool = False


def run_job(cluster: Cluster, case: JobCase) -> Judged:
    try:
        shown = cluster.run(encode(case.config), case.settings)
    except ClusterDiedError as error:
        return Judged(case, (str(error),))
    try:
        log = read_run(case.config, shown, case.name, f"flink {cluster.version}")
    except OtherGraphError as error:
        return Judged(case, (f"another job graph: {error}",))
    if "error" in shown:
        return Judged(case, (f"the job failed: {shown['error']}",), log=log)
    return judge_log(case, log, shown)


def judge_log(case: JobCase, log: RunLog, shown: Json) -> Judged:
    """A run with checkpoints is held to the invariants alone: where a barrier falls is the engine's choice."""
    verdicts = check(log)
    known = (SWALLOWED_END,) if any(find_swallowed_ends(log)) else ()
    explained = not any(row.kind is Kind.BARRIER for row in log.rows)
    if explained:
        totals = [(int(at), key, value) for at, known_ in shown["totals"].items() for key, value in known_.items()]
        collected = [(int(at), key, value) for at, pairs in shown["collected"].items() for key, value in pairs]
        wrongs = find_wrongs(case.config, log, collected, totals)
    else:
        broken = [one for verdict in verdicts for one in verdict.violations]
        wrongs = [f"{one.invariant}: channel {one.channel}, position {one.position}: {one.message}" for one in broken]
    return Judged(case, tuple(wrongs), known, verdicts, log, explained)


def find_swallowed_ends(log: RunLog) -> Iterator[str]:
    """Sources that end while they are idle, and whose last word on event time nobody hears (FLINK-40499).

    LOG-END excuses them, since that is what Flink does; timers and windows behind them never fire.
    """
    readers = {edge.target for edge in log.job.edges}
    last: dict[object, int | None] = {}
    for row in log.rows:
        if row.task in readers:
            continue
        if row.kind is Kind.WATERMARK:
            last[row.channel] = row.timestamp
        elif row.kind is Kind.END_OF_DATA and last.get(row.channel) != MAX:
            yield f"{row.task}/{row.subtask} ends at watermark {last.get(row.channel)} on channel {row.channel}"


# --- smaller --------------------------------------------------------------------------------------------------


def shrink_job(cluster: Cluster, judged: Judged, is_same: Callable[[Judged], bool]) -> Judged:
    """Leave out items of the scripts, one by one, for as long as the fault stays."""
    runs = 0
    smaller = True
    while smaller and runs < MOST_RUNS:
        smaller = False
        for config in shorter_configs(judged.case.config):
            runs += 1
            candidate = run_job(cluster, attrs.evolve(judged.case, config=config))
            if is_same(candidate):
                judged, smaller = candidate, True
                break
            if runs >= MOST_RUNS:
                break
    return judged


def shorter_configs(config: Config) -> Iterator[Config]:
    """Whole scripts first, then single items."""
    for at, operator in enumerate(config.operators):
        for number, script in enumerate(operator.scripts):
            cuts = [()] if len(script) > 1 else []
            for kept in [*cuts, *(script[:item] + script[item + 1 :] for item in range(len(script)))]:
                scripts = (*operator.scripts[:number], kept, *operator.scripts[number + 1 :])
                operators = (*config.operators[:at], with_scripts(operator, scripts), *config.operators[at + 1 :])
                yield attrs.evolve(config, operators=operators)


# --- in words -------------------------------------------------------------------------------------------------


def tell_job(case: JobCase) -> str:
    config = case.config
    lines = []
    for operator in config.operators:
        reads = [
            f"{next(one.name for one in config.operators if one.id == edge.source)} ({edge.partitioner or 'default'})"
            for edge in config.edges
            if edge.target == operator.id
        ]
        lines.append(
            f"{operator.name}: {operator.function} × {operator.parallelism}" + "".join(f", reads {r}" for r in reads)
        )
        for number, script in enumerate(operator.scripts):
            lines.append(f"  script {number}: " + (" · ".join(map(tell_item, script)) or "nothing") + " · end")
    return "\n".join(lines)


def tell_item(item: object) -> str:
    data = encode(item)
    kind = data.pop("type")
    return " ".join([kind, *(str(value) for value in data.values() if value is not None)])
