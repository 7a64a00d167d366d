#!/usr/bin/env python3
"""A Tidegate engine in plain Python: the valve and the hash partitioner, over protocol 1."""

import json
import re
import sys
from itertools import compress
from typing import Any

MIN, MASK = -(2**63), 0xFFFFFFFF
COUNTS, INT32, INT64 = range(1, 2**31), range(-(2**31), 2**31), range(MIN, 2**63)
STATUSES, SEMANTICS = ("idle", "active"), ("flink-7728", "flink-40475")
KINDS = ("hash", "forward", "rebalance", "rescale", "shuffle", "global", "broadcast")
IMPLEMENTATION = {"name": "example-python", "version": "1.0.0", "language": "python"}
DECLARED = {"valve": {"semantics": SEMANTICS}, "partitioner": {"kinds": ["hash"]}}


def read(source: Any, name: str, kind: type, allowed: Any = None) -> Any:
    value = source.get(name) if isinstance(source, dict) else None
    if type(value) is not kind or (allowed and value not in allowed):  # isinstance would take True for an int
        raise ValueError(f"{name}: {allowed or kind.__name__} expected")
    return value


def read_int64(source: Any, name: str) -> int:
    text = read(source, name, str)
    if not re.fullmatch("0|-?[1-9][0-9]{0,18}", text) or int(text) not in INT64:  # int() takes " 5" and "1_0"
        raise ValueError(f"{name}: a 64-bit decimal string expected")
    return int(text)


class Valve:
    def __init__(self, config: Any) -> None:
        size = read(config, "channels", int, COUNTS)
        self.corrected = read({"semantics": SEMANTICS[0]} | config, "semantics", str, SEMANTICS) == SEMANTICS[1]
        self.watermarks, self.active, self.aligned = [MIN] * size, [True] * size, [True] * size
        self.last = MIN  # the last watermark emitted

    def step(self, event: Any) -> list[Any]:
        is_watermark = read(event, "type", str, ("watermark", "status")) == "watermark"
        channel = read(event, "channel", int)
        value = read_int64(event, "timestamp") if is_watermark else read(event, "status", str, STATUSES)
        if not 0 <= channel < len(self.active):  # after all checks: a malformed event is never `rejected`
            return [{"type": "rejected"}]
        return self.on_watermark(channel, value) if is_watermark else self.on_status(channel, value)

    def on_watermark(self, channel: int, timestamp: int) -> list[Any]:
        if not self.active[channel] or timestamp <= self.watermarks[channel]:  # VALVE-2, VALVE-3
            return []
        self.watermarks[channel] = timestamp
        self.aligned[channel] |= timestamp >= self.last  # VALVE-4: equality is enough to catch up
        return self.advance_to_minimum()

    def on_status(self, channel: int, status: str) -> list[Any]:
        own, announced = self.watermarks[channel], [{"type": "status", "status": status}]
        becomes_active, valve_was_idle = status == "active", not any(self.active)
        if becomes_active == self.active[channel]:  # VALVE-7
            return []
        self.active[channel] = becomes_active
        self.aligned[channel] = becomes_active and own >= self.last  # VALVE-8, VALVE-11
        if becomes_active:  # VALVE-11 holds back a minimum that is due now; flink-40475 emits it
            due = self.advance_to_minimum() if self.corrected else []
            return announced + due if valve_was_idle else due
        if any(self.active):  # VALVE-9: only the channel that determined the output changes it
            return self.advance_to_minimum() if own == self.last else []
        flushed = self.advance(max(self.watermarks)) if own == self.last or self.corrected else []
        return flushed + announced  # VALVE-10: the watermark comes before IDLE

    def advance_to_minimum(self) -> list[Any]:  # VALVE-5: with no aligned channel, nothing is due
        return self.advance(min(compress(self.watermarks, self.aligned), default=MIN))

    def advance(self, watermark: int) -> list[Any]:
        before, self.last = self.last, max(self.last, watermark)
        return [{"type": "watermark", "timestamp": str(watermark)}] if watermark > before else []


class Partitioner:
    def __init__(self, config: Any) -> None:
        if read(config, "kind", str, KINDS) != "hash":
            raise NotImplementedError("hash is the only kind here")
        self.channels = read(config, "channels", int, COUNTS)
        self.max_parallelism = read(config, "max_parallelism", int, COUNTS)
        self.status = "active"  # the announced one, OUT-9

    def step(self, event: Any) -> list[Any]:
        kind = read(event, "type", str, ("record", "watermark", "status", "latency_marker"))
        everywhere, targets = range(self.channels), [0]  # OUT-12: a marker takes any one channel
        if kind == "record":  # PART-6; idle or not, OUT-10
            group = murmur(hash_code(read(event, "key", dict))) % self.max_parallelism
            targets = [group * self.channels // self.max_parallelism]
        elif kind == "watermark":  # OUT-7
            read_int64(event, "timestamp")
            targets = everywhere if self.status == "active" else []
        elif kind == "status":  # OUT-9
            before, self.status = self.status, read(event, "status", str, STATUSES)
            targets = everywhere if self.status != before else []
        return [{"type": "send", "channel": channel} for channel in targets]


def hash_code(key: Any) -> int:  # PART-8; the low 32 bits count
    kind = read(key, "type", str, ("string", "int", "long"))
    if kind == "int":
        return int(read(key, "value", int, INT32))
    if kind == "long":
        return read_int64(key, "value") ^ read_int64(key, "value") >> 32
    code, units = 0, read(key, "value", str).encode("utf-16-be")  # beyond the BMP a character is two units
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + 256 * high + low) & MASK
    return code


def murmur(code: int) -> int:  # PART-7
    code = code * 0xCC9E2D51 & MASK
    code = (code << 15 | code >> 17) * 0x1B873593 & MASK
    code = ((code << 13 | code >> 19) * 5 + 0xE6546B64) & MASK ^ 4
    code = (code ^ code >> 16) * 0x85EBCA6B & MASK
    code = (code ^ code >> 13) * 0xC2B2AE35 & MASK
    code ^= code >> 16
    return min(code, 2**32 - code) & 0x7FFFFFFF  # |code| as a signed number, and 0 for -2^31


def answer(request: Any) -> Any:
    if read(request, "op", str, ("hello", "replay")) == "hello":
        if 1 not in read(request, "protocol", list):
            raise ValueError("protocol: 1 expected")
        return {"protocol": 1, "implementation": IMPLEMENTATION, "components": DECLARED}
    component = {"valve": Valve, "partitioner": Partitioner}.get(read(request, "component", str))
    if component is None:
        raise NotImplementedError("valve and partitioner are the only components here")
    instance = component(read(request, "config", dict))
    return {"steps": [instance.step(event) for event in read(request, "events", list)]}


if __name__ == "__main__":
    for line in sys.stdin.buffer:  # bytes: bad UTF-8 costs one line, not the loop
        number = None
        try:
            request = json.loads(line.decode())
            number = read(request, "id", int)
            if request.get("op") == "bye":
                break
            reply = {"ok": answer(request)}
        except Exception as error:  # noqa: BLE001 whatever went wrong, the next request gets its answer
            kind = "unsupported" if isinstance(error, NotImplementedError) else "internal"
            kind = "bad_request" if isinstance(error, (ValueError, RecursionError)) else kind
            reply = {"error": {"kind": kind, "message": str(error)}}
        print(json.dumps({"id": number, **reply}), flush=True)
