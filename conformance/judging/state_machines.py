"""An engine as a Hypothesis state machine: `TestValve = tidegate.state_machine("valve", "exec:./engine").TestCase`.

One rule per type of event. Its arguments come from small numbers, from the values of enums, and from the
events that the generator of cases would draw in the states allowed so far.

Hypothesis shrinks a failure by leaving out steps and drawing lower. So each choice is one draw from a list with
the simplest first, and as far as possible in the same order whatever came before.

Engines replay whole cases, so after each step the engine gets all events so far, and its answer is judged as a
whole. A failure names its step, and engines that choose freely may choose anew each time. The price:
n steps are n replays of n / 2 events on average; `stateful_step_count` of Hypothesis is n, 50 by default.
"""

import weakref
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import cache
from keyword import iskeyword
from random import Random
from typing import Any, ClassVar

import attrs

from tidegate.conformance.engines.base import Engine
from tidegate.conformance.engines.errors import EngineError
from tidegate.conformance.engines.python.batches import BatchEngine
from tidegate.conformance.judging import suite
from tidegate.conformance.judging.run import Candidate, candidate_for
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.conformance.reports.findings import describe
from tidegate.properties.drawing.cases import generator_of
from tidegate.properties.drawing.nearby import events_near
from tidegate.reference.components import COMPONENTS
from tidegate.reference.elements import Long, types_of
from tidegate.reference.model import InvalidInputError
from tidegate.traces.cases import Case

try:
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
    from hypothesis.strategies import SearchStrategy
except ImportError as error:
    raise ImportError("tidegate.state_machine needs Hypothesis: pip install 'tidegate[hypothesis]'") from error

from tidegate.properties import strategies

#: How many allowed states are considered when choosing the next event; all of them judge.
MOST_STATES = 8
#: Sizes of the pools: drawn configs, and batches of events that are chosen as a whole.
CONFIGS, BATCHES = 400, 32
#: Half of the numbers are below this one, and half of the configs are among this many of the simplest.
SMALL, SIMPLE_CONFIGS = 3, 6
#: An engine that crashes on a case crashes on it again and again while the case shrinks.
RESTARTS = 100_000


def state_machine(
    component: str,
    engine: str | Engine | BatchEngine,
    *,
    semantics: str | None = None,
    configs: SearchStrategy[Any] | None = None,
) -> type[RuleBasedStateMachine]:
    strategies.check(component, semantics)
    limits = {"max_restarts": RESTARTS} if isinstance(engine, str) else {}
    subject = Subject(component, candidate_for(engine, semantics=semantics, limits=limits))
    members = {f"rule_{event.type}": make_rule(event) for event in COMPONENTS[component].events}
    name = "".join(word.capitalize() for word in component.split("_")) + "Machine"
    machine: type[Machine] = type(name, (Machine,), {**members, "subject": subject, "configs": configs})
    # Hypothesis makes one class for each machine; this is how a test runner says that the machine is finished.
    machine.TestCase.tearDownClass = subject.close  # type: ignore[method-assign]
    return machine


class Subject:
    """The engine of a machine: started on demand, closed at the end of the test or of the program."""

    def __init__(self, component: str, candidate: Candidate) -> None:
        self.component = component
        self.name = candidate.name
        self._candidate = candidate
        self._runner: Runner | None = None
        self._closing: Callable[[], Any] = lambda: None

    @property
    def runner(self) -> Runner:
        if self._runner is None:
            engine = self._candidate.make()
            self._closing = weakref.finalize(self, engine.close)
            self._runner = Runner(engine)
        return self._runner

    def accepts(self, config: Any) -> bool:
        """Whether the engine declares this config."""
        components = self.runner.describe().components
        if self.component not in components:
            known = ", ".join(components) or "nothing"
            raise EngineError(f"{self.name} does not declare {self.component}", f"it declares {known}")
        return suite.accepts(components[self.component], self.component, config)

    def close(self) -> None:
        self._closing()
        self._runner = None


class Machine(RuleBasedStateMachine):
    """What all machines share; each adds its rules."""

    subject: ClassVar[Subject]
    configs: ClassVar[SearchStrategy[Any] | None]

    def __init__(self) -> None:
        super().__init__()
        self._case: Case | None = None
        self._states: tuple[Any, ...] = ()

    @property
    def case(self) -> Case:
        assert self._case is not None, "Hypothesis starts with the rule `start`"
        return self._case

    @initialize(config=st.runner().flatmap(lambda machine: machine.draw_configs()))
    def start(self, config: Any) -> None:
        component = self.subject.component
        self._case = Case(component, component, config, ())
        self._states = COMPONENTS[component].start(config)

    def draw_configs(self) -> SearchStrategy[Any]:
        if self.configs is not None:
            return self.configs.filter(self.subject.accepts)
        accepted = [config for config in draw_configs(self.subject.component) if self.subject.accepts(config)]
        if not accepted:
            raise EngineError(f"{self.subject.name} accepts no config of {self.subject.component}", "give configs=…")
        return prefer(accepted[:SIMPLE_CONFIGS], accepted)

    def play(self, make: Callable[[], Any]) -> None:
        """One more event, unless there is none, or the specification does not define it."""
        try:
            event = make()
            states = () if event is None else self.follow(event)
        except InvalidInputError:
            return
        if not states:
            return
        self._states = states
        self._case = attrs.evolve(self.case, events=(*self.case.events, event))
        verdict = self.subject.runner.run_one(self._case, "state machine")
        if verdict.status is not Status.PASS:
            raise AssertionError(describe(verdict, self.subject.name).text())

    def follow(self, event: Any) -> tuple[Any, ...]:
        """The states allowed after the event; none if it is unfair in one of those before it."""
        model, is_fair = self.case.model, generator_of(self.case.component).is_fair
        if not all(is_fair(state, event) for state in self._states):
            return ()
        return tuple(dict.fromkeys(outcome.state for state in self._states for outcome in model.step(state, event)))

    def events_near(self, event_type: type[Any], batch: int = 0) -> list[Any]:
        """Events of this type that are worth drawing now."""
        case, states = self.case, self._states[:MOST_STATES]
        events = (one for state in states for one in events_near(case.component, case.config, state, batch))
        return simplest_first(event for event in events if isinstance(event, event_type))

    def numbers_near(self, event_type: type[Any], field: str) -> SearchStrategy[int]:
        near = {getattr(event, field) for event in self.events_near(event_type)}
        return prefer(range(SMALL), strategies.by_simplicity(list(near)))


@cache
def draw_configs(component: str) -> list[Any]:
    generator = generator_of(component)
    return simplest_first(generator.draw_config(Random(f"{component}/{index}")) for index in range(CONFIGS))


def simplest_first(values: Iterable[Any]) -> list[Any]:
    return sorted(dict.fromkeys(values), key=lambda value: (len(repr(value)), repr(value)))


def prefer(simple: Sequence[Any], others: Sequence[Any]) -> SearchStrategy[Any]:
    """One of either with about the same chance. One draw: a second one would shrink more slowly."""
    return st.sampled_from([*simple] * max(1, len(others) // len(simple)) + [*others])


def make_rule(event_type: type[Any]) -> Any:
    """The rule of an event: its fields one by one where each can be drawn alone, or the event as a whole."""
    fields = attrs.fields(event_type)
    name = f"{event_type.type}_" if iskeyword(event_type.type) else event_type.type
    if all(map(is_simple, types_of(event_type).values())):

        def play_fields(self: Machine, **values: Any) -> None:
            self.play(lambda: event_type(**values))

        play_fields.__name__ = name
        drawn: dict[str, Any] = {field.name: draw_field(event_type, field) for field in fields}
        as_rule: Callable[[Any], Any] = rule(**drawn)
        return as_rule(play_fields)

    def play_event(self: Machine, event: Any) -> None:
        self.play(lambda: event)

    def draw_near(machine: Machine, batch: int) -> SearchStrategy[Any]:
        return st.sampled_from(machine.events_near(event_type, batch) or [None])

    play_event.__name__ = name
    near = st.tuples(st.runner(), st.integers(0, BATCHES - 1)).flatmap(lambda drawn: draw_near(*drawn))
    return rule(event=near)(play_event)


def is_simple(kind: Any) -> bool:
    return kind in (int, bool, Long) or (isinstance(kind, type) and issubclass(kind, StrEnum))


def draw_field(event_type: type[Any], field: "attrs.Attribute[Any]") -> SearchStrategy[Any]:
    kind = types_of(event_type)[field.name]
    if kind is bool:
        return st.booleans()
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return st.sampled_from(list(kind))
    return st.runner().flatmap(lambda machine: machine.numbers_near(event_type, field.name))
