"""How to claim something of a component: write a function that decides, and a decorator that says what about.

The name of the function, in kebab case, is the name of the claim; the first paragraph of its docstring is what it
states; the rules that it follows from are given to the decorator. `always` is about every transition, `invariant` about
every state that can be reached, `law` about the functions that a component is made of, and `sometimes` about what must
be reachable, so that nothing holds only because nothing happens. `Component.of` collects them.
"""

import re
from collections.abc import Callable, Iterable
from inspect import cleandoc
from typing import Any

from tidegate.reference.model import Event, Invariant, Law, Observation, Outcome, Property, Sometimes, State

OfTransition = Callable[[State, Event, Outcome[State, Observation]], bool]


def always(*rules: str) -> Callable[[OfTransition[State, Event, Observation]], Property[State, Event, Observation]]:
    return lambda holds: Property(get_name(holds), get_statement(holds), rules, holds)


def invariant(*rules: str) -> Callable[[Callable[[State], bool]], Invariant[State]]:
    return lambda holds: Invariant(get_name(holds), get_statement(holds), rules, holds)


def law(*rules: str, samples: Callable[[], Iterable[tuple[Any, ...]]]) -> Callable[[Callable[..., bool]], Law]:
    return lambda holds: Law(get_name(holds), get_statement(holds), rules, holds, samples)


def sometimes(*rules: str) -> Callable[[OfTransition[State, Event, Observation]], Sometimes[State, Event, Observation]]:
    return lambda holds: Sometimes(get_name(holds), get_statement(holds), rules, holds)


def get_name(function: Callable[..., bool]) -> str:
    """In kebab case; between two digits stands the point of a version: `as_in_1_5` is `as-in-1.5`."""
    return re.sub(r"(?<=\d)_(?=\d)", ".", function.__name__).replace("_", "-")


def get_statement(function: Callable[..., bool]) -> str:
    """The first paragraph of the docstring; what follows is for readers of the code."""
    if not function.__doc__:
        raise TypeError(f"{function.__module__}.{function.__name__} needs a docstring that says what is claimed")
    return " ".join(cleandoc(function.__doc__).partition("\n\n")[0].split())
