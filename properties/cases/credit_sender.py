"""Cases for the credit sender: a queue that ends in data or an event, credit that runs out, barriers, a full network.

Engines differ most at the edges: after the end of the partition, where most events are refused; and while the
connection is full, where a reader is queued and cannot send, with or without credit.
"""

from collections.abc import Iterator
from random import Random

import attrs

from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection
from tidegate.properties.drawing.boundaries import FAR
from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.credit import credit_sender
from tidegate.reference.subpartition.queue import count_data
from tidegate.reference.subpartition.values import Finish, Flush, Resume

PLAIN: dict[str, credit_sender.Event] = {
    "data": credit_sender.Data(),
    "event": credit_sender.PlainEvent(),
    "barrier": credit_sender.Barrier(),
    "flush": Flush(),
}
ADDED: tuple[credit_sender.Event, ...] = (
    credit_sender.Data(),
    credit_sender.PlainEvent(),
    credit_sender.Barrier(),
    Finish(),
)

#: In a few cases so much is sent that numbers exceed a byte.
FLOODS, FLOOD_SHARE = (70, 140, 270), 0.015


def draw(
    random: Random, config: credit_sender.Config | None = None
) -> tuple[credit_sender.Config, tuple[credit_sender.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random,
        data=5,
        event=1.5,
        barrier=0.8,
        flush=2,
        credit=2.5,
        resume=1,
        writable=1.2,
        burst=0.6,
        lone=0.5,
        checkpoint=0.4,
        congestion=0.6,
        finish=0.08,
        refused=0.5,
    )
    draw_kind = among(random, weights)
    walk = Walk(random, credit_sender.start(config), credit_sender.step)
    if random.random() < FLOOD_SHARE:
        walk.play(draw_flood(random))
        walk.length += walk.played
    for _ in walk.up_to_length():
        if walk.state.reader.subpartition.finished:
            break
        walk.play(draw_events(*draw_kind(), walk.state))
    if not walk.state.reader.subpartition.finished and random.random() < 0.35:
        walk.play(random.choice(([Finish()], draw_congestion(random, walk.state, Finish()))))
    if walk.state.reader.subpartition.finished:
        for _ in range(random.choice((1, 2, 3, 4, 6, 8, 8, 30))):
            walk.play_one(draw_behind_the_end(random, walk.state))
    return config, walk.events


def draw_config(random: Random) -> credit_sender.Config:
    return credit_sender.Config(stream(random, "initial_credit").choice((0, 0, 0, 0, 1, 1, 2, 2, 3, 5, 10**9)))


def draw_events(random: Random, kind: str, state: credit_sender.State) -> list[credit_sender.Event]:
    subpartition = state.reader.subpartition
    if kind == "refused":
        # It must change nothing, which shows in the next events.
        return [
            draw_refused(random, state),
            random.choice(
                (credit_sender.Data(), credit_sender.Data(), credit_sender.PlainEvent(), credit_sender.Credit(1))
            ),
        ]
    if kind == "writable":
        # A repeated value at times; mostly a change.
        return [credit_sender.Writable(state.writable if random.random() < 0.15 else not state.writable)]
    if kind == "resume":
        # Before the barrier was sent it is refused, and must leave the credit alone.
        return [Resume()] if subpartition.blocked or random.random() < 0.1 else [credit_sender.Credit(1)]
    if kind == "credit":
        return [draw_credit(random, state)]
    if kind == "finish":
        return [Finish()]
    if kind == "lone":
        # A flush that finds exactly one item, and the next one.
        return [
            *([] if subpartition.items else [credit_sender.Data()]),
            Flush(),
            random.choice((credit_sender.Data(), credit_sender.PlainEvent(), credit_sender.Credit(1))),
        ]
    if kind == "checkpoint":
        between = random.choices(
            (
                credit_sender.Data(),
                Flush(),
                credit_sender.PlainEvent(),
                credit_sender.Credit(2),
                credit_sender.Barrier(),
            ),
            k=random.randint(0, 3),
        )
        return [credit_sender.Barrier(), *between, Resume()]
    if kind == "congestion":
        return draw_congestion(random, state, credit_sender.Writable(value=True))
    if kind == "burst":
        return random.choices(
            (credit_sender.Data(), credit_sender.Data(), credit_sender.Data(), credit_sender.PlainEvent()),
            k=random.randint(2, 5),
        )
    return [PLAIN[kind]]


def draw_flood(random: Random) -> list[credit_sender.Event]:
    """Much data: sent at once with the available credit, or queued until there is credit for all of it."""
    count = random.choice(FLOODS)
    data: list[credit_sender.Event] = [credit_sender.Data()] * count
    return [credit_sender.Credit(count), *data] if random.random() < 0.5 else [*data, credit_sender.Credit(count)]


def draw_congestion(random: Random, state: credit_sender.State, last: credit_sender.Event) -> list[credit_sender.Event]:
    """All that can happen to a reader while nothing is sent; one that has an event first is in line without credit."""
    first = random.choice(
        (credit_sender.PlainEvent(), credit_sender.PlainEvent(), credit_sender.Barrier(), credit_sender.Data())
    )
    more = random.choices(
        (
            credit_sender.Data(),
            credit_sender.Data(),
            credit_sender.PlainEvent(),
            Flush(),
            credit_sender.Credit(1),
        ),
        k=random.randint(1, 4),
    )
    balance = draw_balance(state) if random.random() < 0.6 else []
    return [*balance, credit_sender.Writable(value=False), first, *more, last]


def draw_balance(state: credit_sender.State) -> list[credit_sender.Event]:
    """Events that use up credit and data, if there is not too much."""
    lacking = count_data(state.reader.subpartition) - state.reader.credit
    return [credit_sender.Credit(lacking)] if lacking > 0 else [credit_sender.Data()] * -max(lacking, -5)


def draw_credit(random: Random, state: credit_sender.State) -> credit_sender.Event:
    """One, just enough, one too few, plenty."""
    waiting = len(state.reader.subpartition.items)
    return credit_sender.Credit(
        max(1, random.choice((1, 1, 1, 2, 3, waiting - 1, waiting, waiting + 1, 8, 300, FAR, 2 * FAR)))
    )


def draw_behind_the_end(random: Random, state: credit_sender.State) -> credit_sender.Event:
    """Events after the end, refused or not: the rest of the queue is still sent."""
    style = random.random()
    if style < 0.45:
        return random.choice(ADDED)
    if style < 0.75:
        return draw_credit(random, state)
    return random.choice((Flush(), Resume(), credit_sender.Writable(not state.writable)))


def draw_refused(random: Random, state: credit_sender.State) -> credit_sender.Event:
    """Credit of 0 or less, or a resume without a blocked reader."""
    if not state.reader.subpartition.blocked and random.random() < 0.6:
        return Resume()
    return credit_sender.Credit(random.choice((0, -1, -(2**31))))


def draw_far(_random: Random) -> tuple[credit_sender.Config, tuple[credit_sender.Event, ...]]:
    """So much is sent that sequence numbers exceed two bytes."""
    return credit_sender.Config(4 * FAR), (credit_sender.Data(),) * (2 * FAR + 3)


def draw_announced(_random: Random) -> tuple[credit_sender.Config, tuple[credit_sender.Event, ...]]:
    """More items wait without credit than a byte counts."""
    data: tuple[credit_sender.Event, ...] = (credit_sender.Data(),)
    rounds = [(credit_sender.Barrier(), *data * count, Resume()) for count in (128, 127, 1, 1)]
    return credit_sender.Config(0), (*sum(rounds, ()), Flush(), Finish(), credit_sender.Credit(4 * FAR))


ONCE = (draw_announced, draw_far)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


EVENTS: tuple[credit_sender.Event, ...] = (
    credit_sender.Data(),
    credit_sender.PlainEvent(),
    credit_sender.Barrier(),
    Flush(),
    credit_sender.Credit(1),
    credit_sender.Credit(2),
    credit_sender.Credit(0),
    credit_sender.Credit(-1),
    Resume(),
    credit_sender.Writable(value=False),
    credit_sender.Writable(value=True),
    Finish(),
)


def alphabet(_config: credit_sender.Config, _state: credit_sender.State) -> tuple[credit_sender.Event, ...]:
    return EVENTS


def number_from_zero(state: credit_sender.State) -> credit_sender.State:
    if state.reader.subpartition.sequence == 0:
        return state
    subpartition = attrs.evolve(state.reader.subpartition, sequence=0)
    return attrs.evolve(state, reader=attrs.evolve(state.reader, subpartition=subpartition))


def make_scope(
    initial: tuple[int, ...], most_queued: int, most_credit: int, selection: Selection = EACH_CLASS
) -> Scope:
    def expand(state: credit_sender.State) -> bool:
        return len(state.reader.subpartition.items) <= most_queued and state.reader.credit <= most_credit

    return Scope(
        name=f"queue-{most_queued}-credit-{most_credit}",
        component="credit_sender",
        configs=tuple(credit_sender.Config(credit) for credit in initial),
        alphabet=alphabet,
        covers=(
            f"initial credit {', '.join(map(str, initial))}; data, events, barriers, flush, finish, credit 1 and 2, "
            "resume, writable or not; refused: credit 0 and -1, resume while not blocked, what is added after the end. "
            "States that differ only in the next sequence number count as equal"
        ),
        cap=f"at most {most_queued} items queued and {most_credit} credit",
        expand=expand,
        canonical=number_from_zero,
        selection=selection,
    )


def small() -> Iterator[Scope]:
    yield make_scope((0, 1, 2), most_queued=2, most_credit=2)


def thorough() -> Iterator[Scope]:
    yield make_scope((0, 1, 2), most_queued=3, most_credit=3, selection=EACH_STATE)
