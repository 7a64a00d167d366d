"""Ways for a query to go down, each at a place that is known and once only, so that no test waits for luck.

A fault strikes in a Python worker, in the middle of a micro-batch: some subtasks of it are done and others are not.
That it has struck is known by a file, which the query that is started anew finds.
"""

import os
import signal
import time
from pathlib import Path

import attrs

from tidegate.conformance.engines.spark.streaming.elements import Line

#: How long a worker that waits to be killed waits, at most.
PATIENCE = 120.0


@attrs.frozen
class Fault:
    """Strikes when the first line of these runs reaches a subtask of this level, unless `mark` exists.

    `kind` is `kill` (the worker kills itself) or `wait` (it does not go on, until the query is stopped).
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
