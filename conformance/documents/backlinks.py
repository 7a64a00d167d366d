"""References to a rule: functions that name it, directed traces about it, museum engines that break it."""

import ast
from collections.abc import Container, Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import attrs

from tidegate.conformance.engines.museum.catalog import all_mutants
from tidegate.properties.drawing.directed import directed
from tidegate.reference.components import COMPONENTS
from tidegate.reference.rules import all_rules


@attrs.frozen
class Place:
    """A function by the path of its file in the repository; `""` is the module itself."""

    path: str
    function: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.function}".rstrip()


def places_of(rule_id: str) -> tuple[Place, ...]:
    """Every function of the reference that names the rule, in the order of the files."""
    return code_places().get(rule_id, ())


def directed_about(rule_id: str) -> tuple[str, ...]:
    return tuple(one.case.name for name in COMPONENTS for one in directed(name) if rule_id in one.case.rules)


def mutants_of(rule_id: str) -> tuple[str, ...]:
    return tuple(mutant.name for mutant in all_mutants() if mutant.rule == rule_id)


@cache
def code_places() -> dict[str, tuple[Place, ...]]:
    return find_places(files("tidegate.reference"), "reference", all_rules())


def find_places(folder: Traversable, name: str, rules: Container[str]) -> dict[str, tuple[Place, ...]]:
    """The functions in a folder that name one of the rules, by the rule."""
    found: dict[str, dict[tuple[str, str], Place]] = {}
    for path, module in modules(folder, name):
        for function, line, text in constants(ast.parse(module.read_text(encoding="utf-8"))):
            if text in rules:
                found.setdefault(text, {}).setdefault((path, function), Place(path, function, line))
    return {rule_id: tuple(places.values()) for rule_id, places in found.items()}


def modules(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            yield from modules(entry, f"{path}/{entry.name}")
        elif entry.name.endswith(".py"):
            yield f"{path}/{entry.name}", entry


def constants(tree: ast.AST, function: str = "") -> Iterator[tuple[str, int, str]]:
    """Every string with its enclosing function, decorators included."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield function, node.lineno, node.value
        inside = node.name if isinstance(node, ast.FunctionDef) else function
        yield from constants(node, inside)
