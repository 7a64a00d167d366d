"""The suite as pytest tests: `pytest --tidegate-engine "exec:./engine"`.

Each reachable rule of a declared component becomes one test, `tidegate::valve::VALVE-10`. Cases run once per
component, with the first of its tests. A test passes if its rule was exercised and decided no failure. It is an xfail
if the file of `--tidegate-expect` lists all of its failures. One more test per component, `answers`, fails for
everything without a rule: errors, timeouts, crashes, cases that were not run. With xdist, use `--dist loadscope`, so
that one worker runs all cases of a component.

Without the option the plugin collects nothing, and imports nothing but pytest.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tidegate.conformance.judging.by_rule import ByRule

PREFIX = "tidegate"
STAGES = ("directed", "golden", "complete", "generated", "metamorphic")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tidegate", "conformance of a streaming engine")
    group.addoption(
        "--tidegate-engine",
        metavar="E",
        help='test this engine: reference, python:package.module:Name or "exec:COMMAND LINE"',
    )
    group.addoption(
        "--tidegate-cases", type=count, default=200, metavar="N", help="generated cases per component (default: 200)"
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
        choices=STAGES,
        help="only this stage of the suite; may be repeated",
    )
    group.addoption(
        "--tidegate-expect",
        type=Path,
        metavar="FILE",
        help="known failures, as in `tidegate run --expect`: a rule with known failures only is an xfail",
    )
    group.addoption(
        "--tidegate-timeout",
        type=float,
        default=10.0,
        metavar="S",
        help="seconds for the answer to a case (default: 10)",
    )


def count(text: str) -> int:
    """A count, parsed as by `tidegate run --cases`."""
    from tidegate.conformance.cli.options import at_least_zero  # noqa: PLC0415 - nobody pays for it without the option

    return at_least_zero(text)


class Failure(Exception):  # noqa: N818 - a failed test, not an error
    """Failure of one of our tests: text, no traceback."""


def make_suite(config: pytest.Config) -> "ByRule":
    """Start the engine of the options."""
    # Imported only with the option.
    from tidegate.conformance.engines.errors import EngineError  # noqa: PLC0415
    from tidegate.conformance.judging.by_rule import ByRule  # noqa: PLC0415
    from tidegate.conformance.judging.expectations import ExpectationsFileError, read_expectations  # noqa: PLC0415
    from tidegate.conformance.judging.run import Candidate  # noqa: PLC0415
    from tidegate.conformance.judging.suite import Budget  # noqa: PLC0415

    name = config.getoption("--tidegate-engine")
    stages = config.getoption("--tidegate-stage") or STAGES
    budget = Budget(config.getoption("--tidegate-cases"), config.getoption("--tidegate-seed"), stages)
    try:
        candidate = Candidate(name, limits={"case_timeout": config.getoption("--tidegate-timeout")})
        expectations = read_expectations(config.getoption("--tidegate-expect"))
        return ByRule(candidate, budget, config.getoption("--tidegate-component"), expectations)
    except EngineError as error:
        raise pytest.UsageError(f"tidegate: {name}: {error}") from None
    except (ExpectationsFileError, OSError) as error:
        raise pytest.UsageError(f"tidegate: {error}") from None


SUITE: "pytest.StashKey[ByRule]" = pytest.StashKey()
#: Selected test names; if empty, all.
CHOSEN: pytest.StashKey[list[str]] = pytest.StashKey()


class Root(pytest.Collector):
    """`tidegate`"""

    def collect(self) -> Iterator[pytest.Collector]:
        for component in self.config.stash[SUITE].components:
            yield Component.from_parent(self, name=component)


class Component(pytest.Collector):
    """`tidegate::valve`"""

    def collect(self) -> Iterator[pytest.Item]:
        from tidegate.conformance.judging.by_rule import ANSWERS  # noqa: PLC0415

        for rule in (ANSWERS, *self.config.stash[SUITE].rules(self.name)):
            yield Rule.from_parent(self, name=rule)


class Rule(pytest.Item):
    """`tidegate::valve::VALVE-10`"""

    @property
    def component(self) -> str:
        assert self.parent is not None
        return self.parent.name

    def runtest(self) -> None:
        suite = self.config.stash[SUITE]
        if complaint := suite.complaint(self.component, self.name):
            raise Failure(complaint)
        if known := suite.known(self.component, self.name):
            pytest.xfail(known)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Failure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, None, str]:
        return PREFIX, None, self.nodeid


def is_ours(argument: str) -> bool:
    return argument == PREFIX or argument.startswith(f"{PREFIX}::")


def pytest_configure(config: pytest.Config) -> None:
    """Take the names of our tests, as reports print them, out of the arguments: they are not files."""
    if config.getoption("--tidegate-engine") is not None:
        config.stash[CHOSEN] = [argument for argument in config.args if is_ours(argument)]
        config.args[:] = [argument for argument in config.args if not is_ours(argument)]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the engine first, under xdist before any worker, so that an error is printed once."""
    config = session.config
    if config.getoption("--tidegate-engine") is None:
        return
    if hasattr(config, "workerinput"):
        from tidegate.conformance.workers import follow_parent  # noqa: PLC0415

        follow_parent()  # xdist would need half a minute to notice
    config.stash[SUITE] = suite = make_suite(config)
    if config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput"):
        suite.engine.close()  # this process only runs the workers, and each has its own engine


def pytest_report_collectionfinish(config: pytest.Config) -> str | None:
    suite = config.stash.get(SUITE, None)
    if suite is None:
        return None
    about, budget = suite.description, suite.budget
    return f"tidegate: {about.name} {about.version} ({about.language}), {budget.cases} cases, seed {budget.seed}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add our tests, before -k and the like select from them."""
    if SUITE not in session.config.stash:
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
    suite = config.stash.get(SUITE, None)
    if suite is not None:
        suite.engine.close()
