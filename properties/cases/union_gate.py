"""Cases for the union: members that run empty and fill again, endings with and without drain, finished members."""

from collections.abc import Iterator
from functools import partial
from random import Random

from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import COUNTS, among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.gate import gate
from tidegate.reference.gate.gate import Poll
from tidegate.reference.gate.union_gate import Arrive, Config, Event, Item, State, start, step


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random, poll=5, data=5, burst=0.6, end_of_data=0.8, end_of_partition=0.4, drain=0.5, finish=0.15, all_end=0.1
    )
    weights["refused"] = pick(random, "share of refused", (0, 0, 0.3))
    stops = random.choice((0, 0.1, 0.5))
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    for _ in walk.up_to_length():
        walk.play(draw_events(*draw_kind(), walk.state, stops))
    return config, walk.events


def draw_config(random: Random) -> Config:
    own = stream(random, "members")
    return Config(tuple(own.choice((1, 1, 2, 3)) for _ in range(own.choice((2, 2, 2, 3, 4)))))


def draw_events(random: Random, kind: str, state: State, stops: float) -> list[Event]:
    places = [(member, channel) for member, count in enumerate(state.config.members) for channel in range(count)]
    unfinished = [place for place in places if not channel_at(state, *place).ended]
    if kind == "refused":
        return [draw_refused(random, state)]
    if kind == "drain":
        return [Poll()] * random.randint(2, 6)
    if kind == "poll" or not unfinished:
        return [Poll()]
    ending = Item.STOP if random.random() < stops else Item.END_OF_DATA
    if kind == "finish":
        # One member, or all that is left.
        only = random.choice(unfinished)[0]
        chosen = [place for place in unfinished if place[0] == only or random.random() < 0.3]
        return [Arrive(*place, Item.END_OF_PARTITION) for place in chosen]
    if kind == "all_end" and len(places) <= COUNTS[-2]:
        # To the end of all data, or of everything, or almost; and everything is read.
        endings: list[Event] = [Arrive(*place, ending) for place in places if not channel_at(state, *place).data_ended]
        if random.random() < 0.6:
            endings += [Arrive(*place, Item.END_OF_PARTITION) for place in unfinished]
        return [*endings[: len(endings) - random.choice((0, 0, 0, 1))], *[Poll()] * (len(endings) + 1)]
    if kind == "end_of_data":
        more = [place for place in unfinished if not channel_at(state, *place).data_ended]
        return [Arrive(*random.choice(more), ending)] if more else [Poll()]
    place = random.choice(unfinished)
    if kind == "end_of_partition":
        return [Arrive(*place, Item.END_OF_PARTITION)]
    return [Arrive(*place, Item.DATA)] * (random.randint(2, 4) if kind == "burst" else 1)


def channel_at(state: State, member: int, channel: int) -> gate.Channel:
    return state.members[member].gate.channels[channel]


def draw_refused(random: Random, state: State) -> Arrive:
    """No such member or channel; or a channel that has ended, or whose data has ended."""
    members = len(state.config.members)
    item = random.choice(list(Item))
    if random.random() < 0.4:
        return Arrive(random.choice((-1, members)), 0, item)
    member = random.randrange(members)
    over = [index for index, channel in enumerate(state.members[member].gate.channels) if channel.ended]
    return Arrive(member, random.choice(over or [-1, state.config.members[member]]), item)


def draw_all_end(random: Random, members: tuple[int, ...]) -> tuple[Config, tuple[Event, ...]]:
    """Every one of many channels ends, the last one at times without a drain, and all is read."""
    places = [(member, channel) for member, count in enumerate(members) for channel in range(count)]
    last = random.choice((Item.STOP, Item.STOP, Item.END_OF_DATA))
    endings = [Arrive(*place, Item.END_OF_DATA if place != places[-1] else last) for place in places]
    ends = [Arrive(*place, Item.END_OF_PARTITION) for place in places]
    if random.random() < 0.5:
        random.shuffle(ends)
    polls = [Poll()] * len(places)
    again = endings[-12:]
    return Config(members), (*endings, *again, *polls, *ends[:-1], *polls, ends[-1], Poll(), Poll(), *ends[:12], Poll())


ONCE = tuple(
    partial(draw_all_end, members=members)
    for count in COUNTS
    for members in ((1,) * count, *[(1,) * count] * (count < COUNTS[-1]), (1, count))
)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(members: tuple[int, ...], most_waiting: int, items: tuple[Item, ...] = tuple(Item)) -> Scope:
    places = [(member, channel) for member, channels in enumerate(members) for channel in range(channels)]
    events: tuple[Event, ...] = (
        *(Arrive(member, channel, item) for member, channel in places for item in items),
        Poll(),
        Arrive(len(members), 0, Item.DATA),
        Arrive(-1, 0, Item.DATA),
        Arrive(0, members[0], Item.DATA),
    )

    def expand(state: State) -> bool:
        return all(len(channel.waiting) <= most_waiting for member in state.members for channel in member.gate.channels)

    return Scope(
        name=f"{'+'.join(map(str, members))}x{most_waiting}" + ("" if items == tuple(Item) else "-" + "-".join(items)),
        component="union_gate",
        configs=(Config(members),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"members of {' and '.join(map(str, members))} channels; {', '.join(items)} on each, polls; refused: what "
            "comes after an end, members and channels out of range"
        ),
        cap=f"at most {most_waiting} waiting in a channel",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope((1, 1), 1)
    yield make_scope((1, 2), 1, (Item.DATA,))


def thorough() -> Iterator[Scope]:
    yield make_scope((1, 1), 2)
    yield make_scope((2, 1), 1, (Item.DATA, Item.END_OF_PARTITION))
    yield make_scope((1, 1, 1), 1, (Item.DATA, Item.END_OF_DATA))
