"""The exit codes of all commands and results. A light module, because the parser needs it."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes; 64 and above are about the command, not the engine."""

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
