"""Invariants of subtasks, in the order of their steps: credit, event time and barriers."""

from collections import Counter, defaultdict
from collections.abc import Iterator

import attrs

from tidegate.properties.runlog.invariant import Finding, Invariant, by_side, by_subtask, needs
from tidegate.properties.runlog.wired import count_inputs, is_wired
from tidegate.reference.elements import MIN
from tidegate.traces.runlog import Channel, ClockScope, Direction, Job, Kind, Row, RunLog

# --- credit ---------------------------------------------------------------------------------------------------


def find_buffers_without_credit(log: RunLog) -> Iterator[Finding]:
    initial = {edge.number: edge.initial_credit or 0 for edge in log.job.edges}
    granted: dict[Channel, list[int | None]] = defaultdict(list)
    for row in log.rows:
        if row.kind is Kind.CREDIT and row.dir is Direction.OUT:
            granted[row.channel].append(row.value)
    for rows in by_subtask(log).values():
        credit: dict[Channel, int] = {}
        for row in rows:
            left = credit.get(row.channel, initial.get(row.edge, 0))
            if row.kind is Kind.CREDIT and row.dir is Direction.IN:
                credit[row.channel] = left + (row.value or 0)
                if granted[row.channel][row.position : row.position + 1] != [row.value]:
                    yield row, f"credit {row.value} is received that was never granted"
            elif row.kind is Kind.BUFFER and row.dir is Direction.OUT:
                credit[row.channel] = left - 1
                if left < 1:
                    yield row, "a buffer is sent without credit"


CREDIT = Invariant(
    "LOG-CREDIT",
    "Data in flight never exceeds the credit granted.",
    find_buffers_without_credit,
    needs("credit"),
)

# --- event time -----------------------------------------------------------------------------------------------


#: Rows that show event time. The clock of a subtask is emitted, as watermarks are.
TIMES = (Kind.WATERMARK, Kind.CLOCK)


@attrs.define
class Clock:
    """Event time at a subtask: its own clock, its highest sent watermark, or the minimum of all channels.

    `unheard`: number of channels of the wiring without a watermark yet.
    """

    job: Job
    unheard: int
    reached: dict[Channel, int] = attrs.Factory(dict)
    time: int = MIN
    never_idle: bool = True

    def tick(self, row: Row) -> None:
        if row.kind is Kind.STATUS and row.dir is Direction.IN:
            self.never_idle = False
        if row.kind not in TIMES or row.timestamp is None:
            return
        if row.dir is Direction.OUT:
            self.time = max(self.time, row.timestamp)
        elif self.never_idle:
            if row.channel not in self.reached:
                self.unheard -= is_wired(self.job, row.channel)
            self.reached[row.channel] = max(row.timestamp, self.reached.get(row.channel, MIN))
            if not self.unheard:
                self.time = max(self.time, min(self.reached.values()))


def find_records_made_late(log: RunLog) -> Iterator[Finding]:
    """Of records with one id, the first received is the first sent; a record that was never sent cannot be late."""
    in_time = find_in_time(log)
    for (task, subtask), rows in by_subtask(log).items():
        clock = Clock(log.job, count_inputs(log.job, task, subtask))
        met: Counter[tuple[Channel, int | None]] = Counter()
        for row in rows:
            clock.tick(row)
            if row.kind is not Kind.RECORD or row.dir is Direction.OUT:
                continue
            which = row.channel, row.id
            was_in_time = in_time[which][met[which] : met[which] + 1] == [True]
            met[which] += 1
            if was_in_time and row.timestamp is not None and row.timestamp <= clock.time:
                yield row, f"record {row.id} was in time when it was sent, and is late where it is received"


def find_in_time(log: RunLog) -> dict[tuple[Channel, int | None], list[bool]]:
    """For each sent record, whether it was in time, on a channel that had never been idle."""
    found: dict[tuple[Channel, int | None], list[bool]] = defaultdict(list)
    for (direction, channel), rows in by_side(log).items():
        if direction is Direction.IN:
            continue
        last, never_idle = int(MIN), True
        for row in rows:
            never_idle = never_idle and row.kind is not Kind.STATUS
            if row.kind is Kind.WATERMARK and row.timestamp is not None:
                last = max(last, row.timestamp)
            elif row.kind is Kind.RECORD:
                found[channel, row.id].append(never_idle and row.timestamp is not None and row.timestamp > last)
    return found


def lacks_a_clock(job: Job) -> str:
    if not job.capabilities.explicit_watermarks:
        return "the engine shows no watermarks"
    if job.capabilities.clock_scope is not ClockScope.SUBTASK:
        return "the engine shows no event time of single subtasks"
    return ""


def has_clocks(log: RunLog) -> bool:
    """Whether a subtask that receives records has event time."""
    for rows in by_subtask(log).values():
        is_told = any(row.kind in TIMES for row in rows)
        if is_told and any(row.kind is Kind.RECORD and row.dir is Direction.IN for row in rows):
            return True
    return False


LATE = Invariant(
    "LOG-LATE",
    "A record that was in time at its source is in time at its receiver, unless its channel has been idle.",
    find_records_made_late,
    lacks_a_clock,
    speaks_of=has_clocks,
)


def find_records_sent_late(log: RunLog) -> Iterator[Finding]:
    """A record received late may be sent late, and so may records made while a late record is the last input."""
    passers = find_passers(log.job)
    for (task, _subtask), rows in by_subtask(log).items():
        if task not in passers:
            continue
        time, is_late, late = int(MIN), False, set()
        for row in rows:
            if row.kind in TIMES and row.dir is Direction.OUT and row.timestamp is not None:
                time = max(time, row.timestamp)
            if row.flow is not None:
                continue
            is_behind = row.kind is Kind.RECORD and row.timestamp is not None and row.timestamp <= time
            if row.dir is Direction.IN:
                is_late = is_behind
                late |= {row.id} if is_behind else set()
            elif is_behind and not is_late and row.id not in late:
                yield row, f"record {row.id} at {row.timestamp} is sent late, behind {time}, and was not received late"


def find_passers(job: Job) -> set[str]:
    """Tasks that receive and send."""
    return {edge.target for edge in job.edges} & {edge.source for edge in job.edges}


def lacks_passers(job: Job) -> str:
    return lacks_a_clock(job) or ("" if find_passers(job) else "no task of the job receives and sends")


def has_passers_with_clocks(log: RunLog) -> bool:
    passers = find_passers(log.job)
    for (task, _subtask), rows in by_subtask(log).items():
        is_told = any(row.kind in TIMES and row.dir is Direction.OUT for row in rows)
        if task in passers and is_told and any(row.kind is Kind.RECORD for row in rows):
            return True
    return False


MADE_LATE = Invariant(
    "LOG-MADE-LATE",
    "No subtask sends a record at or below its own watermark, unless it received it late.",
    find_records_sent_late,
    lacks_passers,
    speaks_of=has_passers_with_clocks,
)

# --- barriers -------------------------------------------------------------------------------------------------


@attrs.define
class Alignment:
    """Alignment of a subtask: channels with the barrier, ended channels, and channels that need the barrier."""

    job: Job
    inputs: int
    outputs: set[Channel]
    checkpoint: int | None = None
    met: set[Channel] = attrs.Factory(set)
    over: set[Channel] = attrs.Factory(set)
    owed: set[Channel] = attrs.Factory(set)

    def are_all(self, channels: set[Channel]) -> bool:
        """Whether these are exactly the subtask's channels in the wiring."""
        return len(channels) == self.inputs and all(is_wired(self.job, channel) for channel in channels)

    def read(self, row: Row) -> str:
        if row.channel in self.met:
            return f"{row.kind} is read behind a barrier that other channels have not brought"
        if row.kind is Kind.BARRIER and self.met and row.value != self.checkpoint:
            return f"barrier {row.value} is met while others wait for barrier {self.checkpoint}"
        if row.kind is Kind.BARRIER:
            self.met.add(row.channel)
            self.checkpoint = row.value
        if row.kind is Kind.END_OF_PARTITION:
            self.over.add(row.channel)
        if self.met and self.are_all(self.met | self.over):
            self.met, self.owed = set(), set(self.outputs)
        return ""

    def write(self, row: Row) -> str:
        is_owed = row.channel in self.owed
        if row.kind is not Kind.BARRIER:
            wrong = f"{row.kind} is sent before barrier {self.checkpoint}, which was met on all channels"
            return wrong if is_owed else ""
        if is_owed and row.value == self.checkpoint:
            self.owed.discard(row.channel)
            return ""
        # A task with only ended channels starts checkpoints by itself.
        begins = not is_owed and self.are_all(self.over)
        return "" if begins else f"barrier {row.value} is sent before it was met on all channels"


def find_cuts_that_leak(log: RunLog) -> Iterator[Finding]:
    readers = {edge.target for edge in log.job.edges}
    for (task, subtask), rows in by_subtask(log).items():
        if task not in readers:
            continue
        elements = [row for row in rows if row.flow is None]
        outputs = {row.channel for row in elements if row.dir is Direction.OUT}
        alignment = Alignment(log.job, count_inputs(log.job, task, subtask), outputs)
        for row in elements:
            wrong = alignment.read(row) if row.dir is Direction.IN else alignment.write(row)
            if wrong:
                yield row, wrong


BARRIER = Invariant(
    "LOG-BARRIER",
    "An aligned checkpoint cuts every channel at its barrier.",
    find_cuts_that_leak,
    needs("checkpoints"),
)
