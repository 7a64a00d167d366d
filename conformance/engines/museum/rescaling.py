"""Rescaling with data in flight, RESC-1 … RESC-8.

An exchange is a table of shares: for each new subtask the old ones that it stands for.
"""

from collections import Counter

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

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
        return [list(range(new, before, after)) for new in range(after)]

    def share_consumers(self, before: int, after: int) -> Shares:
        whole = list(range(before))
        if self.kind == "custom":
            return [whole] * after
        if self.kind == "global":
            return [whole] + [[] for _ in range(after - 1)]
        if self.kind == "hash":
            return self.share_keys(before, after)
        return self.share_out(before, after)

    def share_keys(self, before: int, after: int) -> Shares:
        shares = []
        for new in range(after):
            begin, end = -(-new * _GROUPS // after), -(-(new + 1) * _GROUPS // after)
            first, last = begin * before // _GROUPS, (end - 1) * before // _GROUPS
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
            return wire.rejected()
        if self.kind in _FIXED:
            return [{"type": "unchanged"}] if self.is_same else wire.rejected()
        return self.describe(number, mine, others, is_consumer=kind == "consumer")

    def describe(self, number: int, mine: Shares, others: Shares, *, is_consumer: bool) -> wire.Observations:
        if self.is_same or (self.is_plain(mine) and self.is_plain(others)) or not mine[number]:
            return [{"type": "unchanged"}]
        filtered = self.common if is_consumer and self.kind in ("hash", "custom") else []
        return [{"type": "restores", "subtasks": mine[number], "channels": others, "filtered": filtered}]

    def is_plain(self, shares: Shares) -> bool:
        return all(share in ([new], []) for new, share in enumerate(shares))

    def inherit(self, side: str, producer: int, consumer: int) -> wire.Observations:
        is_known = 0 <= producer < self.producers[0] and 0 <= consumer < self.consumers[0]
        if not is_known or self.kind in _FIXED or (self.kind == "global" and consumer):
            return wire.rejected()
        senders = [new for new, share in enumerate(self.upper) if producer in share]
        receivers = [new for new, share in enumerate(self.lower) if consumer in share]
        if self.kind == "custom" and self.is_same:
            receivers = [consumer]
        return [{"type": "goes", "producer": one, "consumer": other} for one in senders for other in receivers]


make = Rescaling

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("RESC-1")
class RescalingRunsInsteadOfTurns(Rescaling):
    """Old subtasks are given to new ones in runs, not in turn."""

    def share_out(self, before: int, after: int) -> Shares:
        size = -(-before // after)
        return [list(range(before))[new * size : (new + 1) * size] for new in range(after)]


@wrong("RESC-1")
class RescalingExtraOnesToTheLast(Rescaling):
    """The last new subtask takes the place of all that are left over."""

    def share_out(self, before: int, after: int) -> Shares:
        if before > after:
            return [[new] for new in range(after - 1)] + [list(range(after - 1, before))]
        return super().share_out(before, after)


@wrong("RESC-1")
class RescalingShuffleGoesToAll(Rescaling):
    """Every consumer of a shuffle restores everything: records are seen several times."""

    share_consumers = changed(Rescaling.share_consumers, 'self.kind == "custom"', 'self.kind in ("custom", "shuffle")')


@wrong("RESC-2")
class RescalingKeysAreDealtOut(Rescaling):
    """Old consumers of keyed data are dealt out in turn: records come to subtasks without the state of their keys."""

    def share_keys(self, before: int, after: int) -> Shares:
        return self.share_out(before, after)


@wrong("RESC-2")
class RescalingEndOfARangeIncluded(Rescaling):
    """The first key group behind a range is taken for its last."""

    share_keys = changed(
        Rescaling.share_keys, "(end - 1) * before // _GROUPS", "min(end * before // _GROUPS, before - 1)"
    )


@wrong("RESC-2")
class RescalingOnlyWhereARangeBegins(Rescaling):
    """A new consumer restores only the old one that owned its first key group."""

    share_keys = changed(Rescaling.share_keys, "list(range(first, last + 1))", "[first]")


@wrong("RESC-2")
class RescalingKeysToAll(Rescaling):
    """Every consumer restores all old ones and filters, whether their ranges overlap or not."""

    def share_keys(self, before: int, after: int) -> Shares:
        return [list(range(before))] * after


@wrong("RESC-3")
class RescalingCustomIsDealtOut(Rescaling):
    """With a custom partitioner old consumers are dealt out in turn, and nobody filters."""

    share_consumers = changed(Rescaling.share_consumers, "[whole] * after", "self.share_out(before, after)")


@wrong("RESC-4")
class RescalingGlobalGoesToAll(Rescaling):
    """Every new consumer restores the data of global."""

    share_consumers = changed(Rescaling.share_consumers, "[[] for", "[whole for")


@wrong("RESC-4")
class RescalingGlobalTakesAnything(Rescaling):
    """Data of global that was saved at another consumer than the first is taken."""

    inherit = changed(Rescaling.inherit, ' or (self.kind == "global" and consumer)', "")


@wrong("RESC-5")
class RescalingPointwiseIsDealtOut(Rescaling):
    """Data of a pointwise exchange or a broadcast is dealt out as if connections did not matter."""

    step = changed(Rescaling.step, "self.kind in _FIXED", "False")
    inherit = changed(Rescaling.inherit, " or self.kind in _FIXED", "")


@wrong("RESC-5")
class RescalingForwardIsNeverRestored(Rescaling):
    """A pointwise exchange is refused, although nothing was rescaled."""

    step = changed(Rescaling.step, '[{"type": "unchanged"}] if self.is_same else wire.rejected()', "wire.rejected()")


@wrong("RESC-6")
class RescalingFiltersNothing(Rescaling):
    """Old consumers with several heirs are not filtered: records are seen several times."""

    describe = changed(
        Rescaling.describe, 'self.common if is_consumer and self.kind in ("hash", "custom") else []', "[]"
    )


@wrong("RESC-6")
class RescalingFiltersAll(Rescaling):
    """By key, every old consumer is filtered, also by its only heir."""

    describe = changed(
        Rescaling.describe,
        '"filtered": filtered',
        '"filtered": mine[number] if is_consumer and self.kind == "hash" else filtered',
    )


@wrong("RESC-6")
class RescalingProducerFilters(Rescaling):
    """A producer is told to filter, too."""

    describe = changed(Rescaling.describe, "if is_consumer and", "if not is_consumer or")


@wrong("RESC-7")
class RescalingOneSideIsEnough(Rescaling):
    """No virtual channels if one side kept its numbers, although the other was merged."""

    describe = changed(Rescaling.describe, "self.is_plain(mine) and", "self.is_plain(mine) or")


@wrong("RESC-7")
class RescalingNothingIsToldToo(Rescaling):
    """A subtask that restores nothing is told about its channels."""

    describe = changed(Rescaling.describe, " or not mine[number]", "")


@wrong("RESC-7")
class RescalingAlwaysVirtual(Rescaling):
    """Virtual channels even if nothing was rescaled."""

    describe = changed(Rescaling.describe, "self.is_same or (self.is_plain(mine) and self.is_plain(others)) or ", "")


@wrong("RESC-7")
class RescalingMoreIsNotTheSame(Rescaling):
    """With more subtasks than before there are virtual channels, although all old ones kept their numbers."""

    is_plain = changed(Rescaling.is_plain, "return all", "return all(shares) and all")


@wrong("RESC-7")
class RescalingChannelsOfTheSameNumber(Rescaling):
    """A subtask expects behind each channel the old one of its number only."""

    describe = changed(Rescaling.describe, '"channels": others', '"channels": [[new] for new in range(len(others))]')


@wrong("RESC-8")
class RescalingInputHasOneHeir(Rescaling):
    """Data of an input goes to the first heir only: the records of the others are lost."""

    inherit = changed(
        Rescaling.inherit, "return [{", 'receivers = receivers[:1] if side == "input" else receivers\nreturn [{'
    )


@wrong("RESC-8")
class RescalingOutputHasOneHeir(Rescaling):
    """Data of an output is sent to the last heir only."""

    inherit = changed(
        Rescaling.inherit, "return [{", 'receivers = receivers[-1:] if side == "output" else receivers\nreturn [{'
    )


@wrong("RESC-8")
class RescalingSentByItsNumber(Rescaling):
    """Data of a producer that is gone is sent by the last one, which does not take its place."""

    inherit = changed(Rescaling.inherit, "return [{", "senders = [min(producer, len(self.upper) - 1)]\nreturn [{")


@wrong("RESC-8")
class RescalingWrapsAround(Rescaling):
    """A subtask that does not exist is answered as if numbers began anew."""

    step = changed(Rescaling.step, "return wire.rejected()", "number %= len(mine)")


@wrong("RESC-8")
class RescalingNewOnesAreEmpty(Rescaling):
    """A subtask that does not exist is told that nothing changed."""

    step = changed(Rescaling.step, "return wire.rejected()", 'return [{"type": "unchanged"}]')


@wrong("RESC-8")
class RescalingUnknownOnesHaveNoHeir(Rescaling):
    """Data of a connection that did not exist is dropped without a word."""

    inherit = changed(Rescaling.inherit, "not is_known or ", "")
