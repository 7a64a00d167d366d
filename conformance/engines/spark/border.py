"""Parts of requests that several components share, read strictly before they become rows."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.wire import BadRequestError, Json, get_choice, get_hex, get_integer

_STATUSES = ("idle", "active")


def get_text(obj: Json, key: str) -> str:
    """A string that UTF-8 can encode."""
    text = wire.get_string(obj, key)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadRequestError(f"{key} has an unpaired surrogate") from error
    return text


def read_bytes(event: Json, key: str, kinds: tuple[str, ...]) -> Json:
    """An event with bytes, which is the first of the kinds, or without."""
    kind = get_choice(event, "type", kinds)
    return {"type": kind, key: bytes.fromhex(get_hex(event, key)) if kind == kinds[0] else None}


def read_signal(event: Json, key: str) -> Json:
    """A watermark or a status on one of several channels or inputs; the query checks that it exists."""
    index = get_integer(event, key)
    place = index if 0 <= index < 2**31 else -1
    kind = event.get("type")
    if kind == "watermark":
        return {"type": kind, "place": place, "timestamp": wire.get_long(event, "timestamp")}
    if kind == "status":
        return {"type": get_choice(event, "status", _STATUSES), "place": place, "timestamp": None}
    raise wire.unknown_type(event)


#: Events from `read_signal`: `type` is `watermark`, `idle` or `active`.
SIGNALS = "events ARRAY<STRUCT<type: STRING, place: INT, timestamp: BIGINT>>"
