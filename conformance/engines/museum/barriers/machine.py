"""The barrier handlers, BARR-1 … BARR-13, BARR-17, BARR-23: what they read. What they do is in `barrier_alignment` for
those that know one checkpoint at a time, and in `barrier_tracker` for the one that counts.
"""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.barriers.alignment import BarrierHandler
from tidegate.conformance.engines.museum.barriers.tracker import BarrierTracker

_KINDS = ("aligned", "at_least_once", "unaligned", "alternating")
EXTENSIONS = ("late_timers", "measures", "closing")
_MODES = ("aligned", "timeout", "unaligned")


def make(config: wire.Json, host: wire.Host) -> wire.Machine:
    kind = wire.get_choice(config, "kind", _KINDS)
    wire.get_extension(config, EXTENSIONS)
    wire.get_at_least(config, "channels", 1)
    wire.get_boolean(config, "finished_channels")
    if ("timeout" in config) != (kind == "alternating"):
        raise wire.BadRequestError("timeout belongs to kind alternating, and to no other")
    if kind == "alternating":
        wire.get_at_least(config, "timeout", 1)
    return Reader(config, BarrierTracker(config, host) if kind == "at_least_once" else BarrierHandler(config, host))


def get_checkpoint(event: wire.Json) -> int:
    checkpoint = wire.get_long(event, "checkpoint")
    if checkpoint < 0:
        raise wire.BadRequestError(f"no checkpoint: {checkpoint}")
    return checkpoint


class Reader:
    """Reads events, and refuses those of channels that have ended or do not exist."""

    def __init__(self, config: wire.Json, handler: BarrierHandler | BarrierTracker) -> None:
        self.handler = handler
        self.channels = config["channels"]
        self.measures = config.get("extension") == "measures"
        self.may_be_late = config.get("extension") == "late_timers"
        self.may_close = config.get("extension") == "closing"
        self.closed = False
        self.takes_unaligned = config["kind"] in {"unaligned", "alternating"}

    def step(self, event: wire.Json) -> wire.Observations:
        handler = self.handler
        if event.get("type") in {"processed", "measure"} and self.measures:
            if event["type"] == "measure":
                return [handler.gauge.show(handler.clock)]
            handler.gauge.process(wire.get_at_least(event, "bytes", 0))
            return []
        if event.get("type") == "close" and self.may_close:
            self.closed = True
            return handler.on_close()
        if event.get("type") in {"advance", "delay"}:
            milliseconds = wire.get_at_least(event, "milliseconds", 0)
            if event["type"] == "delay" and not self.may_be_late:
                raise wire.BadRequestError("delay belongs to the extension late_timers")
            return handler.on_advance(milliseconds, fires=event["type"] == "advance")
        if event.get("type") not in {"barrier", "announcement", "cancel", "end_of_partition"}:
            raise wire.unknown_type(event)
        channel = wire.get_integer(event, "channel")
        known = 0 <= channel < self.channels and (channel not in handler.ended or handler.bug == "barriers-ended-heard")
        known = known and (not self.closed or handler.bug == "barriers-closed-reads-on")
        accepted = known and not handler.is_blocked(channel)
        match event["type"]:
            case "barrier":
                mode = wire.get_choice(event, "mode", _MODES)
                if mode == "unaligned" and not self.takes_unaligned:
                    raise wire.BadRequestError("this handler gets no unaligned barriers")
                checkpoint, created = get_checkpoint(event), wire.get_long(event, "created")
                return handler.on_barrier(channel, checkpoint, mode, created) if accepted else wire.rejected()
            case "announcement":
                checkpoint, created = get_checkpoint(event), wire.get_long(event, "created")
                sequence = wire.get_integer(event, "sequence")
                return handler.on_announcement(channel, checkpoint, sequence, created) if accepted else wire.rejected()
            case "cancel":
                checkpoint = get_checkpoint(event)
                return handler.on_cancel(channel, checkpoint) if accepted else wire.rejected()
        return handler.on_end(channel) if accepted else wire.rejected()
