"""Scopes of the connection that readers share.

Sequence numbers go on for ever, but change nothing else. So states that differ only in the next ones count as equal; in
each case the numbers themselves are judged like everything else.
"""

from collections.abc import Iterator

import attrs

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.credit import credit_connection
from tidegate.reference.credit.credit_sender import Writable
from tidegate.reference.credit.readers import Item, Reader

WRITABLE = (Writable(value=False), Writable(value=True))


#: What concerns no reader that there is.
ELSEWHERE = (credit_connection.Break(), credit_connection.Credit(1, 1), credit_connection.Cancel(-1))


def on_one(items: tuple[Item, ...]) -> tuple[credit_connection.Event, ...]:
    """What may happen to a single reader."""
    added = tuple(credit_connection.Add(0, item) for item in items)
    return (
        *added,
        credit_connection.Flush(0),
        credit_connection.Credit(0, 1),
        credit_connection.Resume(0),
        credit_connection.Cancel(0),
        credit_connection.Fail(0),
    )


def on_each(readers: int, item: Item) -> tuple[credit_connection.Event, ...]:
    """What gives a reader its turn, and what takes it away."""
    turns = (
        event
        for reader in range(readers)
        for event in (credit_connection.Add(reader, item), credit_connection.Cancel(reader))
    )
    return (*turns, credit_connection.Fail(0), *WRITABLE, credit_connection.Break())


def number_from_zero(state: credit_connection.State) -> credit_connection.State:
    return attrs.evolve(state, readers=tuple(map(number_reader_from_zero, state.readers)))


def number_reader_from_zero(reader: Reader) -> Reader:
    return attrs.evolve(reader, subpartition=attrs.evolve(reader.subpartition, sequence=0))


@attrs.frozen(kw_only=True)
class Cap:
    """How far a reader is followed."""

    queued: int
    credit: int

    def holds(self, state: credit_connection.State) -> bool:
        return all(
            len(reader.subpartition.items) <= self.queued and reader.credit <= self.credit for reader in state.readers
        )


def make_scope(
    name: str,
    configs: tuple[credit_connection.Config, ...],
    events: tuple[credit_connection.Event, ...],
    cap: Cap,
    played: str,
) -> Scope:
    initial = " or ".join(" and ".join(map(str, config.initial_credits)) for config in configs)
    return Scope(
        name=name,
        component="credit_connection",
        configs=configs,
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(len(configs[0].initial_credits), 'reader')} with initial credit {initial}; {played}. States "
            "that differ only in the next sequence numbers count as equal"
        ),
        cap=f"at most {counted(cap.queued, 'item')} queued and {cap.credit} credit a reader",
        expand=cap.holds,
        canonical=number_from_zero,
    )


def make_writable_scope(configs: tuple[credit_connection.Config, ...], items: tuple[Item, ...], cap: Cap) -> Scope:
    names = " and ".join(item.value.replace("_", " ") for item in items)
    played = (
        f"as items {names}; flush, credit, resume, cancel, failures of the producer, writable or not; refused: resume "
        "while not blocked, events of a reader that was cancelled"
    )
    return make_scope("writable", configs, (*on_one(items), *WRITABLE), cap, played)


def make_items_scope(configs: tuple[credit_connection.Config, ...], cap: Cap) -> Scope:
    played = (
        "each item, flush, credit, resume, cancel, failures of the producer and of the connection, always writable; "
        "refused: resume while not blocked, what is added after the end, credit for unknown readers"
    )
    return make_scope("items", configs, (*on_one(tuple(Item)), *ELSEWHERE), cap, played)


def make_turns_scope(configs: tuple[credit_connection.Config, ...], item: Item, cap: Cap) -> Scope:
    readers = len(configs[0].initial_credits)
    played = (
        f"as items {item.value}; cancel, failures of the first producer and of the connection, writable or not; "
        "refused: what is added for a reader that was cancelled"
    )
    return make_scope(f"turns-of-{readers}", configs, on_each(readers, item), cap, played)


ALONE = (credit_connection.Config((0,)), credit_connection.Config((1,)))


def small() -> Iterator[Scope]:
    yield make_writable_scope(ALONE[:1], (Item.DATA, Item.BARRIER), Cap(queued=1, credit=1))
    yield make_items_scope(ALONE, Cap(queued=1, credit=1))
    yield make_turns_scope((credit_connection.Config((1, 1)),), Item.EVENT, Cap(queued=2, credit=1))


def thorough() -> Iterator[Scope]:
    yield make_writable_scope((*ALONE, credit_connection.Config((2,))), tuple(Item), Cap(queued=2, credit=2))
    yield make_items_scope((*ALONE, credit_connection.Config((2,))), Cap(queued=2, credit=2))
    yield make_turns_scope((credit_connection.Config((1, 1)),), Item.EVENT, Cap(queued=3, credit=1))
    yield make_turns_scope((credit_connection.Config((1, 1, 1)),), Item.EVENT, Cap(queued=1, credit=1))
