"""How many buffers are needed, NEED-1 … NEED-3."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

_RESULTS = ("pipelined", "pipelined_bounded", "blocking")
_HIGHEST = 2**31 - 1
_MOST = 32768


class BufferNeeds:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.own = wire.get_between(config, "per_channel", 0, _MOST)
        self.floating = wire.get_between(config, "floating", 1, _MOST)
        self.limit = wire.get_between(config, "limit", 1, _HIGHEST) if "limit" in config else None

    def step(self, event: wire.Json) -> wire.Observations:
        if event.get("type") not in ("partition", "gate"):
            raise wire.unknown_type(event)
        result = wire.get_choice(event, "result", _RESULTS)
        if event["type"] == "partition":
            return [self.make_partition(result, wire.get_between(event, "subpartitions", 1, _MOST))]
        return [self.make_gate(result, wire.get_between(event, "channels", 1, _MOST))]

    def make_partition(self, result: str, count: int) -> wire.Json:
        required = count + 1
        bounded = result == "pipelined_bounded"
        most = max(required, count * self.own + self.floating) if bounded else _HIGHEST
        return {"type": "partition", "required": required, "most": most}

    def make_gate(self, result: str, count: int) -> wire.Json:
        limit = self.limit
        if limit is None:
            limit = 1000 if result == "blocking" else _HIGHEST
        in_all = count * self.own + self.floating
        required = min(limit, count * self.own + 1)
        own = min(self.own, (required - 1) // count)
        least, most = required - own * count, in_all - own * count
        return {"type": "gate", "exclusive": own, "required": least, "most": most}


make = BufferNeeds

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("NEED-1")
class BufferNeedsOneTooFew(BufferNeeds):
    """A partition requires a buffer per subpartition and none besides, and a record that spans may wait for ever."""

    make_partition = changed(BufferNeeds.make_partition, "count + 1", "count")


@wrong("NEED-1")
class BufferNeedsBlockingIsBounded(BufferNeeds):
    """A blocking result is limited as well."""

    make_partition = changed(BufferNeeds.make_partition, 'result == "pipelined_bounded"', 'result != "pipelined"')


@wrong("NEED-2")
class BufferNeedsFloatingIsAll(BufferNeeds):
    """The gate requires all floating buffers at once."""

    make_gate = changed(BufferNeeds.make_gate, "required - own * count", "self.floating")


@wrong("NEED-3")
class BufferNeedsNoLimitForBatch(BufferNeeds):
    """A gate of a batch job requires all that its channels are to have."""

    make_gate = changed(BufferNeeds.make_gate, '1000 if result == "blocking" else _HIGHEST', "_HIGHEST")


@wrong("NEED-3")
class BufferNeedsLimitLowersTheTotal(BufferNeeds):
    """What channels do not have for themselves is lost to the gate."""

    make_gate = changed(BufferNeeds.make_gate, "in_all - own * count", "max(self.floating, required - own * count)")


@wrong("NEED-3")
class BufferNeedsRoundsUp(BufferNeeds):
    """Channels share the limit without a buffer left over."""

    make_gate = changed(BufferNeeds.make_gate, "required - 1", "required")
