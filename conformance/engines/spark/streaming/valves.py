"""The valve of an input, and the combiner of several inputs, as flat lists that a state store can hold."""

import attrs

from tidegate.conformance.engines.spark.streaming.elements import LOWEST, Element

IDLE, ACTIVE = Element("status", value=0), Element("status", value=1)


@attrs.define
class Valve:
    """The last watermark and status of each channel, and the output. Lists by channel."""

    semantics: str
    watermarks: list[int]
    active: list[bool]
    aligned: list[bool]
    last: int = LOWEST

    @classmethod
    def fresh(cls, semantics: str, channels: int) -> "Valve":
        return cls(semantics, [LOWEST] * channels, [True] * channels, [True] * channels)

    def take(self, channel: int, element: Element) -> list[Element]:
        """The output of the valve for this element."""
        if element.kind == "watermark":
            assert element.timestamp is not None
            return self.on_watermark(channel, element.timestamp)
        if self.active[channel] == bool(element.value):
            return []
        return self.on_active(channel) if element.value else self.on_idle(channel)

    def on_watermark(self, channel: int, timestamp: int) -> list[Element]:
        if not self.active[channel] or timestamp <= self.watermarks[channel]:
            return []
        self.watermarks[channel] = timestamp
        self.aligned[channel] = self.aligned[channel] or timestamp >= self.last
        return self.release()

    def on_idle(self, channel: int) -> list[Element]:
        was_last = self.watermarks[channel] == self.last
        self.active[channel] = self.aligned[channel] = False
        if any(self.active):
            return self.release() if was_last else []
        flushes = was_last or self.semantics == "flink-40475"
        return [*(self.advance(max(self.watermarks)) if flushes else []), IDLE]

    def on_active(self, channel: int) -> list[Element]:
        was_idle = not any(self.active)
        self.active[channel] = True
        self.aligned[channel] = self.watermarks[channel] >= self.last
        released = self.release() if self.semantics == "flink-40475" else []
        return [*([ACTIVE] if was_idle else []), *released]

    def release(self) -> list[Element]:
        """The lowest watermark of the aligned channels, if it is new."""
        lowest = min((mark for mark, counts in zip(self.watermarks, self.aligned, strict=True) if counts), default=None)
        return [] if lowest is None else self.advance(lowest)

    def advance(self, timestamp: int) -> list[Element]:
        if timestamp <= self.last:
            return []
        self.last = timestamp
        return [Element("watermark", timestamp)]


@attrs.define
class Combiner:
    """The last watermark and status of each input. Lists by input; an input has no alignment."""

    watermarks: list[int]
    idle: list[bool]
    last: int = LOWEST

    @classmethod
    def fresh(cls, inputs: int) -> "Combiner":
        return cls([LOWEST] * inputs, [False] * inputs)

    def take(self, number: int, element: Element) -> list[Element]:
        was_idle = all(self.idle)
        if element.kind == "watermark":
            assert element.timestamp is not None
            self.watermarks[number] = max(self.watermarks[number], element.timestamp)
            self.idle[number] = False
        else:
            self.idle[number] = not element.value
        awake = [mark for mark, idle in zip(self.watermarks, self.idle, strict=True) if not idle]
        combined = min(awake) if awake else max(self.watermarks)
        passed = []
        if combined > self.last:
            self.last = combined
            passed.append(Element("watermark", combined))
        # A watermark that makes an input active announces nothing.
        if element.kind == "status" and all(self.idle) != was_idle:
            passed.append(element)
        return passed
