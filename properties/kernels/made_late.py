"""The kernel of records that a subtask sends late: at or below its own event time."""

import attrs
import numpy as np

from tidegate.properties.kernels.columns import KIND, RECEIVED
from tidegate.properties.kernels.findings import Tally, find
from tidegate.properties.kernels.layout import BUFFER, CLOCK, NONE, RECORD, WATERMARK, Array
from tidegate.properties.kernels.numbering import Numbering
from tidegate.properties.kernels.sides import show
from tidegate.properties.kernels.subtasks import Steps
from tidegate.properties.runlog.of_subtasks import find_passers
from tidegate.reference.elements import MIN


@attrs.define
class Passer:
    """A subtask that receives and sends. `is_late`: its last input was a late record.

    `late`: the records that it received late. `records`: number of records; `is_told`: it has announced event time.
    """

    time: int = int(MIN)
    is_late: bool = False
    late: set[int] = attrs.Factory(set)
    records: int = 0
    is_told: bool = False


@attrs.define
class MadeLate:
    numbering: Numbering
    tally: Tally
    passers: set[str] = attrs.field(init=False)
    subtasks: dict[int, Passer | None] = attrs.Factory(dict)

    def __attrs_post_init__(self) -> None:
        self.passers = find_passers(self.numbering.layout.job)

    def feed(self, steps: Steps) -> None:
        """Time is the last announced one: all records of a subtask are compared with it at once."""
        stamps = steps.chunk.timestamp.take(steps.order)
        what = steps.what
        tells = ((what == WATERMARK) | (what == CLOCK)) & (stamps != NONE)
        is_told = (what == WATERMARK) | (what == CLOCK)
        for subtask, start, stop, _none in steps.by_subtask(np.empty(0, dtype=np.int64)):
            state = self.subtasks[subtask] if subtask in self.subtasks else self.start(subtask)
            if state is not None:
                state.is_told |= bool(is_told[start:stop].any())
                self.look_at(steps, state, start, stamps[start:stop], what[start:stop], tells[start:stop])

    def start(self, subtask: int) -> Passer | None:
        task, _number = self.numbering.subtask_at(subtask)
        self.subtasks[subtask] = state = Passer() if task in self.passers else None
        return state

    def look_at(self, steps: Steps, state: Passer, start: int, stamps: Array, what: Array, tells: Array) -> None:
        """The rows of one subtask."""
        times = np.maximum.accumulate(np.maximum(np.where(tells, stamps, int(MIN)), state.time))
        is_record = (what & KIND) == RECORD
        state.records += int(np.count_nonzero(is_record))
        is_behind = is_record & (stamps != NONE) & (stamps <= times)
        received = np.flatnonzero((what >= RECEIVED) & ((what & KIND) < BUFFER))
        late = received[is_behind[received]]
        sent = np.flatnonzero(is_behind & (what < RECEIVED))
        if len(sent):
            last = np.searchsorted(received, sent) - 1
            was_late = np.append(state.is_late, is_behind[received])
            excused = was_late[last + 1]
            self.accuse(steps, state, start, sent[~excused], late, times)
        state.late.update(self.names(steps, start, late))
        state.time = int(times[-1]) if len(times) else state.time
        state.is_late = bool(is_behind[received[-1]]) if len(received) else state.is_late

    def names(self, steps: Steps, start: int, places: Array) -> list[int]:
        return [int(one) for one in steps.chunk.id[steps.order[start + places]]]

    def accuse(self, steps: Steps, state: Passer, start: int, sent: Array, late: Array, times: Array) -> None:
        """Records that are sent late without having been received late."""
        met = dict(zip(reversed(self.names(steps, start, late)), reversed(late.tolist()), strict=True))
        found = []
        for place, name in zip(sent.tolist(), self.names(steps, start, sent), strict=True):
            if name in state.late or met.get(name, place) < place:
                continue
            row = int(steps.order[start + place])
            stamp = int(steps.chunk.timestamp[row])
            text = f"record {show(name)} at {stamp} is sent late, behind {int(times[place])}, and was not received late"
            found.append((row, text))
        self.tally.add(len(found), find(steps.chunk, self.numbering, "LOG-MADE-LATE", found))

    def finish(self) -> None:
        self.tally.checked += sum(one.records for one in self.subtasks.values() if one is not None and one.is_told)
