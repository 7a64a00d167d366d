"""Scopes of recovered channels. Checkpoints are only compared, so one or two numbers stand for all of them."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.elements import Long
from tidegate.reference.recovery.recovered_channel import values
from tidegate.reference.recovery.recovered_channel.values import (
    DECLINED,
    HANDED_OVER,
    MARKED,
    Config,
    Event,
    Location,
    State,
)


def make_scope(name: str, config: Config, checkpoints: int, items: int) -> Scope:
    numbers = [Long(number) for number in range(1, checkpoints + 1)]
    channels = range(config.channels)

    def events() -> Iterator[Event]:
        yield values.Finish()
        yield values.Convert()
        for index in channels:
            yield from (values.Recovered(index), values.Data(index), values.Complete(index), values.Poll(index))
            yield from (values.Barrier(index, number) for number in numbers)
        for number in numbers:
            yield from (values.Start(number), values.Stop(number))
            if config.semantics == MARKED:
                yield values.Mark(number)
        yield values.Poll(config.channels)

    alphabet = tuple(events())

    def expand(state: State) -> bool:
        return (
            sum(one.given + one.written + sum(item.checkpoint >= 0 for item in one.recovered) for one in state.channels)
            < items
        )

    return Scope(
        name=name,
        component="recovered_channel",
        configs=(config,),
        alphabet=lambda _config, _state: alphabet,
        covers=(
            f"{counted(config.channels, f'{config.location} channel')}, {counted(checkpoints, 'checkpoint')}, "
            f"{config.semantics}; saved and new data, ends of recovery, barriers, polls, starts and stops in any "
            "order; refused: a channel out of range"
        ),
        cap=f"at most {counted(items, 'item')}",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope("two-channels", Config(2, Location.REMOTE, DECLINED), 0, 3)
    yield make_scope("declined", Config(1, Location.LOCAL, DECLINED), 1, 3)
    yield make_scope("handed-over", Config(1, Location.REMOTE, HANDED_OVER), 1, 3)
    yield make_scope("handed-over-local", Config(1, Location.LOCAL, HANDED_OVER), 1, 2)
    yield make_scope("marked", Config(1, Location.REMOTE, MARKED), 1, 3)
    yield make_scope("marked-local", Config(1, Location.LOCAL, MARKED), 1, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope("two-channels", Config(2, Location.REMOTE, DECLINED), 1, 3)
    yield make_scope("declined", Config(1, Location.LOCAL, DECLINED), 2, 4)
    yield make_scope("handed-over", Config(1, Location.REMOTE, HANDED_OVER), 2, 4)
    yield make_scope("handed-over-local", Config(1, Location.LOCAL, HANDED_OVER), 2, 4)
    yield make_scope("marked", Config(1, Location.REMOTE, MARKED), 2, 4)
    yield make_scope("marked-local", Config(1, Location.LOCAL, MARKED), 1, 4)
