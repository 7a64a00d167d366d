"""How we are stopped: a signal means "stop, and tell what you know", once."""

import atexit
import signal
import threading
from types import FrameType

#: What Ctrl-C, a supervisor, a closing terminal and Ctrl-\ send.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Stop:
    """Raises KeyboardInterrupt where work can be interrupted, and only once: then the end is at hand.

    Elsewhere a signal is remembered, and work that begins later is interrupted at once.
    """

    def __init__(self) -> None:
        self._armed = self._wanted = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        self._wanted = True
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


STOP = Stop()


def listen() -> None:
    """From now on signals stop us as said, but for those that we were started to ignore, as by nohup."""
    if threading.current_thread() is not threading.main_thread():
        return  # nobody but the main thread is ever interrupted
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, STOP)
    atexit.register(deafen)


def deafen() -> None:
    """From now on signals do nothing: the process is at its end, and Python would let them kill it on the way out."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
