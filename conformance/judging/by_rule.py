"""The suite rule by rule, as a test framework asks for it.

The cases of a component are run once, when the first of its rules is asked for.
"""

from collections import Counter
from collections.abc import Iterable

import attrs

from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.judging.coverage import measure
from tidegate.conformance.judging.run import Candidate
from tidegate.conformance.judging.shrink import shrink
from tidegate.conformance.judging.suite import Budget, declared_components, wanted_of
from tidegate.conformance.judging.trial import Runner, Trial
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.conformance.reports.findings import describe

#: In place of a rule: whatever no rule accounts for, such as errors, timeouts, crashes, cases that were not run.
ANSWERS = "answers"
#: Replays that may be spent on a smaller counterexample of one rule.
SHRINKING = 500


@attrs.define
class Found:
    """What the cases of one component showed: the failures by their deciding rule, and how often each rule was met."""

    counts: Counter[str] = attrs.Factory(Counter)
    shortest: dict[str, Verdict] = attrs.Factory(dict)
    exercised: Counter[str] = attrs.Factory(Counter)

    def take(self, rule: str, verdict: Verdict) -> None:
        self.counts[rule] += 1
        known = self.shortest.get(rule)
        if known is None or len(verdict.case.events) < len(known.case.events):
            self.shortest[rule] = verdict


class ByRule:
    """One engine, and what was found about it so far."""

    def __init__(self, candidate: Candidate, budget: Budget, components: Iterable[str] = ()) -> None:
        self.name = candidate.name
        self.budget = budget
        self.engine = candidate.make()
        self.description = self.engine.start()
        self.components = self._choose(tuple(components))
        self._found: dict[str, Found] = {}

    def _choose(self, wanted: tuple[str, ...]) -> list[str]:
        declared = declared_components(self.description)
        unknown = [name for name in wanted if name not in declared]
        if unknown or not declared:
            self.engine.close()
            known = ", ".join(declared) or "nothing that the specification knows"
            missing = f", not {', '.join(unknown)}" if unknown else ""
            raise CannotStartError(f"the engine declares {known}{missing}")
        return [name for name in declared if not wanted or name in wanted]

    def rules(self, component: str) -> tuple[str, ...]:
        """Those that are within reach of what the engine declares."""
        return wanted_of(self.description, [component]).rules

    def complaint(self, component: str, rule: str) -> str:
        """What is wrong about the rule; nothing, if it was exercised and decided no failure."""
        found = self._run(component)
        if rule in found.shortest:
            shrunken = shrink(Runner(self.engine), found.shortest[rule], SHRINKING)
            count = found.counts[rule]
            return f"{describe(shrunken.verdict, self.name).text()}\n  found in {count} case{'s' * (count != 1)}"
        if rule != ANSWERS and not found.exercised[rule]:
            return f"{rule} was not exercised by any case, so nothing is known about it"
        return ""

    def _run(self, component: str) -> Found:
        if component not in self._found:
            found, trial = Found(), Trial(Runner(self.engine))
            rules = set(self.rules(component))
            for verdict in trial.try_component(component, self.budget):
                if verdict.status is not Status.PASS:
                    deciding = verdict.rules[0] if verdict.rules else ""
                    found.take(deciding if deciding in rules else ANSWERS, verdict)
            found.exercised = measure(trial.tally.exercised).rules
            self._found[component] = found
        return self._found[component]
