"""The rows of a valid run, an epoch at a time: records, a watermark, a barrier, through all tasks."""

from collections.abc import Iterable

import attrs
import numpy as np

from tidegate.conformance.synthetic import job
from tidegate.conformance.synthetic.job import AT, PARALLELISM
from tidegate.properties.kernels import layout as log
from tidegate.properties.kernels.layout import Array
from tidegate.reference.elements import MAX

#: Event time per epoch.
TICK = 1000
#: One in this many records is late when it is sent.
LATE_EVERY = 50
#: The sleeper is idle in one of this many epochs.
IDLE_EVERY = 16


def make_rows(count: int, **fields: Array | int) -> Array:
    rows = np.full((count, len(job.FIELDS)), log.NONE, dtype=np.int64)
    rows[:, AT["mark"]] = -1
    for name, value in fields.items():
        rows[:, AT[name]] = value
    return rows


def column(rows: Array, name: str) -> Array:
    return np.asarray(rows[:, AT[name]])


def receive(rows: Array, task: int) -> Array:
    """The rows as their consumer sees them."""
    received = rows.copy()
    received[:, AT["task"]], received[:, AT["subtask"]] = task, rows[:, AT["consumer"]]
    received[:, AT["dir"]], received[:, AT["mark"]] = log.IN, -1
    return received


@attrs.define
class Writer:
    """State of a run between epochs."""

    plan: job.Plan
    random: np.random.Generator = attrs.field(init=False)
    next_id: int = 0
    turns: list[int] = attrs.Factory(lambda: [0] * PARALLELISM)
    asleep: bool = False
    misses: set[int] = attrs.Factory(set)

    def __attrs_post_init__(self) -> None:
        self.random = np.random.default_rng([self.plan.seed, *self.plan.run.encode()])

    def write(self, epoch: int, misses: Iterable[int] = ()) -> dict[tuple[int, int], Array]:
        """The rows of every subtask, in a possible order. Sources in `misses` skip a turn."""
        self.misses = set(misses)
        sources = [self.write_source(epoch, source) for source in range(PARALLELISM)]
        sent = np.concatenate(sources)
        blocks = {(job.SOURCE, number): rows for number, rows in enumerate(sources)}
        blocks |= self.write_task(epoch, job.MAP, sent[column(sent, "edge") == job.DEALT], job.KEYED)
        sent = np.concatenate([blocks[job.MAP, number] for number in range(PARALLELISM)])
        blocks |= self.write_task(epoch, job.COUNT, sent[(column(sent, "edge") == job.KEYED)], job.FORWARDED)
        sent = np.concatenate([blocks[job.COUNT, number] for number in range(PARALLELISM)])
        blocks |= self.write_task(epoch, job.SINK, sent[(column(sent, "edge") == job.FORWARDED)], None)
        told = np.concatenate(sources)
        return blocks | self.write_task(epoch, job.WATCH, told[column(told, "edge") == job.TOLD], None)

    def is_last(self, epoch: int) -> bool:
        return epoch == self.plan.epochs - 1

    # --- sources ----------------------------------------------------------------------------------------------

    def write_source(self, epoch: int, source: int) -> Array:
        """Credit, buffers, statuses, records, and the end of the epoch."""
        falls_asleep = source == job.SLEEPER and epoch % IDLE_EVERY == IDLE_EVERY - 2 and not self.is_last(epoch)
        parts = [self.write_wire(epoch, source)]
        if source == job.SLEEPER and self.asleep:
            parts.append(self.announce(job.SOURCE, source, log.STATUS, value=1))
            self.asleep = False
        if falls_asleep:
            self.asleep = True
            parts.append(self.announce(job.SOURCE, source, log.STATUS, value=0))
        else:
            parts += [self.tell(epoch, source), self.write_records(epoch, source)]
        parts += self.end_epoch(epoch, job.SOURCE, source, active=not falls_asleep)
        return np.concatenate(parts)

    def write_wire(self, epoch: int, source: int) -> Array:
        """Two buffers per channel; their credit was granted in the epoch before, or is the initial one."""
        fields = {"task": job.SOURCE, "subtask": source, "edge": job.DEALT, "producer": source}
        maps = np.arange(PARALLELISM)
        granted = make_rows(PARALLELISM if epoch else 0, **fields, dir=log.IN, kind=log.CREDIT, value=2)
        granted[:, AT["consumer"]] = maps[: len(granted)]
        sent = make_rows(
            2 * PARALLELISM, **fields, dir=log.OUT, kind=log.BUFFER, value=32768, consumer=np.repeat(maps, 2)
        )
        return np.concatenate([granted, sent])

    def tell(self, epoch: int, source: int) -> Array:
        """A record for every watcher."""
        fields = {
            "task": job.SOURCE,
            "subtask": source,
            "dir": log.OUT,
            "edge": job.TOLD,
            "producer": source,
            "kind": log.RECORD,
        }
        number = 10**15 + epoch * PARALLELISM + source
        return make_rows(
            job.WATCHERS, **fields, consumer=np.arange(job.WATCHERS), timestamp=epoch * TICK + TICK // 2, id=number
        )

    def write_records(self, epoch: int, source: int) -> Array:
        count = self.plan.records
        times = epoch * TICK + 1 + self.random.integers(0, TICK - 1, count)
        if epoch:
            times[::LATE_EVERY] -= TICK
        turns = self.turns[source] + np.arange(count)
        turns[count // 2 :] += source in self.misses
        consumers = turns % PARALLELISM
        self.turns[source] = int(turns[-1] + 1) % PARALLELISM
        fields = {
            "task": job.SOURCE,
            "subtask": source,
            "dir": log.OUT,
            "edge": job.DEALT,
            "producer": source,
            "kind": log.RECORD,
        }
        ids = 3 * (self.next_id + np.arange(count))
        self.next_id += count
        return make_rows(count, **fields, consumer=consumers, timestamp=times, id=ids)

    # --- every task -------------------------------------------------------------------------------------------

    def announce(
        self, task: int, subtask: int, kind: int, *, timestamp: int = log.NONE, value: int = log.NONE
    ) -> Array:
        """The same element to every channel of a subtask."""
        targets = {
            job.SOURCE: [(job.DEALT, consumer) for consumer in range(PARALLELISM)]
            + [(job.TOLD, one) for one in range(job.WATCHERS)],
            job.MAP: [(job.KEYED, consumer) for consumer in range(PARALLELISM)],
            job.COUNT: [(job.FORWARDED, subtask)],
        }[task]
        edges, consumers = (np.array(one) for one in zip(*targets, strict=True))
        fields = {"task": task, "subtask": subtask, "dir": log.OUT, "producer": subtask, "kind": kind}
        return make_rows(len(targets), **fields, edge=edges, consumer=consumers, timestamp=timestamp, value=value)

    def end_epoch(self, epoch: int, task: int, subtask: int, *, active: bool = True) -> list[Array]:
        """A watermark and a barrier; at the end of the run, the ends."""
        parts = []
        if active:
            time = MAX if self.is_last(epoch) else (epoch + 1) * TICK
            parts.append(self.announce(task, subtask, log.WATERMARK, timestamp=int(time)))
        parts.append(self.announce(task, subtask, log.BARRIER, value=epoch + 1))
        if self.is_last(epoch):
            parts += [self.announce(task, subtask, kind) for kind in (log.END_OF_DATA, log.END_OF_PARTITION)]
        return parts

    def write_task(self, epoch: int, task: int, sent: Array, edge: int | None) -> dict[tuple[int, int], Array]:
        # A task emits records to the edge behind it: only the edge before it counts here.
        sent = sent[(column(sent, "dir") == log.OUT) & (column(sent, "kind") != log.CREDIT)]
        size = job.WATCHERS if task == job.WATCH else PARALLELISM
        return {
            (task, number): self.write_subtask(epoch, task, number, sent[column(sent, "consumer") == number], edge)
            for number in range(size)
        }

    def write_subtask(self, epoch: int, task: int, subtask: int, sent: Array, edge: int | None) -> Array:
        """Everything before the barriers, the resulting watermark, the barriers of all channels, its own barrier."""
        received = receive(sent, task)
        kinds = column(received, "kind")
        records = received[kinds == log.RECORD]
        parts = [
            received[kinds == log.BUFFER],
            self.grant(received[kinds == log.BUFFER]),
            received[kinds == log.STATUS],
        ]
        parts += [records if edge is None else self.pass_on(records, subtask, edge), received[kinds == log.WATERMARK]]
        ends = self.end_epoch(epoch, task, subtask) if edge is not None else []
        parts += [*ends[:1], received[kinds == log.BARRIER], *ends[1:2]]
        for number, kind in enumerate((log.END_OF_DATA, log.END_OF_PARTITION), start=2):
            parts += [received[kinds == kind], *ends[number : number + 1]]
        return np.concatenate(parts)

    def grant(self, buffers: Array) -> Array:
        """Credit for the next two buffers of each channel; none is in flight when the run ends."""
        granted = buffers[::2].copy()
        granted[:, AT["dir"]], granted[:, AT["kind"]], granted[:, AT["value"]] = log.OUT, log.CREDIT, 2
        return granted

    def pass_on(self, records: Array, subtask: int, edge: int) -> Array:
        """Each record is emitted as soon as it is read."""
        sent = records.copy()
        sent[:, AT["dir"]], sent[:, AT["edge"]], sent[:, AT["producer"]] = log.OUT, edge, subtask
        sent[:, AT["id"]] += 1
        if edge == job.KEYED:
            sent[:, AT["key"]] = column(records, "id") // 3 * 2654435761 % len(job.KEYS)
            sent[:, AT["consumer"]] = job.owners()[column(sent, "key")]
        else:
            sent[:, AT["key"]] = log.NONE
            sent[:, AT["consumer"]] = subtask
        both = np.empty((2 * len(records), len(job.FIELDS)), dtype=np.int64)
        both[0::2], both[1::2] = records, sent
        return both
