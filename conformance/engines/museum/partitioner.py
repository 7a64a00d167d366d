"""A network output with its partitioner, PART-1 … PART-10 and OUT-7, OUT-9 … OUT-12."""

import unicodedata
from math import fmod

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

KINDS = ("forward", "rebalance", "rescale", "shuffle", "global", "broadcast", "hash")
_STATUSES = ("idle", "active")
_HIGHEST_MAX_PARALLELISM = 32768
_WORD = 0xFFFFFFFF


class Keys:
    """From a key to its channel: hash code, murmur, key group, PART-6 … PART-8."""

    def choose_channel(self, key: wire.Json, channels: int, groups: int) -> int:
        return self.get_channel(self.get_group(self.hash_code(key), groups), channels, groups)

    def get_channel(self, group: int, channels: int, groups: int) -> int:
        return group * channels // groups

    def get_group(self, code: int, groups: int) -> int:
        return self.murmur(code) % groups

    def murmur(self, code: int) -> int:
        signed = wire.to_int32(self.mix(code))
        return 0 if signed == -(2**31) else abs(signed)

    def mix(self, code: int) -> int:
        code = code * 0xCC9E2D51 & _WORD
        code = (code << 15 | code >> 17) & _WORD
        code = code * 0x1B873593 & _WORD
        code = (code << 13 | code >> 19) & _WORD
        code = code * 5 + 0xE6546B64 & _WORD
        code ^= 4
        code ^= code >> 16
        code = code * 0x85EBCA6B & _WORD
        code ^= code >> 13
        code = code * 0xC2B2AE35 & _WORD
        code ^= code >> 16
        return code

    def hash_code(self, key: wire.Json) -> int:
        kind = wire.get_choice(key, "type", ("string", "int", "long"))
        if kind == "string":
            code = 0
            for unit in self.get_units(wire.get_string(key, "value")):
                code = (31 * code + unit) & _WORD
            return code
        if kind == "int":
            number = wire.get_integer(key, "value")
            if not -(2**31) <= number < 2**31:
                raise wire.BadRequestError(f"an int key has 32 bits: {number}")
            return number & _WORD
        number = wire.get_long(key, "value")
        return (number ^ number >> 32) & _WORD

    def get_units(self, text: str) -> list[int]:
        """The UTF-16 units of a string."""
        try:
            raw = text.encode("utf-16-be")
        except UnicodeEncodeError as error:
            raise wire.BadRequestError("a string key has an unpaired surrogate") from error
        return [high << 8 | low for high, low in zip(raw[::2], raw[1::2], strict=True)]


choose_channel = Keys().choose_channel


class Partitioner(Keys):
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.host = host
        self.kind = wire.get_choice(config, "kind", KINDS)
        self.channels = wire.get_at_least(config, "channels", 1)
        self.max_parallelism = 0
        if self.kind == "hash":
            self.max_parallelism = wire.get_at_least(config, "max_parallelism", 1)
            if self.max_parallelism > _HIGHEST_MAX_PARALLELISM:
                raise wire.BadRequestError(f"max_parallelism must not exceed {_HIGHEST_MAX_PARALLELISM}")
        #: The channel of the last record; before the first one rescale must come out at 0.
        self.cursor = self.channels - 1
        if self.kind == "rebalance":
            self.cursor = host.random.randrange(self.channels)
        self.announced = "active"

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "record":
            return self.on_record(event)
        if kind == "watermark":
            return self.on_watermark(wire.get_long(event, "timestamp"))
        if kind == "status":
            return self.on_status(wire.get_choice(event, "status", _STATUSES))
        if kind == "latency_marker":
            return self.on_latency_marker()
        raise wire.unknown_type(event)

    def send(self, channel: int) -> wire.Observations:
        return [{"type": "send", "channel": channel}]

    def broadcast(self) -> wire.Observations:
        return [{"type": "send", "channel": channel} for channel in range(self.channels)]

    def on_record(self, event: wire.Json) -> wire.Observations:
        if self.kind == "hash":
            key = event.get("key")
            if not isinstance(key, dict):
                raise wire.BadRequestError("a record of a hash output has a key")
            return self.send(self.choose_channel(key, self.channels, self.max_parallelism))
        if event.get("key") is not None:
            raise wire.BadRequestError("only a record of a hash output has a key")
        if self.kind == "broadcast":
            return self.broadcast()
        if self.kind in {"rebalance", "rescale"}:
            return self.send(self.turn())
        if self.kind == "shuffle":
            return self.send(self.host.random.randrange(self.channels))
        return self.send(0)

    def turn(self) -> int:
        """The next channel of a round robin."""
        self.cursor = (self.cursor + 1) % self.channels
        return self.cursor

    def on_watermark(self, timestamp: int) -> wire.Observations:
        if self.announced == "idle":
            return []
        return self.broadcast()

    def on_status(self, status: str) -> wire.Observations:
        if status == self.announced:
            return []
        self.announced = status
        return self.broadcast()

    def on_latency_marker(self) -> wire.Observations:
        return self.send(self.host.random.randrange(self.channels))


make = Partitioner

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("PART-1", kinds=("global",))
class PartitionerGlobalToLast(Partitioner):
    """Global sends to the last subtask instead of the first."""

    on_record = changed(
        Partitioner.on_record, "self.send(0)", 'self.send(self.channels - 1 if self.kind == "global" else 0)'
    )


@wrong("PART-1", kinds=("global",))
class PartitionerGlobalTurns(Partitioner):
    """Global takes turns."""

    on_record = changed(Partitioner.on_record, '{"rebalance", "rescale"}', '{"rebalance", "rescale", "global"}')


@wrong("PART-1", kinds=("forward",))
class PartitionerForwardTurns(Partitioner):
    """Forward takes turns when it has more than one channel."""

    on_record = changed(Partitioner.on_record, '{"rebalance", "rescale"}', '{"rebalance", "rescale", "forward"}')


@wrong("PART-2", kinds=("rescale",))
class PartitionerRescaleStartsAnywhere(Partitioner):
    """Rescale starts at an arbitrary channel, as rebalance may."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        if self.kind == "rescale":
            self.cursor = sum(map(ord, "rescale")) % self.channels


@wrong("PART-2", kinds=("rescale",))
class PartitionerRescaleSkipsFirst(Partitioner):
    """Rescale starts at channel 1."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        if self.kind == "rescale":
            self.cursor = 0


@wrong("PART-2", kinds=("rescale",))
class PartitionerRescaleWrapsLate(Partitioner):
    """Rescale wraps one too late and writes to a channel that does not exist."""

    turn = changed(Partitioner.turn, "% self.channels", '% (self.channels + (self.kind == "rescale"))')


@wrong("PART-2", "PART-3", "PART-13", origin="FLINK-14087", kinds=("rescale",))
class PartitionerCursorShared(Partitioner):
    """One partitioner object serves every output, so a new output starts where another one stopped."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        if self.kind != "rebalance":
            self.cursor = host.memory.get("cursor", self.cursor)

    def turn(self) -> int:
        self.host.memory["cursor"] = super().turn()
        return self.cursor


@wrong("PART-3", "PART-2", kinds=("rebalance",))
class PartitionerRebalanceWrapsEarly(Partitioner):
    """Rebalance wraps one too early: the last channel gets no records."""

    turn = changed(Partitioner.turn, "% self.channels", '% max(1, self.channels - (self.kind == "rebalance"))')


@wrong("PART-3", "PART-2", kinds=("rebalance",))
class PartitionerRebalanceDrifts(Partitioner):
    """Every 32nd record rebalance skips a channel; short traces never see it."""

    turns = 0

    def turn(self) -> int:
        self.turns += 1
        super().turn()
        return super().turn() if self.kind == "rebalance" and self.turns % 32 == 0 else self.cursor


@wrong("PART-3", "OUT-12", "OUT-9", "PART-2", kinds=("rebalance",))
class PartitionerStatusResetsRebalance(Partitioner):
    """A change of status restarts the round of rebalance elsewhere."""

    def on_status(self, status: str) -> wire.Observations:
        if self.kind == "rebalance" and status != self.announced:
            self.cursor = (self.cursor + self.channels // 2) % self.channels
        return super().on_status(status)


@wrong("PART-4", kinds=("shuffle",))
class PartitionerShuffleBoundInclusive(Partitioner):
    """Shuffle draws from 0 to n inclusive, so now and then it writes to a channel that does not exist."""

    on_record = changed(Partitioner.on_record, "randrange(self.channels)", "randrange(self.channels + 1)")


@wrong("PART-5", "PART-1", kinds=("broadcast",))
class PartitionerBroadcastMissesLast(Partitioner):
    """A broadcast record misses the last channel."""

    on_record = changed(Partitioner.on_record, "self.broadcast()", "self.broadcast()[: max(1, self.channels - 1)]")


@wrong("PART-5", kinds=("broadcast",))
class PartitionerBroadcastToFirst(Partitioner):
    """A broadcast record is written to the first subpartition only, in the belief that all consumers read it there."""

    on_record = changed(Partitioner.on_record, "self.broadcast()", "self.send(0)")


@wrong("PART-5", kinds=("broadcast",))
class PartitionerBroadcastIn32Bits(Partitioner):
    """The channels of a broadcast are kept in a 32-bit mask."""

    on_record = changed(Partitioner.on_record, "self.broadcast()", "self.broadcast()[:32]")


@wrong("PART-6", "PART-7", "PART-9", kinds=("hash",))
class PartitionerHashWithoutKeyGroups(Partitioner):
    """The hash is taken modulo the parallelism, without key groups in between."""

    def choose_channel(self, key: wire.Json, channels: int, groups: int) -> int:
        return self.murmur(self.hash_code(key)) % channels


@wrong("PART-6", "PART-9", kinds=("hash",))
class PartitionerRangesRoundedUp(Partitioner):
    """Key groups are dealt out in ranges of equal, rounded-up size."""

    def get_channel(self, group: int, channels: int, groups: int) -> int:
        return group // -(-groups // channels)


@wrong("PART-6", "PART-9", kinds=("hash",))
class PartitionerRangesOffByOne(Partitioner):
    """The key group is counted from one when its channel is computed."""

    def get_channel(self, group: int, channels: int, groups: int) -> int:
        return min((group + 1) * channels // groups, channels - 1)


@wrong("PART-6", "PART-9", "PART-10", "PART-11", kinds=("hash",))
class PartitionerAlways128KeyGroups(Partitioner):
    """The default number of key groups is used whatever the consumer has."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.max_parallelism = 128


@wrong("PART-6", "PART-9", "PART-10", kinds=("hash",))
class PartitionerKeyGroupsToPowerOfTwo(Partitioner):
    """The number of key groups is rounded up to a power of two."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.max_parallelism = 1 << (self.max_parallelism - 1).bit_length()


@wrong("PART-6", "PART-9", kinds=("hash",))
class PartitionerChannelsCapped(Partitioner):
    """With more channels than key groups only the first channels are used; the formula spreads them."""

    def get_channel(self, group: int, channels: int, groups: int) -> int:
        return super().get_channel(group, min(channels, groups), groups)


@wrong("PART-7", "PART-6", "PART-8", kinds=("hash",))
class PartitionerKeyGroupWithoutMurmur(Partitioner):
    """The key group is the hash code modulo their number, without the murmur step."""

    def get_group(self, code: int, groups: int) -> int:
        return abs(wire.to_int32(code)) % groups


@wrong("PART-7", "PART-6", "PART-8", kinds=("hash",))
class PartitionerNegativeRemainder(Partitioner):
    """The absolute value is forgotten and the remainder of a negative number is negative."""

    def get_group(self, code: int, groups: int) -> int:
        return int(fmod(wire.to_int32(self.mix(code)), groups))

    def get_channel(self, group: int, channels: int, groups: int) -> int:
        return int(group * channels / groups)


@wrong("PART-7", "PART-6", "PART-8", kinds=("hash",))
class PartitionerMurmurUnsigned(Partitioner):
    """The murmur result is taken as an unsigned number."""

    def murmur(self, code: int) -> int:
        return self.mix(code)


@wrong("PART-7", "PART-6", "PART-8", kinds=("hash",))
class PartitionerMurmurSignCleared(Partitioner):
    """The sign bit is cleared, which is not the absolute value."""

    def murmur(self, code: int) -> int:
        return self.mix(code) & 0x7FFFFFFF


@wrong("PART-7", "PART-6", "PART-8", origin="FLINK-3623", kinds=("hash",))
class PartitionerMurmurMultiplies(Partitioner):
    """One murmur step multiplies by the constant instead of adding it, as in 1.0: keys crowd together."""

    mix = changed(Partitioner.mix, "code * 5 + 0xE6546B64", "code * 0xE6546B64")


@wrong("PART-7", "PART-6", "PART-8", kinds=("hash",))
class PartitionerMurmurLengthForgotten(Partitioner):
    """The final mix does not take in the length of four bytes."""

    mix = changed(Partitioner.mix, "code ^= 4", "pass")


@wrong("PART-7", "PART-6", "PART-8", kinds=("hash",))
class PartitionerLowestHashOverflows(Partitioner):
    """The most negative murmur value has no absolute value in 32 bits; it should count as 0 and is widened instead.
    Only one 32-bit hash code in all shows it, and only if the number of key groups is not a power of two.
    """

    def murmur(self, code: int) -> int:
        return abs(wire.to_int32(self.mix(code)))


@wrong("PART-8", "PART-6", "PART-7", kinds=("hash",))
class PartitionerCodePoints(Partitioner):
    """The string hash runs over code points, not over UTF-16 units: strings beyond the basic plane go elsewhere."""

    def get_units(self, text: str) -> list[int]:
        return [ord(character) for character in text]


@wrong("PART-8", "PART-6", "PART-7", name="partitioner-utf8-bytes", kinds=("hash",))
class PartitionerUtf8Bytes(Partitioner):
    """The string hash runs over UTF-8 bytes."""

    def get_units(self, text: str) -> list[int]:
        return list(text.encode())


@wrong("PART-8", "PART-6", "PART-7", kinds=("hash",))
class PartitionerNormalisesStrings(Partitioner):
    """String keys are brought into Unicode normal form before they are hashed."""

    def get_units(self, text: str) -> list[int]:
        return super().get_units(unicodedata.normalize("NFC", text))


@wrong("PART-8", "PART-6", "PART-7", kinds=("hash",))
class PartitionerTrimsStrings(Partitioner):
    """String keys lose blanks at both ends before they are hashed."""

    def get_units(self, text: str) -> list[int]:
        return super().get_units(text.strip())


@wrong("PART-8", "PART-6", "PART-7", kinds=("hash",))
class PartitionerStringHashSamples(Partitioner):
    """Long strings are hashed by a sample of their units, as Java 1.1 did."""

    def get_units(self, text: str) -> list[int]:
        units = super().get_units(text)
        return units[:: len(units) // 8] if len(units) >= 16 else units


@wrong("PART-8", "PART-6", "PART-7", kinds=("hash",))
class PartitionerIntHashedAsLong(Partitioner):
    """An int is widened to a long before hashing, which changes the negative ones."""

    hash_code = changed(Partitioner.hash_code, "number & _WORD", "(number ^ number >> 32) & _WORD")


@wrong("PART-8", "PART-6", "PART-7", kinds=("hash",))
class PartitionerLongTruncated(Partitioner):
    """A long is cut to its low half instead of folding both."""

    hash_code = changed(Partitioner.hash_code, "number ^ number >> 32", "number")


@wrong("PART-8", "PART-6", "PART-7", kinds=("hash",))
class PartitionerSmallLongAsInt(Partitioner):
    """A long that fits 32 bits is hashed as an int, which changes the negative ones."""

    hash_code = changed(
        Partitioner.hash_code,
        "number ^ number >> 32",
        "number if -(2**31) <= number < 2**31 else number ^ number >> 32",
    )


@wrong("OUT-7", "OUT-9", "OUT-12")
class PartitionerWatermarkWhileIdle(Partitioner):
    """A watermark passes although idleness was announced."""

    def on_watermark(self, timestamp: int) -> wire.Observations:
        return self.broadcast()


@wrong("OUT-7", "OUT-9", "OUT-12", origin="FLINK-40499")
class PartitionerMaxWatermarkWhileIdle(Partitioner):
    """The closing watermark passes although idleness was announced: the wish of the report, in the wrong place."""

    def on_watermark(self, timestamp: int) -> wire.Observations:
        return self.broadcast() if timestamp == wire.HIGHEST else super().on_watermark(timestamp)


@wrong("OUT-7", "OUT-12")
class PartitionerWatermarksMustAdvance(Partitioner):
    """A watermark that does not advance is dropped; an output has no such check."""

    watermark = wire.LOWEST

    def on_watermark(self, timestamp: int) -> wire.Observations:
        if self.announced == "idle" or timestamp <= self.watermark:
            return []
        self.watermark = timestamp
        return self.broadcast()


@wrong("OUT-9", "OUT-12")
class PartitionerStatusRepeated(Partitioner):
    """A status equal to the announced one is sent again."""

    on_status = changed(Partitioner.on_status, "status == self.announced", "False")


@wrong("OUT-9", "OUT-12")
class PartitionerFirstActiveSent(Partitioner):
    """The first active status is sent, although the output starts active."""

    seen = False

    def on_status(self, status: str) -> wire.Observations:
        is_first, self.seen = not self.seen, True
        return self.broadcast() if is_first and status == "active" else super().on_status(status)


@wrong("OUT-9", "OUT-12")
class PartitionerStatusToFirstChannel(Partitioner):
    """A status goes to the first channel only."""

    on_status = changed(Partitioner.on_status, "self.broadcast()", "self.send(0)")


@wrong("OUT-10", "OUT-9", "PART-1", "PART-2", "PART-3", "PART-4", "PART-5", "PART-6", origin="FLINK-22881")
class PartitionerRecordTogglesStatus(Partitioner):
    """A record sent while idle is wrapped in an active and an idle status."""

    def on_record(self, event: wire.Json) -> wire.Observations:
        toggled = self.broadcast() if self.announced == "idle" else []
        return toggled + super().on_record(event) + toggled


@wrong("OUT-10", "OUT-7", "OUT-9")
class PartitionerRecordActivates(Partitioner):
    """A record sent while idle silently ends the idleness, so that watermarks pass again."""

    def on_record(self, event: wire.Json) -> wire.Observations:
        self.announced = "active"
        return super().on_record(event)


@wrong("OUT-10", "PART-1", "PART-2", "PART-3", "PART-4", "PART-5", "PART-6")
class PartitionerRecordDroppedWhileIdle(Partitioner):
    """Records are dropped while idle."""

    def on_record(self, event: wire.Json) -> wire.Observations:
        return [] if self.announced == "idle" else super().on_record(event)


@wrong("OUT-11", "OUT-12")
class PartitionerMarkerDroppedWhileIdle(Partitioner):
    """Latency markers are dropped while idle."""

    def on_latency_marker(self) -> wire.Observations:
        return [] if self.announced == "idle" else super().on_latency_marker()


@wrong("OUT-12", "OUT-11")
class PartitionerMarkerBroadcast(Partitioner):
    """A latency marker goes to every channel."""

    def on_latency_marker(self) -> wire.Observations:
        return self.broadcast()


@wrong("OUT-12", "OUT-11", "PART-2", "PART-3", kinds=("rescale", "rebalance"))
class PartitionerMarkerTakesATurn(Partitioner):
    """A latency marker goes through the partitioner and takes a record's turn."""

    def on_latency_marker(self) -> wire.Observations:
        return self.send(self.turn()) if self.kind in {"rebalance", "rescale"} else super().on_latency_marker()


@wrong("OUT-12", "PART-2", "PART-3", kinds=("rescale", "rebalance"))
class PartitionerWatermarkAdvancesCursor(Partitioner):
    """A watermark moves the round robin on by one."""

    on_watermark = changed(Partitioner.on_watermark, "return self.broadcast()", "self.turn()\nreturn self.broadcast()")


@wrong("OUT-12", "PART-2", kinds=("rescale",))
class PartitionerWatermarkResetsCursor(Partitioner):
    """A watermark restarts the round of rescale at channel 0."""

    def on_watermark(self, timestamp: int) -> wire.Observations:
        if self.kind == "rescale" and self.announced == "active":
            self.cursor = self.channels - 1
        return super().on_watermark(timestamp)


@wrong("OUT-12", "OUT-7")
class PartitionerWatermarkToOneChannel(Partitioner):
    """A watermark goes where the last record went instead of to every channel."""

    on_watermark = changed(
        Partitioner.on_watermark,
        "self.broadcast()",
        'self.send(self.cursor if self.kind in {"rebalance", "rescale"} else 0)',
    )


@wrong("PART-4", kinds=("shuffle",))
class PartitionerShuffleAlwaysFirst(Partitioner):
    """Shuffle sends every record to channel 0."""

    on_record = changed(Partitioner.on_record, "self.host.random.randrange(self.channels)", "0")


@wrong("PART-4", kinds=("shuffle",))
class PartitionerShuffleNeverLast(Partitioner):
    """Shuffle draws from one channel too few: the last one gets nothing."""

    on_record = changed(Partitioner.on_record, "randrange(self.channels)", "randrange(max(1, self.channels - 1))")


@wrong("PART-4", kinds=("shuffle",))
class PartitionerShuffleTakesTurns(Partitioner):
    """Shuffle goes from channel to channel in turn: each gets its share, but nothing is left to chance."""

    on_record = changed(
        Partitioner.on_record, "self.host.random.randrange(self.channels)", "(self.turn() + 1) % self.channels"
    )


@wrong("PART-2", "PART-3", kinds=("rescale", "rebalance"))
class PartitionerTurnIn8Bits(Partitioner):
    """The turn is kept in a byte: channels from 256 on get nothing."""

    def turn(self) -> int:
        self.cursor = super().turn() & 0xFF
        return self.cursor


@wrong("PART-2", "PART-3", kinds=("rescale", "rebalance"))
class PartitionerTurnIn16Bits(Partitioner):
    """The turn is kept in 15 bits: channels from 32768 on get nothing."""

    def turn(self) -> int:
        self.cursor = super().turn() & 0x7FFF
        return self.cursor


@wrong("PART-2", "PART-3", kinds=("rescale", "rebalance"))
class PartitionerCountsIn16Bits(Partitioner):
    """Records are counted in 16 bits, with a sign, and the turn begins anew when the counter does."""

    counted = 2**15
    turns = 0

    def turn(self) -> int:
        self.turns += 1
        self.cursor = super().turn() if self.turns % self.counted else 0
        return self.cursor


@wrong("PART-2", "PART-3", kinds=("rescale", "rebalance"))
class PartitionerCountsInTwoBytes(PartitionerCountsIn16Bits):
    """Records are counted in two bytes without a sign, and the turn begins anew when the counter does."""

    counted = 2**16


@wrong("PART-8", "PART-6", "PART-7", kinds=("hash",))
class PartitionerStringHashOf256(Partitioner):
    """The string hash runs over the first 256 characters."""

    def get_units(self, text: str) -> list[int]:
        return super().get_units(text)[:256]
