"""Scopes of push and pull exchange."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.exchange.values import (
    Config,
    EndJob,
    Event,
    Leave,
    Produce,
    Pull,
    Register,
    Request,
    ResultType,
    State,
)
from tidegate.reference.subpartition.values import Finish, Flush, Release


def make_scope(consumers: int, produced: int) -> Scope:
    def play(_config: Config, _state: State) -> Iterator[Event]:
        yield from (Register(), Produce(), Flush(), Finish(), Release(), EndJob(), Request(-1), Leave(consumers))
        for consumer in range(consumers):
            yield from (Request(consumer), Pull(consumer, credit=True), Pull(consumer, credit=False), Leave(consumer))

    return Scope(
        name=f"{consumers}x{produced}",
        component="exchange",
        configs=tuple(Config(result, consumers, limit=1) for result in ResultType),
        alphabet=play,
        covers=(
            f"every type of result, of which a bounded one holds 1 buffer; {counted(consumers, 'consumer')} that ask, "
            "pull with credit and without, and leave; buffers, flush, finish, release and the end of the job; refused: "
            "what comes out of turn, consumers out of range"
        ),
        cap=f"at most {counted(produced, 'item')} produced",
        expand=lambda state: state.produced <= produced,
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope(1, 3)
    yield make_scope(2, 2)
