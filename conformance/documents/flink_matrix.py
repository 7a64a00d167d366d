"""The version matrix: what each release of Flink does with the cases of each component, and why where it differs.

A release is held to the semantics that it declares, which may be a dated one. What differs beyond that is listed in
`conformance/expected/`, each entry with the number of the ticket; a difference that nothing explains is what the matrix
is for. Whole jobs are a row of their own.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from importlib import resources

import attrs

from tidegate.conformance.engines import Engine
from tidegate.conformance.engines.flink.jobs.compiling import OLDEST
from tidegate.conformance.engines.flink.jobs.engine import FlinkJobs
from tidegate.conformance.judging.expectations import Expectations, parse_expectations
from tidegate.conformance.judging.jobs.drawing import draw_job
from tidegate.conformance.judging.jobs.explanation import END_OF_TIME
from tidegate.conformance.judging.jobs.judging import Judge, Judged
from tidegate.conformance.judging.suite import Budget, declared_components
from tidegate.conformance.judging.trial import Runner, Tally, Trial
from tidegate.conformance.judging.verdicts import Status
from tidegate.conformance.kinds import resolve

STAGES = ("directed", "golden", "generated")
JOB = "job"


@attrs.frozen
class Cell:
    """One component of one version. `explained` counts differences by their reason, `unexplained` shows some."""

    version: str
    component: str
    semantics: tuple[str, ...]
    agreed: int
    explained: dict[str, int]
    unexplained: tuple[str, ...]

    @property
    def cases(self) -> int:
        return self.agreed + sum(self.explained.values()) + len(self.unexplained)


def make_matrix(versions: Iterable[str], budget: Budget, jobs: int) -> Iterator[Cell]:
    for version in versions:
        with resolve(f"flink:{version}") as engine:
            for component in declared_components(engine.start()):
                yield examine(engine, version, component, attrs.evolve(budget, stages=STAGES))
        if jobs and tuple(map(int, version.split(".")))[:2] >= OLDEST:
            yield examine_jobs(version, budget.seed, jobs)


def examine(engine: Engine, version: str, component: str, budget: Budget) -> Cell:
    description = engine.start()
    agreed, known, unknown = 0, Counter[str](), []
    for one in Trial(Runner(engine), Tally(expectations_of(version))).try_component(component, budget):
        if one.status is Status.XFAIL:
            known[one.message.removeprefix("expected: ")] += 1
        elif one.status in (Status.PASS, Status.SKIP):
            agreed += 1
        else:
            unknown.append(f"{one.case.name}: {', '.join(one.rules) or one.message.splitlines()[0]}")
    semantics = description.components[component].semantics
    return Cell(
        version,
        component,
        tuple(sorted(semantics or ())),
        agreed,
        dict(known),
        tuple(unknown),
    )


def expectations_of(version: str) -> Expectations:
    file = resources.files("tidegate.conformance.judging").joinpath("expected", f"flink-{version}.txt")
    name = f"expected/flink-{version}.txt"
    return parse_expectations(file.read_text(encoding="utf-8"), name) if file.is_file() else Expectations()


def examine_jobs(version: str, seed: int, jobs: int) -> Cell:
    explained: Counter[str] = Counter()
    unexplained: list[str] = []
    agreed = 0
    with FlinkJobs(version) as engine:
        judge = Judge(engine)
        usual = attrs.evolve(judge.abilities, settings={})  # releases are compared as they are used
        for index in range(jobs):
            judged = judge.run(draw_job(seed, index, usual))
            if not judged.wrongs:
                agreed += 1
            elif reason := reason_for(version, judged):
                explained[reason] += 1
            else:
                unexplained.append(f"{judged.case.name}: {str(judged.wrongs[0]).splitlines()[0]}")
    return Cell(version, JOB, (), agreed, dict(explained), tuple(unexplained))


def reason_for(version: str, judged: Judged) -> str:
    """Why a job is not as it should be, if that is known."""
    if version == "1.17.0" and "StatusWatermarkValve" in judged.wrongs[0].message:
        return "FLINK-31628: the valve dies, and the job with it"
    if {wrong.name for wrong in judged.wrongs} == {END_OF_TIME}:
        return "FLINK-40499: a source that ends while it is idle does not say that event time is over"
    return ""


# --- as a page ------------------------------------------------------------------------------------------------


def as_page(cells: list[Cell], budget: Budget, today: date) -> str:
    versions = list(dict.fromkeys(cell.version for cell in cells))
    by_place = {(cell.version, cell.component): cell for cell in cells}
    components = list(dict.fromkeys(cell.component for cell in cells))
    lines = [
        "# Flink, version by version",
        "",
        f"Written by `make flink-matrix` on {today.isoformat()}, seed {budget.seed}, {budget.cases} generated cases a",
        "component besides the directed and golden ones. The real classes of each release replay the cases; the",
        "specification judges. A number alone: so many cases, all as specified. `a / b`: b of a cases differ, and the",
        "differences are explained below. **Bold**: some are not explained. Empty: the release lacks the classes, or",
        "they cannot be driven.",
        "",
        "| | " + " | ".join(versions) + " |",
        "|---|" + "---:|" * len(versions),
    ]
    for component in sorted(components, key=lambda name: name == JOB):
        shown = [show(by_place.get((version, component))) for version in versions]
        lines.append(f"| {component} | " + " | ".join(shown) + " |")
    return "\n".join([*lines, *tell_differences(cells), *tell_semantics(cells)]) + "\n"


def show(cell: Cell | None) -> str:
    if cell is None:
        return ""
    differing = cell.cases - cell.agreed
    text = f"{cell.cases} / {differing}" if differing else str(cell.cases)
    return f"**{text}**" if cell.unexplained else text


def tell_differences(cells: list[Cell]) -> Iterator[str]:
    yield from ("", "## What differs, and why", "")
    told = [
        f"- {cell.version}, {cell.component}: {count} cases. {reason}."
        for cell in cells
        for reason, count in cell.explained.items()
    ]
    told += [
        f"- **{cell.version}, {cell.component}: {len(cell.unexplained)} cases that nothing explains**, such as "
        f"{cell.unexplained[0]}."
        for cell in cells
        if cell.unexplained
    ]
    yield from told or ["Nothing."]


def tell_semantics(cells: list[Cell]) -> Iterator[str]:
    yield from (
        "",
        "## Dated semantics that a release is held to",
        "",
        "| component | semantics | releases |",
        "|---|---|---|",
    )
    held: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for cell in cells:
        if cell.semantics:
            held.setdefault((cell.component, cell.semantics), []).append(cell.version)
    for (component, semantics), versions in held.items():
        yield f"| {component} | {', '.join(semantics)} | {', '.join(versions)} |"
