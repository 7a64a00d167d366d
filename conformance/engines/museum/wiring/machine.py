"""Which consumer reads which subpartition of which producer, PART-15 … PART-17."""

import struct
from math import ceil

from tidegate.conformance.engines.wire import Host, Json, Observations, get_at_least, get_choice, unknown_type

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
        self.wired = False

    def step(self, event: Json) -> Observations:
        if event.get("type") != "wire":
            raise unknown_type(event)
        if self.wired and self.bug == "wiring-only-once":
            return []
        self.wired = True
        if self.pattern == "all_to_all":
            pairs = self.wire_all_to_all()
        elif self.producers >= self.consumers:
            pairs = self.wire_many_to_few()
        else:
            pairs = self.wire_few_to_many()
        return [
            {"type": "reads", "consumer": consumer, "producer": producer, "subpartition": subpartition}
            for consumer, producer, subpartition in sorted(pairs)
        ]

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
        for consumer in range(few):
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


make = Wiring
