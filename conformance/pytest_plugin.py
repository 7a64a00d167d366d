"""The suite as tests of yours: `pytest --tidegate-engine "exec:./engine"`.

Each rule that is within reach of a component that the engine declares becomes one test, `tidegate::valve::VALVE-10`.
Its cases are run once a component, when the first of its tests is run. A test passes if its rule was exercised and
decided no failure. One more test of each component, `answers`, fails for whatever no rule accounts for: errors,
timeouts, crashes, cases that were not run. With xdist, `--dist loadscope` has each component's cases run by one worker.

Without the option nothing is collected, and nothing is imported but pytest.
"""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tidegate.conformance.engines.base import Description, Engine
    from tidegate.conformance.judging.verdicts import Verdict

PREFIX = "tidegate"
ANSWERS = "answers"
#: Replays that a failing test may spend on a smaller counterexample.
SHRINKING = 500


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tidegate", "conformance of a streaming engine")
    group.addoption(
        "--tidegate-engine",
        metavar="E",
        help='test this engine: reference, python:package.module:Name or "exec:COMMAND LINE"',
    )
    group.addoption(
        "--tidegate-cases", type=int, default=200, metavar="N", help="generated cases a component (default: 200)"
    )
    group.addoption(
        "--tidegate-seed", type=int, default=0, metavar="S", help="seed of the generated cases (default: 0)"
    )
    group.addoption(
        "--tidegate-component", action="append", default=[], metavar="C", help="only this component; may be repeated"
    )
    group.addoption(
        "--tidegate-stage",
        action="append",
        default=[],
        choices=("directed", "golden", "complete", "generated"),
        help="only this stage of the suite; may be repeated",
    )
    group.addoption(
        "--tidegate-timeout",
        type=float,
        default=10.0,
        metavar="S",
        help="seconds for the answer to a case (default: 10)",
    )


class Failure(Exception):  # noqa: N818 - a failed test, not an error
    """What a test of ours fails with: text for people, no traceback."""


class Found:
    """What the cases of one component showed: the failures by their deciding rule, and how often each rule was met."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.shortest: dict[str, Verdict] = {}
        self.exercised: Counter[str] = Counter()

    def take(self, rule: str, verdict: "Verdict") -> None:
        self.counts[rule] += 1
        known = self.shortest.get(rule)
        if known is None or len(verdict.case.events) < len(known.case.events):
            self.shortest[rule] = verdict


class Campaign:
    """One engine for the whole session, and what was found about it so far."""

    def __init__(self, config: pytest.Config) -> None:
        from tidegate.conformance.engines.errors import EngineError  # noqa: PLC0415 - nobody pays for this without the option
        from tidegate.conformance.kinds import resolve  # noqa: PLC0415

        self.name: str = config.getoption("--tidegate-engine")
        self.cases: int = config.getoption("--tidegate-cases")
        self.seed: int = config.getoption("--tidegate-seed")
        self.stages: tuple[str, ...] = tuple(config.getoption("--tidegate-stage"))
        self.found: dict[str, Found] = {}
        try:
            self.engine: Engine = resolve(self.name, case_timeout=config.getoption("--tidegate-timeout"))
            self.description: Description = self.engine.start()
        except EngineError as error:
            raise pytest.UsageError(f"tidegate: {self.name}: {error}") from None
        self.components = self.choose(tuple(config.getoption("--tidegate-component")))

    def choose(self, wanted: tuple[str, ...]) -> list[str]:
        from tidegate.conformance.judging.suite import declared_components  # noqa: PLC0415

        declared = declared_components(self.description)
        unknown = [name for name in wanted if name not in declared]
        if unknown or not declared:
            self.engine.close()
            known = ", ".join(declared) or "nothing that the specification knows"
            missing = f", not {', '.join(unknown)}" if unknown else ""
            raise pytest.UsageError(f"tidegate: {self.name} declares {known}{missing}")
        return [name for name in declared if not wanted or name in wanted]

    def rules(self, component: str) -> tuple[str, ...]:
        from tidegate.conformance.judging.suite import wanted_of  # noqa: PLC0415

        return wanted_of(self.description, [component]).rules

    def run(self, component: str) -> Found:
        """The cases of the component, run on the first call."""
        from tidegate.conformance.judging.coverage import measure  # noqa: PLC0415
        from tidegate.conformance.judging.judge import Judge  # noqa: PLC0415
        from tidegate.conformance.judging.runner import Runner  # noqa: PLC0415
        from tidegate.conformance.judging.suite import STAGES, Budget, plan  # noqa: PLC0415
        from tidegate.conformance.judging.verdicts import Status  # noqa: PLC0415

        if component not in self.found:
            found, judge = Found(), Judge()
            rules = set(self.rules(component))
            budget = Budget(self.cases, self.seed, self.stages or STAGES)
            for verdict in Runner(self.engine, judge).run(plan(self.description, component, budget)):
                if verdict.status is not Status.PASS:
                    deciding = verdict.rules[0] if verdict.rules else ""
                    found.take(deciding if deciding in rules else ANSWERS, verdict)
            found.exercised = measure(judge).rules
            self.found[component] = found
        return self.found[component]

    def check(self, component: str, rule: str) -> None:
        """Raise what is wrong about the rule."""
        from tidegate.conformance.judging.judge import Judge  # noqa: PLC0415
        from tidegate.conformance.judging.runner import Runner  # noqa: PLC0415
        from tidegate.conformance.judging.shrink import shrink  # noqa: PLC0415
        from tidegate.conformance.reports.findings import as_text, describe  # noqa: PLC0415

        found = self.run(component)
        if rule in found.shortest:
            shrunken = shrink(Runner(self.engine, Judge()), found.shortest[rule], SHRINKING)
            count = found.counts[rule]
            text = as_text(describe(shrunken.verdict, self.name))
            raise Failure(f"{text}\n  found in {count} case{'s' * (count != 1)}")
        if rule != ANSWERS and not found.exercised[rule]:
            raise Failure(f"{rule} was not exercised by any case, so nothing is known about it")


CAMPAIGN: pytest.StashKey[Campaign] = pytest.StashKey()
#: The names of our tests that were asked for; all, if none was.
CHOSEN: pytest.StashKey[list[str]] = pytest.StashKey()


class Root(pytest.Collector):
    """`tidegate`"""

    def collect(self) -> Iterator[pytest.Collector]:
        for component in self.config.stash[CAMPAIGN].components:
            yield Component.from_parent(self, name=component)


class Component(pytest.Collector):
    """`tidegate::valve`"""

    def collect(self) -> Iterator[pytest.Item]:
        for rule in (ANSWERS, *self.config.stash[CAMPAIGN].rules(self.name)):
            yield Rule.from_parent(self, name=rule)


class Rule(pytest.Item):
    """`tidegate::valve::VALVE-10`"""

    @property
    def component(self) -> str:
        assert self.parent is not None
        return self.parent.name

    def runtest(self) -> None:
        self.config.stash[CAMPAIGN].check(self.component, self.name)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Failure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, None, str]:
        return PREFIX, None, self.nodeid


def is_ours(argument: str) -> bool:
    return argument == PREFIX or argument.startswith(f"{PREFIX}::")


def pytest_configure(config: pytest.Config) -> None:
    """Take the names of our tests, as reports print them, out of the arguments: they are no files."""
    if config.getoption("--tidegate-engine") is not None:
        config.stash[CHOSEN] = [argument for argument in config.args if is_ours(argument)]
        config.args[:] = [argument for argument in config.args if not is_ours(argument)]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the engine before anything else, under xdist before any worker is: then the error is told once."""
    config = session.config
    if config.getoption("--tidegate-engine") is None:
        return
    config.stash[CAMPAIGN] = campaign = Campaign(config)
    if config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput"):
        campaign.engine.close()  # here nothing is run but the workers, each with an engine of its own


def pytest_report_collectionfinish(config: pytest.Config) -> str | None:
    campaign = config.stash.get(CAMPAIGN, None)
    if campaign is None:
        return None
    about = campaign.description
    return f"tidegate: {about.name} {about.version} ({about.language}), {campaign.cases} cases, seed {campaign.seed}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add our tests, before -k and the like look at what there is."""
    if CAMPAIGN not in session.config.stash:
        return
    chosen = session.config.stash[CHOSEN]
    root: Root = Root.from_parent(session, name=PREFIX, nodeid=PREFIX)
    ours = list(session.genitems(root))
    for name in chosen:
        if not any(is_within(name, item) for item in ours):
            raise pytest.UsageError(f"tidegate: there is no test {name}; --collect-only lists them")
    items += [item for item in ours if not chosen or any(is_within(name, item) for name in chosen)]


def is_within(name: str, item: pytest.Item) -> bool:
    return item.nodeid == name or item.nodeid.startswith(f"{name}::")


def pytest_unconfigure(config: pytest.Config) -> None:
    campaign = config.stash.get(CAMPAIGN, None)
    if campaign is not None:
        campaign.engine.close()
