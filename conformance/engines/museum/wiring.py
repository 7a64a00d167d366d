"""Which consumer reads which subpartition of which producer, PART-15 … PART-17, PART-19."""

import struct
from math import ceil

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong
from tidegate.conformance.engines.wire import Host, Json, Observations, get_at_least, get_choice, unknown_type

EXTENSIONS = ("dynamic",)
Pair = tuple[int, int, int]


class Wiring:
    def __init__(self, config: Json, host: Host) -> None:
        self.pattern = get_choice(config, "pattern", ("pointwise", "all_to_all"))
        self.producers = get_at_least(config, "producers", 1)
        self.consumers = get_at_least(config, "consumers", 1)
        self.is_dynamic = wire.get_extension(config, EXTENSIONS) is not None

    def step(self, event: Json) -> Observations:
        if event.get("type") == "wire_dynamic" and self.is_dynamic:
            count = get_at_least(event, "subpartitions", 1)
            return self.on_dynamic(count, get_choice(event, "broadcast", ("no", "early", "late")))
        if event.get("type") != "wire":
            raise unknown_type(event)
        return show(self.wire())

    def wire(self) -> list[Pair]:
        if self.pattern == "all_to_all":
            return self.wire_all_to_all()
        return self.wire_many_to_few() if self.producers >= self.consumers else self.wire_few_to_many()

    def on_dynamic(self, count: int, broadcast: str) -> Observations:
        """The same pairs, but each consumer has a run of the subpartitions that the producer wrote, PART-19."""
        to_all = broadcast != "no" and self.pattern == "all_to_all"
        if to_all and broadcast == "early" and count > 1:
            return wire.rejected()
        wired = self.wire()
        pairs: list[Pair] = []
        for consumer, producer, _subpartition in wired:
            sharing = sum(1 for one in wired if one[1] == producer)
            place = consumer % sharing
            if to_all:
                run = range(count)
            elif sharing > count:
                return wire.rejected()
            else:
                run = range(place * count // sharing, (place + 1) * count // sharing)
            pairs += [(consumer, producer, subpartition) for subpartition in run]
        return show(pairs)

    def wire_all_to_all(self) -> list[Pair]:
        return [(c, p, c) for c in range(self.consumers) for p in range(self.producers)]

    def wire_many_to_few(self) -> list[Pair]:
        """Several producers a consumer, and subpartition 0 of each."""
        return [(c, p, 0) for c in range(self.consumers) for p in self.get_producers(c, self.producers, self.consumers)]

    def wire_few_to_many(self) -> list[Pair]:
        """Several consumers a producer: consumers a … b - 1, and consumer j reads subpartition j mod (b - a)."""
        pairs: list[Pair] = []
        for producer in range(self.producers):
            run = self.get_consumers(producer, self.producers, self.consumers)
            pairs += [(consumer, producer, self.choose_subpartition(consumer, run)) for consumer in run]
        return pairs

    def get_producers(self, consumer: int, many: int, few: int) -> range:
        """Producers j·S//T … (j+1)·S//T - 1."""
        return range(consumer * many // few, (consumer + 1) * many // few)

    def get_consumers(self, producer: int, few: int, many: int) -> range:
        return range((producer * many + few - 1) // few, ((producer + 1) * many + few - 1) // few)

    def choose_subpartition(self, consumer: int, run: range) -> int:
        return consumer % len(run)


def show(pairs: list[Pair]) -> Observations:
    return [
        {"type": "reads", "consumer": consumer, "producer": producer, "subpartition": subpartition}
        for consumer, producer, subpartition in sorted(pairs)
    ]


make = Wiring

# --- wrong engines --------------------------------------------------------------------------------------------


def to_float32(value: float) -> float:
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded


@wrong("PART-15")
class WiringAllToAllByProducer(Wiring):
    """The subpartition is numbered by the producer instead of the consumer."""

    wire_all_to_all = changed(Wiring.wire_all_to_all, "(c, p, c)", "(c, p, p % self.consumers)")


@wrong("PART-15")
class WiringEqualAllToAllIsPointwise(Wiring):
    """With as many consumers as producers an all-to-all edge is wired one to one."""

    def wire_all_to_all(self) -> list[Pair]:
        if self.producers == self.consumers:
            return [(c, c, 0) for c in range(self.consumers)]
        return super().wire_all_to_all()


@wrong("PART-15", "PART-16", "PART-17")
class WiringOnlyOnce(Wiring):
    """Asked a second time, it has nothing more to say."""

    wired = False

    def step(self, event: Json) -> Observations:
        pairs = super().step(event)
        if event["type"] == "wire_dynamic":
            return pairs
        was_wired, self.wired = self.wired, True
        return [] if was_wired else pairs


@wrong("PART-16", "PART-17", "PART-18", origin="Flink 1.5 to 1.12")
class WiringFloatFactor(Wiring):
    """Uneven wiring is computed with 32-bit float factors, as up to 1.12: a few pairs of parallelism come out
    differently.
    """

    def get_producers(self, consumer: int, many: int, few: int) -> range:
        if many % few == 0:
            return super().get_producers(consumer, many, few)
        factor = to_float32(many / few)
        start, end = int(to_float32(consumer * factor)), int(to_float32((consumer + 1) * factor))
        return range(start, many if consumer == few - 1 else end)

    def get_consumers(self, producer: int, few: int, many: int) -> range:
        if many % few == 0:
            return super().get_consumers(producer, few, many)
        factor = to_float32(many / few)
        mine = [consumer for consumer in range(many) if int(to_float32(consumer / factor)) == producer]
        return range(mine[0], mine[-1] + 1)


@wrong("PART-16")
class WiringRemainderFirst(Wiring):
    """The producers left over by the division go to the first consumers instead of being spread."""

    def get_producers(self, consumer: int, many: int, few: int) -> range:
        size, rest = divmod(many, few)
        start = consumer * size + min(consumer, rest)
        return range(start, start + size + (consumer < rest))


@wrong("PART-16")
class WiringRemainderToLast(Wiring):
    """The last consumer takes all the producers that the division leaves over."""

    def get_producers(self, consumer: int, many: int, few: int) -> range:
        size = many // few
        return range(consumer * size, many if consumer == few - 1 else (consumer + 1) * size)


@wrong("PART-16")
class WiringRemainderLost(Wiring):
    """Producers that the division leaves over are read by nobody."""

    def get_producers(self, consumer: int, many: int, few: int) -> range:
        return range(consumer * (many // few), (consumer + 1) * (many // few))


@wrong("PART-16", origin="tables of a fixed size")
class Wiring256ConsumersRead(Wiring):
    """Where there are as many producers or more, the consumers behind the 256th read nothing."""

    wire_many_to_few = changed(Wiring.wire_many_to_few, "range(self.consumers)", "range(min(self.consumers, 256))")


@wrong("PART-16")
class WiringFanInNumbersSubpartitions(Wiring):
    """The producers of one consumer are read at subpartitions 0, 1, 2 … instead of each at 0."""

    def wire_many_to_few(self) -> list[Pair]:
        return [
            (consumer, producer, place)
            for consumer in range(self.consumers)
            for place, producer in enumerate(self.get_producers(consumer, self.producers, self.consumers))
        ]


@wrong("PART-17", "PART-18", origin="FLINK-22863")
class WiringFloatCeiling(Wiring):
    """Float factors with a ceiling run one past the last consumer, with 7 producers and 57 consumers for one: an
    index error, as in 1.13.0.
    """

    def get_consumers(self, producer: int, few: int, many: int) -> range:
        if many % few == 0:
            return super().get_consumers(producer, few, many)
        factor = to_float32(many / few)
        start, end = ceil(to_float32(producer * factor)), ceil(to_float32((producer + 1) * factor))
        if end > many:
            raise IndexError(f"consumer {end - 1} of {many}")
        return range(start, end)


@wrong("PART-17")
class WiringFanOutFloor(Wiring):
    """The consumers of a producer are delimited by rounding down instead of up."""

    def get_consumers(self, producer: int, few: int, many: int) -> range:
        return range(producer * many // few, (producer + 1) * many // few)


@wrong("PART-17")
class WiringFanOutRoundRobin(Wiring):
    """Consumers are dealt out to producers in turn instead of in ranges."""

    def wire_few_to_many(self) -> list[Pair]:
        few = self.producers
        return [(consumer, consumer % few, consumer // few) for consumer in range(self.consumers)]


@wrong("PART-17")
class WiringSubpartitionFromStart(Wiring):
    """Consumers read subpartitions counted from the first consumer of their producer: the tidy j-a instead of j
    mod (b-a).
    """

    def choose_subpartition(self, consumer: int, run: range) -> int:
        return consumer - run.start


@wrong("PART-17")
class WiringSubpartitionAlways0(Wiring):
    """All consumers of a producer read its subpartition 0."""

    def choose_subpartition(self, consumer: int, run: range) -> int:
        return 0


@wrong("PART-15", "PART-17")
class WiringSubpartitionIn5Bits(Wiring):
    """Subpartition numbers are kept in five bits."""

    wire_all_to_all = changed(Wiring.wire_all_to_all, "(c, p, c)", "(c, p, c & 31)")

    def choose_subpartition(self, consumer: int, run: range) -> int:
        return super().choose_subpartition(consumer, run) & 31


@wrong("PART-19")
class WiringLateBroadcastReadsOne(Wiring):
    """Of a broadcast that was decided late each consumer reads one subpartition, as of an early one: the rest of
    the data is lost.
    """

    on_dynamic = changed(Wiring.on_dynamic, "range(count)", "range(1)")


@wrong("PART-19")
class WiringEarlyBroadcastOfMany(Wiring):
    """A broadcast that was decided early may have several subpartitions: each consumer reads everything several
    times.
    """

    on_dynamic = changed(Wiring.on_dynamic, 'broadcast == "early"', "False")


@wrong("PART-19")
class WiringMoreConsumersThanSubpartitions(Wiring):
    """More consumers than subpartitions are wired, and some of them to nothing."""

    on_dynamic = changed(Wiring.on_dynamic, "sharing > count", "False")


@wrong("PART-19")
class WiringDynamicRemainderToLast(Wiring):
    """The last consumer reads all subpartitions that are left over."""

    on_dynamic = changed(
        Wiring.on_dynamic,
        "place * count // sharing, (place + 1) * count // sharing",
        "place * (count // sharing), count if place == sharing - 1 else (place + 1) * (count // sharing)",
    )


@wrong("PART-19")
class WiringDynamicFromStart(Wiring):
    """Pointwise, consumers count from the first one that their producer feeds, and not by their own numbers."""

    on_dynamic = changed(
        Wiring.on_dynamic, "consumer % sharing", "consumer - min(one[0] for one in wired if one[1] == producer)"
    )
