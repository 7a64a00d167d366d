"""The suite rule by rule, as a test framework asks for it.

The cases of a component are run once, when the first of its rules is asked for.
"""

from collections import Counter
from collections.abc import Iterable

from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.judging.coverage import measure
from tidegate.conformance.judging.expectations import Expectations
from tidegate.conformance.judging.run import Candidate
from tidegate.conformance.judging.shrink import Shortest, shrink
from tidegate.conformance.judging.suite import Budget, declared_components, wanted_of
from tidegate.conformance.judging.trial import Runner, Tally, Trial
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.conformance.reports.findings import describe

#: In place of a rule: what no rule accounts for, such as errors, timeouts, crashes, cases that were not run.
ANSWERS = "answers"
#: How many replays the search for a smaller counterexample of one rule may take.
SHRINKING = 500


class ByRule:
    """One engine, and what is known about it so far."""

    def __init__(
        self,
        candidate: Candidate,
        budget: Budget,
        components: Iterable[str] = (),
        expectations: Expectations | None = None,
    ) -> None:
        self.name = candidate.name
        self.budget = budget
        self.engine = candidate.make()
        self.description = self.engine.start()
        self.components = self._choose(tuple(components))
        self._expectations = expectations or Expectations()
        #: Per component, the failures by their deciding rule, and how often each rule was exercised.
        self._found: dict[str, tuple[Shortest[str, Verdict], Counter[str]]] = {}
        #: The expected failures, in words, by component and deciding rule.
        self._known: dict[tuple[str, str], str] = {}

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
        """Those that cases can reach within what the engine declares."""
        return wanted_of(self.description, [component]).rules

    def complaint(self, component: str, rule: str) -> str:
        """What is wrong about the rule; empty if it was exercised and decided no failure."""
        found, exercised = self._run(component)
        if rule in found.verdicts:
            shrunken = shrink(Runner(self.engine), found.verdicts[rule], SHRINKING)
            count = found.counts[rule]
            return f"{describe(shrunken.verdict, self.name).text()}\n  found in {count} case{'s' * (count != 1)}"
        if rule != ANSWERS and not exercised[rule]:
            return f"{rule} was not exercised by any case, so nothing is known about it"
        return ""

    def known(self, component: str, rule: str) -> str:
        """Why a failure by the rule was expected; empty if none was."""
        self._run(component)
        return self._known.get((component, rule), "")

    def _run(self, component: str) -> tuple[Shortest[str, Verdict], Counter[str]]:
        if component not in self._found:
            found: Shortest[str, Verdict] = Shortest()
            trial = Trial(Runner(self.engine), Tally(self._expectations))
            rules = set(self.rules(component))
            for verdict in trial.try_component(component, self.budget):
                if verdict.status is not Status.PASS:
                    deciding = verdict.rules[0] if verdict.rules and verdict.rules[0] in rules else ANSWERS
                    if verdict.status is Status.XFAIL:
                        self._known[component, deciding] = verdict.message
                    else:
                        found.take(deciding, verdict)
            self._found[component] = found, measure(trial.tally.exercised).rules
        return self._found[component]
