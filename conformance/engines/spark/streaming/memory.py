"""The state of a subtask between micro-batches, and its row in the state store."""

from typing import Any

import attrs

from tidegate.conformance.engines.spark.streaming.layout import Layout
from tidegate.conformance.engines.spark.streaming.valves import Combiner, Valve

#: Lists by channel of the gate, by input, by output, and by channel of all outputs.
SCHEMA = (
    "incarnation int, step bigint, made bigint, ended array<boolean>, drained int, expected array<bigint>, "
    "met array<int>, turns array<int>, announced array<boolean>, written array<bigint>"
)
VALVE_SCHEMA = (
    "incarnation int, watermarks array<bigint>, active array<boolean>, aligned array<boolean>, last array<bigint>, "
    "combined array<bigint>, idle array<boolean>, combined_last bigint"
)


@attrs.define
class Memory:
    """`expected` is the next position on each channel, `met` the barrier at which it waits, or 0.

    `turns` is the next consumer of each output whose consumers take turns, `announced` whether it is active, `written`
    the number of elements of each of its channels.
    """

    step: int
    made: int
    ended: list[bool]
    drained: int
    expected: list[int]
    met: list[int]
    turns: list[int]
    announced: list[bool]
    written: list[int]

    @classmethod
    def fresh(cls, channels: int, outputs: list[int]) -> "Memory":
        """For a gate and outputs with these numbers of channels."""
        count = len(outputs)
        return cls(
            0, 0, [False] * channels, 0, [0] * channels, [0] * channels, [0] * count, [True] * count, [0] * sum(outputs)
        )

    @classmethod
    def of_row(cls, row: Any) -> "Memory":
        _incarnation, step, made, ended, drained, *lists = row
        return cls(step, made, list(ended), drained, *(list(one) for one in lists))

    def to_row(self, incarnation: int) -> tuple[Any, ...]:
        return incarnation, *attrs.astuple(self)


@attrs.define
class Clock:
    """The valves of the inputs, each with the places of its channels in the gate, and the combiner if there are two."""

    places: list[list[int]]
    valves: list[Valve]
    combiner: Combiner | None

    @classmethod
    def fresh(cls, layout: Layout, inputs: list[int]) -> "Clock":
        """`inputs` is the input of each channel of the gate."""
        places = [[place for place, one in enumerate(inputs) if one == number] for number in sorted(set(inputs))]
        valves = [Valve.fresh(layout.semantics, len(mine)) for mine in places]
        return cls(places, valves, Combiner.fresh(len(valves)) if len(valves) > 1 else None)

    def restore(self, row: Any) -> None:
        _incarnation, watermarks, active, aligned, last, combined, idle, combined_last = row
        for number, (mine, valve) in enumerate(zip(self.places, self.valves, strict=True)):
            valve.watermarks = [watermarks[place] for place in mine]
            valve.active = [active[place] for place in mine]
            valve.aligned = [aligned[place] for place in mine]
            valve.last = last[number]
        if self.combiner is not None:
            self.combiner = Combiner(list(combined), list(idle), combined_last)

    def to_row(self, incarnation: int) -> tuple[Any, ...]:
        count = sum(len(mine) for mine in self.places)
        watermarks, active, aligned = [0] * count, [True] * count, [True] * count
        for mine, valve in zip(self.places, self.valves, strict=True):
            for index, place in enumerate(mine):
                watermarks[place] = valve.watermarks[index]
                active[place], aligned[place] = valve.active[index], valve.aligned[index]
        combiner = self.combiner or Combiner([], [])
        last = [valve.last for valve in self.valves]
        return incarnation, watermarks, active, aligned, last, combiner.watermarks, combiner.idle, combiner.last
