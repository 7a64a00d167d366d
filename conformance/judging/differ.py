"""Engines side by side, without an oracle: where do they disagree?

Every case goes to all of them. Equal answers agree, right or wrong. Unequal answers agree, too, if the specification
allows each of them: where a rule leaves a choice, each engine may choose. All others are disagreements. They are
shrunken across all engines; then the specification says which engine it sides with, and by which rule.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import tee
from typing import Any

import attrs

from tidegate.conformance.engines.base import Claim, Description, Engine, NotRun, Refused, Reply, Steps
from tidegate.conformance.engines.errors import EngineError
from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging import comparison
from tidegate.conformance.judging.dialects import HeldTo, disputed
from tidegate.conformance.judging.expected import suspects
from tidegate.conformance.judging.run import Candidate
from tidegate.conformance.judging.shrink import Shortest, shrink
from tidegate.conformance.judging.suite import Budget, Planned, check_components, declared_components, is_declared, plan
from tidegate.conformance.judging.trial import Observer, Runner, Trial
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.reference.components import COMPONENTS
from tidegate.reference.rules import all_rules
from tidegate.traces.cases import Case
from tidegate.traces.codec import DecodeError, decode_observation, encode
from tidegate.traces.notation.text import write_event, write_observations, write_trace

Kind = tuple[str, int, Status, tuple[str, ...]]
_STATUSES = {
    comparison.AGREED: Status.PASS,
    comparison.UNANSWERED: Status.UNKNOWN,
    comparison.NOT_RUN: Status.NOT_RUN,
}


def compare(
    candidates: Sequence[Candidate],
    budget: Budget,
    *,
    components: Iterable[str] = (),
    cases: Sequence[Case] = (),
    observers: Sequence[Observer] = (),
) -> comparison.Comparison:
    """Replay the suite, or only these cases, on all engines, and find where they disagree."""
    wanted = check_components(components)
    with ExitStack() as stack:
        engines = {name: start(candidate, stack) for name, candidate in label(candidates)}
        # Engines of different times are compared by the latest rules: otherwise no change between them would show.
        by = disputed([engine.start() for engine in engines.values()])
        engines = {name: HeldTo(engine, by) for name, engine in engines.items()} if by else engines
        common, left_out = common_ground({name: engine.start() for name, engine in engines.items()})
        left_out = {name: why for name, why in left_out.items() if not wanted or name in wanted}
        chosen = declared_components(common, wanted)
        if cases:
            planned = (Planned("trace", case) for case in cases if is_declared(common, case))
        else:
            planned = (one for component in chosen for one in plan(common, component, budget))
        return compare_cases(engines, planned, left_out, [one.name for one in candidates], observers)


def label(candidates: Sequence[Candidate]) -> Iterator[tuple[str, Candidate]]:
    """Each with a unique name, because the same engine may occur twice."""
    seen: Counter[str] = Counter()
    for candidate in candidates:
        seen[candidate.name] += 1
        again = seen[candidate.name]
        yield (f"{candidate.name} ({again})" if again > 1 else candidate.name), candidate


def start(candidate: Candidate, stack: ExitStack) -> Engine:
    try:
        return stack.enter_context(candidate.make())
    except EngineError as error:
        error.message = f"{candidate.name}: {error.message}"
        raise


def compare_cases(
    engines: Mapping[str, Engine],
    planned: Iterable[Planned],
    left_out: dict[str, str] | None = None,
    texts: Sequence[str] = (),
    observers: Sequence[Observer] = (),
) -> comparison.Comparison:
    """Compare, then shrink; an interrupt ends it and keeps the results so far. `texts` are the values of --engine."""
    found = Disagreements(engines, tuple(texts or engines))
    complete = True
    try:
        for verdict in Trial(SideBySide(engines.values())).try_cases(planned):
            found.take(verdict)
            for observer in observers:
                observer.see(verdict)
        for kind in found.shortest.few(lambda kind: kind[:2]):
            found.shrink(kind)
    except KeyboardInterrupt:
        complete = False
    return comparison.Comparison(
        engines=tuple(engines),
        counts=found.counts,
        divergences=tuple(found.divergences),
        left_out=left_out or {},
        complete=complete,
    )


@attrs.frozen
class Disagreement(Verdict):
    """A verdict about all engines at once: what each answered, and what the specification says to each.

    `accused` are the positions of the engines that the specification does not side with although others answered
    differently. Status and violation are those of the engine that this is `about`, so it shrinks like any failure.
    """

    replies: tuple[Reply, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    accused: tuple[int, ...] = ()
    about: int = 0

    @property
    def step(self) -> int:
        return self.violation.step if self.violation else len(self.case.events) - 1


class SideBySide(Runner):
    """Runs each case on all engines and gives one verdict on their agreement; the message is one of the outcomes.

    With `about`, only disagreements that accuse this engine count: shrinking must not turn one into another.
    """

    def __init__(self, engines: Iterable[Engine], about: int | None = None) -> None:
        self.engines = tuple(engines)
        self.about = about
        super().__init__(self.engines[0])

    def run(self, planned: Iterable[Planned]) -> Iterator[Verdict]:
        # Expected answers in files are an oracle, which a comparison does without.
        bare = (Planned(one.stage, attrs.evolve(one.case, expect=None)) for one in planned)
        drawn = ((one, self._encoder.request(one.case)) for one in bare)
        # Each engine takes cases at its own pace; while we wait for one, the others work.
        cases, *copies = tee(drawn, len(self.engines) + 1)
        replays = [
            engine.replay(request for _planned, request in copy)
            for engine, copy in zip(self.engines, copies, strict=True)
        ]
        for (one, _request), *answered in zip(cases, *replays, strict=True):
            yield self.compare(one.case, one.stage, tuple(reply for _request, reply in answered))

    def compare(self, case: Case, stage: str, replies: tuple[Reply, ...]) -> Verdict:
        outcome = compare_replies(case, replies)
        if outcome in _STATUSES:
            return Verdict(case, stage, _STATUSES[outcome], message=outcome)
        verdicts = [self.judge.reach(case, stage, reply) for reply in replies]
        if all(one.status is Status.PASS for one in verdicts):
            return Verdict(case, stage, Status.PASS, message=comparison.FREE)
        accused = accuse(case, replies, verdicts)
        if self.about is not None and self.about not in accused:
            return Verdict(case, stage, Status.UNKNOWN, message=comparison.DIVERGED)
        found = Disagreement(case, stage, Status.FAIL, replies=replies, verdicts=tuple(verdicts), accused=accused)
        return turn_to(found, accused[0] if self.about is None else self.about)


def compare_replies(case: Case, replies: tuple[Reply, ...]) -> str:
    """What is known without the specification."""
    if any(isinstance(reply, NotRun) for reply in replies):
        return comparison.NOT_RUN
    answered = [one.steps for one in replies if isinstance(one, Steps)]
    if len(answered) == len(replies):
        texts = {json.dumps(steps, sort_keys=True) for steps in answered}
        return comparison.AGREED if len(texts) == 1 or first_difference(case, replies) is None else comparison.DIVERGED
    # Failing in the same way is not agreement on an answer.
    kinds = {(type(one), one.kind if isinstance(one, Refused) else "") for one in replies}
    return comparison.UNANSWERED if len(kinds) == 1 else comparison.DIVERGED


def first_difference(case: Case, replies: tuple[Reply, ...]) -> int | None:
    """The first step at which the answers differ in more than the fields that are never compared."""
    answers = [one.steps for one in replies if isinstance(one, Steps)]
    for index in range(len(case.events)):
        if len({read_step(case, steps[index]) for steps in answers}) > 1:
            return index
    return None


def read_step(case: Case, shown: list[Any]) -> Any:
    """The observations as values, without reasons and unknown keys; their text if they cannot be decoded."""
    try:
        return tuple(decode_observation(raw, case.component) for raw in shown)
    except DecodeError:
        return json.dumps(shown, sort_keys=True)


def accuse(case: Case, replies: tuple[Reply, ...], verdicts: list[Verdict]) -> tuple[int, ...]:
    """The engines that fail where another answers differently; if all fail alike and differ later, all that fail."""
    failing = [index for index, one in enumerate(verdicts) if one.status is not Status.PASS]
    answers = [one.steps for one in replies if isinstance(one, Steps)]

    def is_alone(index: int) -> bool:
        violation = verdicts[index].violation
        if violation is None or len(answers) < len(replies):
            return True
        return len({read_step(case, steps[violation.step]) for steps in answers}) > 1

    return tuple(filter(is_alone, failing)) or tuple(failing)


def turn_to(found: Disagreement, about: int) -> Disagreement:
    """The same disagreement, about another of the accused."""
    verdict = found.verdicts[about]
    violation = verdict.violation
    if violation is not None:
        # What follows the step at which they differ does not matter. Engines that fail alike at first differ later.
        difference = first_difference(found.case, found.replies)
        violation = attrs.evolve(violation, step=max(violation.step, difference or 0))
    return attrs.evolve(found, about=about, status=verdict.status, violation=violation, message=verdict.message)


@attrs.define
class Disagreements:
    """Counts the outcomes of cases, and collects the shortest disagreement of each kind."""

    engines: Mapping[str, Engine]
    texts: tuple[str, ...]
    counts: Counter[tuple[str, str]] = attrs.Factory(Counter)
    divergences: list[comparison.Divergence] = attrs.Factory(list)
    #: By component, accused engine, status of its verdict, and deciding rule.
    shortest: Shortest[Kind, Disagreement] = attrs.Factory(Shortest)

    def take(self, verdict: Verdict) -> None:
        component = verdict.case.component
        if not isinstance(verdict, Disagreement):
            self.counts[component, verdict.message] += 1
            return
        self.counts[component, comparison.DIVERGED] += 1
        for found in (turn_to(verdict, one) for one in verdict.accused):
            self.shortest.take((component, found.about, found.status, found.rules[:1]), found)

    def shrink(self, kind: Kind) -> None:
        found = self.shortest.verdicts[kind]
        runner = SideBySide(self.engines.values(), found.about)
        shrunken = shrink(runner, found)
        # Shrinking cuts events off without a replay, and an engine that guesses may not show the failure again.
        again = runner.run_one(shrunken.verdict.case, found.stage) if shrunken.replays else found
        shown = again if isinstance(again, Disagreement) else found
        one = self.describe(shown, self.shortest.counts[kind], shrunken.replays)
        if (one.config, one.trace) not in [(known.config, known.trace) for known in self.divergences]:
            self.divergences.append(one)

    def describe(self, found: Disagreement, cases: int, replays: int) -> comparison.Divergence:
        case, step, violation = found.case, found.step, found.violation
        answers = []
        for name, reply, verdict in zip(self.engines, found.replies, found.verdicts, strict=True):
            # What goes wrong after the step at which they differ is another story.
            fine = verdict.status is Status.PASS or (verdict.violation is not None and verdict.violation.step > step)
            result = str(Status.PASS if fine else verdict.status)
            answers.append(comparison.Answer(name, show(case, reply, verdict, step), fine, result))
        # Only in a shrunken case is the last event the one that an engine could not answer.
        rules = suspects(found) if violation or replays else ()
        allowed = [write_observations(one.observations) for one in violation.allowed] if violation else []
        config = json.dumps(encode(case.config, brief=case.brief), separators=(",", ":"))
        trace = printable(write_trace(case.component, case.events, brief=case.brief), limit=100_000)
        return comparison.Divergence(
            component=case.component,
            case=printable(case.name),
            config=config,
            trace=trace,
            step=step,
            event=printable(write_event(case.component, case.events[step])) if case.events else "",
            answers=tuple(answers),
            sides=tuple(one.engine for one in answers if one.allowed),
            rules=tuple((rule, all_rules()[rule].text if rule in all_rules() else "") for rule in rules),
            allowed=tuple(map(printable, dict.fromkeys(allowed))),
            cases=cases,
            replays=replays,
            reproduce=comparison.reproduction(self.texts, case.component, config, trace),
        )


def show(case: Case, reply: Reply, verdict: Verdict, step: int) -> str:
    if not isinstance(reply, Steps) or not case.events:
        return printable(verdict.message)
    seen = read_step(case, reply.steps[step])
    return printable(seen if isinstance(seen, str) else write_observations(seen))


def common_ground(descriptions: Mapping[str, Description]) -> tuple[Description, dict[str, str]]:
    """What all engines declare, as one description; and for all other components, why they are not compared."""
    claims: dict[str, Claim] = {}
    left_out: dict[str, str] = {}
    for name in dict.fromkeys(name for one in descriptions.values() for name in one.components):
        owners = [engine for engine, one in descriptions.items() if name in one.components]
        if name not in COMPONENTS:
            left_out[name] = "the specification has no such component"
        elif len(owners) < len(descriptions):
            left_out[name] = f"only {', '.join(map(printable, owners))} declares it"
        else:
            claim = intersect([one.components[name] for one in descriptions.values()], COMPONENTS[name].semantics)
            claims[name] = claim
            if frozenset() in (claim.kinds, claim.semantics):
                left_out[name] = "no kind or semantics of it is declared by all"
    return attrs.evolve(next(iter(descriptions.values())), components=claims), left_out


def intersect(claims: list[Claim], known_semantics: tuple[str, ...]) -> Claim:
    default = frozenset(known_semantics[:1])
    kinds = [one.kinds for one in claims if one.kinds is not None]
    semantics = [default if one.semantics is None else one.semantics for one in claims]
    extensions = frozenset.intersection(*(one.extensions or frozenset() for one in claims))
    return Claim(
        frozenset.intersection(*kinds) if kinds else None,
        frozenset.intersection(*semantics) if default else None,
        extensions or None,
    )
