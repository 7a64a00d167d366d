"""What operators do with records: plain functions, with the totals that a sum keeps for each key.

`map` doubles the value, `flat_map` makes a record with the value 1 of each word of the key, `filter` keeps what is
positive, and `sum` adds up the values of each key and emits the new total. Values have 64 bits and wrap around.
"""

import attrs

from tidegate.reference.elements import Long
from tidegate.reference.job.programs import Function, Operator, Record

#: What each sum knows: operator, key, total; sorted, so that equal knowledge is equal.
Totals = tuple[tuple[int, str, Long], ...]


def apply(operator: Operator, totals: Totals, record: Record) -> tuple[Totals, tuple[Record, ...]]:
    """The totals afterwards, and the records that come out."""
    match operator.function:
        case Function.MAP:
            return totals, (attrs.evolve(record, value=wrap(2 * record.value)),)
        case Function.FLAT_MAP:
            return totals, tuple(Record(word, Long(1), record.timestamp) for word in record.key.split())
        case Function.FILTER:
            return totals, (record,) if record.value > 0 else ()
        case Function.SUM:
            known = {(number, key): total for number, key, total in totals}
            total = wrap(known.get((operator.id, record.key), 0) + record.value)
            known[operator.id, record.key] = total
            after = tuple(sorted((number, key, value) for (number, key), value in known.items()))
            return after, (attrs.evolve(record, value=total),)
        case Function.SINK:
            return totals, ()
        case _:
            return totals, (record,)


def wrap(value: int) -> Long:
    """What is left of a value in 64 bits."""
    return Long((value + 2**63) % 2**64 - 2**63)
