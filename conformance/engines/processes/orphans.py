"""Processes that must not outlive ours, however it ends. Only on Linux; elsewhere the starting code must ensure it."""

import ctypes
import signal
from contextlib import suppress

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """For `preexec_fn`: the kernel kills the process when the thread that started it is gone."""
    with suppress(AttributeError, OSError):  # elsewhere, an orderly end cleans up
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
