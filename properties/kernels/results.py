"""The kernel of committed results: each as often as the job expects."""

from collections import Counter

import attrs
import numpy as np

from tidegate.properties.kernels.columns import KIND, Chunk
from tidegate.properties.kernels.findings import Finding, Tally, find
from tidegate.properties.kernels.layout import NONE, RESULT
from tidegate.properties.kernels.numbering import Numbering
from tidegate.properties.runlog.of_runs import describe
from tidegate.traces.runlog import OWN, Delivery, Direction, Kind, Result


@attrs.define
class Results:
    numbering: Numbering
    tally: Tally
    expected: Counter[Result] = attrs.field(init=False)
    met: Counter[Result] = attrs.Factory(Counter)

    def __attrs_post_init__(self) -> None:
        self.expected = Counter(self.numbering.layout.job.expected or ())
        self.tally.checked += sum(self.expected.values())

    @property
    def may_repeat(self) -> bool:
        return self.numbering.layout.job.capabilities.delivery is Delivery.AT_LEAST_ONCE

    def feed(self, chunk: Chunk) -> None:
        places = chunk.rare[(chunk.what[chunk.rare] & KIND) == RESULT]
        attempts = np.zeros(len(chunk), np.int32) if chunk.attempt is None else chunk.attempt
        for place in places.tolist():
            result = self.read(chunk, place)
            self.met[result] += 1
            if not self.expected[result]:
                text = f"{describe(result)} is committed, and is no result of the job"
            elif self.met[result] > self.expected[result] and not self.may_repeat:
                text = f"{describe(result)} is committed more often than {self.expected[result]} times"
            else:
                continue
            (found,) = find(chunk, self.numbering, "LOG-RESULT", [(place, text)])
            self.tally.add(1, [attrs.evolve(found, attempt=int(attempts[place]))])
        self.tally.checked += len(places)

    def read(self, chunk: Chunk, place: int) -> Result:
        task, _subtask = self.numbering.subtask_at(int(chunk.subtask[place]))
        key = chunk.keys[int(chunk.key[place])].as_py() if chunk.key[place] >= 0 else None
        stamp, value = int(chunk.timestamp[place]), int(chunk.value[place])
        return Result(task, key, None if stamp == NONE else stamp, None if value == NONE else value)

    def finish(self, *, complete: bool) -> None:
        for result, count in self.expected.items() if complete else ():
            missing = int(not self.met[result]) if self.may_repeat else count - self.met[result]
            if missing > 0:
                text = f"{describe(result)} is missing {missing} times"
                place = (OWN, 0, 0), Direction.OUT, Kind.RESULT, 0, 0
                self.tally.add(1, [Finding("LOG-RESULT", *place, text, task=result.task)])
