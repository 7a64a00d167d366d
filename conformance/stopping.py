"""How we are stopped: a signal means "stop, and tell what you know", once."""

import atexit
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

#: What Ctrl-C, a supervisor, a closing terminal and Ctrl-\ send.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Stop:
    """Raises KeyboardInterrupt where work can be interrupted, and only once: then the end is at hand.

    Elsewhere a signal is remembered, and work that begins later is interrupted at once.
    """

    def __init__(self) -> None:
        self._armed = self._wanted = False
        #: The signal that came last, if any.
        self.heard = 0

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self._wanted, self.heard = True, number
        if self._armed:
            self.disarm()
            raise KeyboardInterrupt

    def arm(self) -> None:
        self._armed = True
        if self._wanted:
            self.disarm()
            raise KeyboardInterrupt

    def disarm(self) -> None:
        self._armed = self._wanted = False

    def repeat(self) -> None:
        """Interrupt once more, from outside what is going on."""
        self._armed = True
        threading.Timer(SOON, os.kill, [os.getpid(), self.heard]).start()


STOP = Stop()
#: Seconds, in which what has swallowed an interrupt is over.
SOON = 0.01


def listen() -> None:
    """From now on signals stop us as said, but for those that we were started to ignore, as by nohup."""
    if threading.current_thread() is not threading.main_thread():
        return  # nobody but the main thread is ever interrupted
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, STOP)
    sys.unraisablehook = hear_again
    atexit.register(deafen)


def hear_again(swallowed: Any) -> None:
    """An interrupt that comes while an object is taken apart would be told, and forgotten."""
    if swallowed.exc_type is KeyboardInterrupt and STOP.heard:
        STOP.repeat()
    else:
        sys.__unraisablehook__(swallowed)


def deafen() -> None:
    """From now on signals do nothing: the process is at its end, and Python would let them kill it on the way out."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
