"""Engines: whatever replays cases, behind one interface, however it is reached."""

from conformance.engines.base import (
    Broken,
    Claim,
    Crashed,
    Description,
    Engine,
    NotRun,
    Refused,
    Reply,
    Request,
    Steps,
    TimedOut,
)
from conformance.engines.errors import CannotStartError, EngineError, UnknownEngineError, VersionMismatchError
from conformance.engines.resolve import FORMS, resolve

__all__ = [
    "FORMS",
    "Broken",
    "CannotStartError",
    "Claim",
    "Crashed",
    "Description",
    "Engine",
    "EngineError",
    "NotRun",
    "Refused",
    "Reply",
    "Request",
    "Steps",
    "TimedOut",
    "UnknownEngineError",
    "VersionMismatchError",
    "resolve",
]
