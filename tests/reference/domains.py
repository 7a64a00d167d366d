"""Which numbers the specification takes for what it is told: the lowest of each field of configs and events.

The golden traces are full of values inside their domains; here are the borders. Each number of a config or an event is
replaced by others, and which of them are taken is stored in `domains.json`, beside the semantics that is meant where
none is named. `python -m tests.reference.domains` writes the file anew.
"""

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tidegate.conformance.judging.golden import read_golden
from tidegate.reference.components import COMPONENTS
from tidegate.traces.codec import DecodeError, decode_case, encode, encode_case

FILE = Path(__file__).parent / "domains.json"
TRIED = (-3, -2, -1, 0, 1, 2)

Json = dict[str, Any]


@cache
def read_stored() -> Json:
    stored: Json = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


def samples_of(component: str) -> Iterator[tuple[str, Json, Json]]:
    """A config, and one event of each type: its name, the case that it is in, and the part of the case that it is."""
    met: set[str] = set()
    for golden in read_golden(component):
        case = {key: value for key, value in encode_case(golden).items() if key not in ("expect", "rules")}
        for name, part in [("config", case["config"]), *((event["type"], event) for event in case["events"])]:
            fields = f"{name} {sorted(part)}"
            if fields not in met:
                met.add(fields)
                yield name, case, part


def numbers_in(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of the numbers; of a list the first element that has any."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers_in(inner, (*path, key))
    elif isinstance(value, list):
        yield from next((found for at, inner in enumerate(value) if (found := [*numbers_in(inner, (*path, at))])), [])
    elif type(value) is int:
        yield path


def find_accepted(component: str) -> dict[str, list[int]]:
    """For each number, by its name: which of the tried values are taken in its place."""
    accepted: dict[str, list[int]] = {}
    for name, case, part in samples_of(component):
        for path in numbers_in(part):
            place = ".".join([name, *(step for step in path if isinstance(step, str))])
            if place not in accepted:
                accepted[place] = [value for value in TRIED if is_taken(case, part, path, value)]
    return accepted


def is_taken(case: Json, part: Json, path: tuple[str | int, ...], value: int) -> bool:
    kept = copy.deepcopy(part)
    holder: Any = part
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    try:
        decode_case(case)
    except DecodeError:
        return False
    finally:
        part.clear()
        part.update(kept)
    return True


def find_default(component: str) -> str | None:
    """The semantics that is meant where a config names none."""
    for golden in read_golden(component):
        case = encode_case(golden)
        if case["config"].pop("semantics", None) is not None:
            meant: str = encode(decode_case(case).config)["semantics"]
            return meant
    return None


def find_domains(component: str) -> Json:
    return {"semantics": find_default(component), "accepted": find_accepted(component)}


def main() -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(find_domains(name))}" for name in COMPONENTS]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
