"""A child process that must be gone afterwards, with everything that it started.

An engine leads a session and process group of its own: a Ctrl-C at the terminal reaches only the harness. Between the
two is a keeper (`keeper.py`), which ends the engine and all its descendants on request, when the engine is
garbage-collected, and whenever the harness ends. An engine that kills its keeper dies with it; surviving
descendants are found by a mark in their environment.
"""

import contextlib
import os
import secrets
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.text import printable

#: Every engine adds its own mark to those it finds here, so that an engine within an engine has both.
LINEAGE = "TIDEGATE_LINEAGE"
_PROC = Path("/proc")
_KEEPER = Path(__file__).with_name("keeper.py")
#: More seconds than a keeper needs for anything, on a busy machine.
_PATIENCE = 30.0


@attrs.define
class Kept:
    """A keeper, with the streams of its engine: it acts when `control` closes, and reports what happened."""

    process: "subprocess.Popen[bytes]"
    control: int
    report: int
    mark: str
    #: becomes readable when the engine ends
    ending: int = -1

    def hear(self) -> bytes:
        """The keeper's next line; empty if it is gone."""
        heard = b""
        deadline = time.monotonic() + _PATIENCE
        while not heard.endswith(b"\n") and _is_readable(self.report, deadline - time.monotonic()):
            word = os.read(self.report, 1)
            if not word:
                break
            heard += word
        return heard

    def end(self, *, at_once: bool = False) -> None:
        try:
            if at_once:
                with contextlib.suppress(BrokenPipeError):
                    os.write(self.control, b"!")
        finally:
            os.close(self.control)
            while self.hear():
                pass
            if _wait(self.process) != 0:  # it was killed
                _kill_strays(self.mark)
            for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            for descriptor in {self.report, self.ending} - {-1}:
                os.close(descriptor)


class Child:
    def __init__(self, command: Sequence[str], grace: float) -> None:
        kept = self._kept = _launch(command, grace)
        self.process = kept.process
        self._status: int | None = None
        self._is_lost = False
        self._when_forgotten = weakref.finalize(self, kept.end, at_once=True)
        started = kept.hear()
        pid, error = map(int, started.split()) if started else (0, 0)
        if error or not started:
            self.destroy()
            raise _explain(command, OSError(error, os.strerror(error) if started else "its keeper was killed"))
        self.ending = kept.ending = _open_ending(pid, kept.report)

    def exit_status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs, and if it is unknown."""
        if self._status is None and not self._is_lost and _is_readable(self.ending, 0.0):
            said = self._kept.hear().strip()
            self._is_lost = not said
            self._status = int(said) if said else None
        return self._status

    def describe_end(self) -> str:
        status = self.exit_status()
        if status is None:
            return "ended with the process that kept it" if self._is_lost else "is still running"
        if status >= 0:
            return f"exited with status {status}"
        try:
            return f"was killed by {signal.Signals(-status).name}"
        except ValueError:
            return f"was killed by signal {-status}"

    def destroy(self) -> None:
        """End the process and its descendants: first politely, then by force."""
        if self._when_forgotten.detach():
            self._kept.end()


def _launch(command: Sequence[str], grace: float) -> Kept:
    mark = secrets.token_hex(12)
    told, control = os.pipe()
    report, tells = os.pipe()
    keeper = [sys.executable, "-I", "-S", str(_KEEPER), str(told), str(tells), str(grace)]
    try:
        process = subprocess.Popen(  # noqa: S603 - running the engine that the user named is what we are for; no shell
            [*keeper, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            pass_fds=(told, tells),
            env=os.environ | {LINEAGE: f"{os.environ.get(LINEAGE, '')} {mark}".strip()},
        )
    except (OSError, ValueError) as error:
        os.close(control)
        os.close(report)
        raise _explain(command, error) from error
    finally:
        os.close(told)
        os.close(tells)
    return Kept(process, control, report, mark)


def _explain(command: Sequence[str], error: OSError | ValueError) -> CannotStartError:
    shown = printable(" ".join(command))
    if isinstance(error, FileNotFoundError):
        hint = (
            "give a path, or the name of a program on PATH; the command line is split as by a shell, but none runs it"
        )
        return CannotStartError(f"there is no program to run '{shown}'", hint)
    if isinstance(error, PermissionError):
        return CannotStartError(f"'{shown}' may not be executed", "is the file executable? chmod +x")
    hint = "a script needs a first line such as #!/usr/bin/env python3"
    return CannotStartError(f"'{shown}' cannot be run: {printable(str(error))}", hint)


def _open_ending(pid: int, report: int) -> int:
    """The system reports a death before the keeper can; where it does not, the keeper does."""
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return report


def _is_readable(descriptor: int, seconds: float) -> bool:
    watch = select.poll()
    watch.register(descriptor, select.POLLIN)
    return bool(watch.poll(max(seconds, 0.0) * 1000))


def _wait(process: "subprocess.Popen[bytes]") -> int:
    try:
        return process.wait(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _kill_strays(mark: str) -> None:
    """Kill processes with the mark. They may fork meanwhile, so repeat until none is found."""
    for _ in range(50):
        strays = list(_bearers(mark))
        if not strays:
            return
        for pid in strays:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)


def _bearers(mark: str) -> Iterator[int]:
    wanted = mark.encode()
    try:
        processes = [entry for entry in _PROC.iterdir() if entry.name.isdigit()]
    except OSError:
        return
    for process in processes:
        with contextlib.suppress(OSError):
            if wanted in (process / "environ").read_bytes():
                yield int(process.name)
