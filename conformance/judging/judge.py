"""The judge: is what an engine showed allowed by the specification?

It follows the set of states that explain the observations so far. A step that no state of the set allows is a
violation, and the rules of what would have been allowed are the rules that it broke. Deterministic components are
the case of a set with one state.
"""

import marshal
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import attrs

from tidegate.conformance.engines.base import Broken, Crashed, NotRun, Refused, Reply, Steps, TimedOut
from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.spread import find_oddity
from tidegate.conformance.judging.verdicts import BROKEN, Allowed, Malformed, Passed, Status, Verdict, Violation
from tidegate.reference.model import Outcome
from tidegate.traces.cases import Case, Way
from tidegate.traces.codec import ABSENT, DecodeError, decode_observation, encode_compared, encode_observation

#: Characters of what an engine showed at a step that are kept as evidence, and that are looked at at all.
EVIDENCE = 20_000
LONGEST = 4_000_000
#: So many steps that cases share are remembered.
MOST_MARKS = 200_000

Judgement = Passed | Violation | Malformed

#: How often each set of rules decided a step, with the kinds of observations that it gave.
Exercised = Counter[tuple[tuple[str, ...], tuple[str, ...]]]


def serialise(value: Any) -> bytes:
    """The quickest way to compare JSON to the letter. In this version each value is written for itself."""
    return marshal.dumps(value, 2)


def begin_list(count: int) -> bytes:
    """What a list of so many values begins with, serialised."""
    return b"[" + count.to_bytes(4, "little")


def unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


class Judge:
    """Judges what engines show, and counts what was exercised.

    The way that the last case took through the specification is remembered: cases of a complete suite begin alike, one
    after the other.
    """

    def __init__(self) -> None:
        self._config: Any = None
        #: The events that the last case began with, each with its only outcome.
        self._way: list[tuple[Any, Sequence[Outcome[Any, Any]]]] = []
        self.exercised: Exercised = Counter()
        #: Of shared steps, by identity: who is held here keeps it.
        self._marks: dict[int, tuple[Any, bytes, tuple[tuple[str, ...], tuple[str, ...]]]] = {}

    def reach(self, case: Case, stage: str, reply: Reply) -> Verdict:
        """The verdict on what an engine replied to a case."""
        if isinstance(reply, Steps):
            judgement = self.judge(case, reply.steps)
            if isinstance(judgement, Passed):
                return Verdict(case, stage, Status.PASS)
            # Findings are kept, and need not keep the states of the specification with them.
            case = attrs.evolve(case, way=None)
            if isinstance(judgement, Violation):
                return Verdict(case, stage, Status.FAIL, judgement, message=judgement.oddity)
            message = f"{BROKEN}: step {judgement.step + 1}: {judgement.message}"
            return Verdict(case, stage, Status.ERROR, message=message)
        case = attrs.evolve(case, way=None)
        if isinstance(reply, Refused):
            return Verdict(case, stage, Status.ERROR, message=f"the engine answered {reply.kind}: {reply.message}")
        if isinstance(reply, Broken):
            message = f"{BROKEN}: {reply.message}"
            return Verdict(case, stage, Status.ERROR, message=message, stderr=reply.stderr)
        if isinstance(reply, TimedOut):
            message = f"no answer in {reply.seconds:g} s"
            return Verdict(case, stage, Status.TIMEOUT, message=message, stderr=reply.stderr)
        if isinstance(reply, Crashed):
            return Verdict(case, stage, Status.CRASH, message=reply.message, stderr=reply.stderr)
        assert isinstance(reply, NotRun)
        return Verdict(case, stage, Status.NOT_RUN, message=reply.reason)

    def judge(self, case: Case, steps: Sequence[Sequence[Any]]) -> Judgement:
        """`steps` are the raw JSON observations, one list for each event of the case."""
        if case.expect is None and case.way is not None and case.is_settled:
            with suppress(ValueError):  # an engine in our own process may show what is no JSON
                if self._is_to_the_letter(case.way, steps):
                    return Passed()
        exercised: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        judgement = self._follow(case, steps, exercised)
        self.exercised.update(exercised)
        return judgement

    def _is_to_the_letter(self, way: Way, steps: Sequence[Sequence[Any]]) -> bool:
        """Whether the answer is the only one that is allowed, as we would write it. That is so for most, and quick.

        Whoever writes keys in another order, or more of them, is followed step by step. Serialised, true is not 1.
        """
        if not way.shared:
            outcomes = [one[0] for _event, one in way.steps]
            allowed = [[encode_observation(one) for one in outcome.observations] for outcome in outcomes]
            if serialise(allowed) != serialise(steps):
                return False
            self.exercised.update([(outcome.rules, kinds_of(outcome)) for outcome in outcomes])
            return True
        marks = self._marks
        if len(marks) > MOST_MARKS:
            marks.clear()
        known = [marks.get(id(one)) or self._mark(one) for _event, one in way.steps]
        if begin_list(len(known)) + b"".join([mark for _outcomes, mark, _key in known]) != serialise(steps):
            return False
        self.exercised.update([key for _outcomes, _mark, key in known])
        return True

    def _mark(
        self, outcomes: Sequence[Outcome[Any, Any]]
    ) -> tuple[Any, bytes, tuple[tuple[str, ...], tuple[str, ...]]]:
        (outcome,) = outcomes
        mark = serialise([encode_observation(one) for one in outcome.observations])
        known = self._marks[id(outcomes)] = (outcomes, mark, (outcome.rules, kinds_of(outcome)))
        return known

    def _follow(
        self, case: Case, steps: Sequence[Sequence[Any]], exercised: list[tuple[tuple[str, ...], tuple[str, ...]]]
    ) -> Judgement:
        step = case.model.step
        states = case.model.start(case.config)
        draws: list[Draw] = []
        outcomes: Sequence[Outcome[Any, Any]]
        way = self._way_of(case)
        known = len(way)
        for index, (event, shown) in enumerate(zip(case.events, steps, strict=True)):
            # This loop sees every event of every run: the usual case, one state and one outcome, takes the short way.
            if index < known and way[index][0] is event:
                outcomes = way[index][1]
            else:
                outcomes = step(states[0], event) if len(states) == 1 else allowed_outcomes(step, states, event)
                del way[index:]
                known = 0
                if len(outcomes) == 1 and index == len(way):
                    way.append((event, outcomes))
            if case.expect is not None:
                outcomes = self._as_expected(case, index, states, outcomes)
            if len(outcomes) == 1:
                outcome = outcomes[0]
                wanted = outcome.observations
                if len(wanted) != len(shown):
                    return self._mismatch(case, index, outcomes, shown, exercised)
                for one, raw in zip(wanted, shown, strict=True) if shown else ():
                    if not is_same(encode_compared(one), raw):
                        return self._mismatch(case, index, outcomes, shown, exercised)
                states = (outcome.state,)
            else:
                matching = self._matching(outcomes, shown, case.component)
                if not matching:
                    return self._mismatch(case, index, outcomes, shown, exercised)
                outcome = matching[0]
                states = distinct_states(matching)
                if outcome.rules[0] in case.model.drawn:
                    draws.append(Draw(index, outcomes, outcomes.index(outcome)))
            exercised.append((outcome.rules, kinds_of(outcome) if shown else ()))
        return judge_spread(draws) if draws else Passed()

    def _way_of(self, case: Case) -> list[tuple[Any, Sequence[Outcome[Any, Any]]]]:
        """What is known of the beginning of a case: by who made it, or since it has the very config of the last one."""
        if case.way is not None and case.way.config is case.config:
            self._config, self._way = None, list(case.way.steps)
        elif case.config is not self._config or len(case.model.start(case.config)) > 1:
            self._config, self._way = case.config, []
        return self._way

    def _as_expected(self, case: Case, index: int, states: Any, outcomes: Any) -> Sequence[Outcome[Any, Any]]:
        """The outcomes that give what a file expects; a file that knows better than the specification has its way."""
        assert case.expect is not None
        wanted = case.expect[index]
        agreeing = [outcome for outcome in outcomes if outcome.observations == wanted]
        return agreeing or [Outcome(states[0], wanted, case.rules or outcomes[0].rules)]

    def _matching(
        self, outcomes: Sequence[Outcome[Any, Any]], shown: Sequence[Any], component: str
    ) -> list[Outcome[Any, Any]]:
        """The outcomes that give what was shown, which is read once to be compared with many."""
        if all(len(outcome.observations) != len(shown) for outcome in outcomes) or room_beside(shown, LONGEST) < 0:
            return []
        try:
            seen = tuple([decode_observation(raw, component) for raw in shown])
        except DecodeError:
            return []
        return [outcome for outcome in outcomes if outcome.observations == seen]

    def _mismatch(
        self,
        case: Case,
        index: int,
        outcomes: Sequence[Outcome[Any, Any]],
        shown: Sequence[Any],
        exercised: list[tuple[tuple[str, ...], tuple[str, ...]]],
    ) -> Violation | Malformed:
        trail = unique(rule for rules, _kinds in reversed(exercised) for rule in rules)
        # It was exercised all the same, if not to our satisfaction.
        exercised.append((outcomes[0].rules, kinds_of(outcomes[0])))
        kept = evidence(shown)
        try:
            seen = tuple(decode_observation(raw, case.component) for raw in kept)
        except DecodeError as error:
            return Malformed(index, printable(str(error)))
        return Violation(
            step=index,
            rules=unique(rule for outcome in outcomes for rule in outcome.rules),
            allowed=tuple(dict.fromkeys(Allowed(one.observations, one.rules) for one in outcomes)),
            seen=seen,
            trail=trail,
            more=len(shown) - len(kept),
        )


class Remembering(Judge):
    """Judges many engines on the same cases: what was right for one is right for the others.

    What is exercised is counted once. Cases are known by their names.
    """

    def __init__(self) -> None:
        super().__init__()
        self._right: dict[str, Sequence[Sequence[Any]]] = {}

    def judge(self, case: Case, steps: Sequence[Sequence[Any]]) -> Judgement:
        if self._right.get(case.name) == steps:
            return Passed()
        judgement = super().judge(case, steps)
        if isinstance(judgement, Passed):
            self._right[case.name] = steps
        return judgement


@attrs.frozen
class Draw:
    """What was drawn at a step, by its place among what could have been."""

    step: int
    outcomes: Sequence[Outcome[Any, Any]]
    taken: int

    @property
    def allowed(self) -> tuple[Allowed, ...]:
        return tuple(Allowed(one.observations, one.rules) for one in self.outcomes)


def judge_spread(draws: Sequence[Draw]) -> Passed | Violation:
    """Each draw is allowed; all of them together must look like chance. The last one is held to show it."""
    last = draws[-1]
    oddity = find_oddity([draw.taken for draw in draws], len(last.outcomes))
    if not oddity:
        return Passed()
    seen = last.outcomes[last.taken]
    return Violation(last.step, seen.rules, last.allowed, seen.observations, oddity=oddity)


def evidence(shown: Sequence[Any]) -> Sequence[Any]:
    """As much of what was shown as is worth keeping: its beginning."""
    room = EVIDENCE
    for index, raw in enumerate(shown):
        room = room_beside(raw, room)
        if room < 0:
            return shown[:index]
    return shown


def room_beside(raw: Any, room: int) -> int:
    """How many more characters there is room for beside this JSON; less than none if it takes too many itself."""
    if isinstance(raw, str):
        return room - len(raw)
    if isinstance(raw, dict):
        raw = chain.from_iterable(raw.items())
    elif not isinstance(raw, list):
        return room - 8
    for one in raw:
        room = room_beside(one, room - 2)
        if room < 0:
            break
    return room


def allowed_outcomes(step: Callable[[Any, Any], Any], states: Sequence[Any], event: Any) -> list[Outcome[Any, Any]]:
    return [outcome for state in states for outcome in step(state, event)]


def kinds_of(outcome: Outcome[Any, Any]) -> tuple[str, ...]:
    """The kinds of observations of an outcome, each once."""
    seen = outcome.observations
    if len(seen) < 2:
        return (seen[0].type,) if seen else ()
    return tuple(dict.fromkeys([one.type for one in seen]))


def distinct_states(outcomes: list[Outcome[Any, Any]]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(outcome.state for outcome in outcomes))


def is_same(expected: Any, raw: Any) -> bool:
    """Equal as JSON: true is not 1. Keys that the protocol does not know are ignored, as everywhere.

    A field that it knows and that must not be there is none, or null.
    """
    if expected is raw:
        return True
    if expected is ABSENT:
        return raw is None
    if type(expected) is not type(raw):
        return False
    if type(expected) is dict:
        return all(is_same(value, raw[key]) if key in raw else value is ABSENT for key, value in expected.items())
    if type(expected) is list:
        return len(expected) == len(raw) and all(map(is_same, expected, raw))
    return bool(expected == raw)


def expect(case: Case) -> tuple[tuple[tuple[Any, ...], ...] | None, tuple[str, ...]]:
    """The observations of a case whose answers are fixed (None where the specification leaves a choice), and its rules.

    Where there is a choice, the rules are those of the first.
    """
    component = case.model
    states = component.start(case.config)
    state = states[0]
    fixed = len(states) == 1
    steps: list[tuple[Any, ...]] = []
    rules: list[str] = []
    for event in case.events:
        outcomes = component.step(state, event)
        fixed = fixed and len({outcome.observations for outcome in outcomes}) == 1
        state = outcomes[0].state
        steps.append(outcomes[0].observations)
        rules.extend(outcomes[0].rules)
    return (tuple(steps) if fixed else None), unique(rules)


def expected_rules(case: Case) -> list[tuple[str, ...]]:
    """The rules of each step, of the first outcome where there is a choice."""
    return [outcome.rules for outcome in case.follow()]


def suspects(verdict: Verdict) -> tuple[str, ...]:
    """The rules that the engine seems to break: those of the step that failed.

    A case that was not answered at all has no such step; once it is shrunken, its last event is to blame.
    """
    if verdict.violation is not None or not verdict.case.events:
        return verdict.rules
    return expected_rules(verdict.case)[-1]
