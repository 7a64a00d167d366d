"""Mutants of the native query: the same one, with one of its pieces or of Spark's settings replaced.

An engine that does what it declares proves little about the run. The run must catch each of these.
"""

import attrs

#: The pieces of the right query, in Spark SQL, and the policies by their names.
PIECES = {"delay": "0 milliseconds", "kept": "key <> ''", "gathered": "collect_list(id)", "min": "min", "max": "max"}


@attrs.frozen
class Mutant:
    name: str
    #: What is wrong with it, in words.
    story: str
    #: The invariant that it breaks; empty if it only differs from the declared semantics.
    breaks: str = ""
    pieces: dict[str, str] = attrs.Factory(dict)
    settings: dict[str, str] = attrs.Factory(dict)


MUTANTS = (
    Mutant("spark-native-loses-rows", "every third record is filtered out", "LOG-LOSS", {"kept": "id % 3 <> 1"}),
    Mutant(
        "spark-native-counts-twice",
        "every record is counted twice",
        "LOG-LOSS",
        {"gathered": "concat(collect_list(id), collect_list(id))"},
    ),
    Mutant(
        "spark-native-loses-order",
        "the records of a window are met last to first",
        "LOG-ORDER",
        {"gathered": "reverse(collect_list(id))"},
    ),
    Mutant("spark-native-swaps-policies", "min is max and max is min", pieces={"min": "max", "max": "min"}),
    Mutant("spark-native-keeps-late-rows", "the watermark lags by ten windows", pieces={"delay": "100 milliseconds"}),
    Mutant(
        "spark-native-drops-by-its-own-watermark",
        "lateness is told by the watermark of the same micro-batch",
        settings={"spark.sql.streaming.statefulOperator.allowMultiple": "false"},
    ),
)

RIGHT = Mutant("", "nothing is wrong")


def find(name: str) -> Mutant:
    """The mutant of this name; the right query for an empty name."""
    return next(mutant for mutant in (RIGHT, *MUTANTS) if mutant.name == name)
