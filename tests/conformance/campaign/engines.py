"""Engines that die or wait, in ways that a campaign must survive."""

import os
import signal
import time
from pathlib import Path

from tidegate.conformance.engines.museum.engines import Right, ValveAlwaysFlushes


class Mortal(Right):
    """A right valve, as long as it lives. Its scratch is the current directory."""

    def __init__(self):
        super().__init__()
        self.components = ["valve"]

    def replay_case(self, case):
        self.meet(int(case["case"].rpartition("-")[2]))
        return super().replay_case(case)

    def meet(self, index):
        """Live on, or not."""


class DiesOfOne(Mortal):
    """Case 30 kills it, every time."""

    def meet(self, index):
        if index == 30:
            os._exit(3)


class StopsAtThirty(Mortal):
    """Answers the cases up to 29, and then no more."""

    def meet(self, index):
        if index >= 30:
            time.sleep(600)


class DiesOfMany(Mortal):
    """Every case from 25 to 49 kills it, as long as nobody has mended it."""

    def meet(self, index):
        if 25 <= index < 50 and not Path("mended").exists():
            os._exit(3)


class KillsItsWorker(Mortal):
    """Case 60 kills whoever asks, once: a worker that runs out of memory goes like this."""

    def meet(self, index):
        if index == 60 and not Path("killed").exists():
            Path("killed").touch()
            keeper = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="ascii")
            os.kill(int(keeper.rpartition(")")[2].split()[1]), signal.SIGKILL)


class Held(ValveAlwaysFlushes):
    """Wrong, and waits at case 1000 for as long as the file exists that holds it."""

    def replay_case(self, case):
        while int(case["case"].rpartition("-")[2]) >= 1000 and Path(os.environ.get("TIDEGATE_HOLD", "")).is_file():
            time.sleep(0.05)
        return super().replay_case(case)
