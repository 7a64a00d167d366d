"""What can go wrong on the way to an engine's answers, in the order of a connection's life.

    resolve   the text after --engine names no engine               UnknownEngineError
              or one that runs whole jobs and replays no cases      WholeJobsOnlyError
              or an option makes no sense                           BadOptionError
    launch    the command cannot be run                             CannotStartError
    hello     the engine dies, hangs or talks nonsense first        CannotStartError, BadHelloError
              it speaks other versions of the protocol              VersionMismatchError
    check     strict mode without the library that it needs         StrictModeUnavailableError
    replay    one replay at a time                                  EngineBusyError
    bye       nothing: an engine that does not leave is killed

From the first `replay` on, what an engine does wrong is no exception. It is a reply about one case (`Refused`,
`Broken`, `TimedOut`, `Crashed`), because it is a finding about the engine and the run goes on. When the engine was
started again too often, or could not be, the replies are `NotRun`.
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
    """The text names no engine that we know how to reach: a usage error."""

    code = "unknown-engine"


class WholeJobsOnlyError(EngineError):
    """The engine has no components that could be asked, and what was asked for needs them: a usage error."""

    code = "whole-jobs-only"


class BadOptionError(EngineError):
    """An option of the engine is unknown or outside its domain: a usage error."""

    code = "bad-option"


class CannotStartError(EngineError):
    """There is no engine to talk to: the command fails, or it ends or hangs before it has answered `hello`."""

    code = "cannot-start"


class BadHelloError(CannotStartError):
    """The engine answered `hello` with something that the protocol does not allow, or with an error."""

    code = "bad-hello"


class VersionMismatchError(CannotStartError):
    """The engine does not speak the version of the protocol that this suite speaks."""

    code = "version-mismatch"


class StrictModeUnavailableError(EngineError):
    """Strict mode needs jsonschema, which the `schemas` extra installs."""

    code = "strict-mode-unavailable"


class EngineBusyError(EngineError):
    """A second `replay` began while an earlier one was still being read: a mistake of the caller."""

    code = "engine-busy"
