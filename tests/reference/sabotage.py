"""Faults put into the reference while a law is tried: a law that still holds then says nothing about them.

A law states something of functions. While it is tried, each of these is made to give another answer: the right one
with one part changed. A law is known by the functions that it names and whose faults it refuses: one that gets weaker
refuses fewer.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from inspect import CO_GENERATOR
from itertools import count, islice
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

from tests.reference.alterations import alter
from tidegate.reference.model import Law

REFERENCE = str(Path(sys.modules["tidegate.reference.model"].__file__ or "").parent)

#: A law is tried on so many samples, from all over.
SAMPLES = 24
#: Of the ways to change the answer of a function these are tried, each in its turn.
FAULTS = (0, 1, 2, 4, 8, 16)
#: Of these so many are looked through.
LOOKED_THROUGH = 3000
#: With a fault in it the reference may never come to an end: so many times as many calls, and so many more, are enough.
TIMES, MORE = 3, 1000


class EndlessError(Exception):
    """Too many calls."""


@cache
def samples_of(law: Law) -> tuple[tuple[Any, ...], ...]:
    found = list(islice(law.samples(), LOOKED_THROUGH))
    return tuple(found[:: max(1, len(found) // SAMPLES)][:SAMPLES])


@contextmanager
def watch(on_call: Callable[[FrameType], None]) -> Iterator[None]:
    """Look at each call of a function of the reference; what was looking before, if anything, waits."""
    before = sys.getprofile()

    def on_event(frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        # What is raised while a generator is closed would get lost.
        if event == "call" and code.co_filename.startswith(REFERENCE) and not code.co_flags & CO_GENERATOR:
            on_call(frame)

    sys.setprofile(on_event)
    try:
        yield
    finally:
        sys.setprofile(before)


def holds(law: Law, samples: tuple[tuple[Any, ...], ...], most_calls: int) -> bool:
    calls = count()

    def on_call(_frame: FrameType) -> None:
        if next(calls) > most_calls:
            raise EndlessError

    try:
        with watch(on_call):
            return all(law.holds(*sample) for sample in samples)
    except Exception:  # noqa: BLE001  a law may refuse a fault in any way
        return False


def functions_of(law: Law) -> tuple[tuple[str, ...], int]:
    """The functions of the reference that the law names itself, as module and name; and all calls that it leads to."""
    called = Counter[str]()

    def note(frame: FrameType) -> None:
        called[f"{frame.f_globals['__name__']}:{frame.f_code.co_qualname}"] += 1

    with watch(note):
        for sample in samples_of(law):
            law.holds(*sample)
    named = names_in(law.holds.__code__)
    return tuple(name for name in sorted(called) if is_plain(name) and name.partition(":")[2] in named), called.total()


def names_in(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(names_in(one) for one in code.co_consts if isinstance(one, CodeType)))


def is_plain(name: str) -> bool:
    """Whether it is a function of a module, and no method or part of another function."""
    module, _, function = name.partition(":")
    return isinstance(vars(sys.modules[module]).get(function), FunctionType)


@contextmanager
def sabotaged(name: str, number: int) -> Iterator[None]:
    """The function gives the change of that number of its answer, wherever it has been imported."""
    module, _, function = name.partition(":")
    right = vars(sys.modules[module])[function]

    @wraps(right)
    def wrong(*positional: Any, **named: Any) -> Any:
        answer = right(*positional, **named)
        changed = list(islice(alter(answer), number + 1))
        return changed[number] if len(changed) > number else answer

    places = [
        (vars(one), here)
        for one in list(sys.modules.values())
        if one is not None and getattr(one, "__name__", "").startswith("tidegate.reference.")
        for here, value in list(vars(one).items())
        if value is right
    ]
    for space, here in places:
        space[here] = wrong
    try:
        yield
    finally:
        for space, here in places:
            space[here] = right


def find_refused(law: Law) -> list[str]:
    """The names of the functions in which the law refuses a fault."""
    names, calls = functions_of(law)
    refused = {name for name in names if any(is_refused(law, name, number, calls) for number in FAULTS)}
    return sorted({name.partition(":")[2] for name in refused})


def is_refused(law: Law, name: str, number: int, calls: int) -> bool:
    with sabotaged(name, number):
        return not holds(law, samples_of(law), TIMES * calls + MORE)
