"""Scopes of the closed loop of credit.

Nothing has to be capped: each choice uses something up, so there are only so many schedules of what is to be written.
"""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.credit.credit_loop import Action, Choice, Config, State

ALL = tuple(Action)
#: What matters where only barriers are written.
OF_BARRIERS = (Action.BARRIER, Action.DELIVER, Action.CONSUME, Action.DELIVER_CREDIT)


def make_scope(name: str, configs: tuple[Config, ...], actions: tuple[Action, ...] = ALL) -> Scope:
    """Every choice of these actions in every state; those that lead nowhere must be refused."""

    def play(config: Config, _state: State) -> Iterator[Choice]:
        yield from (Choice(channel, action) for channel in range(config.channels) for action in actions)
        yield Choice(config.channels, Action.BARRIER)

    named = "every choice" if actions == ALL else f"choices of {', '.join(action.value for action in actions)}"
    return Scope(
        name=name,
        component="credit_loop",
        configs=configs,
        alphabet=play,
        covers=(
            f"{named} at any time, with {'; with '.join(map(describe, configs))}; refused: what is not possible at the "
            "time, and a channel out of range"
        ),
        symmetric=True,
    )


def describe(config: Config) -> str:
    return (
        f"{counted(config.channels, 'channel')}, {counted(config.data, 'data buffer')} and "
        f"{counted(config.barriers, 'barrier')} to write on each, {counted(config.output, 'buffer')} a producer, "
        f"{counted(config.exclusive, 'exclusive buffer')} a channel and {counted(config.floating, 'floating buffer')}"
    )


def small() -> Iterator[Scope]:
    yield make_scope(
        "one",
        (
            Config(1, 0, 1, data=1, barriers=1, output=1),
            Config(1, 0, 1, data=2, barriers=0, output=1),
            Config(1, 1, 1, data=2, barriers=0, output=1),
        ),
    )
    yield make_scope("barriers-of-two", (Config(2, 0, 1, data=0, barriers=1, output=1),), OF_BARRIERS)


def thorough() -> Iterator[Scope]:
    yield make_scope(
        "one",
        (
            Config(1, 0, 2, data=2, barriers=1, output=2),
            Config(1, 1, 1, data=2, barriers=1, output=1),
            Config(1, 0, 1, data=3, barriers=0, output=2),
        ),
    )
    yield make_scope(
        "two", (Config(2, 0, 1, data=1, barriers=0, output=1), Config(2, 1, 1, data=1, barriers=0, output=1))
    )
    yield make_scope("barriers-of-two", (Config(2, 0, 1, data=0, barriers=1, output=1),))
