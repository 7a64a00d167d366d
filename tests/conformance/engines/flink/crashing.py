"""Real Flink in a process that comes to harm: for cases of certain names something terrible happens in its JVM."""

import os
import signal

from tidegate.conformance.engines.flink.engine import Flink


class Crashing(Flink):
    def __init__(self):
        super().__init__(components=("valve",))

    def replay(self, cases):
        for case in cases:
            name = case["case"]
            if name.startswith("killed"):
                os.kill(os.getpid(), signal.SIGKILL)
            elif name.startswith("native"):
                unsafe = self.jvm.field(self.jvm.cls("sun.misc.Unsafe"), "theUnsafe")
                unsafe.putLong(0, 0)
        return super().replay(cases)
