"""Scopes of the serializer."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope
from tidegate.reference.spanning.serializer import Config, ControlEvent, Event, Finish, Flush, Record, State


def make_payload(place: int, length: int) -> bytes:
    """Bytes that differ from their neighbours and from those of other records, so that each shows where it went."""
    return bytes((37 * place + offset) % 239 + 17 for offset in range(length))


def make_scope(name: str, sizes: tuple[int, ...], lengths: tuple[int, ...], extra_states: int) -> Scope:
    records = (Record(make_payload(place, length)) for place, length in enumerate(lengths))
    events: tuple[Event, ...] = (*records, Flush(), ControlEvent(), Finish())

    def alphabet(_config: Config, _state: State) -> tuple[Event, ...]:
        return events

    return Scope(
        name=name,
        component="serializer",
        configs=tuple(Config(size) for size in sizes),
        alphabet=alphabet,
        covers=(
            f"buffers of {', '.join(map(str, sizes))} bytes; records of {', '.join(map(str, lengths))} bytes, flush, "
            "event and finish, after the end too"
        ),
        extra_states=extra_states,
    )


def small() -> Iterator[Scope]:
    yield make_scope("sizes", (1, 2, 3, 4, 5, 6, 7), (0, 1, 3), extra_states=1)
    yield make_scope("long", (131, 262), (0x0102,), extra_states=2)


def thorough() -> Iterator[Scope]:
    yield make_scope("sizes", (1, 2, 3, 4, 5, 6, 7, 8, 9), (0, 1, 3, 5), extra_states=1)
    yield make_scope("long", (131, 262), (0x0102,), extra_states=3)
