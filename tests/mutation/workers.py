"""Forks a process for each mutant: what it breaks dies with it.

A mutant may loop for ever or eat all memory, so each process has a limit of memory, each check one of processor time
(a busy machine is no reason to call a mutant slow), and the whole one of wall-clock time, for loops inside C that no
signal handler interrupts.
"""

import contextlib
import json
import os
import resource
import selectors
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

MEMORY_BYTES = 2**30
WALL_SECONDS = 1800.0

#: What became of a mutant, the stage and the check that noticed it, and the seconds of processor time that it took.
Answer = tuple[str, str, str, float]


class Reporter:
    """The child's only way to speak: one answer, and then it is gone."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._running = ("", "")
        signal.signal(signal.SIGPROF, self._on_time)

    def start(self, stage: str, name: str, seconds: float) -> None:
        """From here on a check runs, and has so many seconds of processor time."""
        self._running = (stage, name)
        signal.setitimer(signal.ITIMER_PROF, seconds)

    def _on_time(self, _signal: int, _frame: Any) -> None:
        self.answer("timeout", *self._running)

    def answer(self, status: str, stage: str = "", name: str = "") -> NoReturn:
        os.write(self._pipe, json.dumps([status, stage, name[:200], time.process_time()]).encode())
        os._exit(0)


def fork_each(
    count: int, work: Callable[[int, Reporter], None], jobs: int, wall_seconds: float = WALL_SECONDS
) -> Iterator[tuple[int, Answer]]:
    """Do `work(number, reporter)` for each number in a process of its own; the answers as they come."""
    waiting = iter(range(count))
    selector = selectors.DefaultSelector()
    running: dict[int, tuple[int, int, float]] = {}
    while True:
        while len(running) < jobs and (number := next(waiting, None)) is not None:
            pid, pipe = fork(number, work)
            running[pipe] = (number, pid, time.monotonic() + wall_seconds)
            selector.register(pipe, selectors.EVENT_READ)
        if not running:
            return
        ready = {key.fd for key, _events in selector.select(timeout=1.0)}
        now = time.monotonic()
        for pipe, (number, pid, deadline) in list(running.items()):
            if pipe in ready:
                answer = read_answer(pipe)
            elif now > deadline:
                answer = ("timeout", "", "", wall_seconds)
            else:
                continue
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            selector.unregister(pipe)
            os.close(pipe)
            del running[pipe]
            yield number, answer


def read_answer(pipe: int) -> Answer:
    text = os.read(pipe, 65_536)
    if not text:
        # Died without a word: the interpreter itself gave up on the mutant, for want of memory or of stack.
        return ("killed", "crash", "", 0.0)
    status, stage, name, seconds = json.loads(text)
    return (status, stage, name, seconds)


def fork(number: int, work: Callable[[int, Reporter], None]) -> tuple[int, int]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    # The child. Whatever happens, it must not return into the loop of its parent.
    try:
        os.close(reading)
        silence()
        limit_memory()
        work(number, Reporter(writing))
    finally:
        os._exit(1)


def silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def limit_memory() -> None:
    used = int(read_first("/proc/self/statm", "0").split()[0]) * resource.getpagesize()
    _soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def read_first(path: str, otherwise: str) -> str:
    try:
        with open(path, encoding="ascii") as file:  # noqa: PTH123  a pseudo-file
            return file.read()
    except OSError:
        return otherwise
