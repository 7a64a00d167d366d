"""Cases for the life cycle of a chain: branches, chained sources, failures in every call, checkpoints at all times."""

from random import Random

from tidegate.properties.cases.values import among, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.chaining.chain_lifecycle.step import has_operator, start, step
from tidegate.reference.chaining.chain_lifecycle.values import (
    INFALLIBLE,
    Call,
    Checkpoint,
    Close,
    Config,
    Create,
    EndInput,
    Event,
    Fault,
    Finish,
    Mail,
    Open,
    Operator,
    Phase,
    State,
    Step,
)

SEMANTICS = ("flink-2.3", "flink-2.3", "flink-2.3", "flink-1.10", "flink-1.5")
FALLIBLE = tuple(call for call in Call if call not in INFALLIBLE)
#: Which calls a checkpoint step, or the end of a chain, is about to make.
CALLS = {
    Open: (Call.INIT, Call.OPEN),
    Finish: (Call.END_INPUT, Call.FINISH, Call.CLOSE),
    Close: (Call.CLOSE, Call.DISPOSE),
}


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(random, forward=5, checkpoint=3, fault=1.2, mail=2, anything=0.25, refused=0.1)
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step, length=random.choice((4, 8, 12, 16, 24, 40)))
    for _ in walk.up_to_length():
        if walk.state.closed:
            walk.end_soon(1, 4)
        walk.play_one(draw_event(random, draw_kind(), walk.state))
    return config, walk.events


def draw_config(random: Random) -> Config:
    size = random.choice((1, 2, 2, 3, 3, 4, 5, 6, 8))
    straight = random.random() < 0.4
    lingering = random.choice((0, 0.3, 1))
    parents = [None, *(index - 1 if straight else random.randrange(index) for index in range(1, size))]
    operators = [Operator(random.random() < lingering, parent) for parent in parents]
    semantics = random.choice(SEMANTICS)
    sources = random.choice((0, 0, 1, 2, 3)) if semantics == "flink-2.3" else 0
    return Config(tuple(operators), sources, sources + random.choice((0, 1, 1, 2)), semantics)


def draw_event(random: Random, kind: str, state: State) -> Event:
    if kind == "checkpoint" and state.phase >= Phase.OPEN:
        return draw_step(random, state)
    if kind == "fault":
        return draw_fault(random, state)
    if (
        kind == "mail"
        and state.phase is Phase.OPEN
        and (state.config.semantics != "flink-1.5" or random.random() < 0.1)
    ):
        return Mail(random.randrange(len(state.config.operators) + state.config.sources))
    if kind == "refused":
        return draw_refused(random, state)
    if kind == "anything":
        return random.choice((Create(), Open(), EndInput(0), Finish(drain=True), Finish(drain=False), Close(), Mail(0)))
    return draw_next(random, state)


def draw_step(random: Random, state: State) -> Checkpoint:
    """Mostly one that the semantics knows."""
    known = (Step.PREPARE, Step.SNAPSHOT, Step.COMPLETE)
    newer = state.config.semantics == "flink-2.3" or random.random() < 0.1
    return Checkpoint(random.choice((*known, Step.ABORT, Step.SUBSUME) if newer else known))


def draw_next(random: Random, state: State) -> Event:
    """What a task would do next; once in a while it gives up and closes."""
    if state.phase is Phase.PLANNED:
        return Create()
    if state.closed:
        return draw_step(random, state)
    if state.failed and state.phase is Phase.CREATED and random.random() < 0.3:
        return Open()
    if state.failed or state.phase is Phase.FINISHED or random.random() < 0.05:
        return Close() if random.random() < 0.7 else draw_step(random, state)
    if state.phase is Phase.CREATED:
        return Open()
    left = [index for index in range(state.config.inputs) if index not in state.ended]
    if left and random.random() < 0.85:
        return EndInput(random.choice(left))
    return Finish(random.random() < 0.75)


def draw_fault(random: Random, state: State) -> Fault:
    """Something that is called next, or anything; at times what fails is repaired."""
    if state.faults and random.random() < 0.3:
        operator, call = random.choice(sorted(state.faults))
        return Fault(operator, call, failing=False)
    likely = CALLS.get(type(draw_next(random, state)), (Call.COMPLETE, Call.ABORT, Call.SNAPSHOT, Call.PREPARE))
    call = random.choice(likely if random.random() < 0.7 else FALLIBLE)
    return Fault(random.randrange(len(state.config.operators) + state.config.sources), call, failing=True)


def draw_refused(random: Random, state: State) -> Event:
    config = state.config
    outside = [index for index in (-1, len(config.operators) + config.sources, 99) if not has_operator(config, index)]
    return random.choice(
        (
            EndInput(config.inputs),
            EndInput(-1),
            Mail(random.choice(outside)),
            Fault(random.choice(outside), random.choice(FALLIBLE), failing=True),
            Create(),
        )
    )
