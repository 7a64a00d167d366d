"""The judge as runs use it: it recognises right answers fast, and counts what they exercise.

Most answers are the only allowed one, exactly as we would write it, and are compared literally. Others
are compared step by step, along a path through the specification that cases share. What neither recognises goes to
`judge.follow`: this module lets answers pass, and refuses none.
"""

import marshal
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import attrs

from tidegate.conformance.engines.base import Broken, Crashed, NotRun, Refused, Reply, Steps, TimedOut
from tidegate.conformance.judging.judge import (
    Judgement,
    Outcomes,
    allowed_outcomes,
    distinct_states,
    follow,
    override,
    read,
)
from tidegate.conformance.judging.verdicts import BROKEN, Passed, Status, Verdict, Violation
from tidegate.reference.model import Outcome
from tidegate.traces.cases import Case, Way
from tidegate.traces.codec import ABSENT, encode_compared, encode_observation

#: How many shared steps are remembered.
MOST_MARKS = 200_000

#: The rules that decided a step, and the kinds of observations that it gave.
Key = tuple[tuple[str, ...], tuple[str, ...]]
#: How often each of them occurred.
Exercised = Counter[Key]


class Judge:
    """Judges what engines show, and counts what was exercised.

    The path of the last case through the specification is remembered: consecutive cases of a complete suite
    begin alike.
    """

    def __init__(self) -> None:
        self._config: Any = None
        #: The first events of the last case, each with its only outcome.
        self._way: list[tuple[Any, Outcomes]] = []
        self.exercised: Exercised = Counter()
        #: Of shared steps, by identity; holding the object keeps its id valid.
        self._marks: dict[int, tuple[Any, bytes, Key]] = {}

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
        exercised = self._recognise(case, steps)
        judgement: Judgement = Passed()
        if exercised is None:
            judgement, outcomes = follow(case, steps)
            exercised = [key_of(outcome) for outcome in outcomes]
        self.exercised.update(exercised)
        return judgement

    def _recognise(self, case: Case, steps: Sequence[Sequence[Any]]) -> list[Key] | None:
        """What a right answer exercises; None if it takes a closer look to know whether it is right."""
        if case.expect is None and case.way is not None and case.is_settled:
            with suppress(ValueError):  # an engine in our own process may show what is no JSON
                if exercised := self._compare_to_the_letter(case.way, steps):
                    return exercised
        return None if case.model.drawn else self._compare_steps(case, steps)

    # --- to the letter ------------------------------------------------------------------------------------------

    def _compare_to_the_letter(self, way: Way, steps: Sequence[Sequence[Any]]) -> list[Key] | None:
        """For the only allowed answer, exactly as we would write it. Serialised, which is fastest; and true is not 1.

        An answer with another order of keys, or with more keys, may be right as well.
        """
        if not way.shared:
            outcomes = [one[0] for _event, one in way.steps]
            allowed = [[encode_observation(one) for one in outcome.observations] for outcome in outcomes]
            return list(map(key_of, outcomes)) if serialise(allowed) == serialise(steps) else None
        marks = self._marks
        if len(marks) > MOST_MARKS:
            marks.clear()
        known = [marks.get(id(one)) or self._mark(one) for _event, one in way.steps]
        if begin_list(len(known)) + b"".join([mark for _outcomes, mark, _key in known]) != serialise(steps):
            return None
        return [key for _outcomes, _mark, key in known]

    def _mark(self, outcomes: Outcomes) -> tuple[Any, bytes, Key]:
        (outcome,) = outcomes
        mark = serialise([encode_observation(one) for one in outcome.observations])
        known = self._marks[id(outcomes)] = (outcomes, mark, key_of(outcome))
        return known

    # --- step by step -------------------------------------------------------------------------------------------

    def _compare_steps(self, case: Case, steps: Sequence[Sequence[Any]]) -> list[Key] | None:
        """For an answer that is right step by step, as `judge.follow` finds it, along the path of the last case."""
        step = case.model.step
        states = case.model.start(case.config)
        way = self._way_of(case)
        known = len(way)
        exercised: list[Key] = []
        for index, (event, shown) in enumerate(zip(case.events, steps, strict=True)):
            # This loop sees every event of many runs: the usual case, one state and one outcome, takes a shortcut.
            if index < known and way[index][0] is event:
                outcomes = way[index][1]
            else:
                outcomes = step(states[0], event) if len(states) == 1 else allowed_outcomes(step, states, event)
                del way[index:]
                known = 0
                if len(outcomes) == 1 and index == len(way):
                    way.append((event, outcomes))
            if case.expect is not None:
                outcomes = override(case, index, states, outcomes)
            if len(outcomes) == 1:
                outcome = outcomes[0]
                wanted = outcome.observations
                if len(wanted) != len(shown):
                    return None
                for one, raw in zip(wanted, shown, strict=True) if shown else ():
                    if not is_same(encode_compared(one), raw):
                        return None
                states = (outcome.state,)
            else:
                seen = read(case, outcomes, shown)
                explaining = [one for one in outcomes if one.observations == seen]
                if not explaining:
                    return None
                outcome = explaining[0]
                states = distinct_states(explaining)
            exercised.append(key_of(outcome))
        return exercised

    def _way_of(self, case: Case) -> list[tuple[Any, Outcomes]]:
        """The known outcomes of the first events: from the maker of the case, or the last case of the same config."""
        if case.way is not None and case.way.config is case.config:
            self._config, self._way = None, list(case.way.steps)
        elif case.config is not self._config or len(case.model.start(case.config)) > 1:
            self._config, self._way = case.config, []
        return self._way


class Remembering(Judge):
    """Judges many engines on the same cases: what was right for one is right for the others.

    Coverage is counted once. Cases are identified by their names.
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


def serialise(value: Any) -> bytes:
    """The fastest way to compare JSON literally. In this version each value is written separately."""
    return marshal.dumps(value, 2)


def begin_list(count: int) -> bytes:
    """The serialised beginning of a list of this length."""
    return b"[" + count.to_bytes(4, "little")


def is_same(expected: Any, raw: Any) -> bool:
    """Equal as JSON: true is not 1. Unknown keys are ignored, as everywhere.

    A known field that must not be there is absent, or null.
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


def key_of(outcome: Outcome[Any, Any]) -> Key:
    return outcome.rules, kinds_of(outcome)


def kinds_of(outcome: Outcome[Any, Any]) -> tuple[str, ...]:
    """The kinds of observations of an outcome, each once."""
    seen = outcome.observations
    if len(seen) < 2:
        return (seen[0].type,) if seen else ()
    return tuple(dict.fromkeys([one.type for one in seen]))
