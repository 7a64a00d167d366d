"""What is saved of an output, SAVE-1 … SAVE-7."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

#: What is queued: `("data", number)`, `("event", 0)` or `("barrier", checkpoint)`.
Item = tuple[str, int]


def get_checkpoint(event: wire.Json) -> int:
    checkpoint = wire.get_long(event, "checkpoint")
    if checkpoint < 0:
        raise wire.BadRequestError(f"no checkpoint: {checkpoint}")
    return checkpoint


class OutputState:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.urgent: list[int] = []
        self.queue: list[Item] = []
        self.written = 0
        self.promise: int | None = None
        self.blocked = False
        self.released = False

    def step(self, event: wire.Json) -> wire.Observations:
        match event.get("type"):
            case "data" | "event" | "barrier":
                return self.write(event)
            case "timeout":
                return self.time_out(get_checkpoint(event))
            case "abort":
                checkpoint = get_checkpoint(event)
                return self.fail() if self.promise == checkpoint else []
            case "poll":
                return self.poll()
            case "resume":
                if not self.blocked:
                    return wire.rejected()
                self.blocked = False
                return []
            case "release":
                self.urgent, self.queue, self.released = [], [], True
                return [] if self.promise is None else self.fail()
            case "measure":
                return [{"type": "queued", "count": len(self.queue) + len(self.urgent)}]
        raise wire.unknown_type(event)

    def fail(self) -> wire.Observations:
        failed, self.promise = self.promise, None
        return [{"type": "saving_failed", "checkpoint": str(failed)}]

    def save(self, checkpoint: int, items: list[Item]) -> wire.Observations:
        kept = [number for kind, number in items if kind == "data"]
        return [{"type": "saved", "checkpoint": str(checkpoint), "data": kept}]

    def write(self, event: wire.Json) -> wire.Observations:
        kind = event["type"]
        checkpoint = get_checkpoint(event) if kind == "barrier" else 0
        unaligned = wire.get_boolean(event, "unaligned") if kind == "barrier" else False
        if self.released:
            return wire.rejected()
        if unaligned:
            self.urgent.append(checkpoint)
            return self.save(checkpoint, self.queue) if any(one == "data" for one, _ in self.queue) else []
        self.queue.append((kind, self.written if kind == "data" else checkpoint))
        self.written += kind == "data"
        if kind != "barrier":
            return []
        told = self.fail() if self.promise is not None else []
        self.promise = checkpoint
        return told

    def time_out(self, checkpoint: int) -> wire.Observations:
        if self.promise != checkpoint:
            return []
        place = self.queue.index(("barrier", checkpoint))
        told = self.save(checkpoint, self.queue[:place])
        self.promise = None
        del self.queue[place]
        self.urgent.append(checkpoint)
        return told

    def poll(self) -> wire.Observations:
        if self.urgent:
            return [{"type": "barrier", "checkpoint": str(self.urgent.pop(0)), "unaligned": True}]
        if self.blocked or not self.queue:
            return [{"type": "none"}]
        kind, number = self.queue.pop(0)
        if kind == "data":
            return [{"type": "data", "number": number}]
        if kind == "event":
            return [{"type": "event"}]
        self.blocked = True
        told: wire.Observations = []
        if self.promise == number:
            told, self.promise = self.save(number, []), None
        return [*told, {"type": "barrier", "checkpoint": str(number), "unaligned": False}]


make = OutputState

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("SAVE-1")
class OutputStateOvertakenDataLost(OutputState):
    """A barrier overtakes data that nobody saves: a restart loses it."""

    write = changed(OutputState.write, 'any(one == "data" for one, _ in self.queue)', "False")


@wrong("SAVE-2")
class OutputStatePromiseForgotten(OutputState):
    """A barrier is read in time, and whoever saves still waits for data."""

    poll = changed(OutputState.poll, "self.promise == number", "False")


@wrong("SAVE-3")
class OutputStateSavesWhatIsBehind(OutputState):
    """Data behind the barrier is saved too, and comes twice after a restart."""

    time_out = changed(OutputState.time_out, "self.queue[:place]", "self.queue")


@wrong("SAVE-3", "SAVE-1")
class OutputStateLateBarrierStays(OutputState):
    """A barrier that timed out stays in its place, with its data saved."""

    time_out = changed(OutputState.time_out, "del self.queue[place]", "return told")


@wrong("SAVE-4")
class OutputStateTwoPromises(OutputState):
    """A second barrier leaves the promise of the first open for ever."""

    write = changed(OutputState.write, "self.fail() if self.promise is not None else []", "[]")


@wrong("SAVE-5")
class OutputStateAbortUnheard(OutputState):
    """A checkpoint is given up, and whoever saves waits for its data."""

    step = changed(OutputState.step, "self.fail() if self.promise == checkpoint else []", "[]")


@wrong("SAVE-6")
class OutputStateReleaseUnheard(OutputState):
    """A subpartition is released, and whoever saves waits for its data."""

    step = changed(OutputState.step, "[] if self.promise is None else self.fail()", "[]")


@wrong("SAVE-7")
class OutputStateUrgentNotCounted(OutputState):
    """Barriers that have overtaken are not counted."""

    step = changed(OutputState.step, " + len(self.urgent)", "")
