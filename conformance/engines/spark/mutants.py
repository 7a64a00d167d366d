"""Mutants of the Spark engine: the same queries, with one condition of one of them replaced.

A right engine that passes proves little about the suite. The suite must catch each of these.
"""

import attrs

from tidegate.conformance.engines.spark.component import LOWEST


@attrs.frozen
class Mutant:
    name: str
    component: str
    #: The rules of which one is named when it is caught.
    rules: tuple[str, ...]
    #: The replacement of the right condition in the query.
    pieces: dict[str, str]


MUTANTS = (
    Mutant("spark-valve-hears-idle-channels", "valve", ("VALVE-2",), {"unheard": "false"}),
    Mutant("spark-valve-counts-the-unaligned", "valve", ("VALVE-5", "VALVE-6", "VALVE-9"), {"counts": "c.active"}),
    Mutant("spark-valve-always-flushes", "valve", ("VALVE-10", "VALVE-13"), {"flushes": "true"}),
    Mutant("spark-valve-repair-without-recheck", "valve", ("VALVE-11", "VALVE-12"), {"rederives": "false"}),
    Mutant("spark-valve-idle-forgets", "valve", ("VALVE-8", "VALVE-10", "VALVE-11"), {"idle_mark": LOWEST}),
    Mutant("spark-combiner-watermark-leaves-idle", "combiner", ("COMB-1", "COMB-2"), {"woken": "c.idle"}),
    Mutant("spark-combiner-status-first", "combiner", ("COMB-6",), {"sends": "status, string(emitted)"}),
    Mutant(
        "spark-partitioner-code-points", "partitioner", ("PART-6", "PART-7", "PART-8"), {"units": "31 * code + point"}
    ),
    Mutant("spark-partitioner-long-truncated", "partitioner", ("PART-6", "PART-8"), {"long_code": "int(number)"}),
    Mutant("spark-partitioner-lowest-hash-negative", "partitioner", ("PART-6", "PART-7"), {"unsigned": "abs(h6)"}),
    Mutant("spark-partitioner-everything-takes-a-turn", "partitioner", ("PART-2", "PART-3"), {"turn": "step"}),
    Mutant("spark-partitioner-idle-passes-watermarks", "partitioner", ("OUT-7",), {"passes": "true"}),
    Mutant("spark-wiring-counts-from-the-first", "wiring", ("PART-17",), {"own": "consumer - feeds_from"}),
    Mutant(
        "spark-wiring-rounds-up",
        "wiring",
        ("PART-16", "PART-17"),
        {"from": "bigint(ceil(consumer * producers / consumers))"},
    ),
    Mutant("spark-serializer-flush-closes", "serializer", ("SPAN-3", "SPAN-4", "SPAN-6"), {"flushed": "0"}),
    Mutant(
        "spark-serializer-length-counts-itself",
        "serializer",
        ("SPAN-1", "SPAN-3"),
        {"header": "unhex(lpad(hex(octet_length(e.payload) + 4), 8, '0'))"},
    ),
    Mutant("spark-deserializer-clear-keeps", "deserializer", ("SPAN-29", "SPAN-20"), {"forgets": "s.gathered"}),
    Mutant(
        "spark-deserializer-empty-is-silent",
        "deserializer",
        ("SPAN-21", "SPAN-20"),
        {"is_partial": "read.place <= octet_length(bytes)"},
    ),
    Mutant("spark-chaining-head-follows", "chaining", ("CHAIN-5",), {"follows": "down.strategy <> 'never'"}),
    Mutant("spark-chaining-yielding-ignored", "chaining", ("CHAIN-11",), {"cut": "0"}),
    Mutant("spark-chaining-children-by-id", "chaining", ("CHAIN-20",), {"order": "int(l.target)"}),
)


def find(name: str) -> Mutant:
    return next(mutant for mutant in MUTANTS if mutant.name == name)
