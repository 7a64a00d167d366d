"""Scopes of the credit sender.

Sequence numbers go on for ever, but change nothing else. So states that differ only in the next one count as equal;
in each case the numbers themselves are judged like everything else.
"""

from collections.abc import Iterator

import attrs

from tidegate.properties.cases.scope import Scope
from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection
from tidegate.reference.credit import credit_sender
from tidegate.reference.subpartition.values import Finish, Flush, Resume

EVENTS: tuple[credit_sender.Event, ...] = (
    credit_sender.Data(),
    credit_sender.PlainEvent(),
    credit_sender.Barrier(),
    Flush(),
    credit_sender.Credit(1),
    credit_sender.Credit(2),
    credit_sender.Credit(0),
    credit_sender.Credit(-1),
    Resume(),
    credit_sender.Writable(value=False),
    credit_sender.Writable(value=True),
    Finish(),
)


def alphabet(_config: credit_sender.Config, _state: credit_sender.State) -> tuple[credit_sender.Event, ...]:
    return EVENTS


def number_from_zero(state: credit_sender.State) -> credit_sender.State:
    if state.reader.subpartition.sequence == 0:
        return state
    subpartition = attrs.evolve(state.reader.subpartition, sequence=0)
    return attrs.evolve(state, reader=attrs.evolve(state.reader, subpartition=subpartition))


def make_scope(
    initial: tuple[int, ...], most_queued: int, most_credit: int, selection: Selection = EACH_CLASS
) -> Scope:
    def expand(state: credit_sender.State) -> bool:
        return len(state.reader.subpartition.items) <= most_queued and state.reader.credit <= most_credit

    return Scope(
        name=f"queue-{most_queued}-credit-{most_credit}",
        component="credit_sender",
        configs=tuple(credit_sender.Config(credit) for credit in initial),
        alphabet=alphabet,
        covers=(
            f"initial credit {', '.join(map(str, initial))}; data, events, barriers, flush, finish, credit 1 and 2, "
            "resume, writable or not; refused: credit 0 and -1, resume while not blocked, what is added after the end. "
            "States that differ only in the next sequence number count as equal"
        ),
        cap=f"at most {most_queued} items queued and {most_credit} credit",
        expand=expand,
        canonical=number_from_zero,
        selection=selection,
    )


def small() -> Iterator[Scope]:
    yield make_scope((0, 1, 2), most_queued=2, most_credit=2)


def thorough() -> Iterator[Scope]:
    yield make_scope((0, 1, 2), most_queued=3, most_credit=3, selection=EACH_STATE)
