"""Scopes of the credit receiver."""

from collections.abc import Iterator

import attrs

from tidegate.properties.cases.scope import Scope, counted
from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection, up_to_numbers
from tidegate.reference.credit import credit_receiver


def events_on(channel: int, most_backlog: int) -> tuple[credit_receiver.Event, ...]:
    return (
        *(credit_receiver.Data(channel, backlog) for backlog in range(most_backlog + 1)),
        *(credit_receiver.PlainEvent(channel, backlog) for backlog in range(most_backlog + 1)),
        *(credit_receiver.Backlog(channel, backlog) for backlog in range(1, most_backlog + 1)),
        credit_receiver.Recycle(channel),
        credit_receiver.Announce(channel),
        credit_receiver.Barrier(channel),
        credit_receiver.Resume(channel),
    )


def make_alphabet(channels: int, most_backlog: int) -> tuple[credit_receiver.Event, ...]:
    """Every event on every channel, and those that must be refused whatever the state."""
    return (
        *(event for channel in range(channels) for event in events_on(channel, most_backlog)),
        credit_receiver.Data(0, -1),
        credit_receiver.PlainEvent(0, -1),
        credit_receiver.Backlog(0, 0),
        credit_receiver.Data(channels, 0),
        credit_receiver.Announce(-1),
    )


def make_lean_alphabet(config: credit_receiver.Config, most_backlog: int) -> tuple[credit_receiver.Event, ...]:
    """The same without what must be refused whatever the state, and without what does less than other events do.

    These are plain events and, where there are exclusive buffers, resume.
    """
    left_out = (
        (credit_receiver.PlainEvent, credit_receiver.Resume) if config.exclusive else (credit_receiver.PlainEvent,)
    )
    events = (event for channel in range(config.channels) for event in events_on(channel, most_backlog))
    return tuple(event for event in events if not isinstance(event, left_out))


UP_TO_NAMES = up_to_numbers(credit_receiver.SYMMETRY)


@attrs.frozen(kw_only=True)
class Cap:
    """How far a channel is followed."""

    backlog: int
    unannounced: int
    held: int

    def holds(self, state: credit_receiver.State) -> bool:
        return all(
            channel.unannounced <= self.unannounced and len(channel.held) <= self.held
            for channel in state.gate.channels
        )


def make_scope(
    config: credit_receiver.Config, cap: Cap, selection: Selection = EACH_CLASS, *, lean: bool = False
) -> Scope:
    events = make_lean_alphabet(config, cap.backlog) if lean else make_alphabet(config.channels, cap.backlog)
    resumed = "" if lean and config.exclusive else ", resume"
    carriers = "data and announcements" if lean else "data, events and announcements"
    refused = "" if lean else ", backlogs too low, channels out of range"
    return Scope(
        name=f"{config.channels}x{config.exclusive}+{config.floating}",
        component="credit_receiver",
        configs=(config,),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(config.channels, 'channel')} with {counted(config.exclusive, 'exclusive buffer')} each and "
            f"{counted(config.floating, 'floating buffer')}; {carriers} with a backlog of up to {cap.backlog}, "
            f"recycle, announce, barrier{resumed}; refused: data without a buffer, nothing to recycle{refused}"
        ),
        cap=f"at most {cap.unannounced} credit not announced and {counted(cap.held, 'buffer')} in use on a channel",
        expand=cap.holds,
        selection=selection,
        # Some events that must be refused are played on channel 0 only.
        symmetric=lean,
    )


def make_failing(config: credit_receiver.Config, cap: Cap) -> Scope:
    """From where the first channel reads the floating buffer: what becomes of it is what matters."""

    def play(channel: int) -> Iterator[credit_receiver.Event]:
        yield from (credit_receiver.Backlog(channel, 1), credit_receiver.Recycle(channel))
        yield from (credit_receiver.Fail(channel), credit_receiver.Release(channel))

    return Scope(
        name=f"{config.channels}x{config.exclusive}+{config.floating}-failing",
        component="credit_receiver",
        configs=(config,),
        opening=lambda _config: (
            credit_receiver.Backlog(0, 1),
            credit_receiver.Announce(0),
            credit_receiver.Data(0, 0),
        ),
        alphabet=lambda _config, _state: (
            *(event for channel in range(config.channels) for event in play(channel)),
            credit_receiver.Data(1, 0),
            credit_receiver.Announce(1),
        ),
        covers=(
            f"{counted(config.channels, 'channel')} with {config.exclusive} exclusive and {config.floating} floating "
            "buffers, one of which the first channel reads; announcements of 1, recycle, connections that break, "
            "channels that are released, data and credit of the second; refused: what comes on those"
        ),
        cap=f"at most {cap.unannounced} credit not announced and {counted(cap.held, 'buffer')} in use on a channel",
        expand=cap.holds,
    )


def small() -> Iterator[Scope]:
    failing = Cap(backlog=1, unannounced=1, held=1)
    yield make_failing(credit_receiver.Config(2, 0, 1, credit_receiver.FAILURES), failing)
    yield make_scope(credit_receiver.Config(1, 0, 1), Cap(backlog=2, unannounced=3, held=1), EACH_STATE)
    yield make_scope(credit_receiver.Config(1, 1, 1), Cap(backlog=2, unannounced=2, held=2), EACH_STATE)
    yield make_scope(credit_receiver.Config(1, 2, 2), Cap(backlog=1, unannounced=2, held=3), EACH_STATE)
    together = Cap(backlog=1, unannounced=1, held=1)
    yield make_scope(credit_receiver.Config(2, 0, 1), together)
    yield make_scope(credit_receiver.Config(2, 1, 1), together, UP_TO_NAMES, lean=True)
    yield make_scope(credit_receiver.Config(2, 0, 2), together, UP_TO_NAMES, lean=True)


def thorough() -> Iterator[Scope]:
    failing = Cap(backlog=1, unannounced=2, held=2)
    yield make_failing(credit_receiver.Config(2, 1, 1, credit_receiver.FAILURES), failing)
    alone = Cap(backlog=3, unannounced=4, held=4)
    yield make_scope(credit_receiver.Config(1, 0, 2), alone, EACH_STATE)
    yield make_scope(credit_receiver.Config(1, 1, 2), alone, EACH_STATE)
    yield make_scope(credit_receiver.Config(1, 2, 2), alone, EACH_STATE)
    yield make_scope(credit_receiver.Config(2, 0, 1), Cap(backlog=2, unannounced=2, held=1), EACH_STATE)
    yield make_scope(credit_receiver.Config(2, 0, 2), Cap(backlog=2, unannounced=2, held=2), UP_TO_NAMES)
    yield make_scope(credit_receiver.Config(2, 1, 1), Cap(backlog=2, unannounced=1, held=2), UP_TO_NAMES)
    yield make_scope(credit_receiver.Config(3, 0, 1), Cap(backlog=1, unannounced=1, held=1), UP_TO_NAMES)
