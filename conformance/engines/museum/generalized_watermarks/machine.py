"""Generalized watermarks, GWM."""

from tidegate.conformance.engines import wire

Value = int | bool
_COMBINATIONS = ("min", "max", "and", "or", "aligned")


class Generalized:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("generalized-")
        self.channels = wire.get_at_least(config, "channels", 1)
        self.combination = wire.get_choice(config, "combination", _COMBINATIONS)
        self.wait = wire.get_boolean(config, "wait") if "wait" in config else False
        self.values: dict[int, Value] = {}
        self.emitted: Value | None = None

    def step(self, event: wire.Json) -> wire.Observations:
        kind, channel = event.get("type"), wire.get_integer(event, "channel")
        if kind == "number":
            value: Value = wire.get_long(event, "value")
        elif kind == "truth":
            value = wire.get_boolean(event, "value")
        else:
            raise wire.unknown_type(event)
        wanted = {"min": "number", "max": "number", "and": "truth", "or": "truth"}.get(self.combination, kind)
        if not 0 <= channel < self.channels or (kind != wanted and self.bug != "types-mix"):
            return wire.rejected()
        if self.bug == "only-rises" and channel in self.values and self.combination in ("min", "max"):
            value = max(value, self.values[channel])
        if self.bug == "table-of-257":
            channel = min(channel, 256)
        self.values[channel] = value
        complete = len(self.values) == (min(self.channels, 257) if self.bug == "table-of-257" else self.channels)
        if self.combination == "aligned":
            return self.on_aligned(value, complete=complete)
        if self.wait and not complete and self.bug != "never-waits":
            return []
        if self.bug == "always-waits" and not complete:
            return []
        return self.emit(self.combine())

    def on_aligned(self, value: Value, *, complete: bool) -> wire.Observations:
        if not complete:
            return [show(value)] if self.bug == "aligned-emits-each" else []
        first = next(iter(self.values.values()))
        if self.bug != "aligned-once":
            self.values = {}
        seen = [] if self.bug == "aligned-emits-each" else [show(first if self.bug == "aligned-first" else value)]
        return seen if self.bug == "aligned-stays-blocked" else [*seen, {"type": "resume"}]

    def combine(self) -> Value:
        values, missing = list(self.values.values()), len(self.values) < self.channels
        if self.combination == "and":
            return all(values) and not (missing and self.bug == "silence-is-false")
        if self.combination == "or":
            return (all if self.bug == "or-is-and" else any)(values)
        if missing and self.bug == "silence-is-zero":
            values.append(0)
        lowest = self.combination == "min" or self.bug == "always-lowest"
        return min(values) if lowest else max(values)

    def emit(self, value: Value) -> wire.Observations:
        first = self.emitted is None
        if self.bug == "first-is-news-only-if-true" and first and value is False:
            self.emitted = value
            return []
        if not first and value == self.emitted and self.bug != "repeats":
            return []
        self.emitted = value
        return [show(value)]


def show(value: Value) -> wire.Json:
    if isinstance(value, bool):
        return {"type": "truth", "value": value}
    return {"type": "number", "value": str(value)}


make = Generalized
