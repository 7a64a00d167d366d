"""How many buffers are needed, NEED-1 … NEED-3."""

from tidegate.conformance.engines import wire

_RESULTS = ("pipelined", "pipelined_bounded", "blocking")
_HIGHEST = 2**31 - 1
_MOST = 32768


class BufferNeeds:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("buffer-needs-")
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
        required = count if self.bug == "one-too-few" else count + 1
        bounded = result == "pipelined_bounded" or (result == "blocking" and self.bug == "blocking-is-bounded")
        most = max(required, count * self.own + self.floating) if bounded else _HIGHEST
        return {"type": "partition", "required": required, "most": most}

    def make_gate(self, result: str, count: int) -> wire.Json:
        limit = self.limit
        if limit is None:
            limit = 1000 if result == "blocking" and self.bug != "no-limit-for-batch" else _HIGHEST
        in_all = count * self.own + self.floating
        required = min(limit, count * self.own + 1)
        shared = required if self.bug == "rounds-up" else required - 1
        own = min(self.own, shared // count)
        most = in_all - own * count
        if self.bug == "limit-lowers-the-total":
            most = max(self.floating, required - own * count)
        least = self.floating if self.bug == "floating-is-all" else required - own * count
        return {"type": "gate", "exclusive": own, "required": least, "most": most}


make = BufferNeeds
