"""The checkpoint of a job, its failure, and what is restored, RST-1 to RST-7, RST-9 to RST-11."""

from typing import TYPE_CHECKING

import attrs

from tidegate.conformance.engines.museum.job.layout import Layout
from tidegate.conformance.engines.museum.job.program import Element
from tidegate.conformance.engines.museum.partitioner import choose_channel

if TYPE_CHECKING:
    from tidegate.conformance.engines.museum.job import Job
    from tidegate.conformance.engines.museum.job.channels import Channel
    from tidegate.conformance.engines.museum.job.tasks import Subtask

GROUPS = 128


@attrs.define
class Part:
    """`in_flight` is by the numbers of channels, and so is what is `open`: the barrier is still to come."""

    number: int
    head: int
    cursor: int
    made: int
    totals: dict[tuple[int, str], int]
    collected: list[tuple[str, int]]
    in_flight: dict[int, list[Element]]
    open: set[int]
    done: bool = False


class Recovery:
    def __init__(self, job: "Job") -> None:
        self.job = job
        program = job.program
        self.unaligned = program.unaligned
        self.before = [(one, one.parallelism) for one in program.operators]
        self.after = {one.id: program.rescaled.get(one.id, one.parallelism) for one in program.operators}
        counts = [count_subtasks(Layout(program))]
        self.rescale(self.after)
        counts.append(count_subtasks(Layout(program)))
        self.rescale({one.id: parallelism for one, parallelism in self.before})
        self.count = max(counts)
        self.parts: dict[int, Part] = {}
        self.complete: dict[int, Part] | None = None
        self.checkpoint = 0
        self.restored = False

    def rescale(self, parallelisms: dict[int, int]) -> None:
        for operator, _before in self.before:
            operator.parallelism = parallelisms[operator.id]

    # What has finished before

    def find_finished(self) -> set[int]:
        """The subtasks that no barrier comes to."""
        finished: set[int] = set()
        for subtask in self.job.subtasks:
            if subtask.channels:
                quiet = all(channel.route.source in finished for channel in subtask.channels)
            else:
                quiet = all(item.kind != "barrier" for item in subtask.script)
            finished |= {subtask.index} if quiet else set()
        return finished

    def is_something_to_finish(self) -> bool:
        finished = self.find_finished()
        for at in finished:
            subtask = self.job.subtasks[at]
            if not (subtask.gate.finished if subtask.channels else subtask.is_done()):
                return True
        mine = [channel for channel in self.job.channels if channel.route.source in finished]
        kinds = [one.kind for channel in mine for one in channel.waiting if isinstance(one, Element)]
        return "end_of_data" in kinds

    # The checkpoint

    def take_part(self, subtask: "Subtask", read: "Channel | None") -> None:
        channels = subtask.channels if self.unaligned else []
        in_flight = {one.number: self.find_in_flight(one, is_read=one is read) for one in channels}
        finished = self.find_finished()
        waits = {
            one.number
            for one in channels
            if one is not read and not has_barrier(one) and one.route.source not in finished
        }
        self.parts[subtask.index] = Part(
            subtask.number,
            subtask.task.head.id,
            subtask.cursor,
            subtask.made,
            dict(subtask.totals),
            list(subtask.collected),
            in_flight,
            waits,
        )

    def find_in_flight(self, channel: "Channel", *, is_read: bool) -> list[Element]:
        waiting = [one for one in channel.waiting if isinstance(one, Element) and one.kind != "barrier"]
        if channel.route.source in self.find_finished():
            return []
        if is_read or has_barrier(channel):
            return waiting[: channel.overtaken]
        return waiting

    def save(self, channel: "Channel", element: Element) -> None:
        part = self.parts.get(channel.route.target)
        if part is None or channel.number not in part.open:
            return
        if element.kind != "barrier":
            part.in_flight[channel.number].append(element)
        else:
            part.open.remove(channel.number)

    def overtake(self, channel: "Channel", barrier: Element) -> None:
        gate = self.job.subtasks[channel.route.target].gate
        place = channel.route.place
        self.save(channel, barrier)
        channel.overtaken = len(channel.waiting)
        channel.waiting.appendleft(barrier)
        gate.received[place].appendleft("data")
        if place in gate.queue:
            gate.queue.remove(place)
        gate.queue.appendleft(place)

    def finish_part(self, subtask: "Subtask", checkpoint: int) -> None:
        self.parts[subtask.index].done = True
        finished = self.find_finished()
        wanted = len(self.job.subtasks) - len(finished)
        done = [one for one in self.parts.values() if one.done]
        if len(done) < wanted or self.complete is not None:
            return
        for at in finished:
            self.take_part(self.job.subtasks[at], None)
            self.parts[at].in_flight = {}
        self.complete, self.parts, self.checkpoint = self.parts, {}, checkpoint
        self.job.seen.append({"type": "completed", "checkpoint": checkpoint})

    # The restore

    def restore(self) -> None:
        job, complete = self.job, self.complete
        old_channels = job.channels
        self.restored, self.parts, self.complete = True, {}, None
        self.rescale(self.after)
        job.build()
        if complete is None:
            job.seen.append({"type": "restored", "totals": [], "collected": []})
            return
        for subtask in job.subtasks:
            self.restore_subtask(subtask, [one for one in complete.values() if one.head == subtask.task.head.id])
        job.seen.append(self.show())
        for channel in job.channels:
            for element in self.find_restored(channel, old_channels, complete):
                channel.arrive(element)

    def restore_subtask(self, subtask: "Subtask", parts: list[Part]) -> None:
        if not subtask.channels:
            own = next(one for one in parts if one.number == subtask.number)
            # One that had finished ends once more.
            subtask.cursor = min(own.cursor, len(subtask.script))
            subtask.made = own.made
            return
        subtask.made = max(one.made for one in parts)
        for one in parts:
            subtask.totals |= {key: total for key, total in one.totals.items() if self.owns(subtask, key[1])}
            if one.number % subtask.task.head.parallelism == subtask.number:
                subtask.collected += one.collected

    def owns(self, subtask: "Subtask", key: str) -> bool:
        named = {"type": "string", "value": key}
        return choose_channel(named, subtask.task.head.parallelism, GROUPS) == subtask.number

    def show(self) -> dict[str, object]:
        totals, collected = [], []
        for subtask in self.job.subtasks:
            for (operator, key), value in sorted(subtask.totals.items()):
                known = {"subtask": subtask.index, "operator": operator, "key": key, "value": str(value)}
                totals.append(known)
            for key, value in sorted(subtask.collected):
                collected.append({"subtask": subtask.index, "key": key, "value": str(value)})
        return {"type": "restored", "checkpoint": self.checkpoint, "totals": totals, "collected": collected}

    def find_restored(self, channel: "Channel", old_channels: list["Channel"], parts: dict[int, Part]) -> list[Element]:
        found: list[Element] = []
        edge = channel.route.edge
        keyed = edge.edge.partitioner == "hash"
        reader = self.job.subtasks[channel.route.target]
        for old in old_channels:
            mine = old.route.producer % edge.source.head.parallelism == channel.route.producer
            same = old.route.consumer == channel.route.consumer
            if old.route.edge.number != edge.number or not mine or not (same or keyed):
                continue
            part = parts.get(old.route.target)
            saved = part.in_flight.get(old.number, []) if part is not None else []
            found += [one for one in saved if not keyed or one.kind != "record" or self.owns(reader, one.key)]
        return found


def has_barrier(channel: "Channel") -> bool:
    first = channel.waiting[0] if channel.waiting else None
    return isinstance(first, Element) and first.kind == "barrier"


def count_subtasks(layout: Layout) -> int:
    return sum(task.head.parallelism for task in layout.order)
