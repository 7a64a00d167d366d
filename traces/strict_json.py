"""Strict JSON from outside: refuses anything that two readers might read differently.

No duplicate keys, no NaN, no infinities, no unpaired surrogates, only UTF-8, and no nesting that is too deep to compare
or show.
"""

import json
from collections import Counter
from typing import Any

#: Twice the depth of our deepest document.
DEEPEST = 64


class JsonError(ValueError):
    """The text is not JSON, or not acceptable JSON."""


def read_json(text: str | bytes) -> Any:
    try:
        text = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(text, parse_constant=refuse_constant, object_pairs_hook=without_doubles)
        text.encode("utf-8")
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonError(f"it is not UTF-8: {error.reason} at byte {error.start}") from None
    except UnicodeEncodeError:
        raise JsonError("it holds an unpaired surrogate") from None
    except RecursionError:
        raise JsonError(TOO_DEEP) from None
    except JsonError:
        raise
    except ValueError as error:  # also a number with more digits than Python allows
        raise JsonError(f"not JSON: {error}") from None
    if text.count("[") + text.count("{") > DEEPEST and is_deeper(value, DEEPEST):
        raise JsonError(TOO_DEEP)
    return value


TOO_DEEP = f"it is nested deeper than {DEEPEST} levels"


def refuse_constant(name: str) -> Any:
    raise JsonError(f"not JSON: {name} is not a JSON number")


def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        name = next(name for name, count in Counter(name for name, _value in pairs).items() if count > 1)
        raise JsonError(f"the key {name!r} is there more than once")
    return made


def is_deeper(value: Any, depth: int) -> bool:
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return False
    return depth == 0 or any(is_deeper(one, depth - 1) for one in value)
