"""Diagnosis: the rule that an engine most likely breaks, from many failures of a component together.

One failure shows where a bug came to light, which is not always where it is. So the engine runs probes: short cases
that tell the wrong engines of the museum apart. Its answers are compared with theirs. A wrong engine that gives exactly
the same wrong answers, to the probes and to all earlier failures, is a twin: its story is the diagnosis. Without a
twin, rules are ranked by how well they explain which probes fail:

- a rule that is at work in probes that fail and in few that pass (the measure of Ochiai, of fault localisation),
- a rule that decides the steps that fail, above all in the shortest probes,
- a rule that directed traces are about, if most of these traces fail,
- a rule that wrong engines break which fail in the same probes, at the same steps, in the same fields,
- if a case is one event, and many rules are at work in each: above all a rule about the fields that are wrong.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import sqrt
from typing import Any

import attrs

from tidegate.conformance.engines.museum import catalog, engines
from tidegate.conformance.engines.museum.wrong import Mutant
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.judging.convictions import convictions
from tidegate.conformance.judging.expected import expected_rules
from tidegate.conformance.judging.golden import read_golden
from tidegate.conformance.judging.judge import unique
from tidegate.conformance.judging.judge_fast import Judge, Remembering
from tidegate.conformance.judging.suite import Planned
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.properties.drawing.directed import directed
from tidegate.traces.cases import Case
from tidegate.traces.codec import encode

#: How many golden traces are probes, besides the cases that convict the wrong engines of the museum.
GOLDEN_PROBES = 120
#: Some wrong engines need tens of thousands of events to be convicted: running all of them would take too long.
LONGEST_PROBE = 1000
#: How many failures of the run are compared with the probes, those that were shrunken first.
SHORTEST = 5
#: The weight of each reason, chosen on the whole museum, each engine without itself: `tidegate museum --blame`
#: says for how many of its engines the broken rule is named first.
WEIGHTS = {
    "ochiai": 2.5,
    "always": 1.0,
    "deciding": 0.5,
    "shortest": 0.25,
    "subject": 0.5,
    "alike": 1.75,
    "kin": 1.5,
    "fields": 0.3,
    "told": 1.5,
}


Ask = Callable[[Sequence[Case]], Iterable[Verdict]]


@attrs.frozen
class Blame:
    """What is likely wrong with a component."""

    component: str
    #: Most likely first.
    rules: tuple[str, ...]
    #: How many failures were compared, of the run and of the probes.
    failures: int
    #: The wrong engine of the museum that gives exactly the same wrong answers, if there is one.
    twin: str | None = None
    story: str = ""

    def text(self) -> str:
        if self.twin is not None:
            return (
                f"Likely cause: {self.component} behaves like {self.twin} on all {self.failures} failures compared: "
                f"{self.rules[0]}. {self.story}"
            )
        many = f"{self.failures} failure{'s' * (self.failures != 1)}"
        others = f", then {', '.join(self.rules[1:3])}" if self.rules[1:] else ""
        return f"Likely cause: {self.component} breaks {self.rules[0]}{others} (by {many})."


def blame(
    component: str,
    ask: Ask,
    failures: Iterable[Verdict] = (),
    small: Iterable[Verdict] = (),
    without: Iterable[str] = (),
) -> Blame | None:
    """The diagnosis; None if nothing fails.

    `ask` gives the verdicts of the engine on cases, `failures` are those known before, `small` are those of them that
    were shrunken. The wrong engines in `without` are ignored.
    """
    probes = [probe for probe in probes_of(component) if probe.name not in without]
    verdicts = [verdict for verdict in ask(probes) if verdict.status is not Status.SKIP]
    mine = failures_among(verdicts)
    shown = [verdict for verdict in failures if verdict.violation is not None]
    if not mine and not shown:
        return None
    asked = {verdict.case.name for verdict in verdicts}
    others = {
        mutant: {name: wrong for name, wrong in row.items() if name in asked}
        for mutant, row in museum_rows(component).items()
        if mutant.name not in without
    }
    ranked = rank(component, asked, mine, others, [*rename(small), *shortest_of(shown, asked)][:SHORTEST])
    alike = [mutant for mutant, row in others.items() if mine and is_twin(mine, row)]
    twins = [mutant for mutant in alike if all(map(is_alike, shown, answers_of(mutant, cases_of(shown))))]
    if not twins:
        return Blame(component, ranked, len(mine) + len(shown))
    # If there are several twins, the one that breaks the most likely rule.
    twin = min(twins, key=lambda mutant: ranked.index(mutant.rule))
    return Blame(component, unique((twin.rule, *ranked)), len(mine) + len(shown), twin.name, twin.story)


# --- probes -----------------------------------------------------------------------------------------------------


@cache
def probes_of(component: str) -> tuple[Case, ...]:
    """The cases that convict the wrong engines of the museum, and golden traces, each once."""
    short = [case for case in convictions(component).values() if len(case.events) <= LONGEST_PROBE]
    known = {(case.config, case.events): case for case in (*read_golden(component)[:GOLDEN_PROBES], *short)}
    return tuple(known.values())


@cache
def rules_at_work(component: str) -> Mapping[str, list[tuple[str, ...]]]:
    """The rules of each step, per probe."""
    return {probe.name: expected_rules(probe) for probe in probes_of(component)}


@cache
def museum_rows(component: str) -> "Mapping[Mutant, Row]":
    """What each wrong engine answers wrongly."""
    # The right answers are the same for all of them.
    judge = Remembering()
    return {
        mutant: failures_among(answers_of(mutant, probes_of(component), judge))
        for mutant in catalog.mutants_of(component)
    }


def answers_of(mutant: Mutant, cases: Sequence[Case], judge: Judge | None = None) -> Iterator[Verdict]:
    return Runner(InProcess(engines.Engine(mutant.name)), judge).run(Planned("probe", case) for case in cases)


def cases_of(verdicts: Iterable[Verdict]) -> list[Case]:
    return [verdict.case for verdict in verdicts]


def rename(small: Iterable[Verdict]) -> Iterator[Verdict]:
    """Shrunken cases lose their names, which no longer describe them."""
    told = (verdict for verdict in small if verdict.violation is not None)
    for number, one in enumerate(told):
        yield attrs.evolve(one, case=attrs.evolve(one.case, name=f"small {number}"))


def shortest_of(shown: Iterable[Verdict], asked: Collection[str]) -> list[Verdict]:
    """Failures of the run that are not probes, those that fail earliest first."""
    more = (one for one in shown if one.case.name not in asked)
    return sorted(more, key=lambda one: (step_of(one), len(one.case.events), one.case.name))


# --- likeness ---------------------------------------------------------------------------------------------------


def is_alike(one: Verdict, other: Verdict) -> bool:
    """The same verdict, at the same step, for the same answer."""
    if one.violation is None or other.violation is None:
        return one.status is other.status
    return (one.violation.step, one.violation.seen) == (other.violation.step, other.violation.seen)


@attrs.frozen
class Wrong:
    """A wrong answer to a probe: the step, the fields that are wrong there, and the verdict."""

    step: int
    fields: frozenset[str]
    verdict: Verdict


#: The probes that an engine answers wrongly, by name.
Row = Mapping[str, Wrong]


def failures_among(verdicts: Iterable[Verdict]) -> Row:
    return {
        verdict.case.name: Wrong(step_of(verdict), fields_of(verdict), verdict)
        for verdict in verdicts
        if verdict.status not in (Status.PASS, Status.SKIP)
    }


def is_twin(mine: Row, other: Row) -> bool:
    return mine.keys() == other.keys() and all(is_alike(mine[name].verdict, other[name].verdict) for name in mine)


def likeness(mine: Row, other: Row) -> float:
    """From 0 to 1, over the probes that one of the two fails: the same probe, step, fields, and answer."""
    points = 0
    for name in mine.keys() & other.keys():
        one, another = mine[name], other[name]
        points += 1 + (one.step == another.step) + (one.fields == another.fields)
        points += is_alike(one.verdict, another.verdict)
    failed = len(mine.keys() | other.keys())
    return points / (4 * failed) if failed else 0.0


def step_of(verdict: Verdict) -> int:
    return verdict.violation.step if verdict.violation is not None else len(verdict.case.events) - 1


def fields_of(verdict: Verdict) -> frozenset[str]:
    """The fields in which what was seen differs from what is allowed, or the missing or surplus observations."""
    if verdict.violation is None:
        return frozenset()
    wanted = [encode(one) for one in verdict.violation.allowed[0].observations]
    seen = [encode(one) for one in verdict.violation.seen]
    if len(wanted) == len(seen):
        pairs = zip(wanted, seen, strict=True)
        return frozenset(name for one, other in pairs for name in differing(one, other, one["type"]))
    wanted_types, seen_types = (Counter(one["type"] for one in some) for some in (wanted, seen))
    missing, extra = wanted_types - seen_types, seen_types - wanted_types
    return frozenset([*(f"-{name}" for name in missing), *(f"+{name}" for name in extra)] or ["order"])


def differing(one: Any, other: Any, name: str) -> Iterator[str]:
    if one == other:
        return
    if isinstance(one, dict) and isinstance(other, dict) and one.get("type") == other.get("type"):
        for key in one.keys() | other.keys():
            yield from differing(one.get(key), other.get(key), f"{name}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for first, second in zip(one, other, strict=True):
            yield from differing(first, second, f"{name}[]")
    else:
        yield name


def cosine(one: Row, other: Row) -> float:
    """How similar the fields are in which two engines fail, in any probe."""
    counts = [Counter(name for wrong in row.values() for name in wrong.fields) for row in (one, other)]
    length = sqrt(sum(n * n for n in counts[0].values()) * sum(n * n for n in counts[1].values()))
    return sum(n * counts[1][name] for name, n in counts[0].items()) / length if length else 0.0


# --- ranking ----------------------------------------------------------------------------------------------------


def rank(
    component: str,
    asked: Collection[str],
    mine: Row,
    others: Mapping[Mutant, Row],
    shown: Sequence[Verdict] = (),
) -> tuple[str, ...]:
    """The rules, most likely cause first. `shown` are failures besides those of the probes."""
    seen = {**mine, **failures_among(shown)}
    at_work = {
        **{name: rules_at_work(component)[name] for name in asked},
        **{one.case.name: expected_rules(one.case) for one in shown},
    }
    scores: defaultdict[str, float] = defaultdict(float)
    reasons_of_all = [by_spectrum(at_work, seen), by_subject(component, asked, mine), by_museum(mine, seen, others)]
    if is_of_single_events(component):
        reasons_of_all.append(by_fields(seen, others))
    for reasons in reasons_of_all:
        for rule, score in reasons.items():
            scores[rule] += score
    return tuple(sorted(scores, key=lambda rule: (-round(scores[rule], 9), rule)))


@cache
def is_of_single_events(component: str) -> bool:
    """Whether most cases are one event, such as a whole graph."""
    lengths = [len(rules) for rules in rules_at_work(component).values()]
    return sum(lengths) < 2.5 * len(lengths)


def by_fields(mine: Row, others: Mapping[Mutant, Row]) -> dict[str, float]:
    """By the fields that are wrong: each counts for the rules of the wrong engines that fail in it."""
    told: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for mutant, row in others.items():
        for field, share in shares_of_fields(row).items():
            told[field][mutant.rule] += share
    scores: defaultdict[str, float] = defaultdict(float)
    for field, share in shares_of_fields(mine).items():
        for rule, weight in told[field].items():
            scores[rule] += WEIGHTS["told"] * share * weight / sum(told[field].values())
    return scores


def shares_of_fields(row: Row) -> dict[str, float]:
    counts = Counter(name for wrong in row.values() for name in wrong.fields)
    return {name: count / counts.total() for name, count in counts.items()}


def by_spectrum(at_work: Mapping[str, list[tuple[str, ...]]], mine: Row) -> dict[str, float]:
    """By the rules at work in the cases that fail and in those that pass."""
    failing, passing = Counter[str](), Counter[str]()
    deciding, shortest = defaultdict[str, float](float), defaultdict[str, float](float)
    failed = sorted(mine, key=lambda name: (mine[name].step, len(at_work[name]), name))
    for place, name in enumerate(failed):
        way = at_work[name][: mine[name].step + 1]
        failing.update({rule for rules in way for rule in rules})
        for order, rule in enumerate(way[-1] if way else (), start=1):
            deciding[rule] += 1 / order / len(failed)
            if place < 3:
                shortest[rule] += 1 / order / min(3, len(failed))
    for name, way in at_work.items():
        if name not in mine:
            passing.update({rule for rules in way for rule in rules})
    return {
        rule: WEIGHTS["ochiai"] * times / sqrt(len(failed) * (times + passing[rule]))
        + WEIGHTS["always"] * times / len(failed)
        + WEIGHTS["deciding"] * deciding[rule]
        + WEIGHTS["shortest"] * shortest[rule]
        for rule, times in failing.items()
    }


def by_subject(component: str, asked: Collection[str], mine: Row) -> dict[str, float]:
    """By the subjects that authors gave to the directed traces that fail; again by the measure of Ochiai."""
    about = {one.case.name: one.case.rules for one in directed(component) if one.case.name in asked}
    failed = [name for name in about if name in mine]
    times = Counter(rule for name in about for rule in about[name])
    failing = Counter(rule for name in failed for rule in about[name])
    return {rule: WEIGHTS["subject"] * n / sqrt(len(failed) * times[rule]) for rule, n in failing.items()}


def by_museum(mine: Row, seen: Row, others: Mapping[Mutant, Row]) -> dict[str, float]:
    """By the wrong engines that fail alike: the rules that they break or that may be named for them as well.

    They have answered the probes (`mine`), and not everything in `seen`.
    """
    alike, kin, fields = (defaultdict[str, float](float) for _ in range(3))
    for mutant, row in others.items():
        near = likeness(mine, row)
        alike[mutant.rule] = max(alike[mutant.rule], near)
        fields[mutant.rule] = max(fields[mutant.rule], cosine(seen, row))
        for rule in mutant.also:
            kin[rule] = max(kin[rule], near)
    return {
        rule: WEIGHTS["alike"] * alike[rule] + WEIGHTS["kin"] * kin[rule] + WEIGHTS["fields"] * fields[rule]
        for rule in {*alike, *kin}
    }
