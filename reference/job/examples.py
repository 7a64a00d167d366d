"""Programs to look at, and to begin with."""

from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.elements import Long, Watermark
from tidegate.reference.job.programs import Config, Edge, Function, Operator, Record, Wire


def make_word_count(wire: Wire | None = None) -> Config:
    """WordCount: lines are split into words, words are counted where their key belongs, counts are printed."""
    first = (Record("to be or", Long(0), Long(1)), Watermark(Long(1)), Record("not", Long(0), Long(2)))
    second = (Record("to be", Long(0), Long(2)), Watermark(Long(2)))
    operators = (
        Operator(1, "lines", Function.SOURCE, 2, (first, second)),
        Operator(2, "words", Function.FLAT_MAP, 2),
        Operator(3, "count", Function.SUM, 2),
        Operator(4, "print", Function.SINK, 2),
    )
    return Config(operators, (Edge(1, 2), Edge(2, 3, Partitioner.HASH), Edge(3, 4)), wire)
