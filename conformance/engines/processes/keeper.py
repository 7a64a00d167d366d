"""The process between the harness and an engine: the engine, and everything that it started, ends with the harness.

Usage: python -I -S keeper.py CONTROL REPORT GRACE PROGRAM [ARGUMENT …]

It starts the program with its own standard streams, in a session of its own, and waits for one of two events. Either
the program ends: then its status is reported. Or the harness closes CONTROL, deliberately or by dying, even of SIGKILL:
then the program is asked to exit, with a signal to its group. Either way no process remains: everything that the
program has started is a descendant of this process, with or without a group, a session or an environment of its own,
because on Linux it adopts orphans (elsewhere it can reach only the group).

It imports nothing of ours, and little else: the start of each engine waits for it.
"""

import os
import select
import sys
import time
from _signal import (  # type: ignore[import-not-found]  # the module on top of it would cost more than all the rest
    SIG_DFL,
    SIG_IGN,
    SIG_SETMASK,
    SIGCHLD,
    SIGHUP,
    SIGINT,
    SIGKILL,
    SIGPIPE,
    SIGQUIT,
    SIGTERM,
    SIGXFSZ,
    pthread_sigmask,
    set_wakeup_fd,
    signal,
)

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
#: Seconds after which we no longer wait for the death of killed processes.
LAST_WAIT = 5.0


def set_process_option(option: int, value: int) -> None:
    """Linux's prctl, if there is one."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def launch(command: list[str]) -> tuple[int, int]:
    """The process id of the program, and 0 or the error number of the failed start."""
    keeper = os.getpid()
    told, tells = os.pipe()
    pid = os.fork()
    if pid:
        os.close(tells)
        error = os.read(told, 16)
        os.close(told)
        return pid, int(error or 0)
    try:
        os.setsid()
        for number in (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGPIPE, SIGXFSZ):
            signal(number, SIG_DFL)
        set_process_option(PR_SET_PDEATHSIG, SIGKILL)
        if os.getppid() == keeper:
            os.execvp(command[0], command)
    except OSError as error:
        os.write(tells, str(error.errno).encode())
    except ValueError:
        os.write(tells, b"22")
    finally:
        os._exit(127)


class Keeper:
    def __init__(self, control: int, engine: int) -> None:
        self.engine = engine
        self.control = control
        self.status: int | None = None
        self.childless = False
        self.woken, wakes = os.pipe()
        os.set_blocking(self.woken, False)
        os.set_blocking(wakes, False)
        set_wakeup_fd(wakes, warn_on_full_buffer=False)

    def keep(self, grace: float) -> None:
        """Until the engine ends, or the harness no longer needs it."""
        self.reap()
        while self.status is None:
            if self.control in self.wait([self.control, self.woken], None) and self.status is None:
                if not os.read(self.control, 1):  # closed: a polite end; a byte: by force
                    signal_group(self.engine, SIGTERM)
                    self.await_end(grace)
                return

    def await_end(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self.status is None and (left := deadline - time.monotonic()) > 0:
            self.wait([self.woken], left)

    def end_all(self) -> None:
        """Kill all remaining processes: they are our children."""
        if self.status is None:
            signal_group(self.engine, SIGKILL)
        deadline = time.monotonic() + LAST_WAIT
        while not self.childless and time.monotonic() < deadline:
            for pid in children():
                kill(pid, SIGKILL)
            self.wait([self.woken], 0.01)

    def wait(self, descriptors: list[int], seconds: float | None) -> list[int]:
        ready, _, _ = select.select(descriptors, [], [], seconds)
        if self.woken in ready:
            os.read(self.woken, 4096)
        self.reap()
        return ready

    def reap(self) -> None:
        try:
            if self.status is None and has_ended(self.engine):
                signal_group(self.engine, SIGKILL)  # not later: once it is reaped, its id may be reused
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == self.engine:
                    self.status = os.waitstatus_to_exitcode(found[1])
        except ChildProcessError:
            self.childless = True


def has_ended(pid: int) -> bool:
    return not hasattr(os, "waitid") or bool(os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))


def children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def main(control: int, report: int, grace: float, command: list[str]) -> None:
    pthread_sigmask(SIG_SETMASK, [])
    for number in (SIGINT, SIGTERM, SIGHUP, SIGQUIT):
        signal(number, SIG_IGN)  # we end with the harness, not earlier
    signal(SIGCHLD, lambda *_: None)
    for descriptor in (control, report):
        os.set_inheritable(descriptor, False)
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    pid, error = launch(command)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # only the engine holds them, so that closing one is visible
        os.dup2(nothing, stream)
    say(report, f"{pid} {error}\n")
    keeper = Keeper(control, pid)
    keeper.keep(grace)
    keeper.end_all()
    say(report, f"{'' if keeper.status is None else keeper.status}\n")


def say(report: int, text: str) -> None:
    try:
        os.write(report, text.encode())
    except BrokenPipeError:
        pass  # nobody is left to read it


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:])
