"""A collection of wrong engines, each one rule away from right.

A suite that has never failed anybody proves nothing. Here every component of the protocol is implemented once more,
independently of `reference` and right; and beside it stand wrong ones, each a small class that changes one thing: a bug
that a real engine once had, or the smallest change that breaks one rule.

`engine(name)` gives the engine of one mutant, `engine(None)` the right one; `all_mutants()` is the catalog.
"""

from tidegate.conformance.engines.museum.catalog import all_mutants, find
from tidegate.conformance.engines.museum.engines import Engine, engine
from tidegate.conformance.engines.museum.wrong import Mutant

__all__ = ["Engine", "Mutant", "all_mutants", "engine", "find"]
