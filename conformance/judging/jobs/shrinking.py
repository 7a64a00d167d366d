"""Shrinks a failing job across the process border: the engine runs each candidate again.

Faults go first, then settings, operators, subtasks, then halves of all scripts and whole keys, then items. A real
engine is not deterministic: the rate of the failure decides how many attempts a smaller job gets.
"""

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import attrs

from tidegate.conformance.engines.base import Abilities
from tidegate.conformance.judging.jobs.drawing import can_run
from tidegate.conformance.judging.jobs.judging import AnyCase, AnyJudge, Judged
from tidegate.conformance.judging.jobs.queries import QueryCase, smaller_tables
from tidegate.conformance.judging.verdicts import Status
from tidegate.reference import elements
from tidegate.reference.job.layout import compute_layout
from tidegate.reference.job.programs import (
    EVENT_TIME,
    EXTENSION,
    Config,
    Edge,
    Function,
    Operator,
    Record,
    ScriptItem,
)
from tidegate.reference.model import InvalidInputError

#: Limits for one job: runs and seconds.
MOST_RUNS = 400
MOST_SECONDS = 400.0
#: A failure in this many runs in a row counts as certain, and every smaller job must then fail every time. An
#: uncertain one runs this often, to measure its rate.
SURE = 2
TRIES = 8
#: A smaller job must show the failure this often, so that its rate does not fall step by step; it gets enough
#: attempts for that if its rate is unchanged.
NEEDED = 2
MOST_CHANCES = 20

Item = TypeVar("Item")


def shrink_job(
    judge: AnyJudge[Any],
    judged: Judged,
    is_same: Callable[[Judged], bool],
    most: int = MOST_RUNS,
    seconds: float = MOST_SECONDS,
) -> Judged:
    """Remove everything that the failure does not need, while its rate stays the same."""
    shrinker = Shrinker(judge, is_same, most, seconds)
    shrinker.shrink(judged)
    return shrinker.smallest or judged


class Shrinker:
    """`smallest` is the last failing run of a job smaller than the first."""

    def __init__(self, judge: AnyJudge[Any], is_same: Callable[[Judged], bool], most: int, seconds: float) -> None:
        self.judge, self.is_same = judge, is_same
        self.most, self.runs = most, 0
        self.deadline = time.monotonic() + seconds
        self.chances = SURE
        self.smallest: Judged | None = None
        #: The engine was given up.
        self.is_given_up = False

    @property
    def is_over(self) -> bool:
        return self.is_given_up or self.runs >= self.most or time.monotonic() >= self.deadline

    def shrink(self, judged: Judged) -> None:
        """Each kind of reduction in turn, until none helps."""
        case: AnyCase = judged.case
        before = None
        while case != before and not self.is_over:
            before = case
            self.chances = self.count_chances(case)
            for reduce in REDUCTIONS:
                case = self.reduce(case, reduce)

    def reduce(self, case: AnyCase, reduce: "Reduction") -> AnyCase:
        """A candidate that did not help is not tried again in the same pass; one that helped yields to the next."""
        place = 0
        helped = True
        while helped:
            helped = False
            for candidate in islice(reduce(case, self.judge.abilities), place, None):
                if self.is_over:
                    return case
                if self.shows(candidate):
                    case, helped = candidate, True
                    break
                place += 1
        return case

    def count_chances(self, case: AnyCase) -> int:
        shown = [self.run(case) is not None for _ in range(SURE)]
        if all(shown):
            return SURE
        shown += [self.run(case) is not None for _ in range(TRIES - SURE)]
        return min(MOST_CHANCES, math.ceil(2 * NEEDED * TRIES / max(1, sum(shown))))

    def shows(self, case: AnyCase) -> bool:
        """Whether the job fails often enough within its attempts."""
        hits = 0
        for left in range(self.chances, 0, -1):
            if hits + left < NEEDED or self.is_over:
                return False
            shown = self.run(case)
            hits += shown is not None
            if shown is not None and hits == NEEDED:
                self.smallest = shown
                return True
        return False

    def run(self, case: AnyCase) -> Judged | None:
        """The verdict, if it is the same failure."""
        self.runs += 1
        judged = self.judge.run(case)
        self.is_given_up = judged.status is Status.NOT_RUN
        return judged if self.is_same(judged) else None


# --- reductions -------------------------------------------------------------------------------------------------

Reduction = Callable[[AnyCase, Abilities], Iterator[AnyCase]]


def fewer_faults(case: AnyCase, _abilities: Abilities) -> Iterator[AnyCase]:
    for at in range(len(case.faults)):
        yield attrs.evolve(case, faults=(*case.faults[:at], *case.faults[at + 1 :]))


def usual_settings(case: AnyCase, abilities: Abilities) -> Iterator[AnyCase]:
    usual = abilities.usual
    changed = [name for name, value in case.settings.items() if value != usual.get(name, value)]
    if len(changed) > 1:
        yield attrs.evolve(case, settings={**case.settings, **{name: usual[name] for name in changed}})
    for name in changed:
        yield attrs.evolve(case, settings={**case.settings, name: usual[name]})


def smaller_inputs(case: AnyCase, _abilities: Abilities) -> Iterator[AnyCase]:
    """For a query."""
    if isinstance(case, QueryCase):
        yield from smaller_tables(case, shorter)


def make_reduction(cut: "Cut") -> Reduction:
    def reduce(case: AnyCase, abilities: Abilities) -> Iterator[AnyCase]:
        if isinstance(case, QueryCase):
            return
        for config in smaller_configs(case.config, abilities, (cut,)):
            if abilities.idle_ends or not ends_idle(config):
                yield attrs.evolve(case, config=config)

    return reduce


def ends_idle(config: Config) -> bool:
    """Whether a source is idle when it ends."""
    scripts = [script for operator in config.operators for script in operator.scripts]
    statuses = [[item.status for item in script if isinstance(item, elements.StatusChange)] for script in scripts]
    return any(said and said[-1] is elements.Status.IDLE for said in statuses)


def smaller_configs(config: Config, abilities: Abilities, cuts: "tuple[Cut, ...]") -> Iterator[Config]:
    """Programs with fewer parts that the engine can still run."""
    seen = {config}
    for operators, edges in (parts for cut in cuts for parts in cut(config, abilities)):
        is_timed = any(one.function in EVENT_TIME for one in operators)
        extension = None if config.extension == EXTENSION and not is_timed else config.extension
        try:
            smaller = attrs.evolve(config, operators=operators, edges=edges, extension=extension)
        except InvalidInputError:
            continue
        if smaller not in seen and can_run(abilities, smaller) and (abilities.chaining or not is_chained(smaller)):
            seen.add(smaller)
            yield smaller


def is_chained(config: Config) -> bool:
    return any(len(task.operators) > 1 for task in compute_layout(config).tasks)


Parts = tuple[tuple[Operator, ...], tuple[Edge, ...]]
Script = tuple[ScriptItem, ...]
Cut = Callable[[Config, Abilities], Iterator[Parts]]


def fewer_operators(config: Config, _abilities: Abilities) -> Iterator[Parts]:
    """Without an operator and everything that only it fed; or with its readers reading its inputs."""
    for operator in config.operators:
        gone = {operator.id}
        while more := {edge.target for edge in config.edges if edge.source in gone} - gone:
            gone |= more
        fed = {edge.target for edge in config.edges}
        while more := {
            one.id
            for one in config.operators
            if one.id not in gone
            and one.function is not Function.SINK
            and all(edge.target in gone for edge in config.edges if edge.source == one.id)
        }:
            gone |= more
        operators = tuple(one for one in config.operators if one.id not in gone)
        if operators:
            yield operators, tuple(edge for edge in config.edges if not {edge.source, edge.target} & gone)
        sources = [edge for edge in config.edges if edge.target == operator.id]
        if operator.id in fed and operator.function is not Function.SINK and len(sources) == 1:
            around = tuple(
                attrs.evolve(edge, source=sources[0].source) if edge.source == operator.id else edge
                for edge in config.edges
                if edge.target != operator.id
            )
            yield tuple(one for one in config.operators if one is not operator), around


def narrower(config: Config, abilities: Abilities) -> Iterator[Parts]:
    return fewer_workers(config) if abilities.uniform else fewer_subtasks(config)


def fewer_subtasks(config: Config) -> Iterator[Parts]:
    for at, operator in enumerate(config.operators):
        if operator.parallelism > 1:
            one = attrs.evolve(operator, parallelism=1, scripts=operator.scripts[:1])
            yield (*config.operators[:at], one, *config.operators[at + 1 :]), config.edges
            for left in range(len(operator.scripts)):
                scripts = (*operator.scripts[:left], *operator.scripts[left + 1 :])
                fewer = attrs.evolve(operator, parallelism=len(scripts), scripts=scripts)
                yield (*config.operators[:at], fewer, *config.operators[at + 1 :]), config.edges


def fewer_workers(config: Config) -> Iterator[Parts]:
    """Sources one by one, all others together."""
    widths = {one.parallelism for one in config.operators if one.function is not Function.SOURCE}
    if widths - {1}:
        others = (one if one.scripts else attrs.evolve(one, parallelism=1) for one in config.operators)
        yield tuple(others), config.edges
    for operators, edges in fewer_subtasks(config):
        if widths == {one.parallelism for one in operators if one.function is not Function.SOURCE}:
            yield operators, edges


def thinner_scripts(config: Config, _abilities: Abilities) -> Iterator[Parts]:
    """All scripts at once: one half of each, then without records of a key, without watermarks, without statuses."""
    yield change_scripts(config, lambda script: script[: len(script) // 2]), config.edges
    yield change_scripts(config, lambda script: script[len(script) // 2 :]), config.edges
    items = [item for operator in config.operators for script in operator.scripts for item in script]
    kinds = dict.fromkeys(name_kind(item) for item in items)
    for kind in kinds if len(kinds) > 1 else ():
        yield change_scripts(config, partial(without, kind)), config.edges


def name_kind(item: ScriptItem) -> str:
    return f"{item.type} {item.key}" if isinstance(item, Record) else item.type


def without(kind: str, script: Script) -> Script:
    return tuple(item for item in script if name_kind(item) != kind)


def change_scripts(config: Config, change: Callable[[Script], Script]) -> tuple[Operator, ...]:
    return tuple(attrs.evolve(one, scripts=tuple(map(change, one.scripts))) for one in config.operators)


def shorter_scripts(config: Config, _abilities: Abilities) -> Iterator[Parts]:
    """Whole scripts first, then halves, quarters, and single items."""
    for at, operator in enumerate(config.operators):
        for number, script in enumerate(operator.scripts):
            for kept in shorter(script):
                scripts = (*operator.scripts[:number], kept, *operator.scripts[number + 1 :])
                yield (
                    (*config.operators[:at], attrs.evolve(operator, scripts=scripts), *config.operators[at + 1 :]),
                    config.edges,
                )


def shorter(script: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
    size = len(script)
    while size:
        for begin in range(0, len(script), size):
            yield script[:begin] + script[begin + size :]
        size //= 2


#: In their order.
CUTS: tuple[Cut, ...] = (fewer_operators, narrower, thinner_scripts, shorter_scripts)
REDUCTIONS: tuple[Reduction, ...] = (fewer_faults, usual_settings, *map(make_reduction, CUTS), smaller_inputs)
