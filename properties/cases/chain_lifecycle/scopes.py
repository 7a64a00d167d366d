"""Scopes of the life cycle of a chain."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.chaining.chain_lifecycle.values import (
    SEMANTICS,
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
    State,
    Step,
)

#: The parents of the operators behind the head: alone, a line, a fork, and a fork with a longer branch.
SHAPES = ((), (0, 1), (0, 0), (0, 0, 1))
EVENTS: tuple[Event, ...] = (
    Create(),
    Open(),
    Finish(drain=True),
    Finish(drain=False),
    Close(),
    *(Checkpoint(step) for step in Step),
)


def make_config(parents: tuple[int, ...], sources: int, semantics: str) -> Config:
    """A chain whose head has one input of its own, and leaves a mail behind."""
    operators = (Operator(lingers=True), *(Operator(lingers=False, parent=parent) for parent in parents))
    return Config(operators, sources, sources + 1, semantics)


def make_scope(
    name: str,
    semantics: str,
    shapes: tuple[tuple[int, ...], ...],
    sources: int,
    calls: tuple[Call, ...],
    both: tuple[Call, ...] = (),
) -> Scope:
    """`calls` are where the second operator may fail, and `both` where it and the head may."""

    def play(config: Config, _state: State) -> Iterator[Event]:
        operators = len(config.operators) + config.sources
        yield from EVENTS
        yield from (EndInput(index) for index in range(config.inputs))
        yield Mail(operators - 1)
        if not calls and not both:
            yield from (EndInput(-1), EndInput(config.inputs), Mail(0), Mail(operators), Mail(-1))
            yield Fault(operators, Call.OPEN, failing=True)
        for call in calls:
            yield from (Fault(1, call, failing=failing) for failing in (True, False))
        for call in both:
            yield from (Fault(operator, call, failing=True) for operator in (0, 1))

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


ENDS = {"flink-2.3": Call.FINISH, "flink-1.10": Call.CLOSE, "flink-1.5": Call.CLOSE}
RELEASES = {"flink-2.3": Call.CLOSE, "flink-1.10": Call.DISPOSE, "flink-1.5": Call.DISPOSE}


def make_scopes(shapes: tuple[tuple[int, ...], ...], sources: int) -> Iterator[Scope]:
    for semantics in SEMANTICS:
        most = sources if semantics == "flink-2.3" else 0
        yield make_scope(f"{semantics}-orders", semantics, shapes, most, ())
        yield make_scope(f"{semantics}-starts", semantics, shapes[1:2], 0, (Call.INIT, Call.OPEN))
        yield make_scope(f"{semantics}-checkpoints", semantics, shapes[1:2], 0, (Call.SNAPSHOT, Call.COMPLETE))
        ends = (ENDS[semantics], RELEASES[semantics])
        yield make_scope(f"{semantics}-ends", semantics, shapes[1:2], 0, (*ends, Call.END_INPUT))
    yield make_scope("flink-2.3-sources", "flink-2.3", shapes[:1], sources + 1, ())
    yield make_scope("flink-2.3-others", "flink-2.3", shapes[1:2], 0, (Call.PREPARE, Call.ABORT))
    yield make_scope("flink-2.3-suppressed", "flink-2.3", shapes[1:2], 0, (), both=(Call.COMPLETE,))


def small() -> Iterator[Scope]:
    return make_scopes(SHAPES, 1)


def thorough() -> Iterator[Scope]:
    return make_scopes((*SHAPES, (0, 1, 2, 3), (0, 0, 0), (0, 0, 2, 2)), 2)
