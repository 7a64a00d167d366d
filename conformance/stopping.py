"""Signal handling: a signal means "stop and print the results so far", once."""

import atexit
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

#: Signals of Ctrl-C, a supervisor, a closing terminal and Ctrl-\.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Stop:
    """Raises KeyboardInterrupt where work can be interrupted, and only once.

    Elsewhere it remembers the signal, and interrupts work that begins later.
    """

    def __init__(self) -> None:
        self._armed = self._wanted = False
        #: The last signal, if any.
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
        """Interrupt again, from outside the current work."""
        self._armed = True
        threading.Timer(SOON, os.kill, [os.getpid(), self.heard]).start()


STOP = Stop()
#: Seconds until the code that has swallowed an interrupt has ended.
SOON = 0.01


def listen() -> None:
    """From now on signals stop us, except those that we were started to ignore, as by nohup."""
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread is ever interrupted
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, STOP)
    sys.unraisablehook = hear_again
    atexit.register(deafen)


def hear_again(swallowed: Any) -> None:
    """Python prints and drops an interrupt that arrives in a destructor."""
    if swallowed.exc_type is KeyboardInterrupt and STOP.heard:
        STOP.repeat()
    else:
        sys.__unraisablehook__(swallowed)


def deafen() -> None:
    """From now on signals do nothing: the process is ending, and Python would let them kill it."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
