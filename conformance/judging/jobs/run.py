"""Random whole jobs on a real cluster: run one by one, judged, counted, and of each kind of trouble one made small."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import attrs

from tidegate.conformance.engines.flink.jobs.cluster import Cluster
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.jobs.drawing import draw_job
from tidegate.conformance.judging.jobs.judging import Judged, run_job, shrink_job, tell_job
from tidegate.traces.codec import encode


@attrs.define
class JobsResult:
    """What the jobs have shown. `kinds` and `known` count what is wrong, and defects that are known to be there."""

    version: str
    seed: int
    task_managers: int
    counts: Counter[str] = attrs.Factory(Counter)
    invariants: dict[str, Counter[str]] = attrs.Factory(dict)
    kinds: Counter[str] = attrs.Factory(Counter)
    known: Counter[str] = attrs.Factory(Counter)
    examples: dict[str, Judged] = attrs.Factory(dict)

    @property
    def wrong(self) -> int:
        return self.counts["wrong"]

    @property
    def exit_code(self) -> Exit:
        return Exit.VIOLATIONS if self.wrong else Exit.CONFORMANT

    def take(self, judged: Judged, cluster: Cluster) -> None:
        self.counts["jobs"] += 1
        self.counts["explained"] += judged.explained and not judged.wrongs
        if judged.log is not None:
            self.counts["rows"] += len(judged.log.rows)
            self.counts["records"] += sum(row.kind == "record" and row.dir == "in" for row in judged.log.rows)
        for verdict in judged.verdicts:
            self.invariants.setdefault(verdict.invariant, Counter())[verdict.status] += 1
        for defect in judged.known:
            self.known[defect] += 1
            self.keep(defect, judged, cluster, lambda again, defect=defect: defect in again.known)
        if judged.wrongs:
            self.counts["wrong"] += 1
            kind = kind_of(judged)
            self.kinds[kind] += 1
            self.keep(kind, judged, cluster, lambda again: bool(again.wrongs) and kind_of(again) == kind)

    def keep(self, kind: str, judged: Judged, cluster: Cluster, is_same: Callable[..., bool]) -> None:
        if kind not in self.examples:
            self.examples[kind] = shrink_job(cluster, judged, is_same)

    def json(self) -> dict[str, Any]:
        return {
            "engine": f"flink:{self.version}",
            "seed": self.seed,
            "task_managers": self.task_managers,
            **{name: self.counts[name] for name in ("jobs", "explained", "rows", "records", "wrong")},
            "invariants": {name: dict(counts) for name, counts in self.invariants.items()},
            "kinds": dict(self.kinds),
            "known_defects": dict(self.known),
            "examples": {
                kind: {"wrongs": list(one.wrongs), "config": encode(one.case.config)}
                for kind, one in self.examples.items()
            },
        }

    def text(self) -> str:
        counts = self.counts
        where = f"Flink {self.version}, {counts['jobs']} jobs on {self.task_managers} task managers"
        lines = [
            f"{where}: {counts['rows']} rows, {counts['records']} records received.",
            f"{counts['explained']} runs are runs of the specification, subtask by subtask; {self.wrong} are wrong.",
            "",
        ]
        lines += [f"{name:14} {', '.join(f'{n} {s}' for s, n in one.items())}" for name, one in self.invariants.items()]
        for kind, example in self.examples.items():
            often = self.known[kind] or self.kinds[kind]
            what = "known defect" if kind in self.known else "wrong"
            lines += ["", f"{what}: {kind} ({often} jobs). A small one:", tell_job(example.case)]
            lines += [f"  {wrong}" for wrong in example.wrongs[:3]]
        return "\n".join(lines)


def kind_of(judged: Judged) -> str:
    """The first words of the first complaint."""
    return str(judged.wrongs[0]).partition("\n")[0].partition(": channel")[0][:100]


def run_jobs(
    version: str, jobs: int, seed: int, task_managers: int, observe: Callable[[Judged, JobsResult], None]
) -> JobsResult:
    """So many jobs on Flink; `observe` is told of each."""
    result = JobsResult(version, seed, task_managers)
    with Cluster(version, task_managers, 1) as cluster:
        for index in range(jobs):
            judged = run_job(cluster, draw_job(seed, index))
            result.take(judged, cluster)
            observe(judged, result)
    return result
