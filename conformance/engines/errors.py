"""Everything that can go wrong before an engine answers, in the order of a connection's life.

    resolve   the text after --engine names no engine               UnknownEngineError
              or one that runs whole jobs and replays no cases      WholeJobsOnlyError
              or an option makes no sense                           BadOptionError
    launch    the command cannot be run                             CannotStartError
    hello     the engine dies, hangs or talks nonsense first        CannotStartError, BadHelloError
              it speaks other versions of the protocol              VersionMismatchError
    check     strict mode without the library that it needs         StrictModeUnavailableError
    replay    one replay at a time                                  EngineBusyError
    bye       nothing: an engine that does not exit is killed

From the first `replay` on, failures of an engine raise no exception. Each is a reply about one case (`Refused`,
`Broken`, `TimedOut`, `Crashed`), because it is a finding about the engine and the run goes on. If the engine was
restarted too often, or cannot restart, the replies are `NotRun`.
"""

from typing import ClassVar


class EngineError(Exception):
    """Something about the run, not about the engine's semantics: what happened, and what to do about it."""

    code: ClassVar[str] = "engine"

    def __init__(self, message: str, hint: str = "", stderr: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.stderr = stderr

    def __str__(self) -> str:
        parts = [self.message]
        if self.hint:
            parts.append(f"hint: {self.hint}")
        if self.stderr:
            parts.append("its standard error ended with:")
            parts.extend(f"  {line}" for line in self.stderr)
        return "\n".join(parts)


class UnknownEngineError(EngineError):
    """The text names no known kind of engine: a usage error."""

    code = "unknown-engine"


class WholeJobsOnlyError(EngineError):
    """The engine has no components, and the command needs them: a usage error."""

    code = "whole-jobs-only"


class BadOptionError(EngineError):
    """An option of the engine is unknown or outside its domain: a usage error."""

    code = "bad-option"


class CannotStartError(EngineError):
    """The engine cannot run: the command fails, or it ends or hangs before it answers `hello`."""

    code = "cannot-start"


class BadHelloError(CannotStartError):
    """The answer to `hello` is not allowed by the protocol, or is an error."""

    code = "bad-hello"


class VersionMismatchError(CannotStartError):
    """The engine does not speak this suite's version of the protocol."""

    code = "version-mismatch"


class StrictModeUnavailableError(EngineError):
    """Strict mode needs jsonschema, which the `schemas` extra installs."""

    code = "strict-mode-unavailable"


class EngineBusyError(EngineError):
    """A second `replay` began before the earlier one was read to its end: a mistake of the caller."""

    code = "engine-busy"
