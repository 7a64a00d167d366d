"""The gauges of inputs, GAUGE-1 … GAUGE-4."""

from tidegate.conformance.engines import wire

EXTENSIONS = ("records",)


class InputGauges:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("input-gauges-")
        kinds = config.get("inputs")
        if not isinstance(kinds, list) or not kinds or any(kind not in ("network", "source") for kind in kinds):
            raise wire.BadRequestError("inputs must be a list of kinds")
        self.kinds = kinds
        self.counts = wire.get_extension(config, EXTENSIONS) is not None
        self.gauges = [wire.LOWEST] * len(kinds)
        self.reached = [wire.LOWEST] * len(kinds)
        self.emitted = wire.LOWEST
        self.backlogs: dict[int, bool] = {}
        self.told: bool | None = None
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
        self.gauges[number] = max(timestamp, self.gauges[number]) if self.bug == "never-falls" else timestamp
        self.reached[number] = max(self.reached[number], timestamp)
        lowest = min(self.reached)
        if lowest <= self.emitted:
            return []
        self.emitted = lowest
        return [{"type": "emitted", "timestamp": str(lowest)}]

    def tell(self, number: int, *, backlog: bool) -> wire.Observations:
        self.backlogs[number] = backlog
        together = any(self.backlogs.values())
        if self.bug == "all-must-have-a-backlog":
            together = all(self.backlogs.get(one, False) for one in range(len(self.kinds)))
        if self.bug == "attributes-pass":
            together = backlog
        if self.bug == "attributes-once" and together == self.told:
            return []
        self.told = together
        return [{"type": "attributes", "backlog": together}]

    def show(self) -> wire.Json:
        shown: wire.Json = {
            "type": "gauges",
            "inputs": [str(one) for one in self.gauges],
            "input": str(max(self.gauges) if self.bug == "shows-the-highest" else min(self.gauges)),
        }
        if self.counts:
            pairs = zip(self.kinds, self.records, strict=True)
            shown["records"] = sum(self.records)
            everything = self.bug == "sources-come-in"
            shown["task_records"] = sum(count for kind, count in pairs if kind == "network" or everything)
        return shown


make = InputGauges
