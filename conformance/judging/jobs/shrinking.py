"""A job that shows a fault, made small across the border: the engine runs each candidate again.

Faults go first, then settings, operators, subtasks, scripts, items.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import attrs

from tidegate.conformance.engines.base import Abilities
from tidegate.conformance.judging.jobs.judging import AnyCase, AnyJudge, Judged
from tidegate.conformance.judging.jobs.queries import QueryCase, smaller_tables
from tidegate.conformance.judging.jobs.reading import is_readable
from tidegate.conformance.judging.verdicts import Status
from tidegate.reference import elements
from tidegate.reference.job.layout import compute_layout
from tidegate.reference.job.programs import Config, Edge, Function, Operator
from tidegate.reference.model import InvalidInputError

#: Runs and seconds that are spent on one job.
MOST_RUNS = 240
MOST_SECONDS = 120.0
#: A fault that shows so often in a row is one that always shows, and every smaller job must do the same. One that does
#: not is a matter of luck, and a smaller job gets so many chances.
SURE = 2
CHANCES = 4

Item = TypeVar("Item")


def shrink_job(
    judge: AnyJudge[Any], judged: Judged, is_same: Callable[[Judged], bool], most: int = MOST_RUNS
) -> Judged:
    """Leave out whatever can be left out while the fault stays, and stays as likely as it was."""
    deadline = time.monotonic() + MOST_SECONDS
    runs = SURE

    def is_over() -> bool:
        return runs >= most or time.monotonic() > deadline

    is_sure = all(is_same(judge.run(judged.case)) for _ in range(SURE))
    smaller = True
    while smaller and not is_over():
        smaller = False
        for case in smaller_cases(judged.case, judge.abilities):
            again = []
            for _ in range(SURE if is_sure else CHANCES):
                runs += 1
                candidate = judge.run(case)
                if candidate.status is Status.NOT_RUN:
                    return judged  # nobody is left to ask
                if is_same(candidate):
                    again.append(candidate)
                if is_sure != is_same(candidate):
                    break
            if len(again) >= (SURE if is_sure else 1):
                judged, smaller = again[-1], True
                break
            if is_over():
                break
    return judged


def smaller_cases(case: AnyCase, abilities: Abilities) -> Iterator[AnyCase]:
    for at in range(len(case.faults)):
        yield attrs.evolve(case, faults=(*case.faults[:at], *case.faults[at + 1 :]))
    usual = {name: values[0] for name, values in abilities.settings.items()}
    changed = [name for name, value in case.settings.items() if value != usual.get(name, value)]
    if len(changed) > 1:
        yield attrs.evolve(case, settings={**case.settings, **{name: usual[name] for name in changed}})
    for name in changed:
        yield attrs.evolve(case, settings={**case.settings, name: usual[name]})
    if isinstance(case, QueryCase):
        yield from smaller_tables(case, shorter)
        return
    for config in smaller_configs(case.config, abilities):
        if abilities.idle_ends or not ends_idle(config):
            yield attrs.evolve(case, config=config)


def ends_idle(config: Config) -> bool:
    """Whether a source is idle when it ends."""
    scripts = [script for operator in config.operators for script in operator.scripts]
    statuses = [[item.status for item in script if isinstance(item, elements.StatusChange)] for script in scripts]
    return any(said and said[-1] is elements.Status.IDLE for said in statuses)


def smaller_configs(config: Config, abilities: Abilities) -> Iterator[Config]:
    """Programs of fewer parts, as long as they are programs that the engine can run."""
    seen = {config}
    narrower = fewer_workers(config) if abilities.uniform else fewer_subtasks(config)
    for operators, edges in (*fewer_operators(config), *narrower, *shorter_scripts(config)):
        try:
            smaller = attrs.evolve(config, operators=operators, edges=edges)
        except InvalidInputError:
            continue
        if smaller not in seen and is_readable(smaller) and (abilities.chaining or not is_chained(smaller)):
            seen.add(smaller)
            yield smaller


def is_chained(config: Config) -> bool:
    return any(len(task.operators) > 1 for task in compute_layout(config).tasks)


Parts = tuple[tuple[Operator, ...], tuple[Edge, ...]]


def fewer_operators(config: Config) -> Iterator[Parts]:
    """Without an operator and all that only it fed; or with its readers reading what it read."""
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


def shorter_scripts(config: Config) -> Iterator[Parts]:
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
