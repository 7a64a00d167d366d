"""Scopes of the receiving end of a connection."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.credit import receiving_connection as receiving


def make_scope(channels: int, exclusive: int, most: int, *, is_full: bool = False) -> Scope:
    """At most `most` buffers are queued in all. Unless it is full, what differs in words alone is left out."""
    numbers = range(channels)
    arrivals: tuple[receiving.Event, ...] = (
        *(receiving.DataArrives(one, parts, 1) for one in numbers for parts in ((0, 2) if is_full else (2,))),
        *(receiving.DataIsNotSaved(one) for one in numbers),
    )
    more: tuple[receiving.Event, ...] = (
        receiving.RequestPartition(channels),
        receiving.CancelRequest(-1),
        *(receiving.BacklogArrives(one, 2) for one in numbers),
        *(receiving.BreakConnection(how) for how in (receiving.Break.CLOSED, receiving.Break.FATAL)),
    )
    others: tuple[receiving.Event, ...] = (
        receiving.OpenConnection(),
        *(receiving.RequestPartition(one) for one in numbers),
        *(receiving.ErrorArrives(one) for one in numbers),
        receiving.CancelRequest(0),
        *(receiving.ReleaseChannel(one) for one in numbers),
        *(receiving.SetWritable(value) for value in (False, True)),
        *(receiving.BreakConnection(how) for how in (receiving.Break.ERROR, receiving.Break.RESET)),
        *(receiving.NotFoundArrives(one) for one in numbers),
        *(receiving.MeasureChannel(one) for one in numbers),
        *(more if is_full else ()),
    )

    def alphabet(_config: receiving.Config, state: receiving.State) -> tuple[receiving.Event, ...]:
        queued = sum(channel.queued for channel in state.channels)
        return others if queued >= most else (*others, *arrivals)

    return Scope(
        name=f"{channels}-channels-{exclusive}-own",
        component="receiving_connection",
        configs=(receiving.Config(channels, exclusive),),
        alphabet=alphabet,
        covers=f"{counted(channels, 'channel')} with {exclusive} own buffers, {counted(most, 'buffer')} and more",
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 2, 1)


def thorough() -> Iterator[Scope]:
    yield make_scope(1, 0, 2, is_full=True)
    yield make_scope(2, 1, 1, is_full=True)
