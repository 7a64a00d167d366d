"""Wrong transitions, made from right ones by one small change each: what the claims about a component have to refuse.

A property that holds of everything says nothing. So the transitions of some cases are changed in one place (an
observation is left out, told twice or altered; a part of the state is another one) and each claim is asked about them.
How many of each kind it refuses is stored with the cases in `refusals/`, and is as much part of what the claim means as
its text: a claim that gets weaker refuses less. `python -m tests.reference.refusing` counts anew, and takes cases from
the golden traces for components that have none yet.
"""

import json
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.judging.golden import read_golden
from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import Invariant, Outcome, Property
from tidegate.traces.cases import Case
from tidegate.traces.codec import decode_case, encode_case

FOLDER = Path(__file__).parent / "refusals"

#: So many transitions that look alike are taken, and so many in all.
ALIKE, MOST = 2, 80
#: Graphs are large, and have many parts that can be changed.
FEWER = {"chaining": 30, "job_graph": 20, "job": 40}
#: So many changes of a kind are made to a transition.
CHANGES = 16

Claim = Property[Any, Any, Any] | Invariant[Any]


@attrs.frozen
class Transition:
    before: Any
    event: Any
    outcome: Outcome[Any, Any]


# --- right transitions ----------------------------------------------------------------------------------------


@cache
def read_stored(component: str) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((FOLDER / f"{component}.json").read_text(encoding="utf-8"))
    return stored


@cache
def transitions_of(component: str) -> tuple[Transition, ...]:
    """Transitions of the stored cases, a few of each look."""
    seen: Counter[object] = Counter()
    return tuple(one for case in read_stored(component)["cases"] for one in pick(decode_case(case), seen))


def pick(case: Case, seen: Counter[object]) -> Iterator[Transition]:
    """What the case shows of which not enough has been seen."""
    state = case.model.start(case.config)[0]
    for event in case.events:
        outcome = case.model.step(state, event)[0]
        look = (type(event), tuple(map(type, outcome.observations)), outcome.rules)
        seen[look] += 1
        if seen[look] <= ALIKE:
            yield Transition(state, event, outcome)
        state = outcome.state


def choose_cases(component: str) -> list[dict[str, Any]]:
    """Golden traces, each up to the last event that shows something new."""
    seen: Counter[object] = Counter()
    chosen: list[dict[str, Any]] = []
    picked = 0
    for case in read_golden(component):
        found = list(pick(case, seen))
        if found and picked < FEWER.get(component, MOST):
            picked += len(found)
            last = max(index for index, event in enumerate(case.events) if event is found[-1].event)
            encoded = encode_case(Case(case.name, component, case.config, case.events[: last + 1]))
            chosen.append({key: encoded[key] for key in ("case", "component", "config", "events")})
    return chosen


@cache
def observations_of(component: str) -> tuple[Any, ...]:
    """One of each type; also of those that never come, which is what some claims are about."""
    found: dict[type, Any] = {}
    for transition in transitions_of(component):
        for seen in transition.outcome.observations:
            found.setdefault(type(seen), seen)
    for kind in COMPONENTS[component].observations:
        if kind not in found:
            found[kind] = kind(*(0 for field in attrs.fields(kind) if field.default is attrs.NOTHING))
    return tuple(found.values())


# --- one change -----------------------------------------------------------------------------------------------


def alter(value: Any) -> Iterator[Any]:
    """The value with one part of it changed, for each of its parts."""
    match value:
        case bool():
            yield not value
        case Enum():
            yield from (other for other in type(value) if other is not value)
        case int() | float():
            yield from (type(value)(value + 1), type(value)(value - 1))
        case range():
            yield from (range(value.start + 1, value.stop + 1), range(value.start, value.stop - 1))
        case str():
            yield f"{value}!"
        case list():
            yield from map(list, alter_tuple(tuple(value)))
        case bytes():
            yield from (value + b"!", value[:-1]) if value else (b"!",)
        case tuple():
            yield from alter_tuple(value)
        case frozenset():
            yield from (value - {one} for one in sorted(value, key=repr))
        case _ if attrs.has(type(value)):
            yield from alter_fields(value)


def alter_tuple(value: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if value:
        yield value[:-1]
        yield (*value, value[-1])
    if len(value) > 1:
        yield value[::-1]
    for index, one in enumerate(value):
        yield from ((*value[:index], other, *value[index + 1 :]) for other in alter(one))


def alter_fields(value: Any) -> Iterator[Any]:
    for field in attrs.fields(type(value)):
        if field.name == "config":
            continue
        for other in alter(getattr(value, field.name)):
            try:
                yield attrs.evolve(value, **{field.name: other})
            except ValueError:
                continue


def mix(value: Any, other: Any) -> Iterator[Any]:
    """The value with one field of the other, for each field in which they differ."""
    if type(value) is not type(other) or getattr(value, "config", None) != getattr(other, "config", None):
        return
    for field in attrs.fields(type(value)) if attrs.has(type(value)) else ():
        if getattr(value, field.name) != getattr(other, field.name):
            yield attrs.evolve(value, **{field.name: getattr(other, field.name)})


def spread(found: Iterator[Any]) -> Iterator[Any]:
    """Some of them, from all over."""
    every = list(found)
    yield from every[:: max(1, len(every) // CHANGES)]


def wrong_outcomes(component: str, right: Transition) -> Iterator[tuple[str, Outcome[Any, Any]]]:
    outcome, seen = right.outcome, right.outcome.observations
    for index, one in enumerate(seen):
        rest = (*seen[:index], *seen[index + 1 :])
        yield "dropped", attrs.evolve(outcome, observations=rest)
        yield "repeated", attrs.evolve(outcome, observations=(*seen[: index + 1], *seen[index:]))
        yield "moved", attrs.evolve(outcome, observations=(*rest, one))
        for other in spread(alter(one)):
            yield "altered", attrs.evolve(outcome, observations=(*seen[:index], other, *seen[index + 1 :]))
    for one in observations_of(component):
        yield "added", attrs.evolve(outcome, observations=(*seen, one))
    yield "state kept", attrs.evolve(outcome, state=right.before)
    for state in spread(alter(outcome.state)):
        yield "state altered", attrs.evolve(outcome, state=state)


def wrong_transitions(component: str) -> Iterator[tuple[str, Transition]]:
    last: Transition | None = None
    for right in transitions_of(component):
        yield "right", right
        if last is not None:
            for state in mix(right.outcome.state, last.outcome.state):
                yield "state mixed", attrs.evolve(right, outcome=attrs.evolve(right.outcome, state=state))
        last = right
        for kind, outcome in wrong_outcomes(component, right):
            yield kind, attrs.evolve(right, outcome=outcome)
        for state in spread(alter(right.before)):
            yield "before altered", attrs.evolve(right, before=state)
        for event in spread(alter(right.event)):
            yield "event altered", attrs.evolve(right, event=event)


@cache
def all_wrong(component: str) -> tuple[tuple[str, Transition], ...]:
    return tuple(wrong_transitions(component))


# --- what is refused ------------------------------------------------------------------------------------------


def claims_of(component: str) -> dict[str, Claim]:
    model = COMPONENTS[component]
    return {claim.name: claim for claim in (*model.properties, *model.invariants)}


def count_refused(component: str, claim: Claim) -> dict[str, int]:
    refused: Counter[str] = Counter()
    for kind, transition in all_wrong(component):
        if isinstance(claim, Property):
            refused[kind] += refuses(claim, transition.before, transition.event, transition.outcome)
        elif kind in ("right", "state altered", "state mixed"):
            refused[kind] += refuses(claim, transition.outcome.state)
    return {kind: count for kind, count in sorted(refused.items()) if count}


def refuses(claim: Claim, *about: Any) -> bool:
    """A state that makes no sense at all may be refused by an exception."""
    try:
        return not claim.holds(*about)
    except (AssertionError, LookupError, TypeError, ValueError, AttributeError):
        return True


def compute_refusals(component: str) -> dict[str, dict[str, int]]:
    return {name: count_refused(component, claim) for name, claim in claims_of(component).items()}


def write(component: str) -> None:
    file = FOLDER / f"{component}.json"
    cases = read_stored(component)["cases"] if file.exists() else choose_cases(component)
    stored = {"cases": cases, "refused": {}}
    file.write_text(show(stored), encoding="utf-8")
    read_stored.cache_clear()
    file.write_text(show({**stored, "refused": compute_refusals(component)}), encoding="utf-8")
    read_stored.cache_clear()


def show(stored: dict[str, Any]) -> str:
    """A line for each case and each claim."""
    cases = ",\n".join(json.dumps(case) for case in stored["cases"])
    refused = ",\n".join(f"{json.dumps(name)}: {json.dumps(kinds)}" for name, kinds in stored["refused"].items())
    return f'{{"cases": [\n{cases}\n],\n"refused": {{\n{refused}\n}}}}\n'


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in COMPONENTS:
        write(each)
