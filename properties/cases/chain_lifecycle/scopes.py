"""Scopes of the life cycle of a chain."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.chaining.chain_lifecycle import values as chain_lifecycle
from tidegate.reference.elements import MAX, Long

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
    """A chain whose head has one input of its own, and leaves a mail behind."""
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
