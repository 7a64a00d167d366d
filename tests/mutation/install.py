"""Puts a mutated module in the place of the right one, in this process only.

Where the change is inside a function, the code of that function is swapped: everybody who has imported it runs the
mutated one from then on, values made before stay valid, and nothing has to be imported again. What runs when modules
are imported (constants, defaults, tables) is too late to be swapped; then all modules of the project are forgotten and
imported anew, with the mutated source in place of the one module.
"""

import ast
import functools
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType

from tests.mutation.sites import FUNCTIONS

#: Where a function stands: file, qualified name, first line.
Place = tuple[str, str, int]
#: A function that is swapped as a whole: its file, and its name.
Unit = tuple[str, str]


class SwapError(Exception):
    """The change cannot be made in the functions that are there."""


def place_of(code: CodeType) -> Place:
    return (code.co_filename, code.co_qualname, code.co_firstlineno)


def is_in(function: object, files: set[str]) -> bool:
    return isinstance(function, FunctionType) and function.__code__.co_filename in files


def name_outermost(code: CodeType) -> str:
    """Of the function around a piece of code: `make` for `make.<locals>.check`; empty for what belongs to a module."""
    name = code.co_qualname.partition(".<locals>")[0]
    return "" if name.rpartition(".")[2].startswith("<") else name


def codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


class Swapper:
    """Knows every function there is, closures too, by where it stands."""

    def __init__(self, files: Iterable[str]) -> None:
        wanted = set(files)
        self._functions: dict[Place, list[FunctionType]] = {}
        self._caches = []
        for one in gc.get_objects():
            if is_in(one, wanted):
                self._functions.setdefault(place_of(one.__code__), []).append(one)
            elif isinstance(one, functools._lru_cache_wrapper) and is_in(one.__wrapped__, wanted):
                self._caches.append(one)

    def at(self, place: Place) -> list[FunctionType]:
        return self._functions.get(place, [])

    def swap(self, mutated: CodeType, unit: str) -> None:
        """Put the code of one function, and of those inside it, into the functions that stand in the same place."""
        found = False
        for code in codes_in(mutated):
            if code.co_qualname == unit or code.co_qualname.startswith(f"{unit}.<locals>."):
                for function in self.at(place_of(code)):
                    found = True
                    if len(function.__code__.co_freevars) != len(code.co_freevars):
                        raise SwapError(unit)
                    function.__code__ = code
        if not found:
            raise SwapError(unit)
        self.clear_caches()

    def clear_caches(self) -> None:
        """What was computed by the right functions says nothing about the mutated ones."""
        for cache in self._caches:
            cache.cache_clear()


class Probes:
    """Tells which functions are called, at next to no cost.

    Each function is given code that begins with a note of the call, and that puts the usual code back.
    """

    def __init__(self, swapper: Swapper, modules: dict[str, str]) -> None:
        self.called: set[Unit] = set()
        self._usual: dict[Unit, list[tuple[FunctionType, CodeType]]] = {}
        self._probed: list[tuple[FunctionType, CodeType]] = []
        for name, file in modules.items():
            if name in sys.modules:
                vars(sys.modules[name])["__probe__"] = self._note
                for code in codes_in(compile_probed(file)):
                    self._prepare(swapper.at(place_of(code)), code)

    def _prepare(self, functions: list[FunctionType], code: CodeType) -> None:
        unit = (code.co_filename, name_outermost(code))
        for function in functions:
            if len(function.__code__.co_freevars) == len(code.co_freevars):
                self._usual.setdefault(unit, []).append((function, function.__code__))
                self._probed.append((function, code))

    def set(self) -> None:
        self.called.clear()
        for function, code in self._probed:
            function.__code__ = code

    def take_away(self) -> None:
        for unit in self._usual:
            self._restore(unit)

    def _note(self, unit: Unit) -> None:
        self.called.add(unit)
        self._restore(unit)

    def _restore(self, unit: Unit) -> None:
        for function, code in self._usual[unit]:
            function.__code__ = code


def compile_probed(file: str) -> CodeType:
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))

    def visit(nodes: list[ast.stmt], prefix: str) -> None:
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, FUNCTIONS):
                for inner in ast.walk(node):
                    if isinstance(inner, FUNCTIONS):
                        note = ast.parse(f"__probe__({(file, prefix + node.name)!r})").body[0]
                        inner.body.insert(0, ast.copy_location(note, inner.body[0]))

    visit(tree.body, "")
    return compile(ast.fix_missing_locations(tree), file, "exec")


class MutatedSource(importlib.abc.MetaPathFinder):
    """Imports one module from its mutated code, and leaves the others to the usual finders."""

    def __init__(self, module: str, code: CodeType) -> None:
        self._module = module
        self._code = code

    def find_spec(self, fullname, path, target=None):
        if fullname != self._module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        code = self._code

        class Loader(importlib.machinery.SourceFileLoader):
            def get_code(self, fullname):
                return code if fullname == self.name else super().get_code(fullname)

        spec.loader = Loader(fullname, spec.origin)
        return spec


def forget_modules(packages: tuple[str, ...], keep: tuple[str, ...] = ()) -> None:
    for name in list(sys.modules):
        if name.split(".")[0] in packages and not name.startswith(keep or ("\0",)):
            del sys.modules[name]


def install_afresh(module: str, code: CodeType, packages: tuple[str, ...], keep: tuple[str, ...]) -> None:
    forget_modules(packages, keep)
    sys.meta_path.insert(0, MutatedSource(module, code))
    importlib.invalidate_caches()
