"""Pointwise wiring as it was computed with 32-bit floats, before Flink 1.13.2.

A factor such as 16 / 14 has no exact float, and what is multiplied by it may land on either side of an integer. So
some pairs of producers and consumers were wired otherwise than integers say: unevenly in 1.5 to 1.12, and past the
last consumer, with an error, in 1.13.0 and 1.13.1 (FLINK-22863). Nothing here is to be copied; PART-18 tells of it.
"""

import math
import struct


def to_float32(value: float) -> float:
    """The nearest 32-bit float, in which the releases before 1.13.2 computed."""
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded


def compute_producers(consumer: int, producers: int, consumers: int) -> range:
    """PART-18: Flink 1.5 to 1.12. Where one number divides the other the factor is an integer, else a float."""
    if producers < consumers:
        if consumers % producers == 0:
            only = consumer // (consumers // producers)
        else:
            only = int(to_float32(consumer / to_float32(consumers / producers)))
        return range(only, only + 1)
    if producers % consumers == 0:
        run = producers // consumers
        return range(consumer * run, (consumer + 1) * run)
    factor = to_float32(producers / consumers)
    end = producers if consumer == consumers - 1 else int(to_float32((consumer + 1) * factor))
    return range(int(to_float32(consumer * factor)), end)


def compute_fed_consumers(producer: int, producers: int, consumers: int) -> range:
    """PART-18: Flink 1.13.0 and 1.13.1, for more consumers than producers."""
    factor = to_float32(consumers / producers)
    return range(math.ceil(to_float32(producer * factor)), math.ceil(to_float32((producer + 1) * factor)))
