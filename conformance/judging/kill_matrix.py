"""The kill matrix: each wrong engine of the museum against each stage of the suite, on its own.

For each stage: whether it catches the engine, after how many cases and seconds, how small the shrunken trace is, and
whether the rule that is really broken is named at the step where it shows.
"""

import time
from collections.abc import Callable, Iterable, Iterator

import attrs

from tidegate.conformance.engines.museum.catalog import Mutant, find
from tidegate.conformance.engines.museum.engines import Engine
from tidegate.conformance.engines.python import InProcess
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.blame import answers_of, blame
from tidegate.conformance.judging.judge import suspects
from tidegate.conformance.judging.shrink import shrink_findings
from tidegate.conformance.judging.suite import STAGES, Budget
from tidegate.conformance.judging.trial import Runner, Trial
from tidegate.conformance.judging.verdicts import VIOLATIONS, Verdict
from tidegate.conformance.reports.summary import Summary
from tidegate.conformance.workers import worker_pool

#: After the first failure a stage goes on for so many cases, so that the kinds of failure can be compared.
AFTERWARDS = 300


@attrs.frozen
class Kill:
    """How one stage caught a mutant."""

    stage: str
    cases: int
    seconds: float
    events: int
    rules: tuple[str, ...]
    named: bool


@attrs.frozen
class Row:
    """One mutant: its kills by stage; a stage that did not catch it is missing."""

    mutant: str
    component: str
    rule: str
    kills: tuple[Kill, ...]
    #: The rule that is blamed for all its failures together, by the museum without itself.
    blamed: str | None = None
    #: The rules that it breaks.
    breaks: tuple[str, ...] = ()
    #: In all stages, with shrinking.
    seconds: float = 0.0

    def kill(self, stage: str) -> Kill | None:
        return next((kill for kill in self.kills if kill.stage == stage), None)

    @property
    def named(self) -> bool:
        return any(kill.named for kill in self.kills)

    @property
    def first_named(self) -> str | None:
        return next((rule for kill in self.kills for rule in kill.rules), None)

    @property
    def smallest(self) -> int:
        return min((kill.events for kill in self.kills), default=0)


def make_matrix(names: Iterable[str], budget: Budget, workers: int = 2) -> Iterator[Row]:
    """The rows in the order of the names, each as soon as it and those before it are known."""
    wanted = list(names)
    with worker_pool(workers) as pool:
        yield from pool.map(examine, wanted, [budget] * len(wanted))


def examine(name: str, budget: Budget) -> Row:
    mutant, started = find(name), time.perf_counter()
    kills = [kill for stage in STAGES if (kill := try_stage(mutant, stage, budget)) is not None]
    blamed = blame(mutant.component, lambda cases: answers_of(mutant, cases), without=[mutant.name])
    rule = blamed.rules[0] if blamed else None
    seconds = time.perf_counter() - started
    return Row(mutant.name, mutant.component, mutant.rule, tuple(kills), rule, mutant.rules, seconds)


def try_stage(mutant: Mutant, stage: str, budget: Budget) -> Kill | None:
    engine = InProcess(Engine(mutant.name))
    started = time.perf_counter()
    caught = 0
    seconds = 0.0
    failures: list[Verdict] = []
    verdicts = Trial(Runner(engine)).try_component(mutant.component, attrs.evolve(budget, stages=(stage,)))
    for cases, verdict in enumerate(verdicts, start=1):
        if verdict.status in VIOLATIONS:
            if not failures:
                caught, seconds = cases, time.perf_counter() - started
            failures.append(verdict)
        if failures and cases >= caught + AFTERWARDS:
            break
    if not failures:
        return None
    shrunken = [one.verdict for one in shrink_findings(engine, failures)]
    rules = tuple(dict.fromkeys(rule for verdict in shrunken for rule in suspects(verdict)))
    events = min(len(verdict.case.events) for verdict in shrunken)
    return Kill(stage, caught, seconds, events, rules, bool(set(rules) & set(mutant.rules)))


# --- as a table -------------------------------------------------------------------------------------------------

COLUMNS = "wrong engine", "breaks", "caught by", "cases", "s", "also by", "events", "names first", "blamed", "s in all"
NUMBERS = {"cases", "s", "events", "s in all"}


def begin_table() -> str:
    return f"| {' | '.join(COLUMNS)} |\n|{'|'.join('---:' if name in NUMBERS else '---' for name in COLUMNS)}|"


def show_row(row: Row) -> str:
    return f"| {' | '.join(map(str, cells_of(row, lambda rule: f'*{rule}*', '**nothing**')))} |"


def cells_of(row: Row, unbroken: Callable[[str], str], nothing: str) -> list[str | int]:
    """A row as texts; `unbroken` writes a rule that is named although the engine keeps it."""
    first, *others = row.kills or (None,)
    caught = (first.stage, str(first.cases), f"{first.seconds:.2f}") if first else (nothing, "", "")
    also = ", ".join(kill.stage for kill in others if kill)
    rules = [rule and (rule if rule in row.breaks else unbroken(rule)) for rule in (row.first_named, row.blamed)]
    return [row.mutant, row.rule, *caught, also, row.smallest, *(rule or "" for rule in rules), f"{row.seconds:.1f}"]


def summary_of(rows: list[Row]) -> Summary:
    """The matrix as other commands tell what they found."""
    free = [row.mutant for row in rows if not row.kills]
    return Summary(
        title="The kill matrix: every wrong engine of the museum against the suite",
        header=COLUMNS,
        rows=tuple(tuple(cells_of(row, lambda rule: f"{rule} (kept)", "nothing")) for row in rows),
        findings=tuple(f"{name} is not caught" for name in free),
        notes=tuple(line.removeprefix("- ") for line in sum_up(rows).splitlines()),
        conclusion=f"{len(rows) - len(free)} of {len(rows)} wrong engines are caught",
        exit_code=Exit.VIOLATIONS if free else Exit.CONFORMANT,
    )


def sum_up(rows: list[Row]) -> str:
    of = f"of {len(rows)}"
    lines = [f"- {stage}: {sum(row.kill(stage) is not None for row in rows)} {of} caught" for stage in STAGES]
    caught = sum(bool(row.kills) for row in rows)
    named, first = sum(row.named for row in rows), sum(row.first_named in row.breaks for row in rows)
    blamed = sum(row.blamed in row.breaks for row in rows)
    lines.append(f"- all stages: {caught} {of} caught; the broken rule is named for {named}, first for {first}")
    lines.append(f"- the broken rule is blamed first, by the museum without the engine itself, for {blamed} {of}")
    return "\n".join(lines)
