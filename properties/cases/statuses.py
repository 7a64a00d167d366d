"""Cases for a task's statuses: the traces of the valve, with records and latency markers in between."""

from collections.abc import Iterator
from functools import partial
from random import Random

from tidegate.properties.cases import valve as valve_cases
from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.timestamps import order_preserving, small_timestamps
from tidegate.properties.drawing.values import COUNTS, among, clamp, draw_longs, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import Status
from tidegate.reference.watermarks.statuses import SEMANTICS, Config, Event, LatencyMarker, Record, start, step
from tidegate.reference.watermarks.valve import ChannelStatus, ChannelWatermark


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    config = config or draw_config(random)
    pool = draw_longs(random)
    weights = swarm(random, watermark=5, idle=3, active=2.5, record=2, marker=1, equal_status=0.3, refused=0.15)
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    if config.channels > COUNTS[3]:
        walk.play(valve_cases.leave_it_to_the_ends(random, config.channels, clamp(max(pool) + 5)))
    for _ in walk.rounds():
        own, kind = draw_kind()
        channel = own.randrange(config.channels) if own.random() < 0.97 else config.channels
        if kind == "record":
            walk.play_one(Record(channel))
        elif kind == "marker":
            walk.play_one(LatencyMarker(channel))
        else:
            walk.play(valve_cases.draw_events(own, kind, walk.state.valve, pool))
    return config, walk.events


def draw_config(random: Random) -> Config:
    return Config(
        channels=stream(random, "channels").choice((1, 1, 2, 2, 3, 4)),
        operators=stream(random, "operators").choice((1, 1, 2, 3)),
        outputs=stream(random, "outputs").choice((0, 1, 1, 2, 2, 3)),
        semantics=stream(random, "semantics").choice(SEMANTICS),
    )


def draw_last_decides(random: Random, channels: int) -> tuple[Config, tuple[Event, ...]]:
    """The last of many channels decides, as in the valve."""
    _, events = valve_cases.draw_last_decides(random, channels)
    return Config(channels, 1, 1, random.choice(SEMANTICS)), events


ONCE = tuple(partial(draw_last_decides, channels=channels) for channels in COUNTS)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(channels: int, outputs: int, timestamps: int) -> Scope:
    events: list[Event] = [Record(channels), LatencyMarker(-1)]
    for channel in range(channels):
        events += [Record(channel), LatencyMarker(channel)]
        events += [ChannelWatermark(channel, timestamp) for timestamp in small_timestamps(timestamps)]
        events += [ChannelStatus(channel, status) for status in Status]
    return Scope(
        name=f"{channels}x{outputs}x{timestamps}",
        component="statuses",
        configs=tuple(Config(channels, 2, outputs, semantics) for semantics in SEMANTICS),
        alphabet=lambda _config, _state: tuple(events),
        covers=(
            f"{counted(channels, 'channel')}, 2 operators, {counted(outputs, 'output channel')}, "
            f"{counted(timestamps, 'timestamp')}, both semantics; records, watermarks, statuses, latency markers "
            "(their channel is free); refused: channels out of range"
        ),
        concretions=order_preserving(timestamps, every=29),
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 0, 2)
    yield make_scope(2, 2, 1)


def thorough() -> Iterator[Scope]:
    yield make_scope(2, 3, 2)
    yield make_scope(3, 1, 2)
