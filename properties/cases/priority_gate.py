"""Cases for the gate with priorities: items that overtake, late and empty notifications, numbers about to wrap."""

from collections.abc import Iterator
from functools import partial
from random import Random

from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Aim, Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import COUNTS, among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.gate.gate import Poll
from tidegate.reference.gate.priority_gate import values as priority_gate
from tidegate.reference.gate.priority_gate.queues import is_finished
from tidegate.reference.gate.priority_gate.step import start, step
from tidegate.reference.gate.sequence_numbers import GREATEST_INT, LEAST_INT, wrap

#: First numbers: at the start, before half the range, before the wrap-around, and after it.
FIRST = (0, 0, 0, 0, 2**30 - 2, 2**30 + 5, GREATEST_INT - 3, LEAST_INT, -3)


def draw(
    random: Random, config: priority_gate.Config | None = None
) -> tuple[priority_gate.Config, tuple[priority_gate.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random,
        poll=5,
        data=4,
        priority=1.5,
        barrier=0.8,
        end_of_data=0.4,
        end_of_partition=0.3,
        notify=0.7,
        notify_priority=0.7,
        force=0.4,
        drain=0.4,
    )
    if config.extension == priority_gate.CLOSING:
        weights |= {"close": pick(random, "share of close", (0, 0.1, 0.3)), "ask_unfinished": 0.8}
    weights["refused"] = pick(random, "share of refused", (0, 0, 0.2))
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    for _ in walk.up_to_end(is_finished, 1, 3):
        walk.play(draw_events(*draw_kind(), walk.state))
    return config, walk.events


def draw_config(random: Random) -> priority_gate.Config:
    return priority_gate.Config(
        channels=stream(random, "channels").choice((1, 2, 2, 3, 3, 4)),
        subpartitions=stream(random, "subpartitions").choice((1, 1, 1, 2, 3)),
        first=stream(random, "first").choice(FIRST),
        extension=priority_gate.CLOSING if stream(random, "extension").random() < 0.2 else None,
    )


def draw_events(random: Random, kind: str, state: priority_gate.State) -> list[priority_gate.Event]:
    index = random.randrange(state.config.channels)
    channel = state.channels[index]
    match kind:
        case "poll":
            return [Poll()]
        case "close":
            return [priority_gate.Close(), *[Poll()] * random.randint(0, 2)]
        case "ask_unfinished":
            return [priority_gate.AskUnfinished()]
        case "drain":
            return [Poll()] * random.randint(2, 6)
        case "refused":
            return [priority_gate.Arrive(random.choice((-1, state.config.channels)), priority_gate.Item.DATA)]
        case "notify":
            return [priority_gate.Notify(index)]
        case "force":
            return [priority_gate.Force(index)]
        case "notify_priority":
            near = random.choice((channel.polled, channel.expected, state.config.first, 0))
            return [priority_gate.NotifyPriority(index, wrap(near + random.choice((-1, 0, 0, 1, 2**30))))]
        case "end_of_partition":
            # On a shared channel at times all but the last, or all.
            return [priority_gate.Arrive(index, priority_gate.Item.END_OF_PARTITION)] * random.randint(
                1, state.config.subpartitions
            )
    return [priority_gate.Arrive(index, priority_gate.Item(kind))]


def draw_all_end(random: Random, channels: int) -> tuple[priority_gate.Config, tuple[priority_gate.Event, ...]]:
    """All of many channels get a priority item and end, everything is read, and nothing more is accepted."""
    config = priority_gate.Config(channels, random.choice((1, 1, 2)), random.choice(FIRST))
    order = [*random.sample(range(channels - 1), channels - 1), channels - 1]
    ends = [
        priority_gate.Arrive(one, item)
        for item in (priority_gate.Item.END_OF_DATA, priority_gate.Item.END_OF_PARTITION)
        for one in order
        for _ in range(config.subpartitions)
    ]
    urgent = [priority_gate.Arrive(one, priority_gate.Item.PRIORITY) for one in order]
    polls = [Poll()] * (len(ends) + channels)
    return config, (*urgent, *ends, *ends[-12:], *polls, Poll(), *ends[-2:], Poll())


def draw_urgent(_random: Random) -> tuple[priority_gate.Config, tuple[priority_gate.Event, ...]]:
    """More priority items on one channel than a byte counts."""
    items = [priority_gate.Arrive(0, priority_gate.Item.PRIORITY)] * 257
    data = [priority_gate.Arrive(one, priority_gate.Item.DATA) for one in (0, 1)]
    return priority_gate.Config(2, 1, 0), (*data, *items, *[Poll()] * 256, *items[:2], *[Poll()] * 6)


def draw_shared(_random: Random, subpartitions: int) -> tuple[priority_gate.Config, tuple[priority_gate.Event, ...]]:
    """More subpartitions share a channel than two bytes count, and few of them have ended."""
    kinds = (priority_gate.Item.END_OF_DATA, priority_gate.Item.END_OF_PARTITION, priority_gate.Item.DATA)
    events = [priority_gate.Arrive(0, item) for item in kinds for _ in range(3)]
    return priority_gate.Config(1, subpartitions, 0), (*events, *[Poll()] * 10)


ONCE: tuple[Aim, ...] = (
    draw_urgent,
    *(partial(draw_all_end, channels=channels) for channels in (*COUNTS, 256, 300)),
    *(partial(draw_shared, subpartitions=one) for one in (2**15, 2**16 + 1)),
)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


ITEMS = (priority_gate.Item.DATA, priority_gate.Item.PRIORITY, priority_gate.Item.BARRIER)
ENDS = (priority_gate.Item.DATA, priority_gate.Item.END_OF_DATA, priority_gate.Item.END_OF_PARTITION)

CLOSED = (priority_gate.Item.PRIORITY, priority_gate.Item.END_OF_PARTITION)


def make_scope(
    name: str, config: priority_gate.Config, items: tuple[priority_gate.Item, ...], arrived: int, *, races: bool = False
) -> Scope:
    first = config.first
    closes = config.extension == priority_gate.CLOSING
    events: list[priority_gate.Event] = [
        *((priority_gate.Close(), priority_gate.AskUnfinished()) if closes else ()),
        Poll(),
        priority_gate.Arrive(config.channels, priority_gate.Item.DATA),
        priority_gate.Arrive(-1, priority_gate.Item.DATA),
    ]
    for channel in range(config.channels):
        events += [priority_gate.Arrive(channel, item) for item in items]
        events += [priority_gate.Notify(channel)]
        events += (
            [
                priority_gate.Force(channel),
                priority_gate.NotifyPriority(channel, first),
                priority_gate.NotifyPriority(channel, first + 1),
            ]
            if races
            else []
        )

    def expand(state: priority_gate.State) -> bool:
        return sum(channel.expected - first for channel in state.channels) <= arrived

    late = f"{', late notifications, force' * races}{', closed at any time, asked who has not ended' * closes}"
    return Scope(
        name=name,
        component="priority_gate",
        configs=(config,),
        alphabet=lambda _config, _state: tuple(events),
        covers=(
            f"{counted(config.channels, 'channel')} of {counted(config.subpartitions, 'subpartition')}, numbered from "
            f"{first}; {', '.join(items)} on each, notifications for nothing{late}, polls; refused: what comes after "
            "an end, channels out of range"
        ),
        cap=f"at most {counted(arrived, 'item')} so far",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope("races", priority_gate.Config(1), ITEMS, 2, races=True)
    yield make_scope("overtaking", priority_gate.Config(2), (priority_gate.Item.DATA, priority_gate.Item.PRIORITY), 2)
    yield make_scope("ends", priority_gate.Config(1, subpartitions=2), ENDS, 3)
    yield make_scope("closing", priority_gate.Config(1, subpartitions=2, extension=priority_gate.CLOSING), CLOSED, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope("races", priority_gate.Config(1), ITEMS, 3, races=True)
    yield make_scope("overtaking", priority_gate.Config(2), ITEMS, 3)
    yield make_scope("ends", priority_gate.Config(2, subpartitions=2), ENDS, 3)
    yield make_scope("closing", priority_gate.Config(2, extension=priority_gate.CLOSING), (*CLOSED, *ITEMS[:1]), 2)
