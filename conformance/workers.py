"""Worker processes. No worker outlives its parent, even if that is killed."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process, resource_tracker
from multiprocessing.connection import wait
from typing import Any

from tidegate.conformance.reports.writing import CannotWriteError
from tidegate.conformance.stopping import SIGNALS


def cores() -> int:
    """How many cores this process may use: in a container or under `taskset`, not all."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def follow_parent() -> None:
    """End with the parent process, however that ends."""
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    # A parent that is already gone has handed us to another process.
    number = os.getppid() if parent is None else parent.pid
    if parent is not None:
        wait([parent.sentinel])
    while os.getppid() == number:  # the parent is not a Python process, or about to end
        time.sleep(0.1)
    os._exit(1)


@contextmanager
def deaf() -> Iterator[None]:
    """Processes started meanwhile receive no signals until they unblock them, not even while Python starts.

    Ctrl-C reaches them as it reaches us; we decide when they end.
    """
    resource_tracker.ensure_running()  # otherwise it would start meanwhile, and unblock them
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class DeafPool(ProcessPoolExecutor):
    """Its processes start as tasks arrive."""

    def submit(self, *task: Any, **options: Any) -> Future[Any]:
        try:
            with deaf():
                return super().submit(*task, **options)
        except OSError as error:  # too many processes, or the current folder is gone
            raise CannotWriteError(f"no processes can be started: {error.strerror or error}") from error


@contextmanager
def worker_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with this one, and at once on any error here."""
    others = set(active_children())
    try:
        pool = DeafPool(workers, mp_context=get_context("spawn"), initializer=follow_parent)
    except OSError as error:  # a limit on files, or no shared memory; the reported reason may be another
        why = error.strerror or error
        raise CannotWriteError(f"no processes can be started, since their semaphores cannot be made: {why}") from error
    try:
        yield pool
    except BaseException:
        for worker in set(active_children()) - others:
            worker.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
