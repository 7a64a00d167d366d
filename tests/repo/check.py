"""`make check`: style, types, and the tests of what changed against main, in less than a minute.

    python -m tests.repo.check [--against main] [--list] [--seconds 55]

The nearest tests come first: tests that changed, then those that import what changed, then those that import what
imports it. Tests of all components run with the components that changed. What needs Java, a browser or the network is
left to `make test`, and so is what did not begin in time; both are counted.
"""

import argparse
import ast
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from tests.paths import PYTHONPATH, ROOT

#: They run for every change: what may import what, which rules are named where, what is written from the components.
ALWAYS = ("tests/repo/test_structure.py", "tests/repo/test_rules.py", "tests/repo/test_generated.py")
#: Java, Spark, a browser, npm, the network, or most of a minute.
ELSEWHERE = (
    "tests/conformance/audit/test_cluster.py",
    "tests/conformance/audit/test_spark.py",
    "tests/conformance/campaign/test_spark.py",
    "tests/conformance/engines/adapters/",
    "tests/conformance/engines/flink/adapters/",
    "tests/conformance/engines/flink/jobs/test_jobs.py",
    "tests/conformance/engines/flink/jobs/test_restored.py",
    "tests/conformance/engines/flink/test_crashes.py",
    "tests/conformance/engines/flink/test_defects.py",
    "tests/conformance/engines/flink/test_fetch.py",
    "tests/conformance/engines/flink/test_matrix.py",
    "tests/conformance/engines/flink/test_proxies.py",
    "tests/conformance/engines/spark/",
    "tests/conformance/test_examples.py",
    "tests/conformance/web/test_site.py",
    "tests/repo/test_contributing.py",
    "tests/repo/test_wheel.py",
)
FIXTURES = {"browser", "flink_version", "spark"}
SOURCES = ("reference", "traces", "properties", "conformance", "src", "tests", "examples")
#: How far a test may be from a change: 1 imports it, 2 imports a module that imports it.
REACH = 2
MODULE = (sys.executable, "-m")
STYLE = ([*MODULE, "ruff", "check", "."], [*MODULE, "ruff", "format", "--check", "."], [*MODULE, "mypy"])
#: Environment of each process that runs tests.
DEADLINE, COMPONENTS = "TIDEGATE_CHECK_DEADLINE", "TIDEGATE_CHECK_COMPONENTS"


def ask_git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else None


def find_changed(against):
    """The paths that differ from where this branch left `against`, new files included."""
    base = ask_git("merge-base", "HEAD", against) or ask_git("merge-base", "HEAD", f"origin/{against}") or ["HEAD"]
    changed = ask_git("diff", "--name-only", base[0]) or []
    return sorted({*changed, *(ask_git("ls-files", "--others", "--exclude-standard") or [])})


def module_of(path):
    """`reference/model.py` is `tidegate.reference.model`, `tests/paths.py` is `tests.paths`."""
    parts = Path(path).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    if parts[0] == "src":
        return ".".join(parts[1:])
    return ".".join(parts if parts[0] in {"tests", "examples"} else ("tidegate", *parts))


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def find_importers():
    """For each module, the paths that import it."""
    importers = defaultdict(set)
    for tree in SOURCES:
        for path in (ROOT / tree).rglob("*.py"):
            if not path.is_symlink() and "__pycache__" not in path.parts:
                for name in imports_of(path):
                    importers[name].add(path.relative_to(ROOT).as_posix())
    return importers


def is_test(path):
    return path.startswith("tests/") and Path(path).name.startswith("test_") and path.endswith(".py")


def find_beside(path):
    """Tests at the same place in the tree of tests, of the same name, or that name the file."""
    stem = Path(path).stem
    for test in (ROOT / "tests").rglob("test_*.py"):
        beside = (
            test.parent.relative_to(ROOT / "tests") == Path(path).parent and test.stem.removeprefix("test_") == stem
        )
        if beside or test.stem == f"test_{stem}" or (not path.endswith(".py") and Path(path).name in test.read_text()):
            yield test.relative_to(ROOT).as_posix()


def choose(changed):
    """Test files, nearest first."""
    importers, near = find_importers(), {}
    edge = set(changed)
    for path in changed:
        for test in find_beside(path):
            near.setdefault(test, 0)
    for distance in range(REACH + 1):
        near = {path: distance for path in edge if is_test(path) and (ROOT / path).exists()} | near
        edge = {to for path in edge if path.endswith(".py") for to in importers[module_of(path)]} - set(near)
    near = dict.fromkeys(ALWAYS, REACH) | near
    return [path for path in sorted(near, key=lambda path: (near[path], path)) if not path.startswith(ELSEWHERE)]


def names_in(changed):
    """The components whose own files changed; none if any other part of the program did."""
    from tidegate.reference.components import PLACES

    program = [path for path in changed if path.partition("/")[0] in SOURCES[:4]]
    owners = [PLACES.keys() & {*Path(path).parts, Path(path).name.partition(".")[0]} for path in program]
    return set().union(*owners) if all(owners) else set()


def pytest_collection_modifyitems(config, items):
    """Leave out what needs Java or a browser, and tests of components that did not change."""
    from tidegate.reference.components import PLACES

    names = set(filter(None, os.environ[COMPONENTS].split(",")))

    def is_wanted(item):
        values = item.callspec.params.values() if hasattr(item, "callspec") else ()
        about = {value for value in values if isinstance(value, str)} & PLACES.keys()
        return not FIXTURES & set(item.fixturenames) and not (names and about and not about & names)

    wanted = [item for item in items if is_wanted(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
    items[:] = wanted


def pytest_runtest_setup():
    if time.time() > float(os.environ[DEADLINE]):
        pytest.skip("no time was left: `make test` runs it")


def main(words=None):
    parser = argparse.ArgumentParser(prog="python -m tests.repo.check", description=__doc__.partition("\n")[0])
    parser.add_argument("--against", default="main", help="the branch to compare with (main)")
    parser.add_argument("--list", action="store_true", help="print the tests that would run, and stop")
    parser.add_argument("--seconds", type=float, default=55, help="no test begins later than this (55)")
    options = parser.parse_args(words)
    deadline = time.time() + options.seconds
    changed = find_changed(options.against)
    tests = choose(changed)
    if options.list:
        print(*tests, sep="\n")
        return 0
    print(f"{len(changed)} changed files, {len(tests)} files of tests")
    environment = os.environ | {
        "PYTHONPATH": PYTHONPATH,
        DEADLINE: str(deadline),
        COMPONENTS: ",".join(sorted(names_in(changed))),
    }
    tried = [*MODULE, "pytest", "-n", "2", "--dist", "loadfile", "-p", "tests.repo.check", "-rs", *tests]
    codes = [subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode for command in (*STYLE, tried)]
    return max(map(abs, codes))


if __name__ == "__main__":
    sys.exit(main())
