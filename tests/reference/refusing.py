"""What is refused, as kinds: by which rule which event, by claims which wrong transitions, by laws which faults.

A claim that holds of everything says nothing. So transitions of golden traces are changed in one place, and each claim
is asked about them. Of what is seen something may be *dropped*, *repeated*, *moved* to the end, *altered* or *added*;
the component may be *stuck* in the state before, a part of the *state* after or *before* may be another one, or
*mixed*: that of another transition; and the *event* may be another one. The kinds that a claim refuses are as much part
of what it means as its text, and stand in `refusals.toml` beside the tests of its subject, with the faults that laws
refuse (`sabotage`), and the rules by which events are refused. `make refusals` writes them anew.
"""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import attrs

from tests.reference import sabotage
from tests.reference.alterations import alter
from tidegate.conformance.judging.golden import read_golden
from tidegate.properties.drawing.cases import draw_case
from tidegate.reference.components import COMPONENTS, PLACES
from tidegate.reference.model import Invariant, Outcome, Property, Rejected
from tidegate.traces.cases import Case

#: So many transitions that look alike are taken, and so many in all.
ALIKE, MOST = 2, 80
#: Graphs are large, and have many parts that can be changed.
FEWER = {"chaining": 30, "job_graph": 20, "job": 110}
#: So many changes of a kind are made to a transition.
CHANGES = 16
#: Drawn cases whose refusals count, beside those of golden traces.
DRAWN = 100

#: In the order in which they are listed.
KINDS = ("right", "dropped", "repeated", "moved", "altered", "added", "stuck", "state", "mixed", "before", "event")
TITLE = "# What is refused; tests/reference/refusing.py says what the words mean, and writes them anew."

Claim = Property[Any, Any, Any] | Invariant[Any]
#: What is refused, under `rejected`, `claims` and `laws`: words by what refuses them, or by what they refuse.
Table = dict[str, dict[str, str]]


@attrs.frozen
class Transition:
    before: Any
    event: Any
    outcome: Outcome[Any, Any]


# --- right transitions ----------------------------------------------------------------------------------------


@cache
def transitions_of(component: str) -> tuple[Transition, ...]:
    """Transitions of golden traces, a few of each look, of each extension as many."""
    seen: Counter[object] = Counter()
    picked: defaultdict[str | None, list[Transition]] = defaultdict(list)
    for case in read_golden(component):
        extension = getattr(case.config, "extension", None)
        if len(picked[extension]) < FEWER.get(component, MOST):
            picked[extension] += pick(case, seen)
    return tuple(chain.from_iterable(picked.values()))


def pick(case: Case, seen: Counter[object]) -> Iterator[Transition]:
    """What the case shows of which not enough has been seen."""
    for before, event, outcome in walk(case):
        look = (type(event), tuple(map(type, outcome.observations)), outcome.rules)
        seen[look] += 1
        if seen[look] <= ALIKE:
            yield Transition(before, event, outcome)


def walk(case: Case) -> Iterator[tuple[Any, Any, Outcome[Any, Any]]]:
    before = case.model.start(case.config)[0]
    for event, outcome in zip(case.events, case.follow(), strict=True):
        yield before, event, outcome
        before = outcome.state


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
    yield "stuck", attrs.evolve(outcome, state=right.before)
    for state in spread(alter(outcome.state)):
        yield "state", attrs.evolve(outcome, state=state)


def wrong_transitions(component: str) -> Iterator[tuple[str, Transition]]:
    last: Transition | None = None
    for right in transitions_of(component):
        yield "right", right
        if last is not None:
            for state in mix(right.outcome.state, last.outcome.state):
                yield "mixed", attrs.evolve(right, outcome=attrs.evolve(right.outcome, state=state))
        last = right
        for kind, outcome in wrong_outcomes(component, right):
            yield kind, attrs.evolve(right, outcome=outcome)
        for state in spread(alter(right.before)):
            yield "before", attrs.evolve(right, before=state)
        for event in spread(alter(right.event)):
            yield "event", attrs.evolve(right, event=event)


@cache
def all_wrong(component: str) -> tuple[tuple[str, Transition], ...]:
    return tuple(wrong_transitions(component))


# --- what is refused ------------------------------------------------------------------------------------------


def claims_of(component: str) -> dict[str, Claim]:
    model = COMPONENTS[component]
    return {claim.name: claim for claim in (*model.properties, *model.invariants)}


def find_refused(component: str, claim: Claim) -> str:
    """The kinds of wrong transitions that a claim refuses, and `right` if it refuses a right one."""
    kinds: set[str] = set()
    for kind, transition in all_wrong(component):
        if kind in kinds:
            continue
        if isinstance(claim, Property):
            refused = refuses(claim, transition.before, transition.event, transition.outcome)
        else:
            refused = kind in ("right", "state", "mixed") and refuses(claim, transition.outcome.state)
        if refused:
            kinds.add(kind)
    return " ".join(kind for kind in KINDS if kind in kinds)


def refuses(claim: Claim, *about: Any) -> bool:
    """A state that makes no sense at all may be refused by an exception."""
    try:
        return not claim.holds(*about)
    except (AssertionError, LookupError, TypeError, ValueError, AttributeError):
        return True


def find_rejected(component: str) -> dict[str, str]:
    """For each type of event, the rules by which some are refused."""
    rules: dict[str, set[str]] = {}
    drawn = (draw_case(component, "refusals", index) for index in range(DRAWN))
    for case in (*read_golden(component), *drawn):
        for _before, event, outcome in walk(case):
            if Rejected() in outcome.observations:
                rules.setdefault(event.type, set()).add(outcome.rules[0])
    return {kind: " ".join(sorted(found)) for kind, found in sorted(rules.items())}


def make_table(component: str) -> Table:
    return {
        "rejected": find_rejected(component),
        "claims": {name: find_refused(component, claim) for name, claim in claims_of(component).items()},
        "laws": {law.name: " ".join(sabotage.find_refused(law)) for law in COMPONENTS[component].laws},
    }


# --- as files -------------------------------------------------------------------------------------------------


def file_of(component: str) -> Path:
    return Path(__file__).parent / PLACES[component].subject / "refusals.toml"


@cache
def read_file(file: Path) -> dict[str, Table]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def read_table(component: str) -> Table:
    return read_file(file_of(component)).get(component, {})


def write_table(component: str) -> str:
    lines = []
    for part, words in make_table(component).items():
        if words:
            lines += ["", f"[{component}.{part}]", *(f'{key(name)} = "{text}"' for name, text in words.items())]
    return "\n".join(lines)


def key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name) else f'"{name}"'


def main() -> None:
    texts: dict[Path, list[str]] = {}
    for component in COMPONENTS:
        texts.setdefault(file_of(component), []).append(write_table(component))
    for file, tables in texts.items():
        file.write_text("\n".join([TITLE, *tables]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
