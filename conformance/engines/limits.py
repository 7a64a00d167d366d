"""Timeouts and size limits for engines."""

import math
from typing import Any

import attrs

from tidegate.conformance.engines.errors import BadOptionError

MEBIBYTE = 1024 * 1024


def _positive(_: Any, attribute: "attrs.Attribute[Any]", value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise BadOptionError(f"{attribute.name} must be a positive number, not {value!r}")


def _count(least: int) -> Any:
    def check(_: Any, attribute: "attrs.Attribute[Any]", value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise BadOptionError(f"{attribute.name} must be a whole number, {least} or more, not {value!r}")

    return check


@attrs.frozen(kw_only=True)
class Limits:
    #: seconds in which an engine must answer a case; time that the caller takes between replies does not count
    case_timeout: float = attrs.field(default=10.0, validator=_positive)
    #: seconds in which an engine must answer `hello`
    start_timeout: float = attrs.field(default=30.0, validator=_positive)
    #: requests in flight
    window: int = attrs.field(default=64, validator=_count(1))
    #: bytes of requests in flight; one request may be longer
    window_bytes: int = attrs.field(default=MEBIBYTE, validator=_count(1))
    #: bytes of one line of an engine's standard output
    line_limit: int = attrs.field(default=16 * MEBIBYTE, validator=_count(1000))
    #: approximate bytes of replies that wait for an earlier one
    waiting_bytes: int = attrs.field(default=48 * MEBIBYTE, validator=_count(1))
    #: how often an engine is restarted before the remaining cases do not run
    max_restarts: int = attrs.field(default=10, validator=_count(0))
    #: seconds of silence after which an engine has nothing more to say about a case
    settle: float = attrs.field(default=0.05, validator=_positive)
    #: seconds for an engine to exit after `bye`
    bye_grace: float = attrs.field(default=2.0, validator=_positive)
    #: seconds between SIGTERM and SIGKILL, and between a closed stream and the expected exit
    kill_grace: float = attrs.field(default=0.5, validator=_positive)
