"""Cases for the gate: queues that run empty and fill again, endings in the middle, and what must not follow them."""

from collections.abc import Iterator
from functools import partial
from random import Random

from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection, up_to_numbers
from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Aim, Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import COUNTS, among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.gate.gate import SYMMETRY, Arrive, Config, Event, Item, Poll, State, is_finished, start, step


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random, poll=5, data=5, burst=0.6, drain=0.5, end_of_data=0.5, end_of_partition=0.3, finish=0.06, refused=0.3,
        crowd=0.1,
    )  # fmt: skip
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    for _ in walk.up_to_end(is_finished, 1, 3):
        walk.play(draw_events(*draw_kind(), walk.state))
    return config, walk.events


def draw_config(random: Random) -> Config:
    own = stream(random, "channels")
    return Config(own.choice((1, 1, 2, 2, 2, 3, 3, 3, 4, 5, 8, 20, own.choice((9, 17, 33, 65)))))


def draw_events(random: Random, kind: str, state: State) -> list[Event]:
    channels = range(state.config.channels)
    open_channels = [index for index in channels if not state.channels[index].ended]
    if kind == "refused":
        return [draw_refused(random, state)]
    if kind == "drain":
        # To the last item, or up to it, or beyond it.
        waiting = sum(len(state.channels[index].waiting) for index in channels)
        return [Poll()] * max(1, waiting + random.choice((-1, 0, 1, 2)))
    if kind == "finish" and not is_finished(state):
        return draw_finish(random, state, open_channels)
    if not open_channels or (kind == "poll" and (state.queue or random.random() < 0.3)):
        return [Poll()]
    index = draw_channel(random, state, open_channels)
    if kind == "crowd":
        # All channels at once, and one with much more than the others.
        everybody = random.sample(open_channels, len(open_channels)) + [index] * random.choice((1, 3, 12))
        return [Arrive(one, Item.DATA) for one in everybody]
    if kind == "burst":
        items = random.choices((Item.DATA, Item.DATA, Item.DATA, Item.END_OF_DATA), k=random.randint(2, 5))
        return [Arrive(index, item) for item in items]
    if kind == "end_of_data":
        not_yet = [one for one in open_channels if not state.channels[one].data_ended]
        return [Arrive(random.choice(not_yet), Item.END_OF_DATA)] if not_yet else [Poll()]
    if kind == "end_of_partition":
        # Items after it are refused, whether or not the end was polled.
        behind = [Arrive(index, random.choice(list(Item)))] if random.random() < 0.3 else []
        return [Arrive(index, Item.END_OF_PARTITION), *behind]
    return [Arrive(index, Item.DATA)]


def draw_channel(random: Random, state: State, open_channels: list[int]) -> int:
    """At times the next in the queue, or one outside the queue; mostly any."""
    queued = [index for index in state.queue if index in open_channels]
    silent = [index for index in open_channels if index not in queued]
    style = random.random()
    if style < 0.15 and queued:
        return queued[0]
    if style < 0.4 and silent:
        return random.choice(silent)
    return random.choice(open_channels)


def draw_finish(random: Random, state: State, open_channels: list[int]) -> list[Event]:
    """Every open channel ends, with end of data before it or not; then all is polled, and once more."""
    random.shuffle(open_channels)
    endings: list[Event] = []
    for index in open_channels:
        if not state.channels[index].data_ended and random.random() < 0.6:
            endings.append(Arrive(index, Item.END_OF_DATA))
        endings.append(Arrive(index, Item.END_OF_PARTITION))
    waiting = sum(len(channel.waiting) for channel in state.channels)
    return [*endings, *[Poll()] * (waiting + len(endings) + random.choice((-1, 0, 1, 2)))]


def draw_refused(random: Random, state: State) -> Arrive:
    """No such channel; or, where there is one, a channel that has ended, or a second end of data."""
    item = random.choice(list(Item))
    ended = [index for index, channel in enumerate(state.channels) if channel.ended]
    data_ended = [index for index, channel in enumerate(state.channels) if channel.data_ended]
    style = random.random()
    if style < 0.45 and ended:
        return Arrive(random.choice(ended), item)
    if style < 0.75 and data_ended:
        return Arrive(random.choice(data_ended), Item.END_OF_DATA)
    return Arrive(random.choice((-1, state.config.channels, state.config.channels + 5)), item)


def draw_busy(random: Random) -> tuple[Config, tuple[Event, ...]]:
    """No channel ends, for more items than a byte counts."""
    config = Config(random.choice((2, 3)))
    arrivals = [Arrive(random.randrange(config.channels), Item.DATA) for _ in range(300)]
    return config, tuple(event for arrival in arrivals for event in (arrival, Poll()))


def draw_all_end(random: Random, channels: int) -> tuple[Config, tuple[Event, ...]]:
    """All of many channels end, everything is read, and nothing more is accepted."""
    order = random.sample(range(channels), channels)
    data, ends, over = ([Arrive(one, item) for one in order] for item in Item)
    late = [Arrive(random.choice((order[0], order[-1])), random.choice(list(Item))) for _ in range(12)]
    polls = [Poll()] * (3 * channels)
    return Config(channels), (*data, *ends, *ends[-12:], *over, *late, *polls, *late[-2:], Poll())


ONCE: tuple[Aim, ...] = (draw_busy, *(partial(draw_all_end, channels=channels) for channels in (10, *COUNTS)))


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


UP_TO_NAMES = up_to_numbers(SYMMETRY)


def make_scope(channels: int, most_waiting: int, selection: Selection = EACH_CLASS) -> Scope:
    events: tuple[Event, ...] = (
        *(Arrive(channel, item) for channel in range(channels) for item in Item),
        Poll(),
        Arrive(channels, Item.DATA),
        Arrive(-1, Item.END_OF_PARTITION),
    )

    def expand(state: State) -> bool:
        return all(len(channel.waiting) <= most_waiting for channel in state.channels)

    return Scope(
        name=f"{channels}x{most_waiting}",
        component="gate",
        configs=(Config(channels),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(channels, 'channel')}; data, end of data and end of partition on each, polls; refused: "
            "what comes after an end, and on channels out of range"
        ),
        cap=f"at most {counted(most_waiting, 'item')} waiting in a channel",
        expand=expand,
        selection=selection,
        symmetric=True,
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 3, EACH_STATE)
    yield make_scope(2, 2, EACH_STATE)
    yield make_scope(3, 1, UP_TO_NAMES)


def thorough() -> Iterator[Scope]:
    yield make_scope(1, 4, EACH_STATE)
    yield make_scope(2, 3)
    yield make_scope(3, 1)
    yield make_scope(3, 2, UP_TO_NAMES)
