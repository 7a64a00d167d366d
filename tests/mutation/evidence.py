"""What holds the reference in place, as checks that can be run one by one: each is silent, or raises.

All answers are data, collected before anything is mutated: golden traces as they are stored, what real Flink was seen
to do, and what the museum's right engines answered to drawn cases. So the same checks can be built again on modules
that have been imported anew.
"""

import functools
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.engines.museum.engines import COMPONENTS as IN_MUSEUM
from tidegate.conformance.engines.museum.engines import Engine
from tidegate.conformance.judging.expected import expect
from tidegate.conformance.judging.golden import read_golden
from tidegate.properties.drawing import scopes
from tidegate.properties.drawing.cases import draw_case
from tidegate.properties.explorer.exploring import explore
from tidegate.reference.components import COMPONENTS
from tidegate.traces.cases import Case
from tidegate.traces.codec import decode_case, encode_case
from tidegate.traces.files import read_traces

VECTORS = Path(__file__).parent.parent / "vectors" / "flink-2.3.0"
STAGES = ("golden", "flink", "museum", "laws", "claims", "explored", "tests")
SEED = "mutation"
DRAWN = 300
#: An exploration is cut off at so many states, and only so many configs of a scope are explored.
EXPLORED_STATES = 150
EXPLORED_CONFIGS = 4


class FailedError(AssertionError):
    """A check does not hold."""


@attrs.frozen(eq=False)
class Check:
    stage: str
    component: str
    name: str
    run: Callable[[], None]
    #: Beyond those that every check has, on modules that were imported anew.
    seconds: float = 0.0


@attrs.frozen
class Stored:
    """A case as data.

    `named` says that its rules are those that the reference names, and `exact` that they are all of them, and not only
    those that the case is about.
    """

    case: dict[str, Any]
    named: bool = False
    exact: bool = False


@attrs.frozen
class Data:
    """By component: the cases of each stage, and the claims that do not hold, by the name of the check.

    Properties are claimed of dated semantics that break them, too; that they do is part of the claim.
    """

    golden: dict[str, list[Stored]]
    flink: dict[str, list[Stored]]
    museum: dict[str, list[Stored]]
    broken: dict[str, list[str]]


# --- collecting, on the right reference ----------------------------------------------------------------------


def collect(components: Iterable[str], without: Collection[str] = ()) -> Data:
    """What the stages need that are not left out."""
    wanted = list(components)
    golden = {name: [store(case) for case in read_golden(name)] for name in wanted}
    flink = {} if "flink" in without else group(case for case in read_flink() if case.component in wanted)
    museum = {name: list(ask_museum(name)) for name in wanted if name in IN_MUSEUM and "museum" not in without}
    data = Data(golden, flink, museum, {})
    for component in wanted:
        for stage, make in (("claims", check_claims), ("explored", check_explorations)):
            if stage not in without:
                for check in make(component, data, note_down=True):
                    check.run()
    return data


def store(case: Case) -> Stored:
    return Stored(as_data(case), named=True, exact=expect(case)[1] == case.rules)


def as_data(case: Case) -> dict[str, Any]:
    return json.loads(json.dumps(encode_case(case)))


def read_flink() -> Iterator[Case]:
    for file in sorted(VECTORS.glob("*.jsonl.gz")):
        yield from read_traces(file)[1]


def group(cases: Iterable[Case]) -> dict[str, list[Stored]]:
    grouped: dict[str, list[Stored]] = {}
    for case in cases:
        if case.expect is not None:
            grouped.setdefault(case.component, []).append(Stored(as_data(case)))
    return grouped


def ask_museum(component: str) -> Iterator[Stored]:
    """Drawn cases with the answers of the right engine, which shares no code with the reference."""
    engine = Engine()
    for index in range(DRAWN):
        case = as_data(draw_case(component, SEED, index))
        (answer,) = engine.replay([{key: case[key] for key in ("component", "config", "events")}])
        if "steps" in answer:
            yield Stored({**case, "expect": answer["steps"]})


# --- the checks ----------------------------------------------------------------------------------------------


def make_checks(data: Data, components: Iterable[str]) -> Iterator[Check]:
    """Those that need no test runner, the quick ones first."""
    wanted = list(components)
    for stage in ("golden", "flink", "museum"):
        for component in wanted:
            for stored in getattr(data, stage).get(component, []):
                yield make_case_check(stage, component, stored)
    for component in wanted:
        yield from check_laws(component)
        yield from check_claims(component, data)
    for component in wanted:
        yield from check_explorations(component, data)


def make_case_check(stage: str, component: str, stored: Stored) -> Check:
    decoded = functools.cache(lambda: decode_case(stored.case))
    return Check(stage, component, stored.case["case"], lambda: follow(decoded(), stored))


def follow(case: Case, stored: Stored) -> None:
    """Every answer is allowed, the only one where it is golden, and the rules are those that the file names."""
    states = case.model.start(case.config)
    for event, observed in zip(case.events, case.expect or [None] * len(case.events), strict=True):
        outcomes = [outcome for state in states for outcome in case.model.step(state, event)]
        if observed is not None:
            outcomes = [outcome for outcome in outcomes if outcome.observations == observed]
        if not outcomes:
            raise FailedError(f"{case.name}: {event}")
        states = tuple(dict.fromkeys(outcome.state for outcome in outcomes))
    if case.rules and stored.named:
        _answers, rules = expect(case)
        if rules != case.rules if stored.exact else not set(case.rules) <= set(rules):
            raise FailedError(f"{case.name}: {rules}")


def check_laws(component: str) -> Iterator[Check]:
    for law in COMPONENTS[component].laws:
        yield Check("laws", component, law.name, functools.partial(hold, law))


def hold(law: Any) -> None:
    for sample in law.samples():
        if not law.holds(*sample):
            raise FailedError(f"{law.name}: {sample}")


def check_claims(component: str, data: Data, *, note_down: bool = False) -> Iterator[Check]:
    """Properties and invariants along the golden traces."""
    model = COMPONENTS[component]
    if model.properties or model.invariants:
        for stored in data.golden[component]:
            decoded = functools.cache(lambda stored=stored: decode_case(stored.case))
            name = stored.case["case"]
            run = functools.partial(compare, data, f"{component} claims {name}", lambda d=decoded: walk(d()), note_down)
            yield Check("claims", component, name, run)


def walk(case: Case) -> list[str]:
    """The properties and invariants that are broken on the way."""
    model = case.model
    states = model.start(case.config)
    broken = {one.name for one in model.invariants if not all(map(one.holds, states))}
    for event in case.events:
        outcomes = model.step(states[0], event)
        for outcome in outcomes:
            broken |= {one.name for one in model.properties if not one.holds(states[0], event, outcome)}
            broken |= {one.name for one in model.invariants if not one.holds(outcome.state)}
        states = (outcomes[0].state,)
    return sorted(broken)


def check_explorations(component: str, data: Data, *, note_down: bool = False) -> Iterator[Check]:
    for scope in scopes.small(component):
        for number, config in enumerate(islice(scope.configs, EXPLORED_CONFIGS)):
            name = f"{scope.name} {number}"
            find = functools.partial(find_broken, component, scope, config)
            run = functools.partial(compare, data, f"{component} explored {name}", find, note_down)
            yield Check("explored", component, name, run)


def find_broken(component: str, scope: Any, config: Any) -> list[str]:
    alphabet = functools.partial(scope.alphabet, config)
    found = explore(
        COMPONENTS[component], config, lambda state: alphabet(state) if scope.expand(state) else (), EXPLORED_STATES
    )
    return sorted(one.name for one in found.broken)


def compare(data: Data, key: str, find: Callable[[], list[str]], note_down: bool) -> None:  # noqa: FBT001
    found = find()
    if note_down:
        data.broken[key] = found
    elif found != data.broken[key]:
        raise FailedError(f"{key}: broken are {found}, known are {data.broken[key]}")
