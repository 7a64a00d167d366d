"""The end of an input, CLOSE-1 … CLOSE-4."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

_CAUSES = ("transport", "other")


class InputClose:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.count = wire.get_at_least(config, "channels", 1)
        self.held = list(range(self.count))
        self.broken: dict[int, str] = {}
        self.errors: set[int] = set()

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "close":
            return self.close()
        if kind == "snapshot":
            return [{"type": "snapshotted", "channels": list(self.held)}]
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
        return []

    def end(self, channel: int) -> wire.Observations:
        if channel in self.broken:
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
            if cause != "transport" or channel not in self.errors:
                causes.append(cause)
        return [*out, {"type": "failed", "causes": sorted(causes)}] if causes else out


make = InputClose

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("CLOSE-1")
class InputCloseReleasesTwice(InputClose):
    """A deserializer is released twice, and its buffers with it."""

    step = changed(
        InputClose.step,
        "elif channel in self.held:",
        'elif channel not in self.held:\n    return [{"type": "released", "channel": channel}]\nelse:',
    )


@wrong("CLOSE-2")
class InputCloseFirstFailureStops(InputClose):
    """The first failure ends the closing, and buffers of other channels leak."""

    close = changed(InputClose.close, "causes.append(cause)", "causes.append(cause)\nbreak")


@wrong("CLOSE-2")
class InputCloseAnyFailureIgnored(InputClose):
    """Any failure of a channel that had met an error is ignored."""

    close = changed(InputClose.close, 'cause != "transport" or ', "")


@wrong("CLOSE-2")
class InputCloseTransportNeverTold(InputClose):
    """A broken connection that nobody knew of is ignored."""

    close = changed(InputClose.close, " or channel not in self.errors", "")


@wrong("CLOSE-3")
class InputCloseEndHidesFailures(InputClose):
    """A failure at the end of a channel that had met an error is ignored."""

    def end(self, channel: int) -> wire.Observations:
        return [] if channel in self.broken and channel in self.errors else super().end(channel)


@wrong("CLOSE-4")
class InputCloseSavesWhatIsReleased(InputClose):
    """A checkpoint asks deserializers that are released."""

    step = changed(InputClose.step, "list(self.held)", "list(range(self.count))")
