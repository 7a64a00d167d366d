"""The tests of `tests/reference` as checks: collected once, then run item by item in each forked process."""

from collections.abc import Callable, Collection
from pathlib import Path

import attrs
import pytest
from _pytest.runner import runtestprotocol

from tests.paths import ROOT

#: No cache and no capturing (processes are silenced anyway), no rewriting (what differs is of no interest), and nothing
#: that is left out of a usual run: it takes minutes on the right module.
OPTIONS = (
    "--override-ini=addopts=",
    "--assert=plain",
    "--capture=no",
    "--exitfirst",
    *("-m", "not long"),
    *("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:terminal", "-p", "no:faulthandler", "-p", "no:logging"),
)


class FailedTestError(AssertionError):
    """A test does not pass."""


@attrs.frozen(eq=False)
class TestCheck:
    """One test."""

    __test__ = False

    item: pytest.Item
    stage: str = "tests"
    component: str = ""

    @property
    def name(self) -> str:
        return self.item.nodeid

    @property
    def file(self) -> Path:
        return self.item.path

    @property
    def about(self) -> str | None:
        """The component that it has for a parameter."""
        callspec = getattr(self.item, "callspec", None)
        about = callspec.params.get("component") if callspec is not None else None
        return about if isinstance(about, str) else None

    def may_run(self, components: Collection[str]) -> bool:
        """Whether it is about one of these components; a test that has none for a parameter may run any."""
        return self.about is None or self.about in components

    def run(self) -> None:
        for report in runtestprotocol(self.item, log=False, nextitem=None):
            if report.failed:
                raise FailedTestError(self.item.nodeid)


@attrs.frozen(eq=False)
class FileCheck:
    """Tests of a file, collected anew: for modules that were imported anew; `seconds` is what they took before."""

    file: Path
    tests: tuple[str, ...]
    seconds: float
    stage: str = "tests"
    component: str = ""

    @property
    def name(self) -> str:
        return self.file.relative_to(ROOT).as_posix()

    def run(self) -> None:
        code = pytest.main([*OPTIONS, *(f"{self.file}::{test}" for test in self.tests)])
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            raise FailedTestError(f"{self.name}: {code}")


class Collector:
    """A plugin that hands the collected tests to a function instead of running them."""

    def __init__(self, use: Callable[[list[TestCheck]], None]) -> None:
        self._use = use

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._use([TestCheck(item) for item in session.items])
        return True


def with_collected(files: list[Path], use: Callable[[list[TestCheck]], None]) -> None:
    """Collect the tests of some files and use them, while the session that they belong to lasts."""
    if not files:
        use([])
        return
    code = pytest.main([*OPTIONS, *map(str, files)], plugins=[Collector(use)])
    if code is not pytest.ExitCode.OK:
        raise FailedTestError(f"the tests cannot be collected: {code!r}")
