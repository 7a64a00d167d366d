"""Bytes to and from one engine process, without ever blocking on it.

`exchange` is the only place that waits, and it waits for everything at once: room to write, data to read, the
engine's death. Standard output is read only once the earlier lines have been taken, so an engine that floods
us fills its own pipe and not our memory. Standard error is always read, and only its last lines are kept.
"""

import contextlib
import errno
import fcntl
import os
import select
import struct
import termios
import time
from collections import deque
from collections.abc import Sequence
from itertools import islice

from tidegate.conformance.engines.base import Broken, Crashed
from tidegate.conformance.engines.limits import MEBIBYTE, Limits
from tidegate.conformance.engines.processes.child import Child
from tidegate.conformance.engines.processes.lines import LineBuffer, Tail
from tidegate.conformance.engines.text import quoted

_CHUNK = 256 * 1024
#: Seconds between checks of the deadline after an engine has closed a stream.
_LOOK_FOR_DEATH = 0.05


class Connection:
    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        self._limits = limits
        self._child = Child(command, limits.kill_grace)
        process = self._child.process
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._stdin, self._stdout, self._stderr = (p.fileno() for p in (process.stdin, process.stdout, process.stderr))
        self._lines = LineBuffer(limits.line_limit)
        self._tail = Tail()
        self._unwritten: deque[memoryview] = deque()
        self._written = 0
        self._queued = 0
        self._ended = False
        self._drained = False
        #: when an engine that may be about to die closed a stream
        self._hung_up_at: float | None = None
        self._closed_stream = ""
        #: when standard output was last read
        self._heard_at = time.monotonic()
        self._poll = select.poll()
        self._watched: dict[int, int] = {}
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        for descriptor in (self._stdin, self._stdout):
            if hasattr(fcntl, "F_SETPIPE_SZ"):  # a longer pipe lets the engine run ahead while we judge
                with contextlib.suppress(OSError):
                    fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, MEBIBYTE)
        self._watch(self._stdin, 0)  # only to see it close
        self._watch(self._stdout, select.POLLIN)
        self._watch(self._stderr, select.POLLIN)
        self._watch(self._child.ending, select.POLLIN)

    # Writing

    def send(self, data: bytes) -> int:
        """Queue the data and return the position of its first byte in everything ever sent."""
        start = self._queued
        self._unwritten.append(memoryview(data))
        self._queued += len(data)
        return start

    def flush(self) -> None:
        """Write what the pipe takes now; the rest follows while we wait."""
        while self._unwritten:
            try:
                written = os.writev(self._stdin, list(islice(self._unwritten, 64)))
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno != errno.EPIPE:
                    raise
                self._hang_up("standard input")
                break
            self._written += written
            while written:
                if written < len(self._unwritten[0]):
                    self._unwritten[0] = self._unwritten[0][written:]
                    break
                written -= len(self._unwritten.popleft())
        if self._stdin in self._watched:
            self._watch(self._stdin, select.POLLOUT if self._unwritten else 0)

    def consumed(self) -> int:
        """How many of the bytes sent the engine has read; if the system does not tell, all that were written."""
        unread = bytearray(4)
        try:
            fcntl.ioctl(self._stdin, termios.FIONREAD, unread)
        except OSError:
            return self._written
        return int(self._written - struct.unpack("i", unread)[0])

    # Reading

    def take_line(self) -> bytes | None:
        return self._lines.take()

    def exchange(self, seconds: float) -> None:
        """Wait until something happens, at most this long, and read and write what is possible."""
        if self._lines.waiting or self._ended:
            seconds = 0.0
        elif self._hung_up_at is not None:
            seconds = min(seconds, _LOOK_FOR_DEATH)
        for descriptor, _ in self._poll.poll(max(seconds, 0.0) * 1000):
            if descriptor == self._stdout:
                if not self._lines.waiting:
                    self._read_stdout()
            elif descriptor == self._stderr:
                self._read_stderr()
            elif descriptor == self._stdin:
                self._write_or_hang_up()
            else:
                self._ended = True
        if self._ended:
            self._read_last_words()

    def failure(self) -> Broken | Crashed | None:
        """Why nothing more will come, if so. Earlier lines must be taken first."""
        if self._lines.waiting:
            return None
        if self._lines.overflowed:
            return Broken(f"wrote a line of more than {self._limits.line_limit} bytes", self.stderr())
        if self._ended:
            half = self._lines.half_line
            middle = f" in the middle of a line: {quoted(half)}" if half else ""
            return Crashed(f"{self._child.describe_end()}{middle}", self.stderr())
        if self._hung_up_at is not None and time.monotonic() - self._hung_up_at > self._limits.kill_grace:
            return Broken(f"closed its {self._closed_stream}, but still runs", self.stderr())
        return None

    @property
    def overflowed(self) -> bool:
        return self._lines.overflowed

    @property
    def hung_up(self) -> bool:
        """Whether the engine ended the conversation, by dying or by closing a stream."""
        return self._ended or self._hung_up_at is not None

    def half_line(self) -> bytes:
        return self._lines.half_line

    def stderr(self) -> tuple[str, ...]:
        for _ in range(8):  # the last lines matter, and may be unread
            self._read_stderr()
        return self._tail.lines()

    def silent_for(self) -> float:
        return time.monotonic() - self._heard_at

    # The end

    def close(self) -> int | None:
        """Let an engine exit after `bye`, and kill it if it does not. Returns its status if it exited."""
        with contextlib.suppress(OSError):
            self.flush()
        process = self._child.process
        try:
            self._forget(self._stdin)
            if process.stdin and not process.stdin.closed:
                process.stdin.close()
            deadline = time.monotonic() + self._limits.bye_grace
            while not self._ended and (left := deadline - time.monotonic()) > 0:
                self.exchange(left)
                while self.take_line() is not None:  # its output does not matter any more
                    pass
            return self._child.exit_status()
        finally:
            self.kill()

    def kill(self) -> None:
        self._watched.clear()
        self._child.destroy()

    # Descriptors

    def _watch(self, descriptor: int, events: int) -> None:
        if self._watched.get(descriptor) != events:
            self._poll.register(descriptor, events)
            self._watched[descriptor] = events

    def _forget(self, descriptor: int) -> None:
        if self._watched.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def _read_stdout(self) -> None:
        try:
            chunk = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            return
        if chunk:
            self._heard_at = time.monotonic()
            self._lines.feed(chunk)
        elif not self._drained:
            self._drained = True
            self._forget(self._stdout)
            self._hang_up("standard output")

    def _read_stderr(self) -> None:
        with contextlib.suppress(BlockingIOError, ValueError):
            chunk = os.read(self._stderr, _CHUNK)
            if chunk:
                self._tail.feed(chunk)
            else:
                self._forget(self._stderr)

    def _write_or_hang_up(self) -> None:
        if self._unwritten:
            self.flush()
        else:
            self._hang_up("standard input")

    def _hang_up(self, stream: str) -> None:
        self._unwritten.clear()
        if stream == "standard input":
            self._forget(self._stdin)
        if self._hung_up_at is None:
            self._hung_up_at = time.monotonic()
            self._closed_stream = stream

    def _read_last_words(self) -> None:
        """Read what a dead engine left in its pipe. A surviving child may hold it open and go on writing."""
        for _ in range(2 * MEBIBYTE // _CHUNK):
            if self._drained or self._lines.overflowed:
                break
            try:
                chunk = os.read(self._stdout, _CHUNK)
            except BlockingIOError:
                break
            self._drained = not chunk
            self._lines.feed(chunk)
        self._drained = True
        for descriptor in list(self._watched):
            self._forget(descriptor)
        self._read_stderr()
