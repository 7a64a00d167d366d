"""A process that we start, and that must be gone afterwards, with everything that it started in turn.

An engine leads a session and process group of its own: a Ctrl-C at the terminal reaches the harness alone, and one
signal reaches the engine with its children. A child that left the group is found by a mark in its environment, which
it inherited (Linux; elsewhere the group is all we can reach). A process is killed when it is closed, when it is
forgotten and when the harness ends, whichever comes first.
"""

import contextlib
import os
import secrets
import select
import signal
import subprocess
import time
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.text import printable

#: Every engine adds its own mark to those it finds here, so that an engine within an engine bears both.
LINEAGE = "TIDEGATE_LINEAGE"
_PROC = Path("/proc")


class Child:
    def __init__(self, command: Sequence[str]) -> None:
        mark = secrets.token_hex(12)
        environment = os.environ | {LINEAGE: f"{os.environ.get(LINEAGE, '')} {mark}".strip()}
        self.process = _launch(command, environment)
        #: becomes readable when the process ends; None where the system has no such thing
        self.ending: int | None = _open_ending(self.process.pid)
        self._mark = mark
        self._when_forgotten = weakref.finalize(self, _destroy, self.process, self.ending, mark, 0.0)

    def has_ended(self) -> bool:
        return _has_ended(self.process)

    def exit_status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return _exit_status(self.process)

    def describe_end(self) -> str:
        status = self.exit_status()
        if status is None:
            return "is still running"
        if status >= 0:
            return f"exited with status {status}"
        try:
            return f"was killed by {signal.Signals(-status).name}"
        except ValueError:
            return f"was killed by signal {-status}"

    def destroy(self, grace: float) -> None:
        """End the process and its offspring: a chance to leave by itself, then none."""
        if self._when_forgotten.detach():
            _destroy(self.process, self.ending, self._mark, grace)


def _launch(command: Sequence[str], environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    shown = printable(" ".join(command))
    try:
        return subprocess.Popen(  # noqa: S603 - running the engine that the user named is what we are for; no shell
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env=environment,
        )
    except FileNotFoundError as error:
        hint = (
            "give a path, or the name of a program on PATH; the command line is split as by a shell, but none runs it"
        )
        raise CannotStartError(f"there is no program to run '{shown}'", hint) from error
    except PermissionError as error:
        raise CannotStartError(f"'{shown}' may not be executed", "is the file executable? chmod +x") from error
    except (OSError, ValueError) as error:
        hint = "a script needs a first line such as #!/usr/bin/env python3"
        raise CannotStartError(f"'{shown}' cannot be run: {printable(str(error))}", hint) from error


def _open_ending(pid: int) -> int | None:
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return None


def _exit_status(process: "subprocess.Popen[bytes]") -> int | None:
    if process.returncode is not None:
        return process.returncode
    if not hasattr(os, "waitid"):
        return process.poll()
    # WNOWAIT leaves the process unreaped: until we have killed its group, nobody else may be given its number.
    try:
        ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return process.poll()
    if ended is None:
        return None
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def _has_ended(process: "subprocess.Popen[bytes]") -> bool:
    return _exit_status(process) is not None


def _destroy(process: "subprocess.Popen[bytes]", ending: int | None, mark: str, grace: float) -> None:
    try:
        if grace and not _has_ended(process):
            _signal_group(process, signal.SIGTERM)
            _wait_for_end(process, ending, grace)
    finally:
        _signal_group(process, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
        _kill_strays(mark)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        if ending is not None:
            os.close(ending)


def _signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    if process.returncode is None:  # once it is reaped the number may belong to somebody else
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)


def _wait_for_end(process: "subprocess.Popen[bytes]", ending: int | None, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not _has_ended(process) and (left := deadline - time.monotonic()) > 0:
        if ending is None:
            time.sleep(min(left, 0.01))
        else:
            watch = select.poll()
            watch.register(ending, select.POLLIN)
            watch.poll(left * 1000)


def _kill_strays(mark: str) -> None:
    """Kill those who left the group. They may be forking while we look, so look until nobody is found."""
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
