"""The exit codes of every command, and of every result, in one place: light, because the parser needs them."""

from enum import IntEnum


class Exit(IntEnum):
    """What a command exits with; 64 and above are about the command, not about the engine."""

    CONFORMANT = 0
    VIOLATIONS = 1
    UNDETERMINED = 2
    USAGE = 64
    BAD_INPUT = 65
    CANNOT_START = 69
    INTERNAL = 70
    CANNOT_WRITE = 74


CONCLUSIONS = {
    Exit.CONFORMANT: "conformant",
    Exit.VIOLATIONS: "not conformant",
    Exit.UNDETERMINED: "undetermined",
}
