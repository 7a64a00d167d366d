"""The kill matrix: each wrong engine of the museum against the suite, stage by stage until one catches it.

The row of an engine has for each stage: after how many cases and seconds, how short the shrunken trace is, and whether
the rule that is really broken is named at the step where it shows. The engines of a component run in one process, so
that its cases are made once, and right answers are computed once.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from functools import lru_cache, partial
from itertools import groupby, islice

import attrs

from tidegate.conformance.engines.base import Request
from tidegate.conformance.engines.museum.catalog import find
from tidegate.conformance.engines.museum.engines import Engine
from tidegate.conformance.engines.museum.wrong import Mutant
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.blame import blame, museum_rows
from tidegate.conformance.judging.expected import suspects
from tidegate.conformance.judging.judge_fast import Remembering
from tidegate.conformance.judging.metamorphic import check
from tidegate.conformance.judging.shrink import shrink, worth_shrinking
from tidegate.conformance.judging.suite import METAMORPHIC, STAGES, Budget, Planned, parts_of, plan
from tidegate.conformance.judging.trial import Encoder, Findings, Runner
from tidegate.conformance.judging.verdicts import VIOLATIONS, Status, Verdict
from tidegate.conformance.reports.summary import Summary
from tidegate.conformance.workers import cores, worker_pool
from tidegate.traces.cases import Case

#: How many cases a stage runs after the first failure, so that the kinds of failure can be compared.
AFTERWARDS = 300
#: How many wrong engines of a component run before their rows are reported: an interrupt loses no more.
TOGETHER = 4
#: How many replays the search for a smaller counterexample may take.
SHRINKING = 300
#: Stages that run even for engines already caught: what they find there helps the diagnosis.
TELLING = frozenset({"directed", "golden", "generated"})


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
    """One mutant: its kills by stage, without stages that did not catch it."""

    mutant: str
    component: str
    rule: str
    kills: tuple[Kill, ...]
    #: The rule that the diagnosis names for all its failures together, by the museum without itself.
    blamed: str | None = None
    #: The rules that it breaks.
    breaks: tuple[str, ...] = ()
    #: Processor seconds, in all stages, with shrinking.
    seconds: float = 0.0

    def kill(self, stage: str) -> Kill | None:
        return next((kill for kill in self.kills if kill.stage == stage), None)

    @property
    def caught_by(self) -> str | None:
        """The first stage that caught it."""
        return self.kills[0].stage if self.kills else None

    @property
    def named(self) -> bool:
        return any(kill.named for kill in self.kills)

    @property
    def first_named(self) -> str | None:
        return next((rule for kill in self.kills for rule in kill.rules), None)

    @property
    def smallest(self) -> int:
        return min((kill.events for kill in self.kills), default=0)


def make_matrix(
    names: Iterable[str], budget: Budget, *, every: bool = False, workers: int | None = None
) -> Iterator[list[Row]]:
    """Rows in groups of one component, as they become known; with `every`, each stage runs on its own."""
    yield from by_component(partial(examine_all, budget=budget, every=every), names, workers)


def by_component(
    work: Callable[[list[str]], list[Row]], names: Iterable[str], workers: int | None = None
) -> Iterator[list[Row]]:
    """The rows of the engines of a component, `TOGETHER` at a time from one worker; by default one worker per core.

    Components with many wrong engines come first, so that no worker waits long for the last.
    """
    components = [list(some) for _component, some in groupby(names, lambda name: find(name).component)]
    components.sort(key=len, reverse=True)
    parts = [some[first : first + TOGETHER] for some in components for first in range(0, len(some), TOGETHER)]
    with worker_pool(workers or cores()) as pool:
        for done in as_completed([pool.submit(work, part) for part in parts]):
            yield done.result()


def examine_all(names: Iterable[str], budget: Budget, *, every: bool = False) -> list[Row]:
    return [examine(name, budget, every=every) for name in names]


def examine(name: str, budget: Budget, *, every: bool = False) -> Row:
    mutant, started = find(name), time.process_time()
    caught = dict(catch_all(mutant, budget, every=every))
    # The first one counts, unless each runs on its own.
    counted = islice(caught.items(), None if every else 1)
    kills = tuple(make_kill(mutant, stage, one) for stage, one in counted)
    rule = find_blamed(mutant, caught.values())
    seconds = time.process_time() - started
    return Row(mutant.name, mutant.component, mutant.rule, kills, rule, mutant.rules, seconds)


def catch_all(mutant: Mutant, budget: Budget, *, every: bool = False) -> "Iterator[tuple[str, Caught]]":
    """The stages that catch a wrong engine: each, or the first and those after it that help the diagnosis."""
    is_caught = False
    for stage in STAGES:
        caught = catch(mutant, stage, budget) if every or not is_caught or stage in TELLING else None
        if caught is not None:
            is_caught = True
            yield stage, caught


def find_blamed(mutant: Mutant, caught: "Iterable[Caught]") -> str | None:
    """The rule that the diagnosis names for all failures of a wrong engine, by the museum without it."""
    known = museum_rows(mutant.component)[mutant]
    # Some of each kind, as a run keeps them.
    findings = Findings()
    for failure in (failure for one in caught for failure in one.failures):
        findings.take(failure)

    def ask(probes: Sequence[Case]) -> list[Verdict]:
        # The museum was asked before.
        return [known[one.name].verdict if one.name in known else Verdict(one, "probe", Status.PASS) for one in probes]

    small = [make_small(mutant, one) for one in worth_shrinking(findings.kept)]
    blamed = blame(mutant.component, ask, findings.kept, small, without=[mutant.name])
    return blamed.rules[0] if blamed else None


def blame_all(names: Iterable[str], budget: Budget) -> list[Row]:
    """Rows without kills, only with the diagnosis."""
    rows = []
    for mutant in map(find, names):
        rule = find_blamed(mutant, [one for _stage, one in catch_all(mutant, budget)])
        rows.append(Row(mutant.name, mutant.component, mutant.rule, (), rule, mutant.rules))
    return rows


@attrs.frozen
class Caught:
    """The failures of a wrong engine in a stage; the first one was in this case, after these seconds."""

    cases: int
    seconds: float
    failures: list[Verdict]


def catch(mutant: Mutant, stage: str, budget: Budget) -> Caught | None:
    engine = InProcess(Engine(mutant.name))
    started = time.process_time()
    caught: Caught | None = None
    for cases, verdict in enumerate(verdicts_on(engine, mutant.component, stage, budget), start=1):
        if verdict.status in VIOLATIONS:
            caught = caught or Caught(cases, time.process_time() - started, [])
            caught.failures.append(verdict)
        if caught is not None and cases >= caught.cases + AFTERWARDS:
            break
    return caught


def make_small(mutant: Mutant, verdict: Verdict) -> Verdict:
    return shrink(Runner(InProcess(Engine(mutant.name))), verdict, SHRINKING).verdict


def make_kill(mutant: Mutant, stage: str, caught: Caught) -> Kill:
    shrunken = make_small(mutant, next(worth_shrinking(caught.failures)))
    rules, length = suspects(shrunken), len(shrunken.case.events)
    return Kill(stage, caught.cases, caught.seconds, length, rules, bool(set(rules) & set(mutant.rules)))


def verdicts_on(engine: InProcess, component: str, stage: str, budget: Budget) -> Iterator[Verdict]:
    if stage == METAMORPHIC:
        yield from check(Runner(engine).replies, engine.start(), component, budget)
        return
    known = known_of(component, budget)
    for asked, (_request, reply) in zip(
        known.asked(stage), engine.replay(one.request for one in known.asked(stage)), strict=False
    ):
        yield known.judge.reach(asked.planned.case, stage, reply)


@attrs.frozen
class Asked:
    planned: Planned
    request: Request


@attrs.define
class Known:
    """The cases of a component by stage, made when the first engine needs them, and the judge of all its engines."""

    component: str
    budget: Budget
    judge: Remembering = attrs.Factory(Remembering)
    _asked: dict[str, list[Asked]] = attrs.Factory(dict)

    def asked(self, stage: str) -> list[Asked]:
        if stage not in self._asked:
            # All wrong engines declare what the right one does.
            description, encoder = InProcess(Engine()).start(), Encoder()
            parts = parts_of(self.component, attrs.evolve(self.budget, stages=(stage,)))
            planned = (one for part in parts for one in plan(description, self.component, part))
            self._asked[stage] = [Asked(one, encoder.request(one.case)) for one in planned]
        return self._asked[stage]


@lru_cache(maxsize=1)
def known_of(component: str, budget: Budget) -> Known:
    return Known(component, budget)


# --- as a table -------------------------------------------------------------------------------------------------

COLUMNS = "wrong engine", "breaks", "caught by", "cases", "s", "events", "names first", "blamed", "s in all"
NUMBERS = {"cases", "s", "events", "s in all"}


def begin_table() -> str:
    return f"| {' | '.join(COLUMNS)} |\n|{'|'.join('---:' if name in NUMBERS else '---' for name in COLUMNS)}|"


def show_row(row: Row) -> str:
    return f"| {' | '.join(map(str, cells_of(row, lambda rule: f'*{rule}*', '**nothing**')))} |"


def cells_of(row: Row, unbroken: Callable[[str], str], nothing: str) -> list[str | int]:
    """A row as texts; `unbroken` writes a rule that is named although the engine keeps it."""
    first = row.kills[0] if row.kills else None
    stages = ", ".join(kill.stage for kill in row.kills) or nothing
    counts = (str(first.cases), f"{first.seconds:.2f}") if first else ("", "")
    rules = [rule and (rule if rule in row.breaks else unbroken(rule)) for rule in (row.first_named, row.blamed)]
    return [row.mutant, row.rule, stages, *counts, row.smallest, *(rule or "" for rule in rules), f"{row.seconds:.1f}"]


def summary_of(rows: list[Row]) -> Summary:
    """The matrix in the format of other commands."""
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


def count_by_component(rows: Iterable[Row]) -> str:
    """A table with a row per component: how many each stage catches first, and how many are named."""
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row.component, []).append(row)
    head = ("component", "wrong engines", *STAGES, "named first", "blamed first")
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for name, some in sorted(by_name.items()):
        caught = [sum(row.caught_by == stage for row in some) for stage in STAGES]
        named, blamed = (
            sum(rule in row.breaks for rule, row in pairs)
            for pairs in ([(row.first_named, row) for row in some], [(row.blamed, row) for row in some])
        )
        lines.append(f"| {name} | {' | '.join(map(str, (len(some), *caught, named, blamed)))} |")
    return "\n".join(lines)


def sum_up(rows: list[Row]) -> str:
    of = f"of {len(rows)}"
    lines = [f"- {stage}: {sum(row.caught_by == stage for row in rows)} {of} caught" for stage in STAGES]
    caught = sum(bool(row.kills) for row in rows)
    named, first = sum(row.named for row in rows), sum(row.first_named in row.breaks for row in rows)
    lines.append(f"- all stages: {caught} {of} caught; the broken rule is named for {named}, first for {first}")
    return "\n".join([*lines, sum_up_blame(rows)])


def sum_up_blame(rows: list[Row]) -> str:
    """How many diagnoses are right; engines not caught, or only by comparing cases, have none."""
    right = sum(row.blamed in row.breaks for row in rows)
    share = f" ({100 * right / len(rows):.1f} %)" if rows else ""
    by = "by the museum without the engine itself"
    return f"- the broken rule is blamed first, {by}, for {right} of {len(rows)}{share}"
