"""The judge: is what an engine showed allowed by the specification?

This module decides only that, in the plainest way. It keeps the states that explain what was seen so far, and after
each event those in which the specification may show what the engine showed. The first step that nothing explains is the
violation, and the rules of what was allowed there are the rules that it breaks.

Runs go through `judge_fast`, which recognises right answers sooner. Whatever it does not recognise is judged here, so
only this module refuses an answer.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.spread import Draw, judge_spread
from tidegate.conformance.judging.verdicts import Allowed, Malformed, Passed, Violation, keep_evidence, room_beside
from tidegate.reference.model import Outcome
from tidegate.traces.cases import Case
from tidegate.traces.codec import DecodeError, decode_observation

#: How many characters of a step's answer are examined: no right answer is nearly as long.
LONGEST = 4_000_000

Judgement = Passed | Violation | Malformed
#: What the specification allows at a step: observations, the next state, and the rules behind them.
Outcomes = Sequence[Outcome[Any, Any]]


def judge(case: Case, steps: Sequence[Sequence[Any]]) -> Judgement:
    """`steps` are the raw JSON observations, one list for each event of the case."""
    return follow(case, steps)[0]


def follow(case: Case, steps: Sequence[Sequence[Any]]) -> tuple[Judgement, list[Outcome[Any, Any]]]:
    """The judgement, and the outcomes on the way to it: the first that explains each step, or the one expected."""
    states = case.model.start(case.config)
    way: list[Outcome[Any, Any]] = []
    draws: list[Draw] = []
    for index, (event, shown) in enumerate(zip(case.events, steps, strict=True)):
        allowed = override(case, index, states, allowed_outcomes(case.model.step, states, event))
        seen = read(case, allowed, shown)
        explaining = [outcome for outcome in allowed if outcome.observations == seen]
        if not explaining:
            return refuse(case, index, allowed, shown, way), [*way, allowed[0]]
        way.append(explaining[0])
        states = distinct_states(explaining)
        if len(allowed) > 1 and explaining[0].rules[0] in case.model.drawn:
            draws.append(Draw(index, allowed, allowed.index(explaining[0])))
    return judge_spread(draws), way


def allowed_outcomes(step: Callable[[Any, Any], Any], states: Sequence[Any], event: Any) -> list[Outcome[Any, Any]]:
    return [outcome for state in states for outcome in step(state, event)]


def override(case: Case, index: int, states: Sequence[Any], outcomes: Outcomes) -> Outcomes:
    """The outcomes at a step: an expectation in the file of the case overrides the model."""
    if case.expect is None:
        return outcomes
    wanted = case.expect[index]
    agreeing = [outcome for outcome in outcomes if outcome.observations == wanted]
    return agreeing or [Outcome(states[0], wanted, case.rules or outcomes[0].rules)]


def read(case: Case, allowed: Outcomes, shown: Sequence[Any]) -> tuple[Any, ...] | None:
    """The observations as values; None if their number differs, or one is not an observation of the component."""
    if all(len(outcome.observations) != len(shown) for outcome in allowed) or room_beside(shown, LONGEST) < 0:
        return None
    try:
        return tuple(decode_observation(raw, case.component) for raw in shown)
    except DecodeError:
        return None


def refuse(case: Case, index: int, allowed: Outcomes, shown: Sequence[Any], way: Outcomes) -> Violation | Malformed:
    """What is wrong with a step that nothing explains, with as much evidence as is worth keeping."""
    kept = keep_evidence(shown)
    try:
        seen = tuple(decode_observation(raw, case.component) for raw in kept)
    except DecodeError as error:
        return Malformed(index, printable(str(error)))
    return Violation(
        step=index,
        rules=unique(rule for outcome in allowed for rule in outcome.rules),
        allowed=tuple(dict.fromkeys(Allowed(one.observations, one.rules) for one in allowed)),
        seen=seen,
        trail=unique(rule for outcome in reversed(way) for rule in outcome.rules),
        more=len(shown) - len(kept),
    )


def distinct_states(outcomes: Outcomes) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(outcome.state for outcome in outcomes))


def unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
