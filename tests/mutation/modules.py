"""The modules of the reference, who imports whom, and which tests are about which."""

import ast
import functools
from pathlib import Path

from tests.paths import ROOT

#: Where modules are imported from: a link to each folder of the repository.
SOURCES = ROOT / "src"
PROJECT = ("tidegate", "tests")
#: What components and claims are, the registry of rule texts, and the list of components: no behaviour of their own.
NOT_MUTATED = tuple(f"tidegate.reference.{name}" for name in ("model", "claims", "rules", "components"))
#: Imported by every test, so that importing them says nothing about what a test is about.
SAYS_NOTHING = (*NOT_MUTATED, "tidegate.reference.elements")
#: Tests elsewhere: what holds the domains of values to the schemas, and symmetries to their word.
ABOUT_ALL = tuple(
    ROOT / "tests" / one for one in ("conformance/test_schema_domains.py", "properties/explorer/test_symmetry.py")
)


def name_module(path: Path) -> str:
    return ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")


def show_path(path: Path) -> str:
    """As a reader finds the file: `reference/watermarks/valve.py`."""
    return path.relative_to(SOURCES / "tidegate").as_posix()


@functools.cache
def reference_modules() -> dict[str, Path]:
    return {name_module(path): path for path in sorted((SOURCES / "tidegate" / "reference").rglob("*.py"))}


@functools.cache
def mutated_modules() -> dict[str, Path]:
    """All but those that only name things; the door of a package only declares its component."""
    return {
        name: path
        for name, path in reference_modules().items()
        if path.name != "__init__.py" and name not in NOT_MUTATED
    }


def find_modules(name: str) -> list[str]:
    """The mutated modules of that name, or in the package of that name: `valve`, `credit.buffers`, `barriers`."""
    return [one for one in mutated_modules() if f".{name}." in f".{one}."]


def file_of(module: str) -> str:
    return str(reference_modules()[module])


@functools.cache
def imports_of(path: Path) -> frozenset[str]:
    """The modules of the reference that a file imports itself."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found & set(reference_modules()))


@functools.cache
def closure(modules: frozenset[str]) -> frozenset[str]:
    """These, and all that they import."""
    while not (more := frozenset().union(*(imports_of(reference_modules()[one]) for one in modules))) <= modules:
        modules |= more
    return modules


def dependents(module: str) -> set[str]:
    """The mutated modules that import this one, directly or not, and itself."""
    return {name for name in mutated_modules() if module in closure(frozenset({name}))}


def find_subject(test_file: Path) -> frozenset[str]:
    """The modules that a test is about, by what it imports; none if it may run any, as those about all components."""
    return frozenset() if test_file in ABOUT_ALL else imports_of(test_file) - set(SAYS_NOTHING)


def is_about(test_file: Path, modules: set[str]) -> bool:
    """Whether a test may run one of the modules."""
    direct = find_subject(test_file)
    return not direct or bool(closure(direct) & modules)


def test_files() -> list[Path]:
    return [*sorted((ROOT / "tests" / "reference").rglob("test_*.py")), *ABOUT_ALL]
