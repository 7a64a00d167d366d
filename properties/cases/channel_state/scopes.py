"""Scopes of channel state. Checkpoints are only compared, so a few numbers stand for all of them."""

from collections.abc import Iterator
from itertools import product

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.elements import Long
from tidegate.reference.input import channel_state
from tidegate.reference.input.channel_state import Config, Event, Mode, State


def make_scope(name: str, channels: int, checkpoints: int, modes: tuple[Mode, ...], arrivals: int) -> Scope:
    numbers = [Long(number) for number in range(1, checkpoints + 1)]

    def events() -> Iterator[Event]:
        for index in range(channels):
            yield channel_state.Data(index)
            yield channel_state.Poll(index)
            yield from (channel_state.Barrier(index, *one) for one in product(numbers, modes))
            if Mode.TIMEOUT in modes:
                yield from (channel_state.Prioritize(index, sequence) for sequence in range(arrivals))
        yield from map(channel_state.Start, numbers)
        yield from map(channel_state.Stop, numbers)
        yield channel_state.Data(channels)

    alphabet = tuple(events())

    def expand(state: State) -> bool:
        return sum(channel.next for channel in state.channels) < arrivals

    return Scope(
        name=name,
        component="channel_state",
        configs=(Config(channels),),
        alphabet=lambda _config, _state: alphabet,
        covers=(
            f"{counted(channels, 'channel')}, {counted(checkpoints, 'checkpoint')}; data, barriers sent as "
            f"{' or '.join(modes)}, polls, starts and stops in any order; refused: a channel out of range"
        ),
        cap=f"at most {counted(arrivals, 'arrival')}",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope("unaligned", 1, 2, (Mode.UNALIGNED,), 4)
    yield make_scope("announced", 1, 1, (Mode.TIMEOUT,), 3)
    yield make_scope("two-channels", 2, 2, (Mode.UNALIGNED,), 2)


def thorough() -> Iterator[Scope]:
    yield make_scope("unaligned", 1, 3, (Mode.UNALIGNED,), 4)
    yield make_scope("announced", 1, 2, (Mode.TIMEOUT, Mode.ALIGNED), 3)
    yield make_scope("two-channels", 2, 2, (Mode.UNALIGNED, Mode.TIMEOUT), 3)
