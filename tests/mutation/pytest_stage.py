"""The tests of `tests/reference` as checks: collected once, then run item by item in each forked process."""

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from _pytest.runner import runtestprotocol

#: No cache and no capturing (processes are silenced anyway), no rewriting (what differs is of no interest).
OPTIONS = (
    "--override-ini=addopts=",
    "--assert=plain",
    "--capture=no",
    "--exitfirst",
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

    def run(self) -> None:
        for report in runtestprotocol(self.item, log=False, nextitem=None):
            if report.failed:
                raise FailedTestError(self.item.nodeid)


@attrs.frozen(eq=False)
class FileCheck:
    """Tests of a file, collected anew: for modules that were imported anew."""

    file: Path
    tests: tuple[str, ...]
    stage: str = "tests"
    component: str = ""

    @property
    def name(self) -> str:
        return self.file.name

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
