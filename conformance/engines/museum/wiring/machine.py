"""Which consumer reads which subpartition of which producer, PART-15 … PART-17, PART-19."""

import struct
from math import ceil

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.wire import Host, Json, Observations, get_at_least, get_choice, unknown_type

EXTENSIONS = ("dynamic",)
Pair = tuple[int, int, int]


def to_float32(value: float) -> float:
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded


class Wiring:
    def __init__(self, config: Json, host: Host) -> None:
        self.bug = host.bug
        self.pattern = get_choice(config, "pattern", ("pointwise", "all_to_all"))
        self.producers = get_at_least(config, "producers", 1)
        self.consumers = get_at_least(config, "consumers", 1)
        self.is_dynamic = wire.get_extension(config, EXTENSIONS) is not None
        self.wired = False

    def step(self, event: Json) -> Observations:
        if event.get("type") == "wire_dynamic" and self.is_dynamic:
            count = get_at_least(event, "subpartitions", 1)
            return self.on_dynamic(count, get_choice(event, "broadcast", ("no", "early", "late")))
        if event.get("type") != "wire":
            raise unknown_type(event)
        if self.wired and self.bug == "wiring-only-once":
            return []
        self.wired = True
        return show(self.wire())

    def wire(self) -> list[Pair]:
        if self.pattern == "all_to_all":
            return self.wire_all_to_all()
        return self.wire_many_to_few() if self.producers >= self.consumers else self.wire_few_to_many()

    def on_dynamic(self, count: int, broadcast: str) -> Observations:
        """The same pairs, but each consumer has a run of the subpartitions that the producer wrote, PART-19."""
        bug = self.bug
        to_all = broadcast != "no" and self.pattern == "all_to_all"
        if to_all and broadcast == "early" and count > 1 and bug != "wiring-early-broadcast-of-many":
            return wire.rejected()
        wired = self.wire()
        pairs: list[Pair] = []
        for consumer, producer, _subpartition in wired:
            sharing = sum(1 for one in wired if one[1] == producer)
            place = consumer % sharing
            if bug == "wiring-dynamic-from-start":
                place = consumer - min(one[0] for one in wired if one[1] == producer)
            if to_all:
                run = range(1 if bug == "wiring-late-broadcast-reads-one" else count)
            elif sharing > count and bug != "wiring-more-consumers-than-subpartitions":
                return wire.rejected()
            elif bug == "wiring-dynamic-remainder-to-last":
                size = count // sharing
                run = range(place * size, count if place == sharing - 1 else (place + 1) * size)
            else:
                run = range(place * count // sharing, (place + 1) * count // sharing)
            pairs += [(consumer, producer, subpartition) for subpartition in run]
        return show(pairs)

    def wire_all_to_all(self) -> list[Pair]:
        bug = self.bug
        if bug == "wiring-all-to-all-by-producer":
            return [(c, p, p % self.consumers) for c in range(self.consumers) for p in range(self.producers)]
        if bug == "wiring-subpartition-in-5-bits":
            return [(c, p, c & 31) for c in range(self.consumers) for p in range(self.producers)]
        if bug == "wiring-equal-all-to-all-is-pointwise" and self.producers == self.consumers:
            return [(c, c, 0) for c in range(self.consumers)]
        return [(c, p, c) for c in range(self.consumers) for p in range(self.producers)]

    def wire_many_to_few(self) -> list[Pair]:
        """Several producers a consumer: producers j·S//T … (j+1)·S//T - 1, subpartition 0 of each."""
        bug, many, few = self.bug, self.producers, self.consumers
        pairs: list[Pair] = []
        for consumer in range(min(few, 256) if bug == "wiring-256-consumers-read" else few):
            start, end = consumer * many // few, (consumer + 1) * many // few
            if bug == "wiring-float-factor" and many % few:
                factor = to_float32(many / few)
                start, end = int(to_float32(consumer * factor)), int(to_float32((consumer + 1) * factor))
                end = many if consumer == few - 1 else end
            elif bug == "wiring-remainder-first":
                size, rest = divmod(many, few)
                start = consumer * size + min(consumer, rest)
                end = start + size + (consumer < rest)
            elif bug == "wiring-remainder-to-last":
                start = consumer * (many // few)
                end = many if consumer == few - 1 else start + many // few
            elif bug == "wiring-remainder-lost":
                start, end = consumer * (many // few), (consumer + 1) * (many // few)
            for producer in range(start, end):
                subpartition = producer - start if bug == "wiring-fan-in-numbers-subpartitions" else 0
                pairs.append((consumer, producer, subpartition))
        return pairs

    def wire_few_to_many(self) -> list[Pair]:
        """Several consumers a producer: consumers a … b - 1, and consumer j reads subpartition j mod (b - a)."""
        bug, few, many = self.bug, self.producers, self.consumers
        pairs: list[Pair] = []
        for producer in range(few):
            start = (producer * many + few - 1) // few
            end = ((producer + 1) * many + few - 1) // few
            if bug == "wiring-float-ceiling" and many % few:
                factor = to_float32(many / few)
                start, end = ceil(to_float32(producer * factor)), ceil(to_float32((producer + 1) * factor))
                if end > many:
                    raise IndexError(f"consumer {end - 1} of {many}")
            elif bug == "wiring-float-factor" and many % few:
                factor = to_float32(many / few)
                mine = [consumer for consumer in range(many) if int(to_float32(consumer / factor)) == producer]
                start, end = mine[0], mine[-1] + 1
            elif bug == "wiring-fan-out-floor":
                start, end = producer * many // few, (producer + 1) * many // few
            pairs += [
                (consumer, producer, self.choose_subpartition(consumer, start, end)) for consumer in range(start, end)
            ]
        if bug == "wiring-fan-out-round-robin":
            return [(consumer, consumer % few, consumer // few) for consumer in range(many)]
        return pairs

    def choose_subpartition(self, consumer: int, start: int, end: int) -> int:
        bug = self.bug
        if bug == "wiring-subpartition-from-start":
            return consumer - start
        if bug == "wiring-subpartition-always-0":
            return 0
        if bug == "wiring-subpartition-in-5-bits":
            return consumer % (end - start) & 31
        return consumer % (end - start)


def show(pairs: list[Pair]) -> Observations:
    return [
        {"type": "reads", "consumer": consumer, "producer": producer, "subpartition": subpartition}
        for consumer, producer, subpartition in sorted(pairs)
    ]


make = Wiring
