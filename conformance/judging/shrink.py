"""Shrinks a failing case: the shortest trace and the simplest values that still fail in the same way.

It knows nothing of components: a case is JSON, and every proposal is a smaller JSON that the codec still accepts.
Each proposal is one replay, so it works across a process border. Proposals are tried in batches, because an
engine is fastest with several cases in flight.
"""

import json
import string
import time
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from itertools import combinations, islice
from typing import Any, Generic, TypeVar

import attrs

from tidegate.conformance.engines.base import Engine
from tidegate.conformance.judging.expected import expected_rules
from tidegate.conformance.judging.suite import Planned
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import VIOLATIONS, Status, Verdict
from tidegate.reference.model import InvalidInputError
from tidegate.reference.rules import all_rules
from tidegate.traces.cases import Case
from tidegate.traces.codec import DecodeError, decode_case, encode_case

Json = Any
Kind = TypeVar("Kind", bound=Hashable)
Found = TypeVar("Found", bound=Verdict)
BATCH = 16
#: Limit on the proposals for a case with very many events.
EVENTS_REPLAYED = 200_000
#: Seconds for one case, for slow replays; usually one or two are enough.
MOST_SECONDS = 60.0

#: The verdicts that are worth a search.
SHRINKABLE = frozenset({Status.FAIL, Status.ERROR})
#: Those that cost a restart per proposal: their search is short.
UNANSWERED = frozenset({Status.TIMEOUT, Status.CRASH})
#: Messages for a case that fails after others, and passes in a new process; and for one that fails after itself.
LEAK = "in a new process this case passes: state of an earlier case remains. Each replay needs a new instance"
LEAK_AGAIN = "the first time it passes, the second time it fails: state remains. Each replay needs a new instance"
#: Message for a case that is answered with an error only after others.
ALONE = "in a new process this case passes: earlier cases cause the error, or their number"
#: Where a case leaves the engine a choice, a smaller one must fail this many more times: else it may be bad luck.
AGAIN = 8
#: Limit on proposals for a case that fails the second time.
LEAKS = 200
#: Limit on proposals for a crash, after the search for its step.
DEATHS = 8

#: How many different counterexamples of one component are shrunk.
SHRUNKEN_EACH = 3


@attrs.frozen
class Shrunken:
    """The smallest failing case found, and how many replays it took.

    `times` is how often it must run on an engine before it fails; None if it only fails after other cases.
    """

    verdict: Verdict
    replays: int
    times: int | None = 1


def shrink(runner: Runner, verdict: Verdict, budget: int = 1500) -> Shrunken:
    """Shrink a failing case within a budget of replays, and a minute."""
    if verdict.status in UNANSWERED:
        return shrink_unanswered(runner, verdict)
    violation = verdict.violation
    if verdict.status not in SHRINKABLE or (verdict.status is Status.FAIL and (violation is None or violation.more)):
        # Relations between cases and endless answers are shown unchanged.
        return Shrunken(verdict, 0)
    search = Search(runner, verdict, min(budget, EVENTS_REPLAYED // (len(verdict.case.events) + 1)))
    search.shrink()
    return Shrunken(search.best, search.replays)


def shrink_unanswered(runner: Runner, verdict: Verdict) -> Shrunken:
    """Cut a case after the step at which the engine stopped answering; for a crash, leave out what it does not need.

    Bisection finds the step, so a hang costs only a few timeouts. It assumes that longer prefixes fail where a
    shorter one does; otherwise the case stays unchanged.
    """
    search = Search(runner, verdict, DEATHS)
    answered, dead = 0, len(verdict.case.events)
    while dead - answered > 1:
        middle = (answered + dead) // 2
        case = attrs.evolve(verdict.case, events=verdict.case.events[:middle], expect=None)
        search.replays += 1
        tried = runner.run_one(case, verdict.stage)
        if tried.status not in (verdict.status, Status.PASS, Status.FAIL):
            # The engine was given up, or fails differently: there is no more to learn.
            return Shrunken(search.best, search.replays)
        if tried.status is verdict.status:
            dead, search.best = middle, tried
        else:
            answered = middle
    if verdict.status is Status.CRASH:
        search.budget += search.replays
        search.batch = 1
        search.exhaust(drop_events)
    return Shrunken(search.best, search.replays)


def shrink_findings(
    engine: Engine, findings: Iterable[Verdict], make: Callable[[], Engine] | None = None
) -> Iterator[Shrunken]:
    """Shrink a few failures of each component; two that turn out to be the same count once.

    If `make` gives another engine like this one, that engine hangs and dies instead, with its full number of
    restarts.
    """
    # With a judge of its own: what shrinking tries is not coverage.
    runner = Runner(engine)
    known: list[tuple[Any, Any]] = []
    clean: set[str] = set()
    leaky: set[str] = set()
    # Relations between cases come last: leaking state explains their failures, too.
    for verdict in sorted(worth_shrinking(findings), key=lambda one: one.is_relation):
        component = verdict.case.component
        if verdict.is_relation and component in leaky:
            continue
        if make is not None and verdict.status in UNANSWERED:
            with make() as fresh:
                shrunken = shrink(Runner(fresh), verdict)
        elif make is not None and is_doubtful(verdict, clean) and passes_alone(make, verdict):
            if component in leaky:
                continue  # one is enough
            leaky.add(component)
            shrunken = shrink_leak(make, verdict) if verdict.violation is not None else told_alone(verdict)
        else:
            if is_doubtful(verdict, clean):
                clean.add(component)
            shrunken = shrink(runner, verdict)
        case = shrunken.verdict.case
        if (case.config, case.events) not in known:
            known.append((case.config, case.events))
            yield shrunken


def is_doubtful(verdict: Verdict, clean: Container[str]) -> bool:
    """Whether earlier cases may have made the case fail: one case per component is checked.

    If the engine has a choice, it may have chosen differently, and passing alone says nothing.
    """
    told = verdict.violation is not None if verdict.status is Status.FAIL else verdict.status is Status.ERROR
    return told and verdict.case.component not in clean and not leaves_a_choice(verdict.case)


def told_alone(verdict: Verdict) -> Shrunken:
    return Shrunken(attrs.evolve(verdict, message=f"{verdict.message}; {ALONE}"), 1, times=None)


def passes_alone(make: Callable[[], Engine], verdict: Verdict) -> bool:
    with make() as fresh:
        return Runner(fresh).run_one(verdict.case, verdict.stage).status is Status.PASS


def shrink_leak(make: Callable[[], Engine], verdict: Verdict) -> Shrunken:
    """A case that passes alone: shrunken if it fails when it runs twice, else unchanged."""
    with make() as fresh:
        runner = SecondTime(fresh)
        failing = runner.run_one(verdict.case, verdict.stage)
        if failing.status is not Status.FAIL or failing.violation is None:
            return Shrunken(attrs.evolve(verdict, message=LEAK), 2, times=None)
        search = Search(runner, failing, LEAKS)
        search.shrink()
    # The state that all other cases left may be part of the cause.
    with make() as fresh:
        again = SecondTime(fresh).run_one(search.best.case, verdict.stage)
    best = again if again.status is Status.FAIL else failing
    return Shrunken(attrs.evolve(best, message=LEAK_AGAIN), 2 * search.replays, times=2)


class SecondTime(Runner):
    """Runs each case twice, and judges the second time."""

    def run(self, planned: Iterable[Planned]) -> Iterator[Verdict]:
        verdicts = super().run(one for one in planned for _ in range(2))
        return islice(verdicts, 1, None, 2)


@attrs.define
class Shortest(Generic[Kind, Found]):
    """The verdict with the least to shrink of each kind, and how many there were."""

    counts: Counter[Kind] = attrs.Factory(Counter)
    verdicts: dict[Kind, Found] = attrs.Factory(dict)

    def take(self, kind: Kind, verdict: Found) -> None:
        self.counts[kind] += 1
        known = self.verdicts.get(kind)
        if known is None or size_of(verdict) < size_of(known):
            self.verdicts[kind] = verdict

    def few(self, place_of: Callable[[Kind], Any]) -> Iterator[Kind]:
        """A few kinds of each place, the shortest first."""
        each: Counter[Any] = Counter()
        for kind in sorted(self.verdicts, key=lambda kind: size_of(self.verdicts[kind])):
            each[place_of(kind)] += 1
            if each[place_of(kind)] <= SHRUNKEN_EACH:
                yield kind


def worth_shrinking(findings: Iterable[Verdict]) -> Iterator[Verdict]:
    """For each component a few failures, the shortest of each kind: the deciding rule, or the kind of trouble."""
    shortest: Shortest[tuple[str, Status, str], Verdict] = Shortest()
    for verdict in findings:
        if verdict.status in VIOLATIONS:
            shortest.take(classify(verdict), verdict)
    return (shortest.verdicts[kind] for kind in shortest.few(lambda kind: kind[0]))


def classify(verdict: Verdict) -> tuple[str, Status, str]:
    return verdict.case.component, verdict.status, kind_of_failure(verdict)


def kind_of_failure(verdict: Verdict) -> str:
    """The deciding rule, or else the beginning of the message. All hangs are one kind, however long they took."""
    if verdict.status is Status.TIMEOUT:
        return "hangs"
    return verdict.rules[0] if verdict.rules else verdict.message.partition(":")[0]


def size_of(verdict: Verdict) -> int:
    """How much there is to shrink: a few large events are more than many small ones."""
    return len(repr(verdict.case.events))


class Search:
    def __init__(self, runner: Runner, verdict: Verdict, budget: int) -> None:
        self.runner = runner
        self.best = verdict
        self.target = verdict
        self.budget = budget
        self.deadline = time.monotonic() + MOST_SECONDS
        self.batch = BATCH
        self.replays = 0
        self.seen: set[str] = set()
        self.internal = internal_rules(verdict.case)
        self.again = AGAIN if leaves_a_choice(verdict.case) else 0

    @property
    def is_over(self) -> bool:
        return self.replays >= self.budget or time.monotonic() >= self.deadline

    def shrink(self) -> None:
        self.cut_after_the_failing_step()
        improved = True
        while improved and not self.is_over:
            improved = any(self.exhaust(proposals) for proposals in (drop_events, drop_pairs, simplify_values))

    def cut_after_the_failing_step(self) -> None:
        if self.best.violation is not None:
            case = self.best.case
            kept = case.events[: self.best.violation.step + 1]
            cut = attrs.evolve(case, events=kept, expect=None, rules=())
            if len(kept) == len(case.events) or self.fails_again(cut):
                self.best = attrs.evolve(self.best, case=cut)

    def fails_again(self, case: Case) -> bool:
        """Whether it fails whatever the engine draws, as far as a few more runs show."""
        self.replays += self.again
        planned = [Planned(self.target.stage, case)] * self.again
        return all(map(self.is_same_failure, self.runner.run(planned)))

    def exhaust(self, proposals: Any) -> bool:
        """Take the first proposal that still fails, again and again, until none does."""
        improved = False
        while not self.is_over and self.take_first(proposals(encode_case(self.best.case))):
            improved = True
        return improved

    def take_first(self, proposals: Iterator[Json]) -> bool:
        fresh = self.valid(proposals)
        while batch := list(islice(fresh, self.batch)):
            self.replays += len(batch)
            verdicts = list(self.runner.run(Planned(self.target.stage, case) for case in batch))
            same = (verdict for verdict in verdicts if self.is_same_failure(verdict))
            failing = next((verdict for verdict in same if self.fails_again(verdict.case)), None)
            if failing is not None:
                self.best = failing
                self.cut_after_the_failing_step()
                return True
            if self.is_over:
                return False
        return False

    def valid(self, proposals: Iterator[Json]) -> Iterator[Case]:
        for proposal in proposals:
            proposal.pop("expect", None)
            text = json.dumps(proposal, sort_keys=True)
            if text in self.seen:
                continue
            self.seen.add(text)
            try:
                case = decode_case(proposal)
                strange = internal_rules(case) - self.internal
            except (DecodeError, InvalidInputError):
                # Not every smaller JSON is a case, and not every event fits every config.
                continue
            # Internal rules do not bind engines: a right one may fail where they begin to matter.
            if not strange:
                yield case

    def is_same_failure(self, verdict: Verdict) -> bool:
        if verdict.status != self.target.status:
            return False
        return not self.target.rules or bool(set(verdict.rules) & {*self.target.rules, *trail(self.target)})


def leaves_a_choice(case: Case) -> bool:
    """Whether an engine may answer in several ways, and differently the next time."""
    model, states = case.model, case.model.start(case.config)
    state = states[0]
    for event in case.events:
        outcomes = model.step(state, event)
        if len(states) > 1 or len(outcomes) > 1:
            return True
        state = outcomes[0].state
    return False


def internal_rules(case: Case) -> set[str]:
    known = all_rules()
    return {rule for rules in expected_rules(case) for rule in rules if rule in known and not known[rule].is_judged}


def trail(verdict: Verdict) -> tuple[str, ...]:
    return verdict.violation.trail if verdict.violation else ()


def drop_events(case: Json) -> Iterator[Json]:
    """Leave out a run of events, long runs first."""
    events = case["events"]
    size = len(events) // 2
    while size:
        for begin in range(len(events) - size, -1, -1):
            if begin + size < len(events) and events[begin] == events[begin + size]:
                continue  # the run one event later leaves the same case
            yield {**case, "events": events[:begin] + events[begin + size :]}
        size //= 2


def drop_pairs(case: Json) -> Iterator[Json]:
    """Leave out any two events of a short trace: an idle and its active often matter only together."""
    events = case["events"]
    if len(events) <= 16:
        for first, second in combinations(range(len(events)), 2):
            yield {**case, "events": [event for i, event in enumerate(events) if i not in (first, second)]}


def simplify_values(case: Json) -> Iterator[Json]:
    """Make one value of the config or of an event simpler, or leave out an element of a list in an event."""
    renumbered = renumber(case)
    if renumbered is not None:
        yield renumbered
    for config in simpler(case["config"]):
        yield {**case, "config": config}
    for index, event in enumerate(case["events"]):
        for other in simpler(event):
            yield {**case, "events": [*case["events"][:index], other, *case["events"][index + 1 :]]}


def simpler(value: Json) -> Iterator[Json]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "type":
                yield from ({**value, key: other} for other in simpler(inner))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield value[:index] + value[index + 1 :]
            yield from ([*value[:index], other, *value[index + 1 :]] for other in simpler(inner))
    elif isinstance(value, bool):
        return
    elif isinstance(value, int):
        yield from (other for other in (0, 1, value // 2, value - 1) if abs(other) < abs(value) or -1 < other < value)
    elif isinstance(value, str):
        yield from simpler_text(value)


def simpler_text(text: str) -> Iterator[str]:
    """Shorter text or bytes; a smaller number in text. Shortened enum names do not decode, so they stay."""
    if len(text) <= 20 and text.removeprefix("-").isdecimal():
        yield from (str(other) for other in (0, 1, int(text) // 2) if abs(other) < abs(int(text)))
    zeros = "0" * len(text)
    if len(text) % 2 == 0 and text != zeros and not text.strip(string.hexdigits):
        # Bytes: zeros say that their values do not matter.
        yield zeros
        places = (at for at in range(0, min(len(text), 32), 2) if text[at : at + 2] != "00")
        yield from (f"{text[:at]}00{text[at + 2 :]}" for at in places)
    for size in (len(text) // 2, 2, 1):
        if 0 < size <= len(text):
            yield text[:-size]
            yield text[size:]


def renumber(case: Json) -> Json | None:
    """Only the order of timestamps matters: 1, 2, 3 … in the same order are easier to read."""
    stamps = sorted({int(event["timestamp"]) for event in case["events"] if "timestamp" in event})
    ranks = {stamp: str(rank) for rank, stamp in enumerate(stamps, start=1)}
    events = [
        {**event, "timestamp": ranks[int(event["timestamp"])]} if "timestamp" in event else event
        for event in case["events"]
    ]
    return {**case, "events": events} if events != case["events"] else None
