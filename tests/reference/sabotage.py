"""Faults put into the reference while a law is tried: a law that still holds then says nothing about them.

A law states something of functions. While it is tried, each of these is made to give another answer: the right one
with one part changed, as in `refusing`. How many of these faults the law refuses is stored in `sabotage.json`; a law
that gets weaker refuses fewer. `python -m tests.reference.sabotage` counts anew.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from inspect import CO_GENERATOR
from itertools import count, islice
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

from tests.reference.refusing import alter
from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import Law

FILE = Path(__file__).parent / "sabotage.json"
REFERENCE = str(Path(sys.modules["tidegate.reference.model"].__file__ or "").parent)

#: A law is tried on so many samples, from all over; each function gets so many faults.
SAMPLES, FAULTS = 24, 3
#: Of these so many are looked through.
LOOKED_THROUGH = 3000
#: With a fault in it the reference may never come to an end: so many times as many calls, and so many more, are enough.
TIMES, MORE = 3, 1000


class EndlessError(Exception):
    """Too many calls."""


@cache
def laws() -> dict[str, Law]:
    """By name, with a component that has it."""
    return {f"{name} {law.name}": law for name, component in COMPONENTS.items() for law in component.laws}


@cache
def samples_of(key: str) -> tuple[tuple[Any, ...], ...]:
    found = list(islice(laws()[key].samples(), LOOKED_THROUGH))
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


@cache
def functions_of(key: str) -> tuple[tuple[str, ...], int]:
    """The functions of the reference that the law calls, by module and name, but for its own one; and all calls."""
    law, called = laws()[key], Counter[str]()

    def note(frame: FrameType) -> None:
        called[f"{frame.f_globals['__name__']}:{frame.f_code.co_qualname}"] += 1

    with watch(note):
        for sample in samples_of(key):
            law.holds(*sample)
    plain = [name for name in sorted(called) if is_plain(name) and not name.endswith(f":{law.holds.__name__}")]
    return tuple(plain), called.total()


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


def count_refused(key: str) -> dict[str, int]:
    """For each function how many of the faults in it are refused."""
    law, samples = laws()[key], samples_of(key)
    names, calls = functions_of(key)
    return {
        name.removeprefix("reference."): sum(is_refused(law, samples, name, number, calls) for number in range(FAULTS))
        for name in names
    }


def is_refused(law: Law, samples: tuple[tuple[Any, ...], ...], name: str, number: int, calls: int) -> bool:
    with sabotaged(name, number):
        return not holds(law, samples, TIMES * calls + MORE)


def read_stored() -> dict[str, dict[str, int]]:
    stored: dict[str, dict[str, int]] = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


if __name__ == "__main__":
    counted = {key: count_refused(key) for key in laws()}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(refused)}" for key, refused in counted.items())
    FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
