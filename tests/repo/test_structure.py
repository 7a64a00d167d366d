"""Tests about the repository itself: what may import what, and what must not stand in it."""

import ast
import json
import re
import subprocess
import sys
from functools import cache

import pytest

from tests.conftest import TOGETHER
from tests.paths import ROOT

#: The four folders are `tidegate.reference` and so on; none of them imports what comes after it.
ORDER = ("reference", "traces", "properties", "conformance")
OURS = tuple(f"tidegate.{folder}" for folder in ORDER)
MODULES = sorted(path for folder in ORDER for path in (ROOT / folder).rglob("*.py"))
ACCUSED = sorted((ROOT / "conformance" / "engines").rglob("*.py"))
HEAVY = ("pyspark", "jpype", "pyarrow", "numpy", "hypothesis", "jsonschema", "pandas")


def relative(path):
    return path.relative_to(ROOT).as_posix()


@cache
def nodes(path):
    """The imports and the strings of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom | ast.Constant)]


def imported(path):
    """Every module that a file names in an import, those inside functions and `from package import module` included."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def named(path):
    """The modules of ours that a file names in a string: what is imported or run by its name."""
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and is_in(node.value, *OURS):
            yield node.value


def find(paths, is_wrong, names=imported):
    """The files that name what they must not, each with the names."""
    found = {relative(path): [name for name in names(path) if is_wrong(path, name)] for path in paths}
    return {path: wrong for path, wrong in found.items() if wrong}


def imported_or_named(path):
    return [*imported(path), *named(path)]


def is_in(name, *places):
    return any(name == place or name.startswith(f"{place}.") for place in places)


def test_the_checks_below_look_at_something():
    """They go by dotted names: if these were not found, everything would pass."""
    ours = [name for path in MODULES for name in imported(path) if name.startswith("tidegate.")]
    assert len(ours) > 1000
    assert {name.split(".")[1] for name in ours} >= set(ORDER)
    assert len(ACCUSED) > 100


def test_nothing_is_imported_as_a_second_copy():
    """From the root of the repository `import reference` works, and is another module than `tidegate.reference`."""
    paths = sorted((ROOT / "tests").rglob("*.py")) + MODULES
    assert find(paths, lambda _path, name: is_in(name, *ORDER)) == {}


def test_nothing_imports_to_the_left():
    def is_left(path, name):
        folder = path.relative_to(ROOT).parts[0]
        return is_in(name, *(f"tidegate.{left}" for left in ORDER[ORDER.index(folder) + 1 :]), "tests")

    assert find(MODULES, is_left, imported_or_named) == {}


def test_reference_needs_only_the_standard_library_and_attrs():
    def is_foreign(_path, name):
        return not is_in(name, "tidegate.reference", "attrs", *sys.stdlib_module_names)

    assert find(sorted((ROOT / "reference").rglob("*.py")), is_foreign) == {}


def test_a_judge_shares_no_code_with_the_accused():
    """Engines know how they are reached and what a run log is: nothing that specifies, draws cases or judges."""
    allowed = ("tidegate.conformance.engines", "tidegate.traces.runlog")

    def is_strange(_path, name):
        ours = is_in(name, *OURS) and name not in ("tidegate.conformance", "tidegate.traces")
        return ours and not is_in(name, *allowed)

    assert find(ACCUSED, is_strange, imported_or_named) == {}


def test_the_judge_of_jobs_knows_no_engine():
    """Neither what engines are called nor what they say in words of their own: it reads the protocol alone."""
    allowed = ("base", "errors", "jobs", "text")
    folder = ROOT / "conformance" / "judging" / "jobs"
    modules = sorted(folder.glob("*.py"))

    def is_strange(_path, name):
        kinds = [f"tidegate.conformance.engines.{one}" for one in allowed]
        return (
            is_in(name, "tidegate.conformance.engines")
            and name != "tidegate.conformance.engines"
            and not is_in(name, *kinds)
        )

    assert len(modules) > 10
    assert find(modules, is_strange, imported_or_named) == {}
    schemas = [json.loads((ROOT / f"conformance/schemas/{name}.json").read_text()) for name in ("job-reply",)]
    known = set(fields_of(schemas))
    asked = {word for path in modules for word in words_asked_of(path, "answer", "shown")}
    assert asked - known == set()
    assert {"rows", "generations", "error", "changes"} <= asked


def fields_of(schema):
    """The names of all properties in a schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from fields_of(part)


def words_asked_of(path, *names):
    """The keys by which a file looks into what has one of these names: `answer["rows"]`, `"rows" in answer`, `.get`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(word))) if name in names:
                yield word
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(value=str(word)), *_]
            ) if name in names:
                yield word
            case ast.Compare(left=ast.Constant(value=str(word)), comparators=[ast.Name(id=name)]) if name in names:
                yield word


@pytest.mark.parametrize("folder", ["flink", "spark", "museum"])
def test_engines_share_no_code_with_each_other(folder):
    others = [f"tidegate.conformance.engines.{name}" for name in ("flink", "spark", "museum") if name != folder]
    paths = (ROOT / "conformance" / "engines" / folder).rglob("*.py")
    assert find(paths, lambda _path, name: is_in(name, *others), imported_or_named) == {}


@pytest.mark.parametrize("command", [["--help"], ["rules"], ["run", "--help"], ["explain", "VALVE-13"]])
def test_commands_start_light(command):
    """`--help` and the rules need none of the heavy libraries."""
    program = (
        "import sys, tidegate.conformance.cli.main as m\n"
        "try:\n    m.main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        f"print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *command], capture_output=True, text=True, check=True)
    assert "HEAVY []" in done.stderr


def test_what_is_run_together_is_there():
    """A folder that was given another name would not be, and cost minutes that nobody sees."""
    assert all((ROOT / place).exists() for place in TOGETHER)


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def test_no_path_of_a_machine_stands_in_the_repository():
    machine = re.compile(rb"(^|[^A-Za-z0-9_.])/(work|root|home)/")
    for path in tracked_files():
        if path.is_file() and path.suffix != ".gz":
            assert not machine.search(path.read_bytes()), path


def test_tracked_files_are_small():
    assert not [path for path in tracked_files() if path.is_file() and path.stat().st_size > 2_000_000]
