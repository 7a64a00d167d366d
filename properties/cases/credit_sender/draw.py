"""Cases for the credit sender: a queue that ends in data or an event, credit that runs out, barriers, a full line.

Readers differ most at the edges: behind the end of the partition, where most events are refused and the others go on;
and while the connection is full, where a reader stands in line and cannot send, with credit or without.
"""

from random import Random

from tidegate.properties.cases.values import among, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.credit.credit_sender import (
    Barrier,
    Config,
    Credit,
    Data,
    Event,
    Finish,
    Flush,
    PlainEvent,
    Resume,
    State,
    Writable,
    start,
    step,
)
from tidegate.reference.credit.subpartitions import Item

PLAIN: dict[str, Event] = {"data": Data(), "event": PlainEvent(), "barrier": Barrier(), "flush": Flush()}
ADDED: tuple[Event, ...] = (Data(), PlainEvent(), Barrier(), Finish())

#: In few cases so much is sent that numbers outgrow a byte.
FLOODS, FLOOD_SHARE = (70, 140, 270), 0.015


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
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
    walk = Walk(random, start(config), step)
    if random.random() < FLOOD_SHARE:
        walk.play(draw_flood(random))
        walk.length += walk.played
    for _ in walk.up_to_length():
        if walk.state.reader.subpartition.finished:
            break
        walk.play(draw_events(random, draw_kind(), walk.state))
    if not walk.state.reader.subpartition.finished and random.random() < 0.35:
        walk.play(random.choice(([Finish()], draw_congestion(random, walk.state, Finish()))))
    if walk.state.reader.subpartition.finished:
        for _ in range(random.randint(1, 8)):
            walk.play_one(draw_behind_the_end(random, walk.state))
    return config, walk.events


def draw_config(random: Random) -> Config:
    return Config(random.choice((0, 0, 0, 0, 1, 1, 2, 2, 3, 5, 10**9)))


def draw_events(random: Random, kind: str, state: State) -> list[Event]:
    subpartition = state.reader.subpartition
    if kind == "refused":
        # It must change nothing, which shows in what comes next.
        return [draw_refused(random, state), random.choice((Data(), Data(), PlainEvent(), Credit(1)))]
    if kind == "writable":
        # A repeated value at times; mostly a change.
        return [Writable(state.writable if random.random() < 0.15 else not state.writable)]
    if kind == "resume":
        # Before the barrier was sent it is refused, and must leave the credit alone.
        return [Resume()] if subpartition.blocked or random.random() < 0.1 else [Credit(1)]
    if kind == "credit":
        return [draw_credit(random, state)]
    if kind == "finish":
        return [Finish()]
    if kind == "lone":
        # A flush that finds exactly one item, and what comes behind it.
        return [*([] if subpartition.queue else [Data()]), Flush(), random.choice((Data(), PlainEvent(), Credit(1)))]
    if kind == "checkpoint":
        between = random.choices((Data(), Flush(), PlainEvent(), Credit(2), Barrier()), k=random.randint(0, 3))
        return [Barrier(), *between, Resume()]
    if kind == "congestion":
        return draw_congestion(random, state, Writable(value=True))
    if kind == "burst":
        return random.choices((Data(), Data(), Data(), PlainEvent()), k=random.randint(2, 5))
    return [PLAIN[kind]]


def draw_flood(random: Random) -> list[Event]:
    """Much data: sent at once on the credit there is, or queued until there is credit for all of it."""
    count = random.choice(FLOODS)
    data: list[Event] = [Data()] * count
    return [Credit(count), *data] if random.random() < 0.5 else [*data, Credit(count)]


def draw_congestion(random: Random, state: State, last: Event) -> list[Event]:
    """All that can happen to a reader while nothing is sent; one that has an event first is in line without credit."""
    first = random.choice((PlainEvent(), PlainEvent(), Barrier(), Data()))
    more = random.choices((Data(), Data(), PlainEvent(), Flush(), Credit(1)), k=random.randint(1, 4))
    balance = draw_balance(state) if random.random() < 0.6 else []
    return [*balance, Writable(value=False), first, *more, last]


def draw_balance(state: State) -> list[Event]:
    """What leaves neither credit nor data, if that is not too much."""
    lacking = state.reader.subpartition.queue.count(Item.DATA) - state.reader.credit
    return [Credit(lacking)] if lacking > 0 else [Data()] * -max(lacking, -5)


def draw_credit(random: Random, state: State) -> Event:
    """One, just enough, one too few, plenty."""
    waiting = len(state.reader.subpartition.queue)
    return Credit(max(1, random.choice((1, 1, 1, 2, 3, waiting - 1, waiting, waiting + 1, 8, 300))))


def draw_behind_the_end(random: Random, state: State) -> Event:
    """What is refused there, and what goes on: the rest of the queue is still to be sent."""
    style = random.random()
    if style < 0.45:
        return random.choice(ADDED)
    if style < 0.75:
        return draw_credit(random, state)
    return random.choice((Flush(), Resume(), Writable(not state.writable)))


def draw_refused(random: Random, state: State) -> Event:
    """No credit at all, or a resume that nobody waits for."""
    if not state.reader.subpartition.blocked and random.random() < 0.6:
        return Resume()
    return Credit(random.choice((0, -1, -(2**31))))
