"""Digest of the sources that influence what is known of a component, and of no others.

So results of one component stay valid while another one changes.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import tidegate
from tidegate.reference.components import PLACES

HOME = Path(tidegate.__file__).parent
#: Modules that print, report and start processes have no influence.
FOLDERS = ("reference", "properties", "traces", "conformance/judging", "conformance/engines")


def digest_sources(component: str, *modules: str) -> str:
    """Of these modules, the specification, the cases and the museum of the component, with all their imports."""
    place = PLACES[component]
    cases, museum = f"tidegate.properties.cases.{component}", f"tidegate.conformance.engines.museum.{component}"
    notation = f"tidegate.traces.notation.{place.subject}"
    found = follow((*modules, place.module, notation, cases, museum, f"{museum}.wrong"))
    tables = {
        *(HOME / "reference" / place.subject).glob("*.toml"),
        HOME / "properties" / "cases" / f"{component}.toml",
        HOME.joinpath("conformance", "engines", "museum", "killers.json"),
        HOME / "traces" / "golden" / f"{component}.jsonl.gz",
    }
    digest = hashlib.sha256()
    for path in sorted({*found, *tables}):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def follow(modules: Iterable[str]) -> set[Path]:
    """The files of modules, and of our modules that they import."""
    found: set[Path] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = find_file(name)
        if path is not None and path not in found:
            found.add(path)
            waiting += imports_of(path)
            waiting.append(name.rpartition(".")[0])
    return found


@cache
def find_file(module: str) -> Path | None:
    place = HOME.joinpath(*module.split(".")[1:])
    files = (place.with_suffix(".py"), place / "__init__.py")
    return next((path for path in files if path.is_file() and is_wanted(path)), None)


def is_wanted(path: Path) -> bool:
    return any(path.is_relative_to(HOME / folder) for folder in FOLDERS)


@cache
def imports_of(path: Path) -> list[str]:
    return list(read_imports(ast.parse(path.read_bytes())))


def read_imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (one.name for one in names if one.name.startswith("tidegate."))
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("tidegate."):
                yield module
                yield from (f"{module}.{one.name}" for one in names)
