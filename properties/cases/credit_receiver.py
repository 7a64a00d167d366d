"""Cases for the credit receiver: floating buffers that run out, channels that wait for them, backlogs up and down."""

from collections.abc import Iterator
from functools import partial
from random import Random

import attrs

from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection, up_to_numbers
from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Aim, Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import COUNTS, among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.credit import credit_receiver
from tidegate.reference.credit.buffers import compute_available


def draw(
    random: Random, config: credit_receiver.Config | None = None
) -> tuple[credit_receiver.Config, tuple[credit_receiver.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random,
        data=5,
        recycle=4,
        backlog=2,
        announce=2,
        event=1,
        barrier=0.6,
        resume=0.5,
        contend=0.6,
        drain=0.5,
        fall=0.5,
        exact=0.5,
        refused=0.6,
    )
    if config.extension == credit_receiver.FAILURES:
        weights |= {"fail": 0.5, "release": 0.2}
    highest = random.choice((0, 1, 2, 3, config.floating + 1, 10, random.choice((10, 300, 70_000))))
    draw_kind = among(random, weights)
    walk = Walk(random, credit_receiver.start(config), credit_receiver.step)
    for _ in walk.up_to_length():
        walk.play(draw_events(*draw_kind(), walk.state, highest))
    return config, walk.events


def draw_config(random: Random) -> credit_receiver.Config:
    channels, exclusive, floating = (stream(random, name) for name in ("channels", "exclusive", "floating"))
    config = credit_receiver.Config(
        channels=channels.choice((1, 1, 2, 2, 2, 3, 3, 4, 5)),
        exclusive=exclusive.choice((0, 0, 0, 1, 1, 2, 2, 3)),
        floating=floating.choice((1, 1, 1, 2, 2, 3, 4, 5, 8)),
    )
    if channels.random() < 0.02:
        config = credit_receiver.Config(
            channels.choice((2, 9, 33)), exclusive.choice((0, 2, 10)), floating.choice((1, 20, 300))
        )
    if stream(random, "extension").random() < 0.15:
        config = attrs.evolve(config, extension=credit_receiver.FAILURES)
    return config


def draw_events(random: Random, kind: str, state: credit_receiver.State, highest: int) -> list[credit_receiver.Event]:
    index = draw_channel(random, kind, state)
    channel = state.gate.channels[index]
    backlog = draw_backlog(random, state, index, highest)
    match kind:
        case "refused":
            # It must change nothing, which shows when buffers are recycled.
            return [
                draw_refused(random, state, backlog),
                *([credit_receiver.Recycle(index)] * min(2, len(channel.held))),
            ]
        case "data" if compute_available(channel):
            return [credit_receiver.Data(index, backlog)]
        case "fail":
            return [credit_receiver.Fail(index)]
        case "release":
            # At times all its credit is announced before, and all its buffers are recycled after.
            announced = [credit_receiver.Announce(index)] * random.choice((0, 1))
            back = [credit_receiver.Recycle(index)] * random.choice((0, len(channel.held)))
            return [*announced, credit_receiver.Release(index), *back]
        case "event":
            return [credit_receiver.PlainEvent(index, backlog)]
        case "recycle" if channel.held:
            return [credit_receiver.Recycle(index)]
        case "announce":
            return [credit_receiver.Announce(index)]
        case "barrier":
            return [credit_receiver.Barrier(index)]
        case "resume":
            # With its barrier, or without.
            return (
                [credit_receiver.Barrier(index), credit_receiver.Resume(index)]
                if random.random() < 0.3
                else [credit_receiver.Resume(index)]
            )
        case "contend":
            # All channels need more than there is: the queue of waiting channels.
            order = random.sample(range(state.config.channels), state.config.channels)
            return [credit_receiver.Backlog(one, state.config.floating + random.randint(0, 2)) for one in order]
        case "drain" if channel.held:
            return [credit_receiver.Recycle(index)] * (len(channel.held) + random.choice((-1, 0, 0)))
        case "fall":
            # The backlog falls to 0 while the channel holds floating buffers, and an exclusive one is recycled.
            return [
                credit_receiver.PlainEvent(index, 0),
                *([credit_receiver.Recycle(index)] if channel.held else [credit_receiver.Announce(index)]),
            ]
        case "exact":
            # The required number is the available one, or one more or less; then a buffer is recycled.
            enough = compute_available(channel) - state.config.exclusive + random.choice((-1, 0, 1, 1))
            return [
                credit_receiver.PlainEvent(index, max(0, enough)),
                *([credit_receiver.Recycle(index)] if channel.held else []),
            ]
        case _:
            return [credit_receiver.Backlog(index, max(1, backlog))]


def draw_channel(random: Random, kind: str, state: credit_receiver.State) -> int:
    """Mostly one that accepts the event; at times the first waiting one, or one that waits with enough buffers."""
    channels = list(enumerate(state.gate.channels))
    fitting = [index for index, channel in channels if kind != "data" or compute_available(channel)]
    if kind in ("recycle", "drain", "release"):
        fitting = [index for index, channel in channels if channel.held]
    if kind == "announce" and random.random() < 0.8:
        fitting = [index for index, channel in channels if channel.unannounced]
    waiting = [index for index in state.gate.waiting if index in fitting]
    if waiting and random.random() < 0.25:
        return waiting[0]
    return random.choice(fitting or range(len(channels)))


def draw_backlog(random: Random, state: credit_receiver.State, index: int, highest: int) -> int:
    """Around the number that uses all free buffers, or all of the channel; or anything up to the maximum."""
    if random.random() < 0.3:
        lacking = state.gate.free + compute_available(state.gate.channels[index]) - state.config.exclusive
        return max(0, lacking + random.choice((-1, 0, 1)))
    return random.randint(0, highest)


def draw_refused(random: Random, state: credit_receiver.State, backlog: int) -> credit_receiver.Event:
    """No such channel, data without a buffer, nothing to recycle, or an invalid backlog."""
    everywhere = range(state.config.channels)
    empty = [index for index in everywhere if not compute_available(state.gate.channels[index])]
    idle = [index for index in everywhere if not state.gate.channels[index].held]
    style = random.random()
    if style < 0.3 and empty:
        return credit_receiver.Data(random.choice(empty), backlog)
    if style < 0.5 and idle:
        return credit_receiver.Recycle(random.choice(idle))
    index = random.choice(everywhere)
    if style < 0.7:
        return random.choice(
            (
                credit_receiver.Data(index, -1),
                credit_receiver.PlainEvent(index, -1),
                credit_receiver.Backlog(index, 0),
                credit_receiver.Backlog(index, -1),
            )
        )
    nowhere = random.choice((-1, state.config.channels, state.config.channels + 3))
    kinds = (
        credit_receiver.Recycle(nowhere),
        credit_receiver.Announce(nowhere),
        credit_receiver.Barrier(nowhere),
        credit_receiver.Resume(nowhere),
        credit_receiver.Data(nowhere, 0),
    )
    return random.choice((*kinds, credit_receiver.PlainEvent(nowhere, 0), credit_receiver.Backlog(nowhere, 1)))


def draw_far(_random: Random) -> tuple[credit_receiver.Config, tuple[credit_receiver.Event, ...]]:
    """More waiting and requested buffers than two bytes count."""
    backlog = 2**16 + 3
    return credit_receiver.Config(1, 2, backlog + 6), (
        credit_receiver.Backlog(0, backlog),
        credit_receiver.Announce(0),
        credit_receiver.Data(0, backlog),
        credit_receiver.Recycle(0),
        credit_receiver.Announce(0),
    )


def draw_last(random: Random, channels: int) -> tuple[credit_receiver.Config, tuple[credit_receiver.Event, ...]]:
    """Every event, on the last of many channels."""
    last = channels - 1
    kinds: tuple[credit_receiver.Event, ...] = (
        credit_receiver.Backlog(last, 3),
        credit_receiver.Announce(last),
        credit_receiver.Data(last, 3),
        credit_receiver.Recycle(last),
        credit_receiver.PlainEvent(last, 1),
        credit_receiver.Announce(last),
        credit_receiver.Barrier(last),
        credit_receiver.Resume(last),
    )
    return credit_receiver.Config(channels, random.choice((0, 2)), 5), kinds * 2


def draw_released(random: Random) -> tuple[credit_receiver.Config, tuple[credit_receiver.Event, ...]]:
    """Channels are released when all their credit is announced; then their buffers are recycled."""
    config = credit_receiver.Config(
        random.choice((1, 2, 3)), random.choice((1, 2, 3)), random.choice((1, 4)), credit_receiver.FAILURES
    )
    walk = Walk(random, credit_receiver.start(config), credit_receiver.step)
    for index in random.sample(range(config.channels), config.channels):
        held = random.randint(1, config.exclusive)
        walk.play([credit_receiver.Data(index, random.choice((0, 2)))] * held)
        walk.play([credit_receiver.Announce(index), credit_receiver.Release(index)])
        walk.play([*[credit_receiver.Recycle(index)] * held, credit_receiver.Announce(index)])
    return config, walk.events


ONCE: tuple[Aim, ...] = (
    draw_far,
    *(partial(draw_last, channels=channels) for channels in (*COUNTS, 257)),
    *[draw_released] * 2,
)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


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
    """Every event on every channel, and those that every state must refuse."""
    return (
        *(event for channel in range(channels) for event in events_on(channel, most_backlog)),
        credit_receiver.Data(0, -1),
        credit_receiver.PlainEvent(0, -1),
        credit_receiver.Backlog(0, 0),
        credit_receiver.Data(channels, 0),
        credit_receiver.Announce(-1),
    )


def make_lean_alphabet(config: credit_receiver.Config, most_backlog: int) -> tuple[credit_receiver.Event, ...]:
    """The same without events that every state must refuse, and without weaker variants of other events.

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
    """The cap of a channel."""

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
    """Starts with the first channel reading the floating buffer, and follows that buffer."""

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
