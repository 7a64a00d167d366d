"""Rescaling with data in flight, RESC-1 … RESC-8.

An exchange is a table of shares: for each new subtask the old ones that it stands for.
"""

from collections import Counter

from tidegate.conformance.engines import wire

_KINDS = ("forward", "rebalance", "rescale", "shuffle", "global", "broadcast", "hash", "custom")
_FIXED = ("forward", "rescale", "broadcast")
_MOST = 128
_GROUPS = 32768

Shares = list[list[int]]


def get_pair(config: wire.Json, key: str) -> tuple[int, int]:
    value = config.get(key)
    if type(value) is not dict:
        raise wire.BadRequestError(f"{key} must be an object")
    pair = wire.get_at_least(value, "before", 1), wire.get_at_least(value, "after", 1)
    if max(pair) > _MOST:
        raise wire.BadRequestError(f"{key}: at most {_MOST} subtasks")
    return pair


class Rescaling:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("rescaling-")
        self.kind = wire.get_choice(config, "partitioner", _KINDS)
        self.producers = get_pair(config, "producers")
        self.consumers = get_pair(config, "consumers")
        self.is_same = all(before == after for before, after in (self.producers, self.consumers))
        self.upper = self.share_out(*self.producers)
        self.lower = self.share_consumers(*self.consumers)
        heirs = Counter(old for share in self.lower for old in share)
        self.common = sorted(old for old, count in heirs.items() if count > 1)

    # --- who stands for whom ---

    def share_out(self, before: int, after: int) -> Shares:
        if self.bug == "runs-instead-of-turns":
            size = -(-before // after)
            return [list(range(before))[new * size : (new + 1) * size] for new in range(after)]
        if self.bug == "extra-ones-to-the-last" and before > after:
            return [[new] for new in range(after - 1)] + [list(range(after - 1, before))]
        return [list(range(new, before, after)) for new in range(after)]

    def share_consumers(self, before: int, after: int) -> Shares:
        whole = list(range(before))
        if self.kind == "custom":
            return self.share_out(before, after) if self.bug == "custom-is-dealt-out" else [whole] * after
        if self.kind == "global":
            to_all = self.bug == "global-goes-to-all"
            return [whole] + [whole if to_all else [] for _ in range(after - 1)]
        if self.kind == "hash":
            return self.share_keys(before, after)
        if self.kind == "shuffle" and self.bug == "shuffle-goes-to-all":
            return [whole] * after
        return self.share_out(before, after)

    def share_keys(self, before: int, after: int) -> Shares:
        if self.bug == "keys-are-dealt-out":
            return self.share_out(before, after)
        shares = []
        for new in range(after):
            begin, end = -(-new * _GROUPS // after), -(-(new + 1) * _GROUPS // after)
            first, last = begin * before // _GROUPS, (end - 1) * before // _GROUPS
            if self.bug == "end-of-a-range-included":
                last = min(end * before // _GROUPS, before - 1)
            elif self.bug == "only-where-a-range-begins":
                last = first
            elif self.bug == "keys-to-all":
                first, last = 0, before - 1
            shares.append(list(range(first, last + 1)))
        return shares

    # --- what is asked ---

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "saved":
            side = wire.get_choice(event, "side", ("output", "input"))
            return self.inherit(side, wire.get_integer(event, "producer"), wire.get_integer(event, "consumer"))
        if kind not in ("producer", "consumer"):
            raise wire.unknown_type(event)
        mine, others = (self.upper, self.lower) if kind == "producer" else (self.lower, self.upper)
        number = wire.get_integer(event, "subtask")
        if not 0 <= number < len(mine):
            if self.bug == "wraps-around":
                number %= len(mine)
            elif self.bug == "new-ones-are-empty":
                return [{"type": "unchanged"}]
            else:
                return wire.rejected()
        if self.kind in _FIXED:
            is_taken = self.is_same if self.bug != "pointwise-is-dealt-out" else True
            if self.bug == "forward-is-never-restored" or not is_taken:
                return wire.rejected()
            if self.is_same:
                return [{"type": "unchanged"}]
        return self.describe(number, mine, others, is_consumer=kind == "consumer")

    def describe(self, number: int, mine: Shares, others: Shares, *, is_consumer: bool) -> wire.Observations:
        plain = [self.is_plain(mine), self.is_plain(others)]
        is_quiet = any(plain) if self.bug == "one-side-is-enough" else all(plain)
        is_empty = not mine[number] and self.bug != "nothing-is-told-too"
        if (self.is_same and self.bug != "always-virtual") or (is_quiet and self.bug != "always-virtual") or is_empty:
            return [{"type": "unchanged"}]
        filtered = self.common if is_consumer and self.kind in ("hash", "custom") else []
        if self.bug == "filters-nothing":
            filtered = []
        elif self.bug == "filters-all" and is_consumer and self.kind == "hash":
            filtered = mine[number]
        elif self.bug == "producer-filters" and not is_consumer:
            filtered = self.common
        if self.bug == "channels-of-the-same-number":
            others = [[new] for new in range(len(others))]
        return [{"type": "restores", "subtasks": mine[number], "channels": others, "filtered": filtered}]

    def is_plain(self, shares: Shares) -> bool:
        if self.bug == "more-is-not-the-same" and not all(shares):
            return False
        return all(share in ([new], []) for new, share in enumerate(shares))

    def inherit(self, side: str, producer: int, consumer: int) -> wire.Observations:
        is_known = 0 <= producer < self.producers[0] and 0 <= consumer < self.consumers[0]
        if not is_known and self.bug != "unknown-ones-have-no-heir":
            return wire.rejected()
        if self.kind in _FIXED and self.bug != "pointwise-is-dealt-out":
            return wire.rejected()
        if self.kind == "global" and consumer and self.bug != "global-takes-anything":
            return wire.rejected()
        senders = [new for new, share in enumerate(self.upper) if producer in share]
        receivers = [new for new, share in enumerate(self.lower) if consumer in share]
        if self.kind == "custom" and self.is_same:
            receivers = [consumer]
        if self.bug == "input-has-one-heir" and side == "input":
            receivers = receivers[:1]
        elif self.bug == "output-has-one-heir" and side == "output":
            receivers = receivers[-1:]
        elif self.bug == "sent-by-its-number":
            senders = [min(producer, len(self.upper) - 1)]
        return [{"type": "goes", "producer": one, "consumer": other} for one in senders for other in receivers]


make = Rescaling
