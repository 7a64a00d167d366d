"""Ways for a query to go down, each at a known place and only once, so that no test depends on luck.

A fault strikes in a Python worker, in the middle of a micro-batch: some of its subtasks are done and others are not.
A file records that it has struck, which the restarted query finds.
"""

import os
import signal
import time
from pathlib import Path

import attrs

from tidegate.conformance.engines.spark.streaming.elements import Line

#: The longest time that a worker waits to be killed.
PATIENCE = 120.0


@attrs.frozen
class Fault:
    """Strikes when the first line of these runs reaches a subtask of this level, unless `mark` exists.

    `kind` is `kill` (the worker kills itself) or `wait` (it pauses until the query is stopped).
    """

    kind: str
    runs: frozenset[str]
    level: int
    mark: str

    def strike(self, lines: list[Line]) -> None:
        if not any(line.run in self.runs and line.level == self.level for line in lines):
            return
        try:
            Path(self.mark).touch(exist_ok=False)
        except FileExistsError:
            return
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            time.sleep(0.05)
