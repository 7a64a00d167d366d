"""What of a request is the same for several components, read strictly before it becomes a row."""

import re

from tidegate.conformance.engines.wire import BadRequestError, Json, get_choice, get_integer, get_string, unknown_type

_DECIMAL = re.compile(r"0|-?[1-9][0-9]{0,18}")
_STATUSES = ("idle", "active")


def get_long(obj: Json, key: str) -> int:
    """A 64-bit quantity: a decimal string without blanks, plus signs or leading zeros."""
    text = obj.get(key)
    if type(text) is not str or not _DECIMAL.fullmatch(text):
        raise BadRequestError(f"{key} must be a decimal string, not {text!r}")
    value = int(text)
    if not -(2**63) <= value < 2**63:
        raise BadRequestError(f"{key} does not fit 64 bits: {text}")
    return value


def get_text(obj: Json, key: str) -> str:
    """A string that UTF-8 can carry."""
    text = get_string(obj, key)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadRequestError(f"{key} has an unpaired surrogate") from error
    return text


def get_count(obj: Json, key: str, lowest: int = 1) -> int:
    """A number of things that can be numbered with 32 bits."""
    value = get_integer(obj, key)
    if not lowest <= value < 2**31:
        raise BadRequestError(f"{key} must be from {lowest} to 2147483647, not {value}")
    return value


def read_signal(event: Json, key: str) -> Json:
    """A watermark or a status on one of several channels or inputs; whether there is such a one, the query knows."""
    index = get_integer(event, key)
    place = index if 0 <= index < 2**31 else -1
    kind = event.get("type")
    if kind == "watermark":
        return {"type": kind, "place": place, "timestamp": get_long(event, "timestamp")}
    if kind == "status":
        return {"type": get_choice(event, "status", _STATUSES), "place": place, "timestamp": None}
    raise unknown_type(event)


#: Events as `read_signal` gives them: `type` is `watermark`, `idle` or `active`.
SIGNALS = "events ARRAY<STRUCT<type: STRING, place: INT, timestamp: BIGINT>>"
