"""Cases for the life cycle of a chain: branches, chained sources, failures in every call, checkpoints at all times."""

from collections.abc import Iterator
from functools import partial
from random import Random

from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import COUNTS, among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.chaining.chain_lifecycle import values as chain_lifecycle
from tidegate.reference.chaining.chain_lifecycle.step import has_operator, start, step
from tidegate.reference.elements import MAX, Long

SEMANTICS = ("flink-2.3", "flink-2.3", "flink-2.3", "flink-1.10", "flink-1.5")
FALLIBLE = tuple(call for call in chain_lifecycle.Call if call not in chain_lifecycle.INFALLIBLE)
#: The next calls of a checkpoint step, or of the end of a chain.
CALLS = {
    chain_lifecycle.Open: (chain_lifecycle.Call.INIT, chain_lifecycle.Call.OPEN),
    chain_lifecycle.Finish: (chain_lifecycle.Call.END_INPUT, chain_lifecycle.Call.FINISH, chain_lifecycle.Call.CLOSE),
    chain_lifecycle.Close: (chain_lifecycle.Call.CLOSE, chain_lifecycle.Call.DISPOSE),
}


def draw(
    random: Random, config: chain_lifecycle.Config | None = None
) -> tuple[chain_lifecycle.Config, tuple[chain_lifecycle.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(random, forward=5, checkpoint=3, fault=1.2, mail=2, anything=0.25, refused=0.1)
    if config.extension is not None:
        weights |= {"element": pick(random, "share of element", (1, 4)), "mail": 0.1, "fault": 0.3}
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step, length=random.choice((4, 8, 12, 16, 24, 40)))
    for _ in walk.up_to_end(lambda state: state.closed, 1, 4):
        walk.play_one(draw_event(*draw_kind(), walk.state))
    return config, walk.events


#: Each operator names its parent, and each chained source has its own input.
NAMED = ("operators", "sources")


def draw_large(size: int, random: Random) -> tuple[chain_lifecycle.Config, tuple[chain_lifecycle.Event, ...]]:
    """A chain of `size` operators."""
    return draw(random, draw_config(random, size))


def draw_many_inputs(
    random: Random, inputs: int, extension: str | None
) -> tuple[chain_lifecycle.Config, tuple[chain_lifecycle.Event, ...]]:
    """Many inputs end, or end their event time, each once, and the last one last."""
    config = chain_lifecycle.Config((chain_lifecycle.Operator(False, None),), 0, inputs, SEMANTICS[0], extension)  # noqa: FBT003
    order = [*random.sample(range(inputs - 1), inputs - 1), inputs - 1]
    over = [chain_lifecycle.InputWatermark(one, MAX) for one in order] if extension is not None else []
    ends = [chain_lifecycle.EndInput(one) for one in order]
    return config, (
        chain_lifecycle.Create(),
        chain_lifecycle.Open(),
        *over,
        *ends,
        *ends[-2:],
        chain_lifecycle.Finish(drain=True),
        chain_lifecycle.Close(),
    )


ONCE = (
    *(partial(draw_large, size) for size in (9, 17, 33, 65, 129, 257)),
    *(
        partial(draw_many_inputs, inputs=inputs, extension=extension)
        for inputs in COUNTS
        for extension in (None, chain_lifecycle.FINISHED)
    ),
)


def draw_config(random: Random, size: int | None = None) -> chain_lifecycle.Config:
    own = stream(random, "operators")
    size = size or own.choice((1, 2, 2, 3, 3, 4, 5, 6, 8))
    straight = own.random() < 0.4
    parents = [None, *(index - 1 if straight else own.randrange(index) for index in range(1, size))]
    own = stream(random, "lingering")
    lingering = own.choice((0, 0.3, 1))
    operators = [chain_lifecycle.Operator(own.random() < lingering, parent) for parent in parents]
    semantics = stream(random, "semantics").choice(SEMANTICS)
    sources = stream(random, "sources").choice((0, 0, 1, 2, 3)) if semantics == "flink-2.3" else 0
    extensions = (None, None, chain_lifecycle.FINISHED)
    extension = stream(random, "extension").choice(extensions) if semantics == "flink-2.3" else None
    inputs = sources + stream(random, "inputs").choice((0, 1, 1, 2) if extension is None else (0, 1, 2, 3))
    return chain_lifecycle.Config(tuple(operators), sources, inputs, semantics, extension)


def draw_event(random: Random, kind: str, state: chain_lifecycle.State) -> chain_lifecycle.Event:
    if kind == "checkpoint" and state.phase >= chain_lifecycle.Phase.OPEN:
        return draw_step(random, state)
    if kind == "fault":
        return draw_fault(random, state)
    if kind == "element" and state.phase is chain_lifecycle.Phase.OPEN:
        return draw_element(random, state)
    if (
        kind == "mail"
        and state.phase is chain_lifecycle.Phase.OPEN
        and (state.config.semantics != "flink-1.5" or random.random() < 0.1)
    ):
        return chain_lifecycle.Mail(random.randrange(len(state.config.operators) + state.config.sources))
    if kind == "refused":
        return draw_refused(random, state)
    if kind == "anything":
        return random.choice(
            (
                chain_lifecycle.Create(),
                chain_lifecycle.Open(),
                chain_lifecycle.EndInput(0),
                chain_lifecycle.Finish(drain=True),
                chain_lifecycle.Finish(drain=False),
                chain_lifecycle.Close(),
                chain_lifecycle.Mail(0),
            )
        )
    return draw_next(random, state)


def draw_element(random: Random, state: chain_lifecycle.State) -> chain_lifecycle.Event:
    """Mostly the end of event time, on an input without it; at times twice, or something else."""
    inputs = state.config.inputs
    left = [index for index in range(inputs - state.config.sources) if index not in state.ended | state.over]
    index = random.choice(left) if left and random.random() < 0.85 else random.randint(-1, inputs)
    if random.random() < 0.85:
        return chain_lifecycle.InputWatermark(index, MAX if random.random() < 0.9 else draw_early(random))
    return chain_lifecycle.Element(index, random.choice(list(chain_lifecycle.Kind)))


def draw_early(random: Random) -> Long:
    return Long(random.choice((MAX - 1, 0, 1, -1, -MAX - 1, 2**31 - 1, 2**32 - 1)))


def draw_step(random: Random, state: chain_lifecycle.State) -> chain_lifecycle.Checkpoint:
    """Mostly one of the semantics."""
    known = (chain_lifecycle.Step.PREPARE, chain_lifecycle.Step.SNAPSHOT, chain_lifecycle.Step.COMPLETE)
    newer = state.config.semantics == "flink-2.3" or random.random() < 0.1
    return chain_lifecycle.Checkpoint(
        random.choice((*known, chain_lifecycle.Step.ABORT, chain_lifecycle.Step.SUBSUME) if newer else known)
    )


def draw_next(random: Random, state: chain_lifecycle.State) -> chain_lifecycle.Event:
    """The next action of a task; at times it gives up and closes."""
    if state.phase is chain_lifecycle.Phase.PLANNED:
        return chain_lifecycle.Create()
    if state.closed:
        return draw_step(random, state)
    if state.failed and state.phase is chain_lifecycle.Phase.CREATED and random.random() < 0.3:
        return chain_lifecycle.Open()
    if state.failed or state.phase is chain_lifecycle.Phase.FINISHED or random.random() < 0.05:
        return chain_lifecycle.Close() if random.random() < 0.7 else draw_step(random, state)
    if state.phase is chain_lifecycle.Phase.CREATED:
        return chain_lifecycle.Open()
    left = [index for index in range(state.config.inputs) if index not in state.ended]
    if left and random.random() < 0.85:
        return chain_lifecycle.EndInput(random.choice(left))
    return chain_lifecycle.Finish(random.random() < 0.75)


def draw_fault(random: Random, state: chain_lifecycle.State) -> chain_lifecycle.Fault:
    """One of the next calls, or any; at times a failure is repaired."""
    if state.faults and random.random() < 0.3:
        operator, call = random.choice(sorted(state.faults))
        return chain_lifecycle.Fault(operator, call, failing=False)
    likely = CALLS.get(
        type(draw_next(random, state)),
        (
            chain_lifecycle.Call.COMPLETE,
            chain_lifecycle.Call.ABORT,
            chain_lifecycle.Call.SNAPSHOT,
            chain_lifecycle.Call.PREPARE,
        ),
    )
    call = random.choice(likely if random.random() < 0.7 else FALLIBLE)
    return chain_lifecycle.Fault(
        random.randrange(len(state.config.operators) + state.config.sources), call, failing=True
    )


def draw_refused(random: Random, state: chain_lifecycle.State) -> chain_lifecycle.Event:
    config = state.config
    outside = [index for index in (-1, len(config.operators) + config.sources, 99) if not has_operator(config, index)]
    return random.choice(
        (
            chain_lifecycle.EndInput(config.inputs),
            chain_lifecycle.EndInput(-1),
            chain_lifecycle.Mail(random.choice(outside)),
            chain_lifecycle.Fault(random.choice(outside), random.choice(FALLIBLE), failing=True),
            chain_lifecycle.Create(),
        )
    )


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE, unrepeatable=NAMED)


# --- scopes ---------------------------------------------------------------------------------------------------


#: The parents of the operators behind the head: alone, a line, a fork, and a fork with a longer branch.
SHAPES = ((), (0, 1), (0, 0), (0, 0, 1))
EVENTS: tuple[chain_lifecycle.Event, ...] = (
    chain_lifecycle.Create(),
    chain_lifecycle.Open(),
    chain_lifecycle.Finish(drain=True),
    chain_lifecycle.Finish(drain=False),
    chain_lifecycle.Close(),
    *(chain_lifecycle.Checkpoint(step) for step in chain_lifecycle.Step),
)


def make_config(parents: tuple[int, ...], sources: int, semantics: str) -> chain_lifecycle.Config:
    """A chain whose head has its own input, and leaves a mail behind."""
    operators = (
        chain_lifecycle.Operator(lingers=True),
        *(chain_lifecycle.Operator(lingers=False, parent=parent) for parent in parents),
    )
    return chain_lifecycle.Config(operators, sources, sources + 1, semantics)


def make_scope(
    name: str,
    semantics: str,
    shapes: tuple[tuple[int, ...], ...],
    sources: int,
    calls: tuple[chain_lifecycle.Call, ...],
    both: tuple[chain_lifecycle.Call, ...] = (),
) -> Scope:
    """`calls` are where the second operator may fail, and `both` where it and the head may."""

    def play(config: chain_lifecycle.Config, _state: chain_lifecycle.State) -> Iterator[chain_lifecycle.Event]:
        operators = len(config.operators) + config.sources
        yield from EVENTS
        yield from (chain_lifecycle.EndInput(index) for index in range(config.inputs))
        yield chain_lifecycle.Mail(operators - 1)
        if not calls and not both:
            yield from (
                chain_lifecycle.EndInput(-1),
                chain_lifecycle.EndInput(config.inputs),
                chain_lifecycle.Mail(0),
                chain_lifecycle.Mail(operators),
                chain_lifecycle.Mail(-1),
            )
            yield chain_lifecycle.Fault(operators, chain_lifecycle.Call.OPEN, failing=True)
        for call in calls:
            yield from (chain_lifecycle.Fault(1, call, failing=failing) for failing in (True, False))
        for call in both:
            yield from (chain_lifecycle.Fault(operator, call, failing=True) for operator in (0, 1))

    failing = ", ".join((*calls, *both)) or "no call"
    return Scope(
        name=name,
        component="chain_lifecycle",
        configs=tuple(make_config(shape, sources, semantics) for shape in shapes),
        alphabet=play,
        covers=(
            f"{len(shapes)} chains of up to {max(map(len, shapes)) + 1} operators and {counted(sources, 'source')}, "
            f"{semantics}; every event; the second operator failing at {failing}"
        ),
        cap="at most one mail waiting",
        expand=lambda state: len(state.mails) <= 1,
    )


ENDS = {
    "flink-2.3": chain_lifecycle.Call.FINISH,
    "flink-1.10": chain_lifecycle.Call.CLOSE,
    "flink-1.5": chain_lifecycle.Call.CLOSE,
}
RELEASES = {
    "flink-2.3": chain_lifecycle.Call.CLOSE,
    "flink-1.10": chain_lifecycle.Call.DISPOSE,
    "flink-1.5": chain_lifecycle.Call.DISPOSE,
}


def make_scopes(shapes: tuple[tuple[int, ...], ...], sources: int) -> Iterator[Scope]:
    for semantics in chain_lifecycle.SEMANTICS:
        most = sources if semantics == "flink-2.3" else 0
        yield make_scope(f"{semantics}-orders", semantics, shapes, most, ())
        yield make_scope(
            f"{semantics}-starts", semantics, shapes[1:2], 0, (chain_lifecycle.Call.INIT, chain_lifecycle.Call.OPEN)
        )
        yield make_scope(
            f"{semantics}-checkpoints",
            semantics,
            shapes[1:2],
            0,
            (chain_lifecycle.Call.SNAPSHOT, chain_lifecycle.Call.COMPLETE),
        )
        ends = (ENDS[semantics], RELEASES[semantics])
        yield make_scope(f"{semantics}-ends", semantics, shapes[1:2], 0, (*ends, chain_lifecycle.Call.END_INPUT))
    yield make_scope("flink-2.3-sources", "flink-2.3", shapes[:1], sources + 1, ())
    yield make_scope(
        "flink-2.3-others", "flink-2.3", shapes[1:2], 0, (chain_lifecycle.Call.PREPARE, chain_lifecycle.Call.ABORT)
    )
    yield make_scope("flink-2.3-suppressed", "flink-2.3", shapes[1:2], 0, (), both=(chain_lifecycle.Call.COMPLETE,))


def play_finished(config: chain_lifecycle.Config, _state: chain_lifecycle.State) -> Iterator[chain_lifecycle.Event]:
    """Everything but faults that change nothing, on each input, one too low and one too high."""
    yield from EVENTS
    yield from (chain_lifecycle.Mail(0), chain_lifecycle.Fault(0, chain_lifecycle.Call.OPEN, failing=True))
    for index in range(-1, config.inputs + 1):
        yield chain_lifecycle.EndInput(index)
        yield from (chain_lifecycle.InputWatermark(index, Long(timestamp)) for timestamp in (MAX - 1, MAX))
        yield from (chain_lifecycle.Element(index, kind) for kind in chain_lifecycle.Kind)


def make_finished(*chains: tuple[tuple[int, ...], int, int]) -> Scope:
    """`chains` are the parents of operators behind the head, the chained sources, and the inputs."""
    configs = [
        chain_lifecycle.Config(make_config(shape, 0, "flink-2.3").operators, sources, inputs, extension=extension)
        for shape, sources, inputs in chains
        for extension in chain_lifecycle.EXTENSIONS
    ]
    shapes, sources, inputs = zip(*chains, strict=True)
    return Scope(
        name="finished",
        component="chain_lifecycle",
        configs=tuple(configs),
        alphabet=play_finished,
        covers=(
            f"{len(chains)} chains of up to {max(map(len, shapes)) + 1} operators that had finished before a restore, "
            f"with up to {max(inputs)} inputs, up to {max(sources)} of them chained sources; every event on every "
            "input, one too low and one too high; the largest watermark and the one before it"
        ),
    )


def small() -> Iterator[Scope]:
    yield from make_scopes(SHAPES, 1)
    yield make_finished(((), 0, 0), ((0, 1), 0, 1), ((), 1, 2))


def thorough() -> Iterator[Scope]:
    yield from make_scopes((*SHAPES, (0, 1, 2, 3), (0, 0, 0), (0, 0, 2, 2)), 2)
    heads = ((0, 0), (0, 3), (1, 3), (2, 2), (2, 3))
    yield make_finished(*((shape, *head) for shape in ((), (0, 0)) for head in heads))
