"""The end of an input, CLOSE-1 … CLOSE-4."""

from tidegate.conformance.engines import wire

_CAUSES = ("transport", "other")


class InputClose:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("input-close-")
        count = wire.get_at_least(config, "channels", 1)
        self.held = list(range(count))
        self.broken: dict[int, str] = {}
        self.errors: set[int] = set()
        self.count = count

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "close":
            return self.close()
        if kind == "snapshot":
            shown = list(range(self.count)) if self.bug == "saves-what-is-released" else list(self.held)
            return [{"type": "snapshotted", "channels": shown}]
        if kind not in ("error", "break", "end"):
            raise wire.unknown_type(event)
        channel = wire.get_integer(event, "channel")
        cause = wire.get_choice(event, "cause", _CAUSES) if kind == "break" else ""
        if not 0 <= channel < self.count:
            return wire.rejected()
        if kind == "error":
            self.errors.add(channel)
        elif kind == "break":
            self.broken[channel] = cause
        elif channel in self.held:
            return self.end(channel)
        elif self.bug == "releases-twice":
            return [{"type": "released", "channel": channel}]
        return []

    def end(self, channel: int) -> wire.Observations:
        if channel in self.broken:
            if self.bug == "end-hides-failures" and channel in self.errors:
                return []
            return [{"type": "failed", "causes": [self.broken[channel]]}]
        self.held.remove(channel)
        return [{"type": "released", "channel": channel}]

    def close(self) -> wire.Observations:
        out: wire.Observations = []
        causes: list[str] = []
        for channel in list(self.held):
            if channel not in self.broken:
                self.held.remove(channel)
                out.append({"type": "released", "channel": channel})
                continue
            cause = self.broken[channel]
            known = channel in self.errors or self.bug == "transport-never-told"
            if not (known and (cause == "transport" or self.bug == "any-failure-ignored")):
                causes.append(cause)
                if self.bug == "first-failure-stops":
                    break
        return [*out, {"type": "failed", "causes": sorted(causes)}] if causes else out


make = InputClose
