"""Generalized watermarks, GWM."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

Value = int | bool
_COMBINATIONS = ("min", "max", "and", "or", "aligned")


class Generalized:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
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
        if not 0 <= channel < self.channels or kind != wanted:
            return wire.rejected()
        self.values[channel] = value
        complete = len(self.values) == self.channels
        if self.combination == "aligned":
            return self.on_aligned(value) if complete else []
        if self.wait and not complete:
            return []
        return self.emit(self.combine())

    def on_aligned(self, value: Value) -> wire.Observations:
        self.values = {}
        return [show(value), {"type": "resume"}]

    def combine(self) -> Value:
        values = list(self.values.values())
        if self.combination == "and":
            return all(values)
        if self.combination == "or":
            return any(values)
        return min(values) if self.combination == "min" else max(values)

    def emit(self, value: Value) -> wire.Observations:
        if value == self.emitted:
            return []
        self.emitted = value
        return [show(value)]


def show(value: Value) -> wire.Json:
    if isinstance(value, bool):
        return {"type": "truth", "value": value}
    return {"type": "number", "value": str(value)}


make = Generalized

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("GWM-1", "GWM-2", "GWM-5", origin="one-rule change: watermarks of event time")
class GeneralizedOnlyRises(Generalized):
    """A number that is lower than the last one of its channel is ignored."""

    step = changed(
        Generalized.step,
        "self.values[channel] = value",
        'if channel in self.values and self.combination in ("min", "max"):\n'
        "    value = max(value, self.values[channel])\n"
        "self.values[channel] = value",
    )


@wrong("GWM-1")
class GeneralizedTypesMix(Generalized):
    """Truth values are combined with numbers."""

    step = changed(
        Generalized.step, "not 0 <= channel < self.channels or kind != wanted", "not 0 <= channel < self.channels"
    )


@wrong("GWM-1", "GWM-2")
class GeneralizedSilenceIsZero(Generalized):
    """A channel that had no watermark counts as 0."""

    combine = changed(
        Generalized.combine,
        "return min(values)",
        "if len(values) < self.channels:\n    values.append(0)\nreturn min(values)",
    )


@wrong("GWM-1", "GWM-3")
class GeneralizedSilenceIsFalse(Generalized):
    """A channel that had no watermark counts as false."""

    combine = changed(Generalized.combine, "all(values)", "all(values) and len(values) == self.channels")


@wrong("GWM-2", "GWM-5")
class GeneralizedAlwaysLowest(Generalized):
    """The lowest number is emitted, whatever was declared."""

    combine = changed(Generalized.combine, 'self.combination == "min"', "True")


@wrong("GWM-3", "GWM-5")
class GeneralizedOrIsAnd(Generalized):
    """All truth values have to be true."""

    combine = changed(Generalized.combine, "any(values)", "all(values)")


@wrong("GWM-4")
class GeneralizedNeverWaits(Generalized):
    """Something is emitted before every channel was heard."""

    step = changed(Generalized.step, "self.wait and not complete", "False")


@wrong("GWM-4", "GWM-2", "GWM-3")
class GeneralizedAlwaysWaits(Generalized):
    """Nothing is emitted before every channel was heard, though nobody asked for that."""

    step = changed(Generalized.step, "self.wait and not complete", "not complete")


@wrong("GWM-5")
class GeneralizedRepeats(Generalized):
    """What is no news is emitted."""

    emit = changed(Generalized.emit, "value == self.emitted", "False")


@wrong("GWM-5", "GWM-3", origin="one-rule change: false for nothing emitted yet")
class GeneralizedFirstIsNewsOnlyIfTrue(Generalized):
    """A first combination that is false is not emitted."""

    def emit(self, value: Value) -> wire.Observations:
        if self.emitted is None and value is False:
            self.emitted = value
        return super().emit(value)


@wrong("GWM-6")
class GeneralizedAlignedEmitsEach(Generalized):
    """Each aligned watermark is emitted when it comes, and not when all have come."""

    step = changed(
        Generalized.step,
        "self.on_aligned(value) if complete else []",
        "self.on_aligned(value)[1:] if complete else [show(value)]",
    )


@wrong("GWM-6")
class GeneralizedAlignedFirst(Generalized):
    """The watermark that came first is emitted, not the last."""

    def on_aligned(self, value: Value) -> wire.Observations:
        return super().on_aligned(next(iter(self.values.values())))


@wrong("GWM-6")
class GeneralizedAlignedStaysBlocked(Generalized):
    """Channels that were held are not resumed."""

    def on_aligned(self, value: Value) -> wire.Observations:
        return super().on_aligned(value)[:1]


@wrong("GWM-6")
class GeneralizedAlignedOnce(Generalized):
    """After the first time nobody is waited for."""

    on_aligned = changed(Generalized.on_aligned, "self.values = {}", "pass")


@wrong("GWM-2", "GWM-3", "GWM-4", "GWM-5", "GWM-6")
class GeneralizedTableOf257(Generalized):
    """A table has 257 places, and all channels from there on share the last one."""

    step = changed(
        Generalized.step,
        "self.values[channel] = value",
        "channel = min(channel, 256)\nself.values[channel] = value",
        "len(self.values) == self.channels",
        "len(self.values) == min(self.channels, 257)",
    )
