"""Cases for the mailbox: urgent mails into half-run batches, stale handles, poison from both sides, and the end."""

from random import Random

from tidegate.properties.cases.values import among, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.mailbox.step import start, step
from tidegate.reference.mailbox.values import (
    SEMANTICS,
    Close,
    CompleteAll,
    Config,
    Drain,
    Event,
    HasMail,
    Kind,
    Life,
    Loop,
    MakeBatch,
    Put,
    Quiesce,
    Resume,
    State,
    Step,
    SuspendDefault,
    SuspendLoop,
    Take,
    TakeFromBatch,
    Thread,
)


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random,
        put=5,
        urgent=3,
        deferrable=0.7,
        burst=0.5,
        batch=1.5,
        take_from_batch=2.5,
        take=2,
        step=1.5,
        loop=1.5,
        suspend=1,
        resume=1.3,
        poison=0.4,
        drain=0.2,
        ask=0.4,
        end=0.12,
        refused=0.2,
    )
    priorities = random.choice(((0,), (0, 1), (-1, 0, 1, 2), (0, 1, 2**31 - 1)))
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    for _ in walk.up_to_length():
        if walk.state.life is Life.CLOSED or not walk.state.running:
            walk.end_soon(2, 6)
        walk.play(draw_events(random, draw_kind(), walk.state, priorities, walk.played))
    return config, walk.events


def draw_config(random: Random) -> Config:
    return Config(random.choice((SEMANTICS[0], SEMANTICS[0], SEMANTICS[1])))


def draw_events(random: Random, kind: str, state: State, priorities: tuple[int, ...], number: int) -> list[Event]:
    thread = random.choice(list(Thread))
    priority = random.choice(priorities)
    match kind:
        case "urgent":
            return [Put(number, priority, Kind.URGENT, thread)]
        case "deferrable":
            return [Put(number, priority, Kind.DEFERRABLE, thread)]
        case "burst":
            return draw_burst(random, priorities, number)
        case "batch":
            return [MakeBatch()]
        case "take_from_batch":
            return [TakeFromBatch()] * random.choice((1, 1, 1, len(state.batch), len(state.batch) + 1))
        case "take":
            return [Take(random.choice((-1, *priorities)))]
        case "step":
            return [Step()]
        case "loop":
            return [Loop()] if state.life is Life.OPEN or random.random() < 0.2 else [Step()]
        case "suspend":
            return [SuspendDefault(Thread.MAILBOX)] if state.suspension is None else [Loop()]
        case "resume":
            return draw_resume(random, state, thread)
        case "poison":
            return [random.choice((CompleteAll, SuspendLoop, SuspendLoop))(thread)]
        case "drain":
            return [Drain()]
        case "ask":
            return [HasMail()]
        case "end":
            return [random.choice((Quiesce, Quiesce, Close))(Thread.MAILBOX)]
        case "refused":
            return [draw_refused(random, state)]
        case _:
            return [Put(number, priority, Kind.NORMAL, thread)]


def draw_burst(random: Random, priorities: tuple[int, ...], number: int) -> list[Event]:
    """Normal and urgent mails of both threads in a row, with a batch begun in their midst."""
    count = random.randint(2, 5)
    mails: list[Event] = [
        Put(
            number + offset,
            random.choice(priorities),
            random.choice((Kind.NORMAL, Kind.NORMAL, Kind.URGENT)),
            random.choice(list(Thread)),
        )
        for offset in range(count)
    ]
    mails.insert(random.randint(1, count), random.choice((MakeBatch(), TakeFromBatch(), HasMail())))
    return mails


def draw_resume(random: Random, state: State, thread: Thread) -> list[Event]:
    """Mostly the present suspension, at times one that is over."""
    if not state.handles:
        return [SuspendDefault(Thread.MAILBOX)]
    present = state.suspension if state.suspension is not None else state.handles - 1
    return [Resume(random.choice((present, present, present, random.randrange(state.handles))), thread)]


def draw_refused(random: Random, state: State) -> Event:
    """From the wrong thread, with a handle that nobody has, or suspended twice."""
    choices: list[Event] = [
        SuspendDefault(Thread.OTHER),
        Quiesce(Thread.OTHER),
        Close(Thread.OTHER),
        Resume(state.handles, Thread.MAILBOX),
        Resume(-1, Thread.OTHER),
    ]
    if state.suspension is not None:
        choices += [SuspendDefault(Thread.MAILBOX)] * 3
    return random.choice(choices)
