"""The scopes of complete suites: small ones for every run, larger ones for thorough runs."""

from importlib import import_module
from importlib.util import find_spec

from tidegate.properties.drawing.scope import Concretion, Scope
from tidegate.reference.components import COMPONENTS

CASES = "tidegate.properties.cases"

__all__ = ["Concretion", "Scope", "has_scopes", "small", "thorough"]


def has_scopes(component: str) -> bool:
    return component in COMPONENTS and find_spec(f"{CASES}.{component}") is not None


def small(component: str) -> list[Scope]:
    """The scopes of the default run."""
    return read(component, "small")


def thorough(component: str) -> list[Scope]:
    """Larger scopes, which include the small ones."""
    return read(component, "thorough")


def read(component: str, size: str) -> list[Scope]:
    if not has_scopes(component):
        return []
    module = import_module(f"{CASES}.{component}")
    return list(getattr(module, size)())
