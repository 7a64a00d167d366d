"""Cases for the credit sender: a queue that ends in data or an event, credit that runs out, barriers, a full line."""

from random import Random

from properties.strategies.values import draw_length, swarm
from reference.credit.sender import (
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

PLAIN: dict[str, Event] = {"data": Data(), "event": PlainEvent(), "barrier": Barrier(), "flush": Flush()}


def draw(random: Random) -> tuple[Config, tuple[Event, ...]]:
    config = Config(random.choice((0, 0, 0, 0, 1, 1, 2, 2, 3, 5, 2**31 - 1)))
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
        finish=0.08,
        refused=0.3,
    )
    kinds, shares = list(weights), list(weights.values())
    (state,) = start(config)
    events: list[Event] = []
    length = draw_length(random)
    while len(events) < length:
        for event in draw_events(random, random.choices(kinds, shares)[0], state):
            events.append(event)
            state = step(state, event)[0].state
        if state.reader.subpartition.finished and random.random() < 0.15:
            break
    return config, tuple(events)


def draw_events(random: Random, kind: str, state: State) -> list[Event]:
    subpartition = state.reader.subpartition
    if kind == "refused":
        return [draw_refused(random, state)]
    if kind == "writable":
        # A repeated value at times; mostly a change.
        return [Writable(state.writable if random.random() < 0.15 else not state.writable)]
    if kind == "resume":
        # Before the barrier was sent it is refused, and must leave the credit alone.
        return [Resume()] if subpartition.blocked or random.random() < 0.1 else [Credit(1)]
    if kind == "credit" or subpartition.finished:
        return [draw_tail(random, state)]
    if kind == "finish":
        return [Finish()]
    if kind == "lone":
        # A flush that finds exactly one item, and what comes behind it.
        return [*([] if subpartition.queue else [Data()]), Flush(), random.choice((Data(), PlainEvent(), Credit(1)))]
    if kind == "checkpoint":
        between = random.choices((Data(), Flush(), PlainEvent(), Credit(2), Barrier()), k=random.randint(0, 3))
        return [Barrier(), *between, Resume()]
    if kind == "burst":
        return random.choices((Data(), Data(), Data(), PlainEvent()), k=random.randint(2, 5))
    return [PLAIN[kind]]


def draw_tail(random: Random, state: State) -> Event:
    """What may still come when the subpartition is finished; mostly credit: one, just enough, one too few, plenty."""
    if state.reader.subpartition.finished and random.random() < 0.4:
        return random.choice((Flush(), Resume(), Writable(not state.writable)))
    waiting = len(state.reader.subpartition.queue)
    return Credit(max(1, random.choice((1, 1, 1, 2, 3, waiting - 1, waiting, waiting + 1, 8))))


def draw_refused(random: Random, state: State) -> Event:
    """No credit at all, a resume that nobody waits for, or something behind the end."""
    if state.reader.subpartition.finished and random.random() < 0.6:
        return random.choice((Data(), PlainEvent(), Barrier(), Finish()))
    if not state.reader.subpartition.blocked and random.random() < 0.6:
        return Resume()
    return Credit(random.choice((0, -1, -(2**31))))
