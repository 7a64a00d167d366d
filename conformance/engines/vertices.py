"""What requests say of the vertices of a job: their operators and sources, and how far they may be made parallel."""

from tidegate.conformance.engines import wire

_MEMBER = {"configured": False, "concurrent": True, "selects": False, "above": 0}


def get_most(obj: wire.Json) -> int:
    most = wire.get_integer({"max_parallelism": -1, **obj}, "max_parallelism")
    if most != -1 and not 1 <= most <= 32768:
        raise wire.BadRequestError("max_parallelism must be -1 or from 1 to 32768")
    return most


def read_members(event: wire.Json, key: str) -> list[wire.Json]:
    members = [{**_MEMBER, **said} for said in wire.get_objects({key: [], **event}, key)]
    for member in members:
        if not wire.get_string(member, "description"):
            raise wire.BadRequestError("a description must not be empty")
        for flag in ("configured", "concurrent", "selects"):
            wire.get_boolean(member, flag)
        wire.get_at_least(member, "above", 0)
    return members
