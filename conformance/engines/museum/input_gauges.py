"""The gauges of inputs, GAUGE-1 … GAUGE-4."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

EXTENSIONS = ("records",)


class InputGauges:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        kinds = config.get("inputs")
        if not isinstance(kinds, list) or not kinds or any(kind not in ("network", "source") for kind in kinds):
            raise wire.BadRequestError("inputs must be a list of kinds")
        self.kinds = kinds
        self.counts = wire.get_extension(config, EXTENSIONS) is not None
        self.gauges = [wire.LOWEST] * len(kinds)
        self.reached = [wire.LOWEST] * len(kinds)
        self.emitted = wire.LOWEST
        self.backlogs: dict[int, bool] = {}
        self.records = [0] * len(kinds)

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "measure":
            return [self.show()]
        if kind not in ("watermark", "attributes") and not (kind == "record" and self.counts):
            raise wire.unknown_type(event)
        number = wire.get_integer(event, "input")
        timestamp = wire.get_long(event, "timestamp") if kind == "watermark" else 0
        backlog = wire.get_boolean(event, "backlog") if kind == "attributes" else False
        if not 0 <= number < len(self.kinds):
            return wire.rejected()
        if kind == "record":
            self.records[number] += 1
            return []
        if kind == "attributes":
            return self.tell(number, backlog=backlog)
        return self.advance(number, timestamp)

    def advance(self, number: int, timestamp: int) -> wire.Observations:
        self.gauges[number] = timestamp
        self.reached[number] = max(self.reached[number], timestamp)
        lowest = min(self.reached)
        if lowest <= self.emitted:
            return []
        self.emitted = lowest
        return [{"type": "emitted", "timestamp": str(lowest)}]

    def tell(self, number: int, *, backlog: bool) -> wire.Observations:
        self.backlogs[number] = backlog
        return [{"type": "attributes", "backlog": any(self.backlogs.values())}]

    def show(self) -> wire.Json:
        shown: wire.Json = {
            "type": "gauges",
            "inputs": [str(one) for one in self.gauges],
            "input": str(min(self.gauges)),
        }
        if self.counts:
            pairs = zip(self.kinds, self.records, strict=True)
            shown["records"] = sum(self.records)
            shown["task_records"] = sum(count for kind, count in pairs if kind == "network")
        return shown


make = InputGauges

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("GAUGE-1", "GAUGE-2")
class InputGaugesNeverFalls(InputGauges):
    """A gauge keeps the highest watermark, and hides one that fell."""

    advance = changed(
        InputGauges.advance,
        "self.gauges[number] = timestamp",
        "self.gauges[number] = max(timestamp, self.gauges[number])",
    )


@wrong("GAUGE-2")
class InputGaugesShowsTheHighest(InputGauges):
    """The operator shows its fastest input."""

    show = changed(InputGauges.show, "min(self.gauges)", "max(self.gauges)")


@wrong("GAUGE-3")
class InputGaugesSourcesComeIn(InputGauges):
    """Records of a source in the task are counted as if they had been sent to it."""

    show = changed(InputGauges.show, ' if kind == "network"', "")


@wrong("GAUGE-4")
class InputGaugesAttributesPass(InputGauges):
    """The attributes of one input are handed on as if they were those of all."""

    tell = changed(InputGauges.tell, "any(self.backlogs.values())", "backlog")


@wrong("GAUGE-4")
class InputGaugesAttributesOnce(InputGauges):
    """Attributes are only handed on if they have changed."""

    told: wire.Observations | None = None

    def tell(self, number: int, *, backlog: bool) -> wire.Observations:
        told, self.told = self.told, super().tell(number, backlog=backlog)
        return [] if told == self.told else self.told


@wrong("GAUGE-4")
class InputGaugesAllMustHaveABacklog(InputGauges):
    """There is a backlog only if every input has one."""

    tell = changed(
        InputGauges.tell,
        "any(self.backlogs.values())",
        "all(self.backlogs.get(one, False) for one in range(len(self.kinds)))",
    )
