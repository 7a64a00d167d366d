"""Engines: everything that replays cases, behind one interface, whatever the transport."""

from tidegate.conformance.engines.base import (
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
from tidegate.conformance.engines.errors import CannotStartError, EngineError, UnknownEngineError, VersionMismatchError

__all__ = [
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
]
